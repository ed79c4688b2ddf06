"""Many games for a learner that sits on several seats: kernels play on wherever nothing has to be asked outside.

A game comes to a stop only where a seat that is played from outside has more than one legal action. Scripted seats,
forced moves, the ends of hands and the next deals all happen in here. Every hand has a number; its deal and who sits
where follow from that and the seed alone.
"""

import numpy as np

from agents.kernels.choice import choose
from agents.kernels.decisions import pack_mask, word_of
from scala40_env.kernels.engine import apply_action, start_match
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import MOST_MOVES, legal_moves
from scala40_env.kernels.observation import GRID, observe
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.rewards import write_rewards
from scala40_env.kernels.state import MAX_SEATS, NONE
from scala40_env.kernels.view import write_view

__all__ = ["TABLE", "begin_tables", "compact_rollout", "estimate_advantages", "step_tables"]

TABLE = np.dtype(
    [
        ("hand", "<i8"),  # number of the hand that is played
        ("keys", "<u8", (MAX_SEATS,)),  # of the scripted seats' chance
        ("paid", "<f8", (MAX_SEATS,)),  # what the hand brought that has ended in the last step
        ("count", "<i4"),  # actions so far in this hand
        ("lineup", "<i4"),  # which one plays this hand
        ("seating", "i1", (MAX_SEATS,)),  # the player (a row) of each seat
        ("seat", "i1"),  # who is asked
        ("decided", "i1"),  # whether anybody outside has been asked in this hand
        # of the hand that has ended in the last step
        ("ended", "i1"),
        ("winner", "i1"),
        ("ended_lineup", "<i4"),
        ("ended_seating", "i1", (MAX_SEATS,)),
        ("spare", "i1", (6,)),
    ],
    align=True,
)
"""What stands beside the record of each game."""

#: Streams of the generator, whose key is the seed of all games and whose hand is the number of theirs.
_SEEDS, _LINEUP, _ROTATION, _KEYS = range((1 << 23) + 8, (1 << 23) + 12)
_WORDS = 2.0**32


@kernel
def _drawn_lineup(odds: np.ndarray, word: int) -> int:
    """A line-up by lot: ``odds`` (float64[line-ups]) add up to one."""
    left = word / _WORDS
    for at in range(len(odds) - 1):
        left -= odds[at]
        if left < 0:
            return at
    return len(odds) - 1


@kernel
def _deal_next(games: Records, tables: Records, i: int, seed: np.uint64, lineups: np.ndarray, odds: np.ndarray) -> None:
    """Begin the hand of this number in game ``i``: line-up and its rotation are drawn."""
    g, t = games[i], tables[i]
    number, seats = int(t["hand"]), lineups.shape[1]
    lineup = _drawn_lineup(odds, int(philox(seed, number, _LINEUP, 0)[0]))
    turn = below(philox(seed, number, _ROTATION, 0)[0], seats)
    for seat in range(seats):
        t["seating"][seat] = lineups[lineup, (seat + turn) % seats]
        t["keys"][seat] = word_of(seed, number, _KEYS, seat)
    t["lineup"] = lineup
    t["count"] = 0
    t["decided"] = 0
    g["seed"] = word_of(seed, number, _SEEDS, 0)
    start_match(games, i)


@kernel
def _note_end(g: Record, t: Record, pays: int) -> None:
    """Keep how a hand has ended in which somebody outside was asked; only one can in a step."""
    if int(t["decided"]) == 0:
        return
    write_rewards(pays, g, t["paid"])
    t["ended"] = 1
    t["winner"] = g["winner"]
    t["ended_lineup"] = t["lineup"]
    for seat in range(MAX_SEATS):
        t["ended_seating"][seat] = t["seating"][seat]


@kernel
def _write_hidden(g: Record, seat: int, out: np.ndarray) -> None:
    """Write what the other seats hold, in order of play: for each two planes of cards, then its jokers."""
    out[:] = 0
    n = int(g["num_players"])
    for k in range(1, n):
        other = (seat + k) % n
        for copy in range(2):
            cards = int(g["two"][other]) if copy else int(g["one"][other])
            at = GRID * (2 * (k - 1) + copy)
            for suit in range(4):
                lane = cards >> 16 * suit & 0x1FFF
                for rank in range(13):
                    out[at + 14 * suit + rank] = lane >> rank & 1
                out[at + 14 * suit + 13] = lane & 1
        out[GRID * 2 * (n - 1) + k - 1] = int(g["jokers"][other])


