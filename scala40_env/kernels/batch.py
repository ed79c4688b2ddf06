"""Many games at once, one call a step: what the vector environments of `scala40_env.vector` are made of.

Game ``i`` of a batch has a record of the dtype ``GAME``, one of the dtype ``EPISODE`` beside it, and a row in each of
the buffers that the environment owns and the kernels write in place: ``observations`` and ``final`` (int8[games, size],
what is seen now, and what was seen last at the end of an episode) and ``masks`` (int8[games, actions]). ``layout`` says
where the parts of an observation lie (`observation`). Two forms share them:

- *self-play*: whoever is on move acts (`step_self_play`);
- *one learner*: a seat acts, the others are played from outside (by another kernel, or in Python) for as long as a game
  is among the ``pending``: `act` plays the learner's actions and says which games those are, then players move in them
  and `settle` says which are left, until none is.

A game stands as a scalar environment would: what happens in one never depends on those beside it.
"""

import numpy as np

from scala40_env.kernels.engine import apply_action, next_hand, start_match
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import legal_moves
from scala40_env.kernels.observation import observe
from scala40_env.kernels.phases import is_over
from scala40_env.kernels.random import philox
from scala40_env.kernels.rewards import CUSTOM, write_rewards
from scala40_env.kernels.state import CLOSED_NONE, MATCH_OVER, MAX_SEATS, NONE

__all__ = [
    "BOTH",
    "EPISODE",
    "PLAYS",
    "SETTLES",
    "act",
    "begin_all",
    "begin_self_play",
    "first_illegal",
    "settle",
    "step_self_play",
]

EPISODE = np.dtype(
    [
        # what the last step brought
        ("reward", "<f8"),  # to the learner; in self-play to who has acted
        ("paid", "<f8", (MAX_SEATS,)),  # to every seat, for the hand that has ended last
        ("carry", "<f8"),  # to the learner since its last decision, not handed over yet
        ("seat", "<i8"),  # who is on move; in a game of one learner that one
        ("terminated", "?"),
        ("truncated", "?"),
        ("illegal", "?"),  # whether the action was
        # the last hand of the episode that has ended
        ("winner", "i1"),
        ("hand_points", "<i4", (MAX_SEATS,)),
        ("scores", "<i4", (MAX_SEATS,)),
        ("closing", "i1"),
        # how episodes go, the same for all games of an environment
        ("whole_match", "i1"),
        ("autoreset", "i1"),  # whether the next episode begins as soon as one ends
        ("pays", "i1"),  # a number of `rewards`, or CUSTOM
        ("max_hands", "<i4"),  # truncates a match; 0: never
        ("illegal_reward", "<f8"),  # for an illegal action, which ends the episode
        ("rotates", "i1"),  # whether the learner's seat changes with every episode
        # where this one stands
        ("learner", "i1"),  # its seat; NONE in self-play
        ("decided", "i1"),  # whether the learner has had a decision in it
        ("reported", "i1"),  # whether the end of an episode was written in this step
        ("spare", "i1", (3,)),
    ],
    align=True,
)

#: What a call of `step_self_play` does: play the actions, settle the games after them (pay, deal, write), or both.
BOTH, PLAYS, SETTLES = range(3)

_GOES_ON, _TERMINATED, _TRUNCATED = range(3)
#: Streams of the generator that make the keys of the players, by seat; no shuffle of a hand counts so far.
_PLAYERS = 1 << 22
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


# ---------------------------------------------------------------------------------------------------------------------
# Seeds: one step of SplitMix64. NumPy warns of products that do not fit where the JIT is off, so they are put together
# from halves.


@kernel
def _plus(one: np.uint64, two: np.uint64) -> np.uint64:
    low = (one & _LOW) + (two & _LOW)
    high = (one >> _HALF) + (two >> _HALF) + (low >> _HALF)
    return (high & _LOW) << _HALF | (low & _LOW)


@kernel
def _times(one: np.uint64, two: np.uint64) -> np.uint64:
    low = (one & _LOW) * (two & _LOW)
    crossed = ((one >> _HALF) * (two & _LOW) & _LOW) + ((one & _LOW) * (two >> _HALF) & _LOW)
    return ((low >> _HALF) + crossed & _LOW) << _HALF | (low & _LOW)


