"""Registers the environments with Gymnasium's `make` and `make_vec`, without loading a kernel.

>>> import gymnasium, scala40_env
>>> gymnasium.make_vec("Scala40-v0", num_envs=4, rules="casa").num_envs
4

`register_gymnasium` is called when Gymnasium is loaded (`scala40_env.registration`).
"""

from __future__ import annotations

__all__ = ["GYMNASIUM_ID", "SELF_PLAY_ID", "register_gymnasium"]

GYMNASIUM_ID = "Scala40-v0"
"""One learner with opponents inside: scalar and vector."""
SELF_PLAY_ID = "Scala40SelfPlay-v0"
"""Every seat acts: vector alone."""


def register_gymnasium() -> None:
    """Register what is not registered yet."""
    # Not above: where this module is the first to load Gymnasium, it is called before the rest of it is there.
    from gymnasium.envs.registration import register, registry

    if GYMNASIUM_ID not in registry:
        register(
            GYMNASIUM_ID,
            entry_point="scala40_env.single:Scala40Env",
            vector_entry_point="scala40_env.vector:Scala40VectorEnv",
        )
    if SELF_PLAY_ID not in registry:
        register(SELF_PLAY_ID, vector_entry_point="scala40_env.vector:SelfPlayVectorEnv")
