"""The kernels agree with the twin of `reference/`: legal moves, and what every move does."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from scala40_env import BadPosition, Game, Rules
from scala40_env.rules.config import PRESETS
from tests.constructed import Maker, Position
from tests.reference import compare, complete, legal, turn
from tests.reference.compare import difference, position_of, random_rules, single_options
from tests.reference.options import Options
from tests.reference.positions import Board

SETS = single_options()
CHUNKS = range(12)
#: Positions that a chunk compares at least: 24 chunks of walks are 24,000.
POSITIONS = 1000


def agree(sets: Iterator[Rules], seed: int, positions: int, most: int) -> None:
    """Walk under these rules, one after the other, until so many positions were compared."""
    count = 0
    for at, rules in enumerate(sets):
        looked_at, wrong = difference(rules, seed + at, most)
        assert not wrong, f"{rules!r}, seed {seed + at}\n{wrong}"
        count += looked_at
        if count >= positions:
            return


def in_turn(sets: list[Rules]) -> Iterator[Rules]:
    while True:
        yield from sets


def at_random(seed: int) -> Iterator[Rules]:
    rng = random.Random(seed)
    while True:
        yield random_rules(rng)


@pytest.mark.jit
@pytest.mark.parametrize("chunk", CHUNKS)
def test_presets_and_single_options(chunk: int) -> None:
    agree(in_turn(SETS[chunk :: len(CHUNKS)]), 1000 * chunk, POSITIONS, 180)


@pytest.mark.jit
@pytest.mark.parametrize("chunk", CHUNKS)
def test_options_combined(chunk: int) -> None:
    agree(at_random(chunk), 50_000 + 1000 * chunk, POSITIONS, 120)


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.parametrize("chunk", range(40))
def test_many_more(chunk: int) -> None:
    agree(at_random(700 + chunk), 10_000_000 + 1000 * chunk, 10_000, 400)


def test_a_few_positions_with_the_jit_off_too() -> None:
    agree(in_turn(SETS[::7]), 5, 300, 40)


# ---------------------------------------------------------------------------------------------------------------------
# Constructed positions: legal moves only


def constructed_rules(rng: random.Random) -> Rules:
    """A preset, a combination, or the federation's rules with two to four jokers in a meld."""
    what = rng.random()
    if what < 0.3:
        return Rules.from_preset(rng.choice(list(PRESETS)), num_players=rng.randint(2, 4))
    if what < 0.6:
        return random_rules(rng).replace(match="elimination", team_size=1)
    return Rules.fisca(
        num_players=rng.randint(2, 3),
        max_jokers_per_meld=rng.randint(2, 4),
        min_naturals_per_meld=rng.randint(1, 2),
        recovered_joker=rng.choice(("new_or_other_meld", "new_or_any_meld", "new_meld", "keep")),
        opening_points=rng.choice((0, 20, 40)),
    )


def make(rng: random.Random) -> Position:
    """A position small enough for the brute force of the twin: few cards where jokers can go anywhere."""
    rules = constructed_rules(rng)
    most_jokers = rng.choice((0, 1, 1, 2, 3, 4))
    most_cards = {0: 14, 1: 13, 2: 10, 3: 8, 4: 7}[most_jokers]
    if rules.max_jokers_per_meld > 1 and most_jokers > 1:
        most_cards -= 1
    return Maker(rules, rng, most_cards, most_jokers).position()


def engine_and_twin(position: Position) -> tuple[list[str], list[str]] | None:
    """What each side calls legal; None for a position that could not be, for another reason than a dead end."""
    try:
        game = Game.from_position(position)
    except BadPosition as error:
        if "can't be ended" in str(error) or "nothing to draw" in str(error):
            return [], legal(complete(position))
        return None
    return game.legal_moves(), legal(position_of(game.state, game.rules))


def compare_constructed(seed: int, count: int) -> int:
    """Hold both sides against each other on so many positions; how many were possible ones."""
    rng, possible = random.Random(seed), 0
    for _ in range(count):
        position = make(rng)
        both = engine_and_twin(position)
        if both:
            possible += 1
            assert both[0] == both[1], f"{position}\nengine {both[0]}\ntwin   {both[1]}"
    return possible


@pytest.mark.jit
@pytest.mark.parametrize("chunk", CHUNKS)
def test_constructed_positions(chunk: int) -> None:
    assert compare_constructed(chunk, 200) > 150


def test_constructed_positions_with_the_jit_off_too() -> None:
    assert compare_constructed(99, 60) > 45


#: Corners far off the way of play, where a first version of the engine or of the twin was wrong.
CORNERS = {
    # Opened in this turn, a joker from the pozzo still owed to the new melds: it can't go to an older meld, though
    # another could be swapped for.
    "owed joker": {
        "rules": {"preset": "fisca", "num_players": 3, "opening_from_pozzo": True, "opening_points": 20}
        | {"recovered_joker": "keep"},
        "turn": 0,
        "phase": "play",
        "hands": ["6s 9h Jh Tc *", "?2", "?2"],
        "opened": [True, True, False],
        "table": ["7s 8s 9s", "7d 8d 9d"],
        "this_turn": {"new_melds": [2], "opening_points": 24, "natural_points": 24, "pozzo_card": "*"},
    },
    # The free upcard, with nothing but jokers in hand: no ban is lifted to make taking it legal.
    "only jokers": {
        "rules": {"preset": "fisca", "num_players": 2, "hand_size": 3, "first_player_free_upcard": True},
        "turn": 0,
        "phase": "draw",
        "turns_played": 0,
        "hands": ["* * *", "?3"],
        "pozzo": "8c",
    },
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners(name: str) -> None:
    """Positions that random play hardly ever meets."""
    both = engine_and_twin(CORNERS[name])
    assert both and both[0] == both[1]


# ---------------------------------------------------------------------------------------------------------------------
# Does the comparison bite? Planted in the twin, it has to find each of these


def no_attaching_ban(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(turn.TurnRules, "ban_applies", lambda law, opened: False)


def closing_on_the_first_lap(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(turn.TurnRules, "closing_allowed", property(lambda law: True))


def a_cheaper_joker(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Options, "joker_points", property(lambda options: 24))


def play_the_other_way_round(patch: pytest.MonkeyPatch) -> None:
    def seats_before(board: Board, seat: int) -> list[int]:
        count = board.options.num_players
        return [other for step in range(1, count) if (other := (seat - step) % count) in board.seats]

    patch.setattr(Board, "seats_after", seats_before)


def a_joker_goes_back_where_it_came_from(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(turn, "_takes_recovered", lambda mode, state, index: True)


BUGS = [
    no_attaching_ban,
    closing_on_the_first_lap,
    a_cheaper_joker,
    play_the_other_way_round,
    a_joker_goes_back_where_it_came_from,
]


def first_difference(sets: list[Rules], tries: int) -> str | None:
    for seed in range(tries):
        wrong = compare.difference(sets[seed % len(sets)], seed, 250)[1]
        if wrong:
            return wrong
    return None


@pytest.mark.jit
@pytest.mark.parametrize("plant", BUGS, ids=lambda plant: plant.__name__)
def test_a_planted_bug_is_found(plant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(plant)
    plant(monkeypatch)
    small = [Rules.fisca(num_players=3, hand_size=size, opening_points=10, limit=1000) for size in (3, 6)]
    assert first_difference([Rules.fisca(num_players=3), *small], 60)
