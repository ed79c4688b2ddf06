"""The settings of training: one documented dataclass; its defaults come from YAML by rule set and seats, flags win."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import tyro

from experiments.console import BadUsage
from scala40_env.rules.config import BETWEEN_HANDS, Rules, parse_setting
from scala40_env.rules.errors import shown, suggestion

__all__ = ["FOLDER", "TrainSettings", "hand_rules", "read_settings", "settings_for"]

FOLDER = Path(__file__).parents[1] / "settings" / "ppo"
"""Where the defaults lie: ``<preset>-<seats>.yaml``."""


@dataclass(frozen=True)
class TrainSettings:
    """Train a network: clone a teacher, then PPO by self-play against itself, its past and scripted agents."""

    preset: str = "fisca"
    """Rules to start from: fisca, casa, scala_quaranta, tavolo or megajogos."""
    seats: int = 2
    """Seats at a table."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change one field of the rules, as --set opening_points=30; may be given again."""
    settings: Path | None = None
    """A YAML file of settings, instead of the one that comes for these rules and seats."""
    out: Path | None = None
    """Folder of the run; runs/ppo/PRESET-SEATS-SEED if left out."""
    resume: bool = False
    """Go on with the run in the folder, or begin if it holds none."""
    seed: int = 0
    """Decides everything; on a CPU the same seed gives the same bytes."""
    device: str = "auto"
    """Where the network learns: auto (a GPU if there is one), cpu or cuda."""
    threads: int = 0
    """Threads of PyTorch; 0: one for each core."""
    json: bool = False
    """Print one JSON object at the end; what is told on the way goes to stderr."""

    size: str = "small"
    """Size of the network: small, medium or large; that of `start` where one is given."""
    start: Path | None = None
    """A checkpoint to begin with, instead of a network that knows nothing."""
    sharpen: float = 1.0
    """The logits of `start` are multiplied by it. What has learnt how much moves are worth draws them too evenly for
    PPO, which plays by chance."""

    teacher: str = "greedy"
    """Whose decisions are cloned first: an agent that is a kernel, or a search, as search:playouts=200."""
    clone_decisions: int = 1_000_000
    """How many of them; 0: nothing is cloned."""
    clone: str = "choices"
    """What is learnt from the teacher: choices (of a search all that it finds); of expert also forecasts, what it
    thinks of the moves it might make, and outcomes, how hands end that go on from each of them."""
    clone_opponents: tuple[str, ...] = ()
    """Scripted agents that sit down beside the teacher where forecasts or outcomes are learnt; else it is alone."""
    clone_bonus: int = 100
    """In outcomes: points that closing the hand is worth beside what it charges."""
    clone_noise: float = 0.0
    """In how many decisions any legal move is played instead, so that the teacher is seen getting out of trouble."""
    clone_batch: int = 512
    """Decisions of a step of cloning."""
    clone_learning_rate: float = 2e-3
    """At the first step; it falls to a tenth."""
    clone_averaging: float = 0.0
    """Cloning ends with the means of the weights over about the last 1 / (1 - it) steps; 0: with the last ones."""
    clone_value: float = 0.5
    """Weight of the value's error."""
    clone_temperature: float = 0.05
    """Where more is learnt than choices: a logit is worth so much, in units of reward."""

    decisions: int = 1_000_000
    """How many decisions of its own PPO learns from."""
    games: int = 256
    """Hands played at once; on a GPU eight times as many."""
    rollout: int = 16_384
    """Decisions of whole hands between two updates; on a GPU eight times as many."""
    batch_size: int = 2048
    """Decisions of a step; on a GPU four times as many."""
    epochs: int = 3
    """How often an update goes through its decisions."""
    learning_rate: float = 5e-4
    """At the first update."""
    final_learning_rate: float = 5e-5
    """At the last one; a straight line between them."""
    averaging: float = 0.0
    """What is evaluated and kept are the means of the weights over about the last 1 / (1 - it) updates of PPO, a tenth
    of them at most; 0: the last ones."""
    clip: float = 0.2
    """How far the probability of an action may move in an update."""
    entropy: float = 0.005
    """Bonus for entropy at the first update."""
    final_entropy: float = 0.001
    """At the last one."""
    value: float = 0.5
    """Weight of the value's error."""
    target_kl: float | None = 0.02
    """An update stops when the policy has moved further than one and a half times this."""
    discount: float = 1.0
    """Gamma: hands are short, and all that counts comes at their end."""
    decay: float = 0.95
    """Lambda of the advantages, by decision."""
    reward: str = "zero_sum_points"
    """What a hand is worth to each seat."""
    reward_scale: float = 4.0
    """Rewards are multiplied by it: of zero_sum_points a hand brings a quarter of a unit in the mean."""
    central_critic: bool = False
    """Whether advantages come from a critic of its own that sees all cards."""
    compared: int = 0
    """So many of the likeliest moves of each decision are played on to the end of the hand by `expert`, with the cards
    that lie hidden, and the policy learns from the differences; 0: it learns from advantages."""
    anchor: float = 0.2
    """Weight of the divergence from the network that PPO began with, at first."""
    anchor_share: float = 0.3
    """It falls to zero in this share of the decisions."""

    opponents: tuple[str, ...] = ("greedy",)
    """Scripted agents in the pool; kernels."""
    self_share: float = 0.5
    """Share of the hands in which it plays on all seats; the others go to the pool, more to who is harder to beat."""
    frozen: int = 4
    """How many of its past selves are in the pool."""
    freeze_every: int = 500_000
    """Decisions from one past self to the next."""

    evaluate_every: int = 500_000
    """Decisions from one evaluation to the next."""
    evaluate_deals: int = 500
    """Deals of an evaluation, each played from all seats."""
    evaluate_against: tuple[str, ...] = ("greedy",)
    """Whom it is measured against; the best checkpoint is the one with the best points against the last of these."""
    keep_all: bool = False
    """Keep the network of every evaluation, as at-DECISIONS.npz: for python -m experiments.mean_of."""
    save_seconds: float = 60.0
    """Seconds between two savings of all that going on needs."""

    def rules(self) -> Rules:
        """The rules that the hands are played by. Raises `BadRules` or `BadUsage`."""
        return hand_rules(self.preset, self.seats, self.set)

    def folder(self) -> Path:
        """The folder of the run."""
        rules = self.rules()
        return self.out or Path("runs") / "ppo" / f"{rules.preset}-{rules.num_players}-{self.seed}"

    def check(self) -> None:
        """Raise `BadUsage` for a value out of its range, or for values that exclude each other."""
        for name, low in _AT_LEAST.items():
            if not low <= getattr(self, name) < inf:
                raise BadUsage(f"{name} = {getattr(self, name)}: allowed is {low} and more")
        for name in _ABOVE_ZERO:
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise BadUsage(f"{name} = {value}: allowed is more than 0")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise BadUsage(f"{name} = {getattr(self, name)}: allowed is 0 to 1")
        self._check_names()
        if self.compared == 1:
            raise BadUsage("compared = 1: allowed is 0, or 2 and more, for one move can't be compared with itself")
        if self.compared and self.central_critic:
            raise BadUsage("compared and central_critic exclude each other: comparisons ask no critic")
        if self.self_share == 0 and not self.opponents:
            raise BadUsage("self_share = 0 without opponents: there is nobody to play against")
        if not self.evaluate_against:
            raise BadUsage("evaluate_against: at least one agent is asked for")

    def _check_names(self) -> None:
        from scala40_env.rewards import REWARDS  # not before something is run: the help waits for no kernel

        for name, allowed in (("device", DEVICES), ("reward", tuple(REWARDS)), ("clone", CLONED)):
            given = getattr(self, name)
            if given not in allowed:
                raise BadUsage(f"{name} = {shown(given)}: allowed are {', '.join(allowed)}{suggestion(given, allowed)}")


