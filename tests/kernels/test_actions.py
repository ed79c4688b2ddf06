"""The action table in the kernels: every id is read as the table says, and is legal somewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from scala40_env import Game, Rules
from scala40_env.kernels import actions
from scala40_env.kernels.engine import apply_action
from scala40_env.kernels.islands import MOST_MOVES
from scala40_env.kernels.jit import Record, Records, entry, kernel
from scala40_env.kernels.legality import legal_moves
from scala40_env.kernels.playout import go_on
from scala40_env.kernels.random import below, philox
from scala40_env.kernels.state import RUN
from scala40_env.rules.cards import parse_cards
from scala40_env.rules.melds import Meld, format_meld, read_meld
from scala40_env.rules.moves import (
    ATTACH_HIGH,
    ATTACH_LOW,
    BUY,
    JOKER_HIGH,
    JOKER_LOW,
    MAX_MELDS,
    MELD_ACTIONS,
    NUM_ACTIONS,
    NUM_ACTIONS_EXTENDED,
    PASS,
    SLOTS,
    SWAP,
    slot_action,
    slot_of,
)
from tests.walks import RULE_SETS, started

# ---------------------------------------------------------------------------------------------------------------------
# Decoding


@entry
def decode(action: int, out: np.ndarray) -> None:
    """What the kernels read out of an action, whatever it is (int64[10])."""
    out[0], out[1], out[2] = actions.is_meld(action), actions.is_attach(action), actions.is_swap(action)
    out[3] = actions.slot_of(action) if out[1] or out[2] else -1
    out[4] = actions.swapped_joker(action) if out[2] else -1
    out[5] = actions.jokers_of(action)
    if out[0]:
        out[6], out[7], out[8], out[9] = actions.meld_of(action)


def decoded(action: int) -> list[int]:
    out = np.full(10, -1, np.int64)
    decode(action, out)
    return out.tolist()


def expected(action: int) -> list[int]:
    """The same by the table of `rules.moves`."""
    meld, on_meld = MELD_ACTIONS.get(action), slot_of(action)
    slot, what = on_meld or (-1, -1)
    swap = what >= SWAP
    head = [meld is not None, bool(on_meld) and not swap, swap, slot, what - SWAP if swap else -1]
    if meld is None:
        return [*map(int, head), int(what in (JOKER_LOW, JOKER_HIGH)), -1, -1, -1, -1]
    kind = RUN if meld.is_run else RUN + 1
    return [*map(int, head), meld.jokers.bit_count(), kind, meld.key, meld.cells, meld.jokers]


def test_every_action_is_read_as_the_table_says() -> None:
    for action in range(NUM_ACTIONS_EXTENDED):
        assert decoded(action) == expected(action), action


# ---------------------------------------------------------------------------------------------------------------------
# Every action is legal somewhere: those that are not about melds on the table, in random games


@kernel
def _pick(seed: int, at: int, moves: np.ndarray, n: int) -> int:
    """A random move: every other time one to the table, if there is one."""
    words = philox(seed, 1, 0, at)
    start = below(words[0], n)
    if words[1] & 1:
        for step in range(n):
            action = int(moves[(start + step) % n])
            if action >= SLOTS:
                return action
    return int(moves[start])


@entry
def collect(games: Records, i: int, decisions: int, seed: int, seen: np.ndarray) -> None:
    """Play on at random and count how often each action is legal (int64[1045])."""
    moves = np.empty(MOST_MOVES, np.int16)
    g: Record = games[i]
    for at in range(decisions):
        go_on(games, i)
        n = legal_moves(g, moves)
        for k in range(n):
            seen[moves[k]] += 1
        apply_action(g, _pick(seed, at, moves, n))


def seen_in_play(sets: list[Rules], decisions: int) -> np.ndarray:
    seen = np.zeros(NUM_ACTIONS_EXTENDED, np.int64)
    for seed, rules in enumerate(sets):
        collect(started(rules, seed), 0, decisions, seed, seen)
    return seen


def not_on_melds(most: int) -> set[int]:
    """The actions below `most` that are not about a meld on the table."""
    return {action for action in range(most) if slot_of(action) is None}


WIDE = Rules.fisca(num_players=3, max_jokers_per_meld=4, min_naturals_per_meld=1, opening_points=0, buying=True)


@pytest.mark.jit
def test_all_draws_discards_and_melds_come_up_in_play() -> None:
    """Under the federation's rules every one of the small space, under wide ones also those of the large space."""
    seen = seen_in_play([Rules.fisca(num_players=2)], 300_000)
    assert not not_on_melds(NUM_ACTIONS) - set(np.flatnonzero(seen).tolist())
    assert seen[NUM_ACTIONS:].sum() == 0
    seen = seen_in_play([WIDE], 300_000)
    assert not not_on_melds(NUM_ACTIONS_EXTENDED) - set(np.flatnonzero(seen).tolist())


@pytest.mark.jit
def test_no_rule_set_leaves_its_space() -> None:
    for rules in RULE_SETS:
        large = seen_in_play([rules], 2000)[NUM_ACTIONS:]
        if rules.max_jokers_per_meld == 1:
            assert large[: BUY - NUM_ACTIONS].sum() == 0
        if not rules.buying:
            assert large[BUY - NUM_ACTIONS : PASS + 1 - NUM_ACTIONS].sum() == 0


# ---------------------------------------------------------------------------------------------------------------------
# The melds on the table: a meld in every slot, on tables as full as they can be