@kernel
def _play_on(
    games: Records,
    tables: Records,
    views: Records,
    i: int,
    seed: np.uint64,
    lineups: np.ndarray,
    odds: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    pays: int,
    layout: np.ndarray,
    observation: np.ndarray,
    mask: np.ndarray,
    hidden: np.ndarray,
    moves: np.ndarray,
) -> None:
    """Play game ``i`` on to the next decision outside, and write it."""
    g, t = games[i], tables[i]
    while True:
        if is_over(g):
            _note_end(g, t, pays)
            t["hand"] += len(games)
            _deal_next(games, tables, i, seed, lineups, odds)
        seat, legal = int(g["turn"]), legal_moves(g, moves)
        action, player = int(moves[0]), int(t["seating"][seat])
        if legal > 1:
            if int(kinds[player]) < 0:
                break
            write_view(games, i, seat, views, 0)
            action = choose(int(kinds[player]), views, 0, weights[player], t["keys"][seat], int(t["count"]), moves)
        apply_action(g, action)
        t["count"] += 1
    t["seat"] = int(g["turn"])
    t["decided"] = 1
    observe(g, int(g["turn"]), layout, observation)
    pack_mask(moves, legal, mask)
    if len(hidden):
        _write_hidden(g, int(g["turn"]), hidden)


@entry
def begin_tables(games: Records, tables: Records, seed: np.uint64, lineups: np.ndarray, odds: np.ndarray) -> None:
    """Deal hand number ``i`` in each game ``i``. Nothing is written yet: `step_tables` with actions of -1 does that."""
    for i in range(len(games)):
        tables[i]["hand"] = i
        _deal_next(games, tables, i, seed, lineups, odds)


@entry
def step_tables(
    games: Records,
    tables: Records,
    views: Records,
    actions: np.ndarray,
    seed: np.uint64,
    lineups: np.ndarray,
    odds: np.ndarray,
    kinds: np.ndarray,
    weights: np.ndarray,
    pays: int,
    layout: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    hidden: np.ndarray,
) -> None:
    """Play an action in every game (int64[games]; -1: none) and on to the next decision outside.

    ``lineups`` (int64[line-ups, seats]) are players by seat, before they are rotated by lot, ``odds``
    (float64[line-ups]) how often each is drawn. Players are rows of ``kinds`` (int64; below 0: played from outside) and
    ``weights`` (int64[players, width]). ``pays`` is the number of a reward. Written are ``tables`` (dtype `TABLE`), and
    for who is asked ``observations`` (int8[games, size]), packed ``masks`` (uint8[games, bytes]) and ``hidden``
    (int8[games, width]: what the others hold; width 0: not wanted).
    """
    moves = np.empty(MOST_MOVES, np.int16)
    for i in range(len(games)):
        t = tables[i]
        t["ended"] = 0
        if int(actions[i]) >= 0:
            apply_action(games[i], int(actions[i]))
            t["count"] += 1
        _play_on(
            games,
            tables,
            views,
            i,
            seed,
            lineups,
            odds,
            kinds,
            weights,
            pays,
            layout,
            observations[i],
            masks[i],
            hidden[i],
            moves,
        )


# ---------------------------------------------------------------------------------------------------------------------
# Rollouts: rows of decisions, each with the row of the same seat's next decision in the hand


@entry
def estimate_advantages(
    following: np.ndarray,
    rewards: np.ndarray,
    values: np.ndarray,
    discount: float,
    decay: float,
    advantages: np.ndarray,
    whole: np.ndarray,
) -> None:
    """Generalized advantages (Schulman et al. 2016) of rows in order of time.

    ``following`` (int64[n]) is the row of the same seat's next decision, -1 at the end of its hand and -2 while the
    hand goes on; ``rewards`` and ``values`` are float32[n]. Written are ``advantages`` (float32[n]) and ``whole``
    (bool[n]): whether the hand of the row has come to its end; without, an advantage means nothing.
    """
    for row in range(len(following) - 1, -1, -1):
        then = int(following[row])
        if then >= 0:
            ahead = discount * values[then] - values[row]
            advantages[row] = ahead + discount * decay * advantages[then]
            whole[row] = whole[then]
        else:
            advantages[row] = rewards[row] - values[row]
            whole[row] = then == NONE


@entry
def compact_rollout(kept: np.ndarray, following: np.ndarray, last: np.ndarray) -> int:
    """Number the ``kept`` (bool[n]) rows anew in ``following`` and in ``last`` (int64, any shape); how many there are.

    What follows a row that is kept is kept too.
    """
    numbers, n = np.full(len(kept), NONE, np.int64), 0
    for row in range(len(kept)):
        if kept[row]:
            numbers[row] = n
            n += 1
    for row in range(len(kept)):
        if kept[row]:
            then = int(following[row])
            following[numbers[row]] = numbers[then] if then >= 0 else then
    flat = last.reshape(-1)
    for at in range(len(flat)):
        if flat[at] >= 0:
            flat[at] = numbers[flat[at]]
    return n