DEVICES = ("auto", "cpu", "cuda")
#: As `experiments.training.teacher.LEARNT`, which the help does not wait for.
CLONED = ("choices", "forecasts", "outcomes")
_AT_LEAST: dict[str, float] = {
    "seed": 0,
    "threads": 0,
    "clone_decisions": 0,
    "clone_bonus": 0,
    "clone_value": 0,
    "clone_batch": 1,
    "decisions": 0,
    "games": 1,
    "rollout": 1,
    "batch_size": 2,
    "epochs": 1,
    "compared": 0,
    "frozen": 0,
    "freeze_every": 1,
    "evaluate_every": 1,
    "evaluate_deals": 2,
    "save_seconds": 0,
    "anchor": 0,
    "final_learning_rate": 0,
    "entropy": 0,
    "final_entropy": 0,
    "value": 0,
}
_ABOVE_ZERO = (
    *("sharpen", "clone_learning_rate", "clone_temperature"),
    *("learning_rate", "clip", "target_kl", "reward_scale"),
)
_SHARES = ("clone_noise", "clone_averaging", "averaging", "discount", "decay", "self_share", "anchor_share")
#: What a file of settings may not say: it depends on the run.
_FLAGS_ONLY = ("preset", "seats", "set", "settings", "out", "resume", "json")