@kernel
def _following_seed(seed: np.uint64) -> np.uint64:
    """The seed of the episode after the one with this seed (`scala40_env.aec.following_seed`)."""
    word = _plus(np.uint64(seed), np.uint64(0x9E3779B97F4A7C15))
    word = _times(word ^ (word >> np.uint64(30)), np.uint64(0xBF58476D1CE4E5B9))
    word = _times(word ^ (word >> np.uint64(27)), np.uint64(0x94D049BB133111EB))
    return word ^ (word >> np.uint64(31))


# ---------------------------------------------------------------------------------------------------------------------
# What both forms do


@kernel
def _present(g: Record, seat: int, layout: Records, observation: np.ndarray, mask: np.ndarray) -> None:
    """Write what a seat on move sees, and what it may do."""
    observe(g, seat, layout, observation)
    moves = np.empty(MOST_MOVES, np.int16)
    mask[:] = 0
    for at in range(legal_moves(g, moves)):
        mask[moves[at]] = 1


@kernel
def _is_legal(mask: np.ndarray, action: int) -> bool:
    return 0 <= action < len(mask) and mask[action] != 0


@entry
def first_illegal(actions: np.ndarray, masks: np.ndarray) -> int:
    """The first game whose action (int64[games]) is illegal by its mask, -1 if none is."""
    for i in range(len(actions)):
        if not _is_legal(masks[i], int(actions[i])):
            return i
    return NONE


@kernel
def _begin(games: Records, episodes: Records, i: int) -> None:
    e = episodes[i]
    e["decided"] = 0
    e["carry"] = 0.0
    start_match(games, i)


@kernel
def _begin_next(games: Records, episodes: Records, i: int) -> None:
    """Begin the episode after this one; its seed and the learner's seat follow from those before."""
    g, e = games[i], episodes[i]
    g["seed"] = _following_seed(g["seed"])
    if int(e["rotates"]):
        e["learner"] = (int(e["learner"]) + 1) % int(g["num_players"])
    _begin(games, episodes, i)


@kernel
def _pay(g: Record, e: Record) -> None:
    """Pay the hand that is over; where Python pays, it has done so."""
    if int(e["pays"]) != CUSTOM:
        write_rewards(int(e["pays"]), g, e["paid"])


@kernel
def _end_of_hand(g: Record, e: Record) -> int:
    """Whether the hand that is over ends the episode, and how.

    A hand that nobody could finish is cut off, not decided, and so is a match after ``max_hands``: these truncate.
    """
    if int(e["whole_match"]) == 0:
        return _TRUNCATED if int(g["closing"]) == CLOSED_NONE else _TERMINATED
    learner, most = int(e["learner"]), int(e["max_hands"])
    if int(g["phase"]) == MATCH_OVER or (learner != NONE and int(g["out"][learner]) != 0):
        return _TERMINATED
    return _TRUNCATED if most and int(g["hand_no"]) + 1 >= most else _GOES_ON


@kernel
def _clear_step(e: Record) -> None:
    """Forget what the step before has brought."""
    e["reward"] = 0.0
    e["terminated"] = False
    e["truncated"] = False
    e["illegal"] = False
    e["reported"] = 0
    for seat in range(MAX_SEATS):
        e["paid"][seat] = 0.0


@kernel
def _note_end(g: Record, e: Record, end: int) -> None:
    """Write that an episode has ended, and how its last hand did: the record goes on to the next."""
    e["winner"] = g["winner"]
    e["closing"] = g["closing"]
    for seat in range(MAX_SEATS):
        e["hand_points"][seat] = g["hand_points"][seat]
        e["scores"][seat] = g["scores"][seat]
    e["terminated"] = end == _TERMINATED
    e["truncated"] = end == _TRUNCATED
    e["reported"] = 1


# ---------------------------------------------------------------------------------------------------------------------
# Self-play


