"""The generator inside the game: Philox4x32-10 (Salmon et al. 2011), a function of a key and a counter.

The key is the game's seed, the counter says what the numbers are for (hand, which shuffle of it, block). So every
shuffle can be made again from the record alone, copies go on alike, and no state has to be advanced.
"""

import numpy as np

from scala40_env.kernels.jit import kernel

__all__ = ["LOT", "below", "philox", "shuffle"]

#: A seed is 64 bits without a sign, the numbers drawn from it are 32-bit words in signed ones.
Seed = np.uint64 | int
Word = np.int64 | int

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)

#: Stream of the draw for the first dealer (shuffles of a hand count from 0 and never get here).
LOT = 1 << 20


@kernel
def philox(seed: Seed, hand: int, stream: int, block: int) -> tuple[Word, Word, Word, Word]:
    """Four independent uniform 32-bit numbers for a 64-bit seed and three counters."""
    c0, c1, c2, c3 = np.uint64(block) & _LOW, np.uint64(stream) & _LOW, np.uint64(hand) & _LOW, np.uint64(0)
    k0, k1 = np.uint64(seed) & _LOW, np.uint64(seed) >> _HALF
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return np.int64(c0), np.int64(c1), np.int64(c2), np.int64(c3)


@kernel
def below(word: Word, bound: int) -> int:
    """A number from 0 to bound - 1 out of a 32-bit word; the bias is under bound / 2**32."""
    return int((word * bound) >> 32)


@kernel
def shuffle(cards: np.ndarray, count: int, seed: Seed, hand: int, stream: int) -> None:
    """Shuffle the first ``count`` cards in place (Fisher-Yates)."""
    words: tuple[Word, Word, Word, Word] = (0, 0, 0, 0)
    for step in range(count - 1):
        last = count - 1 - step
        if step & 3 == 0:
            words = philox(seed, hand, stream, step >> 2)
        other = below(words[step & 3], last + 1)
        kept = cards[last]
        cards[last] = cards[other]
        cards[other] = kept