def tiled(pack: Counter[int]) -> list[Meld] | None:
    """All of these natural cards in melds of three (aces low), or None."""

    @cache
    def search(rank: int, left: tuple[tuple[int, ...], ...]) -> tuple[Meld, ...] | None:
        if rank == 13:
            return ()
        for runs in _runs_at(rank, left):
            after = tuple(
                tuple(n - runs[suit] * (rank <= r < rank + 3) for r, n in enumerate(left[suit])) for suit in range(4)
            )
            sets = _sets_of([after[suit][rank] for suit in range(4)])
            if sets is None:
                continue
            rest = search(rank + 1, tuple((*row[:rank], 0, *row[rank + 1 :]) for row in after))
            if rest is not None:
                laid = [Meld("run", suit, 7 << rank) for suit in range(4) for _ in range(runs[suit])]
                return (*laid, *(Meld("set", rank, cells) for cells in sets), *rest)
        return None

    found = search(0, tuple(tuple(pack[suit * 13 + rank] for rank in range(13)) for suit in range(4)))
    return None if found is None else list(found)


def _runs_at(rank: int, left: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
    """How many runs of three may begin at a rank, by suit."""
    most = [min(row[rank : rank + 3]) if rank <= 10 else 0 for row in left]
    for word in range(81):
        runs = tuple(word // 3**suit % 3 for suit in range(4))
        if all(number <= bound for number, bound in zip(runs, most, strict=True)):
            yield runs


def _sets_of(counts: list[int]) -> list[int] | None:
    """Sets of three that use up exactly these numbers of cards of the four suits."""
    if sum(counts) == 0:
        return []
    suits = sorted(range(4), key=lambda suit: -counts[suit])[:3]
    if sum(counts) % 3 or not all(counts[suit] for suit in suits):
        return None
    rest = _sets_of([count - (suit in suits) for suit, count in enumerate(counts)])
    return None if rest is None else [sum(1 << suit for suit in suits), *rest]


#: For each thing that can be done to a meld: the meld, the hand that can do it, other melds that hold jokers, and the
#: cards of the other seat. The rest of the pack lies on the table in threes, so that no table could have more melds.
CASES = {
    ATTACH_LOW: ("5s 6s 7s", "4s *", ["4h 5h *6h", "9c Tc *Jc"], "*"),
    ATTACH_HIGH: ("5s 6s 7s", "8s *", ["2h 3h *4h", "9c Tc *Jc"], "*"),
    JOKER_LOW: ("5s 6s 7s", "* *", ["4h 5h *6h", "9c Tc *Jc"], "4d"),
    JOKER_HIGH: ("5s 6s 7s", "* *", ["4h 5h *6h", "9c Tc *Jc"], "4d"),
    SWAP: ("5s *6s 7s", "6s *", ["2h 3h *4h"], "*"),
    SWAP + 1: ("7s *7h *7d", "7d *", [], "*"),
    SWAP + 2: ("4s *5s *6s *7s", "7s", [], "*"),
    SWAP + 3: ("4s *5s *6s *7s *8s", "8s", [], "3h 7d Tc"),
}
#: 36 melds are all 108 cards: nobody would hold one to play. And a meld with four jokers has five cards, so that 35
#: melds with such a one leave a single card, but two players hold one each.
NEVER_LEGAL = {slot_action(35, what) for what in CASES} | {slot_action(34, SWAP + 3)}

FEDERAL = Rules.fisca(num_players=2)
HOUSE = FEDERAL.replace(max_jokers_per_meld=4, min_naturals_per_meld=1, recovered_joker="keep")


def other_melds(what: int) -> list[str]:
    """All melds of the table but the one of the case."""
    meld, hand, others, other_hand = CASES[what]
    pack = Counter(dict.fromkeys(range(52), 2))
    for text in (hand.replace("*", ""), other_hand.replace("*", "")):
        pack.subtract(parse_cards(text))
    for text in [meld, *others]:
        pack.subtract(card.card for card in read_meld(text).cards() if not card.is_joker)
    rest = tiled(pack)
    assert rest is not None
    return [*others, *map(format_meld, rest)]


def in_slot(what: int, slot: int, others: list[str]) -> Game:
    """The position of a case with its meld in this slot."""
    meld, hand, _, other_hand = CASES[what]
    rules = HOUSE if what > SWAP else FEDERAL
    table = [*others[:slot], meld, *others[slot:]]
    position = {"rules": rules.to_dict(), "turn": 0, "phase": "play", "hands": [hand, other_hand], "table": table}
    return Game.from_position({**position, "opened": [True, True]})


@pytest.mark.parametrize("what", CASES)
def test_whatever_is_done_to_melds_is_legal_in_every_slot(what: int) -> None:
    others = other_melds(what)
    for slot in range(len(others) + 1):
        action = slot_action(slot, what)
        game = in_slot(what, slot, others)
        assert action in game.legal_actions()
        assert game.play_action(action)
    assert [slot_action(slot, what) for slot in range(len(others) + 1, MAX_MELDS)] == sorted(
        action for action in NEVER_LEGAL if (slot_of(action) or (0, 0))[1] == what
    )


@pytest.mark.jit
def test_what_can_never_be_legal_never_is() -> None:
    seen = sum(seen_in_play([rules], 3000) for rules in RULE_SETS)
    assert not seen[sorted(NEVER_LEGAL)].any()
