"""Where a game is: what its phase says."""

from scala40_env.kernels.jit import Record, kernel
from scala40_env.kernels.state import HAND_OVER, MATCH_OVER

__all__ = ["is_over"]


@kernel
def is_over(g: Record) -> bool:
    """Whether the hand is over, and the match with it or not."""
    phase = int(g["phase"])
    return phase in (HAND_OVER, MATCH_OVER)
