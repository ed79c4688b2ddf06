"""Decisions for learning, many in one call: what a seat sees, what it may do, what a teacher would do, how it ended.

Masks are packed as `numpy.packbits` packs them: bit 7 of byte 0 is action 0.
"""

import numpy as np

from agents.kernels.choice import choose
from scala40_env.kernels.engine import apply_action, start_match
from scala40_env.kernels.jit import Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, legal_moves
from scala40_env.kernels.observation import observe
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.rewards import write_rewards
from scala40_env.kernels.state import MAX_SEATS
from scala40_env.kernels.view import write_view

__all__ = ["look_at_views", "teach"]

#: Streams of the generator, whose key is that of the hand.
_SEEDS, _SEATING, _PLAYERS, _STRAYS = range(1 << 23, (1 << 23) + 4)
#: `noise` is in parts of this.
NOISE_PARTS = 1 << 16


@kernel
def pack_mask(moves: np.ndarray, n: int, packed: np.ndarray) -> None:
    """Mark the first ``n`` of ``moves`` in ``packed`` (uint8[actions / 8, rounded up])."""
    packed[:] = 0
    for at in range(n):
        action = int(moves[at])
        packed[action >> 3] |= np.uint8(128 >> (action & 7))


@entry
def look_at_views(
    views: Records, seats: np.ndarray, layout: np.ndarray, observations: np.ndarray, masks: np.ndarray
) -> None:
    """Write what ``seats`` (int64[n]) see in ``views`` (int8[n, size]) and may do (packed, uint8[n, bytes])."""
    moves = np.empty(MOST_MOVES, np.int16)
    for i in range(len(views)):
        g, seat = views[i], int(seats[i])
        observe(g, seat, layout, observations[i])
        n = legal_moves(g, moves) if int(g["turn"]) == seat and not is_over(g) else 0
        pack_mask(moves, n, masks[i])


# ---------------------------------------------------------------------------------------------------------------------
# A teacher's decisions


@kernel
def word_of(seed: np.uint64, hand: int, stream: int, block: int) -> np.uint64:
    """64 bits of chance."""
    low, high = philox(seed, hand, stream, block)[:2]
    return np.uint64(low) | np.uint64(high) << np.uint64(32)


@kernel
def begin_hand(games: Records, players: int, seed: np.uint64, hand: int, seating: np.ndarray, keys: np.ndarray) -> None:
    """Deal hand number ``hand`` of a seed, and seat players by lot."""
    games[0]["seed"] = word_of(seed, hand, _SEEDS, 0)
    for seat in range(MAX_SEATS):
        seating[seat] = below(philox(seed, hand, _SEATING, seat)[0], players)
        keys[seat] = word_of(seed, hand, _PLAYERS, seat)
    start_match(games, 0)


@entry
def teach(
    games: Records,
    views: Records,
    seed: np.uint64,
    hand: int,
    kinds: np.ndarray,
    weights: np.ndarray,
    noise: int,
    pays: int,
    layout: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    actions: np.ndarray,
    returns: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Play hands, from number ``hand`` of ``seed`` (uint64) on, and write what the teacher would do at each decision.

    ``games`` holds one record, which has the rules. The teacher is row 0 of ``kinds`` (int64[players]) and ``weights``
    (int64[players, NUM_WEIGHTS]); every seat is played by one of the rows, drawn anew in every hand, which in ``noise``
    of 65536 decisions strays to any legal move. Decisions with one legal action are left out.

    Written are ``observations`` (int8[n, size]), packed ``masks`` (uint8[n, bytes]), the teacher's ``actions``
    (int16[n]), ``returns`` (float32[n]: reward number ``pays`` of the hand for that seat) and ``ends`` (int64[hands]:
    how many decisions there were up to the end of each hand); and the views of who decided, if ``views`` holds n
    records and not a single one to work with. Stops before the hand that does not fit; returns how many hands there
    are.
    """
    moves = np.empty(MOST_MOVES, np.int16)
    seating, keys = np.empty(MAX_SEATS, np.int64), np.empty(MAX_SEATS, np.uint64)
    seats, rewards = np.empty(len(actions), np.int8), np.zeros(MAX_SEATS)
    played, first = 0, 0
    while played < len(ends):
        number = hand + played
        begin_hand(games, len(kinds), seed, number, seating, keys)
        g, n, count = games[0], first, 0
        while not is_over(g):
            seat = int(g["turn"])
            legal = legal_moves(g, moves)
            action, player = int(moves[0]), int(seating[seat])
            if legal > 1:
                if n == len(actions):
                    return played
                observe(g, seat, layout, observations[n])
                pack_mask(moves, legal, masks[n])
                v = n if len(views) > 1 else 0
                write_view(games, 0, seat, views, v)
                chance = philox(seed, number, _STRAYS, count)
                stray = int(moves[below(chance[1], legal)])
                action = choose(int(kinds[0]), views, v, weights[0], keys[seat], count, moves)
                actions[n], seats[n] = action, seat
                n += 1
                if player:
                    action = choose(int(kinds[player]), views, v, weights[player], keys[seat], count, moves)
                if below(chance[0], NOISE_PARTS) < noise:
                    action = stray
            apply_action(g, action)
            count += 1
        write_rewards(pays, g, rewards)
        for at in range(first, n):
            returns[at] = rewards[seats[at]]
        first = n
        ends[played] = n
        played += 1
    return played
