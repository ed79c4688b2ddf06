"""Playing a whole hand of logged actions in one call, noting what turning them into text needs."""

import numpy as np

from scala40_env.kernels.actions import BUY, DISCARD, RUNS, SLOTS, SWAPS, slot_of
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.state import BUY as PHASE_BUY
from scala40_env.kernels.state import DRAW, PLAY

__all__ = ["NO_MELD", "play_log"]

#: Context of an action that means the same on every table.
NO_MELD = -1


@kernel
def _context(g: Record, action: int) -> int:
    """The meld that an attach or a swap goes to, packed: kind, key, joker cells, cells; NO_MELD for other actions."""
    if not (SLOTS <= action < RUNS or SWAPS <= action < BUY):
        return NO_MELD
    slot = slot_of(action)
    word = int(g["meld_kind"][slot]) << 40 | int(g["meld_key"][slot]) << 32
    return word | int(g["meld_jokers"][slot]) << 16 | int(g["meld_cells"][slot])


@entry
def play_log(games: Records, i: int, actions: np.ndarray, contexts: np.ndarray, ends: np.ndarray) -> int:
    """Play ``actions`` (int16[n]) in game ``i``; they have to be legal.

    Writes the context of each into ``contexts`` (int64[n]), and into ``ends`` (int8[n]) whether it ended the turn.
    Returns how many were played: fewer than n if the hand was over before.
    """
    g = games[i]
    for at in range(len(actions)):
        phase = int(g["phase"])
        if phase != DRAW and phase != PLAY and phase != PHASE_BUY:
            return at
        action = int(actions[at])
        contexts[at] = _context(g, action)
        apply_action(g, action)
        after = int(g["phase"])
        discarded = DISCARD <= action < SLOTS
        ends[at] = 1 if discarded or (after != DRAW and after != PLAY and after != PHASE_BUY) else 0
    return len(actions)