@kernel
def _settle_self_play(games: Records, episodes: Records, i: int, layout: Records, final: np.ndarray) -> None:
    """After the hand of game ``i``: pay, then deal the next one, or end the episode and begin another."""
    g, e = games[i], episodes[i]
    _pay(g, e)
    e["reward"] = e["paid"][int(e["seat"])]
    end = _end_of_hand(g, e)
    if end == _GOES_ON:
        next_hand(games, i)
        return
    _note_end(g, e, end)
    observe(g, int(e["seat"]), layout, final[i])
    _begin_next(games, episodes, i)


@entry
def step_self_play(
    games: Records,
    episodes: Records,
    stage: int,
    actions: np.ndarray,
    layout: Records,
    observations: np.ndarray,
    masks: np.ndarray,
    final: np.ndarray,
) -> int:
    """Play an action (int64[games]) in every game, each a legal one; returns how many episodes ended.

    ``stage``: BOTH, or for rewards of Python PLAYS and then, with ``paid`` written for the hands that are over,
    SETTLES. Where an episode ends the next one begins, and ``final`` is what who has acted sees at the end.
    """
    ended = 0
    for i in range(len(games)):
        g, e = games[i], episodes[i]
        if stage != SETTLES:
            _clear_step(e)
            apply_action(g, int(actions[i]))
        if stage == PLAYS:
            continue
        if is_over(g):
            _settle_self_play(games, episodes, i, layout, final)
            ended += int(e["reported"])
        e["seat"] = int(g["turn"])
        _present(g, int(g["turn"]), layout, observations[i], masks[i])
    return ended


@entry
def begin_self_play(
    games: Records,
    episodes: Records,
    follows: bool,
    layout: Records,
    observations: np.ndarray,
    masks: np.ndarray,
) -> None:
    """Begin an episode in every game, with the seed in its record or the one that ``follows`` it."""
    for i in range(len(games)):
        g, e = games[i], episodes[i]
        _clear_step(e)
        if follows:
            _begin_next(games, episodes, i)
        else:
            _begin(games, episodes, i)
        e["seat"] = int(g["turn"])
        _present(g, int(g["turn"]), layout, observations[i], masks[i])


# ---------------------------------------------------------------------------------------------------------------------
# One learner


@kernel
def _waits(g: Record, e: Record) -> bool:
    """Whether a game stands at a decision of its learner."""
    return not is_over(g) and int(g["turn"]) == int(e["learner"])


@kernel
def _decide(g: Record, e: Record, layout: Records, observation: np.ndarray, mask: np.ndarray) -> None:
    """The learner is on move: write what it sees, and what it got since it moved last."""
    if int(e["reported"]) == 0:  # otherwise this is the next episode's, and its reward comes with its first step
        e["reward"] = e["carry"]
        e["carry"] = 0.0
    e["decided"] = 1
    e["seat"] = int(e["learner"])
    _present(g, int(e["learner"]), layout, observation, mask)


@kernel
def _end_episode(
    games: Records,
    episodes: Records,
    i: int,
    end: int,
    layout: Records,
    observations: np.ndarray,
    masks: np.ndarray,
    final: np.ndarray,
) -> bool:
    """End the episode of game ``i``; whether another one has begun.

    One in which the learner never had a decision goes by unreported: it has no step that could bring its reward.
    """
    g, e = games[i], episodes[i]
    again = int(e["autoreset"]) != 0 or int(e["decided"]) == 0
    if int(e["decided"]):
        e["reward"] = e["carry"]
        _note_end(g, e, end)
        observe(g, int(e["learner"]), layout, final[i])
    if again:
        _begin_next(games, episodes, i)
    else:
        observations[i, :] = final[i]
        masks[i, :] = 0
    return again


@kernel
def _seat_players(g: Record, e: Record, seating: np.ndarray) -> None:
    """Seat the learner (0) and its opponents (1 and more), in order of play after it."""
    n, learner = int(g["num_players"]), int(e["learner"])
    for seat in range(n):
        seating[seat] = (seat - learner + n) % n


