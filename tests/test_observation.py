"""Observations: every part against plain Python, bounds, symmetry of the seats, and nothing hidden in them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from scala40_env import BadPosition, Game, Rules, View
from scala40_env.kernels.observation import (
    PARTS,
    SLOT_FEATURES,
    SMALL_RULES,
    WIDE_RULES,
    write_observation,
    write_state,
)
from scala40_env.kernels.state import GAME, MAX_MELDS, PHASES
from scala40_env.observation import Schema, schema_of, state_schema_of
from scala40_env.rules.cards import JOKER, parse_card, rank_of, suit_of
from scala40_env.rules.config import PRESET_MAX_PLAYERS, PRESETS
from scala40_env.rules.melds import Meld, read_meld
from scala40_env.rules.position import from_position
from scala40_env.rules.reading import Games, hand_of, number, numbers, pozzo_of, stock_of, threw_of, took_of
from tests.constructed import Maker
from tests.kernels.test_seats import rotated
from tests.rules.test_view import RULES as HIDING
from tests.rules.test_view import reshuffled
from tests.test_imports import modules_after
from tests.walks import fewer, walk

Parts = dict[str, Any]

RULES = [
    *(
        Rules.from_preset(preset, num_players=n)
        for preset in PRESETS
        for n in range(2, PRESET_MAX_PLAYERS.get(preset, 6) + 1)
    ),
    Rules.fisca(num_players=3, max_jokers_per_meld=4, min_naturals_per_meld=1, max_run_length=6, reentries=None),
    Rules.scala_quaranta(num_players=4, team_size=2, buying=True, opening_points=100, limit=1000),
    Rules.casa(num_players=6, hand_size=5, opening_points=10, limit=40, reentries=2),
    Rules.megajogos(num_players=2, hand_size=4, opening_points=0, match="hands", num_hands=1000, limit=30),
]


def name_of(rules: Rules) -> str:
    return f"{rules.preset}-{rules.num_players}-{rules.max_jokers_per_meld}-{rules.limit}"


every_rule_set = pytest.mark.parametrize("rules", RULES, ids=name_of)


def observed(games: Games, seat: int, rules: Rules) -> np.ndarray:
    out = schema_of(rules).empty()
    write_observation(games, 0, seat, schema_of(rules).layout, out)
    return out


# ---------------------------------------------------------------------------------------------------------------------
# The same in plain Python, from a view


def grid(cards: Iterable[int | str]) -> np.ndarray:
    """A plane with these cards marked, aces at both ends; jokers are passed over."""
    plane = np.zeros((4, 14), np.int8)
    for each in cards:
        card = parse_card(each) if isinstance(each, str) else each
        if card != JOKER:
            plane[suit_of(card), rank_of(card)] = 1
            if rank_of(card) == 0:
                plane[suit_of(card), 13] = 1
    return plane


def held(cards: Iterable[int | str]) -> list[np.ndarray]:
    """Two planes: cards there at least once, and twice."""
    counts = Counter(cards)
    return [grid(counts), grid(card for card, count in counts.items() if count == 2)]


def one_hot(length: int, *places: int) -> list[int]:
    return [int(at in places) for at in range(length)]


def place(meld: Meld, cell: int | None) -> int:
    """The place of a cell of a meld in the grid, from 1."""
    if cell is None:
        return 0
    return meld.key * 14 + cell + 1 if meld.is_run else cell * 14 + meld.key + 1


def ends(meld: Meld, rules: Rules) -> tuple[int | None, int | None]:
    """The cells where a meld can grow: below and above a run, or the missing suit."""
    if not meld.is_run:
        return meld.open_ends()[0], None
    return meld.open_ends() if meld.size < rules.max_run_length else (None, None)


def attaching(meld: Meld, rules: Rules) -> list[int]:
    """The cards that a meld accepts."""
    return [meld.card_at(cell) for cell in ends(meld, rules) if cell is not None and not meld.would_be_second_ace(cell)]


def replacing(meld: Meld) -> list[int]:
    """The cards that could take the place of one of its jokers."""
    jokers = [cell for cell in meld.filled() if meld.has_joker_at(cell)]
    return [meld.card_at(cell) for cell in jokers if not meld.would_be_second_ace(cell)]


def takes_joker(meld: Meld, rules: Rules) -> bool:
    return meld.jokers.bit_count() < rules.max_jokers_per_meld and ends(meld, rules) != (None, None)


def slot(meld: Meld, at: int, view: View) -> list[int]:
    """The features of a meld."""
    jokers = [place(meld, cell) for cell in meld.filled() if meld.has_joker_at(cell)]
    low, high = ends(meld, view.rules)
    features = {
        "run": meld.is_run,
        "set": not meld.is_run,
        "size": meld.size,
        "jokers": len(jokers),
        "new": at in view.this_turn["new_melds"],
        "swapped": at in view.this_turn["swapped_melds"],
        "accepts_joker": takes_joker(meld, view.rules),
        "first": place(meld, meld.low),
        "last": place(meld, meld.high),
        "low": place(meld, low),
        "high": place(meld, high),
        **{f"joker_{k + 1}": where for k, where in enumerate([*jokers, 0, 0, 0, 0][:4])},
    }
    assert tuple(features) == SLOT_FEATURES
    return [int(value) for value in features.values()]


def expected_table(view: View) -> Parts:
    rules, melds = view.rules, [read_meld(text) for text in view.table]
    naturals = [card.card for meld in melds for card in meld.cards() if not card.is_joker]
    rows = [slot(meld, at, view) for at, meld in enumerate(melds, 1)]
    return {
        "table": held(naturals),
        "table_jokers": [grid(card.card for meld in melds for card in meld.cards() if card.is_joker)],
        "attaches": [grid(card for meld in melds for card in attaching(meld, rules))],
        "replaces": [grid(card for meld in melds for card in replacing(meld))],
        "attaches_joker": [any(takes_joker(meld, rules) for meld in melds)],
        "slots": [*rows, *[[0] * len(SLOT_FEATURES)] * (MAX_MELDS - len(rows))],
    }


def expected_cards(view: View) -> Parts:
    """The pozzo, and what is owed or barred."""
    parts: Parts = {"pozzo": held(view.pozzo), "pozzo_jokers": [view.pozzo.count("*")]}
    single = {"pozzo_top": view.pozzo[-1] if view.pozzo else None}
    single |= {"owed": view.this_turn["pozzo_card"], "barred": view.this_turn["barred_card"]}
    for name, card in single.items():
        parts |= {name: [grid([card] if card else [])], f"{name}_joker": [card == "*"]}
    return parts


def expected_history(view: View, order: list[int]) -> Parts:
    known, threw, took = (
        [each[seat] if seat not in view.out else () for seat in order] for each in (view.known, view.threw, view.took)
    )
    return {
        "known": [plane for cards in known for plane in held(cards)],
        "threw": [grid(cards) for cards in threw],
        "took": [grid(cards) for cards in took],
        "known_jokers": [cards.count("*") for cards in known],
        "threw_joker": ["*" in cards for cards in threw],
        "took_joker": ["*" in cards for cards in took],
    }


def expected_seats(view: View, order: list[int]) -> Parts:
    games, over = view.state, view.phase in ("hand_over", "match_over")

    def by_seat(values: Iterable[int | bool]) -> list[int]:
        listed = [min(int(value), 127) for value in values]
        return [0 if seat in view.out else listed[seat] for seat in order]

    return {
        "turn": one_hot(len(order), *([] if over else [order.index(view.turn)])),
        "mover": one_hot(len(order), order.index(number(games, "mover"))),
        "dealer": one_hot(len(order), order.index(view.dealer)),
        "hand_sizes": by_seat(view.hand_sizes),
        "opened": by_seat(view.opened),
        "out": [seat in view.out for seat in order],
        "scores": by_seat(max(100 * score // view.rules.limit, -127) for score in view.scores),
        **{name: by_seat(numbers(games, name)) for name in ("reentries_used", "hands_won", "unopened_hands")},
    }


def expected_numbers(view: View) -> Parts:
    games, rules, done = view.state, view.rules, view.this_turn
    over = view.phase in ("hand_over", "match_over")
    opened = over or view.opened[view.turn]
    seats_in = number(games, "seats_in")
    return {
        "phase": one_hot(len(PHASES), PHASES.index(view.phase)),
        "recovered_jokers": [done["recovered_jokers"]],
        "laid_points": [min(done["opening_points"], 127)],
        "laid_natural_points": [min(done["natural_points"], 127)],
        "points_needed": [0 if opened else min(max(rules.opening_points - done["opening_points"], 0), 127)],
        "touched_table": [done["touched_table"]],
        "may_close": [rules.first_lap_closing or view.turns_played >= seats_in],
        "lap": [min(view.turns_played // seats_in, 127)],
        "stock_size": [view.stock_size],
        "pozzo_size": [len(view.pozzo)],
        "reshuffles": [number(games, "shuffles")],
        "hands_played": [min(number(games, "hand_no"), 127)],
        "rules": [squeezed(rules.encode()[name]) for name in (*SMALL_RULES, *WIDE_RULES)],
    }


def squeezed(value: int) -> int:
    """Numbers from 64 on: four steps for each doubling."""
    if value < 64:
        return value
    steps = [
        (2**power * (4 + quarter) // 4, 4 * (power - 6) + quarter) for power in range(6, 20) for quarter in range(4)
    ]
    return 64 + max(step for start, step in steps if start <= value)


def expected_public(view: View, first: int) -> Parts:
    """All that everybody sees, the seats counted from `first` on."""
    n = view.rules.num_players
    order = [(first + k) % n for k in range(n)]
    return {
        **expected_cards(view),
        **expected_table(view),
        **expected_history(view, order),
        **expected_seats(view, order),
        **expected_numbers(view),
    }


def expected(view: View) -> Parts:
    private = {"hand": held(view.hand), "hand_jokers": [view.hand.count("*")], "on_move": [view.on_move]}
    return {**private, **expected_public(view, view.seat)}


def check(schema: Schema, vector: np.ndarray, parts: Parts) -> None:
    """A vector is made of exactly these parts."""
    found = schema.split(vector)
    assert set(found) == set(parts)
    for name, values in parts.items():
        np.testing.assert_array_equal(found[name], np.array(values, np.int8), err_msg=name)


# ---------------------------------------------------------------------------------------------------------------------
# Positions


def spots(rules: Rules, decisions: int, every: int) -> Iterator[Games]:
    """Positions of random play, and some made up."""
    for step, (games, actions) in enumerate(walk(rules, 6, decisions, 0.9)):
        if step % every == 0 or actions is None:
            yield games
    for seed in range(decisions // every):
        try:
            yield from_position(Maker(rules, random.Random(seed)).position())
        except BadPosition:  # a dead end
            continue


@every_rule_set
def test_every_part_is_what_plain_python_makes_of_a_view(rules: Rules) -> None:
    schema, rng = schema_of(rules), random.Random(3)
    low, high = schema.bounds
    for games in spots(rules, fewer(180), 6):
        seat = rng.randrange(rules.num_players)
        vector = observed(games, seat, rules)
        check(schema, vector, expected(View.of(games, seat, rules)))
        assert (low <= vector).all() and (vector <= high).all()


@pytest.mark.jit
def test_every_part_says_something_somewhere() -> None:
    """No part is zero in all positions looked at, nor any feature of a meld, but for what has a test of its own."""
    parts, features = set(), np.zeros(len(SLOT_FEATURES), bool)
    chosen = [rules for rules in RULES if rules.num_players in (2, 3)] + RULES[-4:]
    for rules in [*chosen, Rules.megajogos(num_players=3, hand_size=5, opening_points=0)]:
        for games in spots(rules, 700, 7):
            found = schema_of(rules).split(observed(games, number(games, "turn"), rules))
            parts |= {name for name, values in found.items() if values.any()}
            features |= found["slots"].any(0)
    assert set(found) - parts <= {"owed_joker", "barred_joker", "took_joker"}
    assert features[:-1].all()


def test_jokers_in_the_pozzo() -> None:
    """An upturned joker: taken just so it is barred, and by who has opened it is owed."""
    rules = {"preset": "megajogos", "num_players": 2, "pozzo_card": "use"}
    start = {
        "rules": rules,
        "turn": 0,
        "phase": "draw",
        "hands": ["2c Kd 9h 9d", "?5"],
        "pozzo": "*",
        "turns_played": 0,
    }
    game = Game.from_position(start)
    schema = schema_of(game.rules)
    parts = schema.split(schema.observe(game.view(1)))
    assert (parts["pozzo_jokers"], parts["pozzo_top_joker"]) == (1, 1)
    parts = schema.split(schema.observe(game.play("pozzo").view(1)))
    assert (parts["barred_joker"], parts["owed_joker"], parts["pozzo_jokers"]) == (1, 0, 0)
    assert parts["took_joker"].tolist() == parts["known_jokers"].tolist() == [0, 1]
    opened = {**start, "turns_played": 9, "opened": [True, False], "table": ["5s 6s 7s"]}
    parts = schema.split(schema.observe(Game.from_position(opened).play("pozzo").view(0)))
    assert (parts["barred_joker"], parts["owed_joker"]) == (0, 1)
    assert parts["took_joker"].tolist() == [1, 0]


def test_a_meld_of_four_jokers() -> None:
    rules = Rules.fisca(num_players=2, max_jokers_per_meld=4, min_naturals_per_meld=1)
    start = {"rules": rules.to_dict(), "turn": 0, "phase": "play", "hands": ["2c 3c", "?5"], "opened": [True, True]}
    view = Game.from_position({**start, "table": ["*3h *4h 5h *6h *7h"]}).view(0)
    row = schema_of(rules).split(schema_of(rules).observe(view))["slots"][0]
    features = dict(zip(SLOT_FEATURES, row.tolist(), strict=True))
    assert (features["jokers"], features["size"], features["accepts_joker"]) == (4, 5, 0)
    assert [features[f"joker_{k}"] for k in range(1, 5)] == [14 + rank for rank in (3, 4, 6, 7)]


def test_an_ace_is_at_both_ends_and_a_run_says_where_it_lies() -> None:
    position = {
        "rules": {"preset": "casa", "num_players": 2},
        "turn": 0,
        "phase": "play",
        "hands": ["Ah 2c 3c", "?5"],
        "opened": [True, True],
        "table": ["Qs *Ks As", "2d 3d 4d", "Ah Ad Ac"],
    }
    schema = schema_of(Rules.casa(num_players=2))
    parts = schema.split(schema.observe(Game.from_position(position).view(0)))
    assert parts["hand"][0, 1].tolist() == one_hot(14, 0, 13)
    first, second, third = (dict(zip(SLOT_FEATURES, row.tolist(), strict=True)) for row in parts["slots"][:3])
    assert (first["first"], first["last"], first["low"], first["high"], first["joker_1"]) == (12, 14, 11, 0, 13)
    assert (second["low"], second["high"]) == (2 * 14 + 1, 2 * 14 + 5)
    assert (third["first"], third["last"], third["low"], third["high"]) == (14 + 1, 3 * 14 + 1, 1, 0)
    assert parts["attaches"][0, 0].tolist() == one_hot(14, 0, 10, 13)


# ---------------------------------------------------------------------------------------------------------------------
# Seats, and what they may see


@every_rule_set
def test_seats_see_the_same_from_where_they_sit(rules: Rules) -> None:
    for games in spots(rules, fewer(120), 20):
        for by in range(1, rules.num_players):
            turned = rotated(games, by)
            assert (observed(games, 0, rules) == observed(turned, by, rules)).all()


@pytest.mark.parametrize("rules", [*HIDING, RULES[-2]], ids=name_of)
def test_no_hidden_card_changes_an_observation(rules: Rules) -> None:
    """In every phase, finished hands and buying too; and a view gives the same as the game."""
    rng, phases = random.Random(5), Counter[str]()
    for step, (games, actions) in enumerate(walk(rules, 21, fewer(600), 0.9)):
        phase = PHASES[number(games, "phase")]
        if step % 5 and actions is not None and phase != "buy":
            continue
        phases[phase] += 1
        for seat in range(rules.num_players):
            vector = observed(games, seat, rules)
            assert vector.tobytes() == observed(reshuffled(games, seat, rng), seat, rules).tobytes()
            assert vector.tobytes() == schema_of(rules).observe(View.of(games, seat, rules)).tobytes()
    assert {"draw", "play", "hand_over"} <= set(phases)
    assert rules.buying == ("buy" in phases)


def test_the_check_for_leaks_bites() -> None:
    """The same twins do change what is not hidden from somebody: the hand of another seat, and the state."""
    rng, rules = random.Random(2), Rules.fisca(num_players=3)
    games = next(walk(rules, 4, 1))[0]
    twin = reshuffled(games, 0, rng)
    assert (observed(games, 1, rules) != observed(twin, 1, rules)).any()
    assert (state_of(games, rules) != state_of(twin, rules)).any()


PUBLIC: list[tuple[str, Any, int, set[str]]] = [
    ("scores", 1, 50, {"scores"}),
    ("opened", 1, 1, {"opened"}),
    ("hand_n", 2, 5, {"hand_sizes"}),
    ("threw", 1, 1 << 15 | 4, {"threw", "threw_joker"}),
    ("took", 1, 1 << 15 | 4, {"took", "took_joker"}),
    ("known_one", 2, 1 << 50, {"known"}),
    ("known_two", 2, 1 << 50, {"known"}),
    ("known_jokers", 1, 2, {"known_jokers"}),
    ("hands_won", 1, 200, {"hands_won"}),
    ("unopened_hands", 1, 3, {"unopened_hands"}),
    ("reentries_used", 1, 3, {"reentries_used"}),
    ("owed_card", (), 51, {"owed"}),
    ("barred_card", (), 52, {"barred_joker"}),
    ("recovered_jokers", (), 2, {"recovered_jokers"}),
    ("laid_points", (), 30, {"laid_points", "points_needed"}),
    ("laid_natural_points", (), 20, {"laid_natural_points"}),
    ("touched_table", (), 1, {"touched_table"}),
    ("stock_n", (), 9, {"stock_size"}),
    ("shuffles", (), 3, {"reshuffles"}),
    ("turns_played", (), 400, {"lap", "may_close"}),
    ("hand_no", (), 7, {"hands_played"}),
    ("dealer", (), 1, {"dealer"}),
    ("limit", (), 1000, {"rules"}),
    ("buying", (), 1, {"rules"}),
]


@pytest.mark.parametrize(("field", "at", "value", "changes"), PUBLIC, ids=[case[0] for case in PUBLIC])
def test_what_is_public_changes_its_parts_and_no_others(field: str, at: Any, value: int, changes: set[str]) -> None:
    rules = Rules.fisca(num_players=3)
    games = next(walk(rules, 4, 1))[0]
    games["dealer"] = 0
    other = games.copy()
    other[field][(0, at) if at != () else 0] = value
    found, after = (schema_of(rules).split(observed(each, 0, rules)) for each in (games, other))
    assert {name for name in found if (found[name] != after[name]).any()} == changes


def test_who_is_out_is_nothing_else() -> None:
    rules = Rules.fisca(num_players=3)
    position = {
        "turn": 0,
        "phase": "play",
        "hands": ["9s 8s", "", "?4"],
        "scores": [30, 120, 60],
        "rules": rules.to_dict(),
    }
    schema = schema_of(rules)
    parts = schema.split(schema.observe(Game.from_position(position).view(2)))
    assert parts["out"].tolist() == [0, 0, 1]
    assert parts["scores"].tolist() == [59, 29, 0]
    assert parts["hand_sizes"].tolist() == [4, 2, 0]


# ---------------------------------------------------------------------------------------------------------------------
# Who threw and took what


@pytest.mark.parametrize("rules", [*HIDING, RULES[-3]], ids=name_of)
def test_what_was_thrown_and_taken_is_remembered_for_the_hand(rules: Rules) -> None:
    seats = range(rules.num_players)
    threw, took = [Counter[int]() for _ in seats], [Counter[int]() for _ in seats]
    before: tuple[int, list[int], int] | None = None
    for games, actions in walk(rules, 2, fewer(800), 0.8):
        pozzo, shuffles = pozzo_of(games), number(games, "shuffles")
        if before is not None:
            seat, cards, shuffled = before
            if len(pozzo) > len(cards):
                threw[seat][pozzo[-1]] += 1
            if len(pozzo) == len(cards) - 1 and shuffles == shuffled:
                took[seat][cards[-1]] += 1
        for seat in seats:
            assert (threw_of(games, seat), took_of(games, seat)) == (sorted(threw[seat]), sorted(took[seat]))
        before = number(games, "turn"), pozzo, shuffles
        if actions is None:  # the next hand begins with nothing remembered
            before = None
            threw, took = [Counter() for _ in seats], [Counter() for _ in seats]


# ---------------------------------------------------------------------------------------------------------------------
# The state


def state_of(games: Games, rules: Rules) -> np.ndarray:
    out = state_schema_of(rules).empty()
    write_state(games, 0, state_schema_of(rules).layout, out)
    return out


@every_rule_set
def test_the_state_is_all_there_is(rules: Rules) -> None:
    schema, seats = state_schema_of(rules), range(rules.num_players)
    low, high = schema.bounds
    for games in spots(rules, fewer(100), 10):
        hands, stock = [hand_of(games, seat) for seat in seats], stock_of(games)
        parts = {
            "hand": [plane for hand in hands for plane in held(hand)],
            "hand_jokers": [hand.count(JOKER) for hand in hands],
            "stock_next": [grid(stock[-1:])],
            "stock_next_joker": [stock[-1:] == [JOKER]],
            **expected_public(View.of(games, 0, rules), 0),
        }
        vector = state_of(games, rules)
        check(schema, vector, parts)
        assert (low <= vector).all() and (vector <= high).all()


# ---------------------------------------------------------------------------------------------------------------------
# The schema


def schemas() -> list[Schema]:
    rules = [Rules.fisca(num_players=n) for n in range(2, 7)]
    return [*map(schema_of, rules), *map(state_schema_of, rules)]


@pytest.mark.parametrize("schema", schemas(), ids=repr)
def test_the_parts_fill_the_vector(schema: Schema) -> None:
    ordered = list(schema.slices.values())
    assert ordered[0].start == 0 and ordered[-1].stop == schema.size
    assert all(one.stop == two.start for one, two in pairwise(ordered))
    assert {name: int(schema.layout[PARTS.index(name)]) for name in schema.slices} == {
        name: each.start for name, each in schema.slices.items()
    }
    low, high = schema.bounds
    assert low.dtype == high.dtype == np.int8 and low.shape == high.shape == (schema.size,)
    assert (low <= 0).sum() > schema.size - 10 and (low <= high).all()


def test_the_kernels_write_the_parts_of_both_schemas_and_no_others() -> None:
    rules = Rules.fisca(num_players=2)
    assert set(PARTS) == set(schema_of(rules).slices) | set(state_schema_of(rules).slices)


def test_the_grids_are_one_image() -> None:
    rules = Rules.fisca(num_players=3)
    schema = schema_of(rules)
    games = next(walk(rules, 4, 1))[0]
    batch = np.stack([observed(games, seat, rules) for seat in range(3)])
    assert schema.planes(batch).shape == (3, schema.num_planes, 4, 14)
    assert (schema.planes(batch)[:, :2] == schema.split(batch)["hand"]).all()
    assert schema.planes(batch).max() == 1
    assert schema.num_planes == 12 + 4 * 3
    assert np.shares_memory(schema.planes(batch), batch) and np.shares_memory(schema.split(batch)["slots"], batch)
    assert schema.split(batch)["slots"].shape == (3, MAX_MELDS, len(SLOT_FEATURES))


def test_only_the_own_hand_is_private() -> None:
    schema = schema_of(Rules.fisca(num_players=2))
    assert {part.name for part in schema.parts if not part.public} == {"hand", "hand_jokers"}


def test_the_space() -> None:
    rules = Rules.casa(num_players=2)
    schema = schema_of(rules)
    space = schema.space()
    assert (space.shape, space.dtype) == ((schema.size,), np.int8)
    games = next(walk(rules, 4, 1))[0]
    vector = observed(games, 0, rules)
    assert space.contains(vector)
    for name, wrong in (("hand_jokers", 5), ("hand", -1), ("slots", 57), ("rules", 1 + 6)):
        spoilt = vector.copy()
        spoilt[schema.slices[name].start] = wrong
        assert not space.contains(spoilt)


def test_the_table_has_a_row_for_every_part() -> None:
    schema = schema_of(Rules.fisca(num_players=2))
    head, line, *rows = schema.table().split("\n")
    assert head.count("|") == line.count("|") == 7
    assert [row.split("`")[1] for row in rows] == [part.name for part in schema.parts]
    assert all(row.count("|") == 7 for row in rows)
    assert rows[0] == "| `hand` | 0 | 2 x 4 x 14 | 0 to 1 | its seat | own cards: held, held twice |"
    start = schema.slices["scores"].start
    assert f"| `scores` | {start} | 2 | -127 to 127 | all |" in schema.table()


def test_a_schema_is_made_once() -> None:
    assert schema_of(Rules.fisca(num_players=3)) is schema_of(Rules.casa(num_players=3, limit=500))
    assert state_schema_of(Rules.fisca(num_players=3)) is state_schema_of(Rules.casa(num_players=3))
    assert repr(schema_of(Rules.fisca(num_players=2))) == "<ObservationSchema for 2 players: 46 parts, int8[1748]>"


def test_schemas_need_no_gymnasium_but_for_the_space() -> None:
    code = "from scala40_env import Rules; from scala40_env.observation import schema_of; schema_of(Rules()).bounds"
    assert "gymnasium" not in modules_after(code)


def test_the_options_lie_in_two_rows_in_a_record() -> None:
    """The kernel reads them by number."""
    fields = GAME.fields
    assert fields is not None
    for names, width in ((SMALL_RULES, 1), (WIDE_RULES, 4)):
        start = fields[names[0]][1]
        assert [fields[name][1] for name in names] == [start + width * at for at in range(len(names))]
    assert sorted((*SMALL_RULES, *WIDE_RULES)) == sorted(Rules().encode())


def test_writing_in_place_touches_its_row_alone() -> None:
    rules = Rules.fisca(num_players=2)
    schema, games = schema_of(rules), next(walk(rules, 4, 1))[0]
    rows = np.full((3, schema.size + 1), 99, np.int8)
    schema.write(games, 0, 1, rows[1, : schema.size])
    assert (rows[1, :-1] == observed(games, 1, rules)).all()
    assert (rows[[0, 2]] == 99).all() and rows[1, -1] == 99