def hand_rules(start: str | Rules, seats: int | None, changes: Sequence[str]) -> Rules:
    """The rules of single hands, every seat for itself: a preset or other rules, with changes as ``field=value``.

    ``seats`` is what a flag says, None if there is none: then as many as the changes or the rules say, 2 for a preset.
    Raises `BadRules`, or `BadUsage` for changes that are not for hands, or that clash with the flag.
    """
    fields: dict[str, Any] = dict(parse_setting(text) for text in changes)
    start = str(fields.pop("preset")) if "preset" in fields else start
    for name in BETWEEN_HANDS:
        if name in fields:
            raise BadUsage(f"--set {name}: one hand is played at a time here, so nothing between hands can be set")
    if seats is not None and fields.get("num_players", seats) != seats:
        raise BadUsage(f"--seats {seats} and --set num_players={fields['num_players']} exclude each other")
    here = Rules.from_preset(start, num_players=2) if isinstance(start, str) else start
    fields = {"num_players": here.num_players if seats is None else seats, **fields}
    rules = here.replace(**fields, match="single_hand", num_hands=None)
    if rules.team_size > 1:
        raise BadUsage(f"--set team_size={rules.team_size}: every seat plays for itself here")
    return rules


def settings_for(words: Sequence[str]) -> TrainSettings:
    """The defaults that hold beneath these flags: of the file that they name, or of the one for their rules and seats.

    Where PyYAML is missing and no file is named they are the plain ones: so the help can be read without it. Raises
    `BadUsage` for a file that can't be read as settings.
    """
    preset, seats = _flag(words, "--preset") or TrainSettings.preset, _flag(words, "--seats") or TrainSettings.seats
    named = _flag(words, "--settings")
    path = Path(named) if named else FOLDER / f"{preset}-{seats}.yaml"
    if not named and (not path.exists() or find_spec("yaml") is None):
        return TrainSettings()
    return read_settings(path)


def _flag(words: Sequence[str], flag: str) -> str | None:
    """What follows a flag, or None."""
    found = None
    for at, word in enumerate(words):
        if word == flag and at + 1 < len(words):
            found = words[at + 1]
        elif word.startswith(f"{flag}="):
            found = word.partition("=")[2]
    return found


def read_settings(path: Path) -> TrainSettings:
    """The settings of a YAML file. Raises `BadUsage` for unknown keys and values of another kind, `OSError`."""
    try:
        import yaml
    except ImportError as error:
        raise BadUsage("settings in YAML need PyYAML: pip install 'scala40-env[train]'") from error
    try:
        given = yaml.safe_load(path.read_text()) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadUsage(f"{path} is no YAML: {error}") from error
    if not isinstance(given, Mapping):
        raise BadUsage(f"{path} holds {shown(given)}: keys and values are asked for")
    kinds = {name: kind for name, kind in get_type_hints(TrainSettings).items() if name not in _FLAGS_ONLY}
    for key in given:
        if key not in kinds:
            raise BadUsage(f"{path}: there is no setting {shown(key)}{suggestion(str(key), tuple(kinds))}")
    return dataclasses.replace(TrainSettings(), **{key: _read(path, key, given[key], kinds[key]) for key in given})


def _read(path: Path, key: str, value: Any, kind: Any) -> Any:
    """A value as the field takes it."""
    kinds = get_args(kind) if get_origin(kind) not in (None, tuple) else (kind,)
    for one in kinds:
        if get_origin(one) is tuple and isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        if one is Path and isinstance(value, str):
            return Path(value)
        if one is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if isinstance(one, type) and isinstance(value, one) and isinstance(value, bool) == (one is bool):
            return value
    names = " or ".join("a list of names" if get_origin(one) is tuple else one.__name__ for one in kinds)
    raise BadUsage(f"{path}: {key} = {shown(value)}: {names} is asked for")