@kernel
def _write_keys(g: Record, keys: np.ndarray) -> None:
    """Write the keys (uint64, by seat) of the generators that the players of this hand get."""
    for seat in range(int(g["num_players"])):
        words = philox(g["seed"], int(g["hand_no"]), _PLAYERS + seat, 0)
        keys[seat] = np.uint64(words[0]) << _HALF | np.uint64(words[1])


@kernel
def _settle_hand(
    games: Records,
    episodes: Records,
    i: int,
    layout: Records,
    observations: np.ndarray,
    masks: np.ndarray,
    final: np.ndarray,
) -> bool:
    """After the hand of game ``i``: pay, then deal the next one or end the episode. Whether a hand has begun."""
    g, e = games[i], episodes[i]
    _pay(g, e)
    e["carry"] += e["paid"][int(e["learner"])]
    end = _end_of_hand(g, e)
    if end == _GOES_ON:
        next_hand(games, i)
        return True
    return _end_episode(games, episodes, i, end, layout, observations, masks, final)


@entry
def settle(
    games: Records,
    episodes: Records,
    pending: np.ndarray,
    n: int,
    seating: np.ndarray,
    keys: np.ndarray,
    lengths: np.ndarray,
    layout: Records,
    observations: np.ndarray,
    masks: np.ndarray,
    final: np.ndarray,
) -> int:
    """Go through the ``pending`` games (int64[games], the first ``n``), in which players have moved.

    Hands that are over are paid, episodes that are over ended, the next ones begun, and where the learner is on move
    its rows are written. Returns how many games wait for players: they are the first of ``pending`` then. Of those
    that began a hand ``seating`` (int64[games, seats]; 0 the learner, then the opponents), ``keys``
    (uint64[games, seats]) and ``lengths`` (int64[games], zeroed) are written.
    """
    left = 0
    for at in range(n):
        i = int(pending[at])
        g, e = games[i], episodes[i]
        if is_over(g):
            if not _settle_hand(games, episodes, i, layout, observations, masks, final):
                continue
            _new_hand(g, e, i, seating, keys, lengths)
        if _waits(g, e):
            _decide(g, e, layout, observations[i], masks[i])
        else:
            pending[left] = i
            left += 1
    return left


@kernel
def _new_hand(g: Record, e: Record, i: int, seating: np.ndarray, keys: np.ndarray, lengths: np.ndarray) -> None:
    """The players of game ``i`` begin a hand."""
    _seat_players(g, e, seating[i])
    _write_keys(g, keys[i])
    lengths[i] = 0


@entry
def begin_all(
    games: Records,
    episodes: Records,
    follows: bool,
    pending: np.ndarray,
    seating: np.ndarray,
    keys: np.ndarray,
    lengths: np.ndarray,
) -> None:
    """Begin an episode in every game, with the seed in its record or the one that ``follows`` it. All are pending."""
    for i in range(len(games)):
        _clear_step(episodes[i])
        if follows:
            _begin_next(games, episodes, i)
        else:
            _begin(games, episodes, i)
        _new_hand(games[i], episodes[i], i, seating, keys, lengths)
        pending[i] = i


@entry
def act(
    games: Records,
    episodes: Records,
    actions: np.ndarray,
    pending: np.ndarray,
    seating: np.ndarray,
    keys: np.ndarray,
    lengths: np.ndarray,
    layout: Records,
    observations: np.ndarray,
    masks: np.ndarray,
    final: np.ndarray,
) -> int:
    """Play the action (int64[games]) of every learner; returns how many games are ``pending`` afterwards.

    Where a learner stays on move its rows are written at once. An illegal action ends the episode, at the price of
    ``illegal_reward``.
    """
    n = 0
    for i in range(len(games)):
        g, e = games[i], episodes[i]
        _clear_step(e)
        if _is_legal(masks[i], int(actions[i])):
            apply_action(g, int(actions[i]))
        else:
            e["illegal"] = True
            e["carry"] += e["illegal_reward"]
            if not _end_episode(games, episodes, i, _TERMINATED, layout, observations, masks, final):
                continue
            _new_hand(g, e, i, seating, keys, lengths)
        if _waits(g, e):
            _decide(g, e, layout, observations[i], masks[i])
        else:
            pending[n] = i
            n += 1
    return n
