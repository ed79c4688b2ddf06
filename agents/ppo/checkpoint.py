"""Checkpoints: a network to play with, in one file that says what it is for.

A file is an ``.npz`` of the weights and of a heading in JSON: the rules, the versions of the action table and of the
observation, the size of the network, and notes on how it was made. Nothing in it is unpickled.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.base import AgentError
from agents.ppo.layout import ACTION_VERSION, input_layout, schema_version
from agents.ppo.network import CardNetwork, NetworkSize
from scala40_env.observation import schema_of
from scala40_env.rules.config import BETWEEN_HANDS, Rules
from scala40_env.rules.moves import num_actions

__all__ = ["Checkpoint", "CheckpointError", "check_same_rules", "differences_of"]

FORMAT, FORMAT_VERSION = "scala40 network", 1
_HEADING = "heading"


class CheckpointError(AgentError):
    """A file that is no checkpoint, or one that is for something else."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A network and what it is for.

    Attributes: `rules`; `size` of the network; `weights`, by their name in `CardNetwork`; `notes`, how it was made,
    anything that JSON takes.
    """

    rules: Rules
    size: NetworkSize
    weights: Mapping[str, NDArray[np.float32]]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, network: CardNetwork, rules: Rules, notes: Mapping[str, Any] | None = None) -> Checkpoint:
        """The checkpoint of a network that has learnt by some rules."""
        weights = {name: weight.detach().cpu().numpy().copy() for name, weight in network.state_dict().items()}
        return cls(rules, network.size, weights, dict(notes or {}))

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        path = Path(path)
        heading = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "actions": ACTION_VERSION,
            "observation": schema_version(schema_of(self.rules)),
            "rules": self.rules.to_dict(),
            "size": asdict(self.size),
            "notes": dict(self.notes),
        }
        draft = path.with_name(path.name + ".tmp")
        with draft.open("wb") as file:
            arrays: dict[str, Any] = {_HEADING: np.array(json.dumps(heading)), **self.weights}
            np.savez_compressed(file, **arrays)
        draft.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> Checkpoint:
        """Read a file. Raises `CheckpointError` for one that is missing, broken, or of another version."""
        path = Path(path)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            heading = json.loads(str(arrays.pop(_HEADING)))
            _check_version(heading, path)
            rules = Rules.from_dict(heading["rules"])
            _check_observation(heading, rules, path)
            made = cls(rules, NetworkSize(**heading["size"]), arrays, heading["notes"])
            made.network()
        except CheckpointError:
            raise
        except FileNotFoundError as error:
            raise CheckpointError(f"there is no checkpoint {path}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, zipfile.BadZipFile) as error:
            raise CheckpointError(f"{path} is no checkpoint, or broken: {_first_line(error)}") from error
        return made

    def network(self) -> CardNetwork:
        """The network with these weights."""
        network = CardNetwork(input_layout(schema_of(self.rules)), num_actions(self.rules), self.size)
        network.load_state_dict({name: torch.from_numpy(weight) for name, weight in self.weights.items()})
        network.to(memory_format=torch.channels_last)
        network.eval()
        return network

    def check_rules(self, rules: Rules, what: str = "the checkpoint") -> None:
        """Raise `CheckpointError` with all differences that matter, if this network is for other rules."""
        check_same_rules(self.rules, rules, what)


def check_same_rules(there: Rules, here: Rules, what: str) -> None:
    """Raise `CheckpointError` with all differences that matter within a hand; ``what`` is for the rules ``there``."""
    differences = differences_of(there, here)
    if differences:
        raise CheckpointError(f"{what} is for other rules: {differences}")


def differences_of(there: Rules, here: Rules) -> str:
    """Where two sets of rules differ within a hand, in words; empty where they do not."""
    return "; ".join(
        f"{name} is {pair[0]!r} there, {pair[1]!r} here"
        for name, pair in there.differences(here).items()
        if name not in BETWEEN_HANDS
    )


def _check_version(heading: Mapping[str, Any], path: Path) -> None:
    if heading["format"] != FORMAT or heading["format_version"] != FORMAT_VERSION:
        raise CheckpointError(f"{path} is not of the form {FORMAT!r}, version {FORMAT_VERSION}")
    if heading["actions"] != ACTION_VERSION:
        raise CheckpointError(
            f"{path} is for another table of actions: {heading['actions']} there, {ACTION_VERSION} here"
        )


def _check_observation(heading: Mapping[str, Any], rules: Rules, path: Path) -> None:
    here = schema_version(schema_of(rules))
    if heading["observation"] != here:
        raise CheckpointError(f"{path} is for another observation: {heading['observation']} there, {here} here")


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")
