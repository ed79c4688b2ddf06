"""Scala 40 for PettingZoo: ``scala40_v0.env()`` and ``scala40_v0.raw_env()``.

>>> from scala40_env import scala40_v0
>>> env = scala40_v0.env(rules="casa", episode="match")
>>> env.reset(seed=7)
>>> env.agent_selection in env.possible_agents
True
"""

from __future__ import annotations

from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from scala40_env.aec import Scala40AEC

__all__ = ["env", "raw_env"]

ILLEGAL_REWARD = -1.0
"""What an illegal action costs its player in `env`: about the worst hand of a hundred points."""

raw_env = Scala40AEC
"""The environment without wrappers: illegal actions raise `IllegalMove`. Arguments as of `aec.Scala40AEC`."""


def env(**kwargs: Any) -> AECEnv:
    """The environment in PettingZoo's usual wrappers. Arguments as of `aec.Scala40AEC`.

    An illegal action ends the game for everybody and costs its player `ILLEGAL_REWARD`; an action out of the space,
    and calls in the wrong order, fail.
    """
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(**kwargs), illegal_reward=ILLEGAL_REWARD)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return wrappers.OrderEnforcingWrapper(wrapped)
