"""Melds as masks and as text."""

from itertools import combinations, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scala40_env.rules.cards import TableCard, format_card
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation, Scala40Error
from scala40_env.rules.melds import ACE_HIGH, Meld, can_lay, format_meld, parse_meld, read_meld

FISCA = Rules.fisca()
LOOSE = Rules(max_jokers_per_meld=4, min_naturals_per_meld=1)
TEN = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 11]


def runs(max_jokers):
    """Every run with up to so many jokers, written independently of the module: (text, Meld, position list)."""
    for suit, low in product(range(4), range(12)):
        for high in range(low + 2, 14):
            places = range(low, high + 1)
            for number in range(max_jokers + 1):
                for jokers in combinations(places, number):
                    if number == len(places) or (low == 0 and high == 13 and not {0, 13} & set(jokers)):
                        continue
                    text = " ".join("*" * (p in jokers) + "A23456789TJQKA"[p] + "shdc"[suit] for p in places)
                    yield text, Meld("run", suit, sum(1 << p for p in places), sum(1 << p for p in jokers)), places


def sets(max_jokers):
    """Every set with up to so many jokers."""
    for rank, size in product(range(13), (3, 4)):
        for suits in combinations(range(4), size):
            for number in range(min(max_jokers, size - 1) + 1):
                for jokers in combinations(suits, number):
                    text = " ".join("*" * (s in jokers) + "A23456789TJQK"[rank] + "shdc"[s] for s in suits)
                    yield text, Meld("set", rank, sum(1 << s for s in suits), sum(1 << s for s in jokers)), suits


RUNS = list(runs(1))
SETS = list(sets(4))


def test_every_run_round_trips():
    for text, meld, places in RUNS:
        assert parse_meld(text, FISCA) == meld
        assert format_meld(meld) == str(meld) == text
        assert (meld.low, meld.high, meld.size) == (places[0], places[-1], len(places))
        assert meld.points(FISCA) == sum(TEN[p] for p in places)


def test_runs_with_two_jokers_round_trip():
    for text, meld, _ in runs(2):
        assert parse_meld(text, LOOSE) == meld
        assert str(meld) == text


def test_every_set_round_trips_in_any_order():
    for text, meld, suits in SETS:
        for words in permutations(text.split()):
            assert parse_meld(" ".join(words), LOOSE) == meld
        assert format_meld(meld) == text
        assert meld.filled() == list(suits)
        assert meld.points(FISCA) == len(suits) * TEN[meld.key or ACE_HIGH]


def test_cards_are_in_the_order_written():
    assert read_meld("Qs *Ks As").cards() == [TableCard(11), TableCard(12, True), TableCard(0)]
    assert read_meld("7d *7h 7s").cards() == [TableCard(6), TableCard(19, True), TableCard(32)]


# The table of openings in rules.md.
OPENINGS = [
    (["Ks Kh Kd", "3s 4s 5s"], 42),
    (["Ks Kh Kd"], 30),
    (["Ts Th Td Tc"], 40),
    (["As Ah Ad"], 33),
    (["As Ah Ad Ac"], 44),
    (["Qh Kh Ah", "2c 3c 4c"], 40),
    (["Qh Kh Ah", "Ac 2c 3c"], 37),
    (["9c Tc Jc Qc"], 39),
    (["9c Tc Jc Qc Kc"], 49),
    (["Js Qs *Ks", "5h 6h 7h"], 48),
    (["4s 4h 4d", "3d 4d 5d 6d 7d"], 37),
]


@pytest.mark.parametrize(("melds", "points"), OPENINGS)
def test_openings_count_as_the_table_says(melds, points):
    assert sum(parse_meld(text, FISCA).points(FISCA) for text in melds) == points


@pytest.mark.parametrize(
    ("text", "points"), [("Js Qs Ks As", 50), ("As 2s 3s", 6), ("Ks Kh *Kd", 39), ("As Ah Ad Ac", 56), ("9c Tc Jc", 30)]
)
def test_ascending_courts(text, points):
    assert read_meld(text).points(Rules(court_values="ascending")) == points


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["3 cards or more", "0"]),
        ("5s 6s", ["5s 6s", "3 cards or more", "2"]),
        ("*5s *6s *7s", ["jokers only"]),
        ("9s 9s 9h", ["9s", "twice"]),
        ("9s *9s *9h", ["9s", "twice"]),
        ("7s 7h 7d 7c *7s", ["7s", "twice", "four cards at most"]),
        ("5d 6d 7h", ["7h", "neither", "one suit", "one rank"]),
        ("5s 6h 7d", ["6h", "neither"]),
        ("7s 7h 8h", ["8h", "neither"]),
        ("5s 6s *5h", ["*5h fits neither a run nor a set with 5s 6s"]),
        ("5s 7s 8s", ["7s after 5s", "6 belongs"]),
        ("7s 6s 5s", ["6s after 7s", "low to high"]),
        ("5s 6s 6s", ["6s after 6s"]),
        ("Ks As 2s", ["2s after As", "low", "high"]),
        ("As Ks Qs", ["Ks after As", "2 belongs"]),
        ("2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah 2h", ["2h after Ah"]),
        ("Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah", ["Ah", "twice", "two aces"]),
        ("Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh *Ah 2h", ["2h after *Ah"]),
        ("5s Xs 7s", ["'Xs'", "not a card"]),
        ("5s * 7s", ["'*'", "stands for"]),
        ("*5s *6s 7s", ["2 jokers", "at most 1", "max_jokers_per_meld"]),
    ],
)
def test_what_is_no_meld_is_refused_by_its_rule(text, words):
    with pytest.raises(BadNotation) as error:
        parse_meld(text, FISCA)
    assert [word for word in words if word not in str(error.value)] == []


def test_the_limits_are_options():
    short = Rules(max_run_length=5)
    assert parse_meld("As 2s 3s 4s 5s", short).size == 5
    with pytest.raises(BadNotation, match=r"6 cards.*at most 5 \(max_run_length\)"):
        parse_meld("As 2s 3s 4s 5s 6s", short)
    assert parse_meld("*5s *6s 7s *8s", Rules(max_jokers_per_meld=3)).jokers.bit_count() == 3


def test_naturals_count_only_when_three_are_laid():
    house = Rules(max_jokers_per_meld=2)
    meld = parse_meld("*5s *6s 7s", house)
    assert not can_lay(meld, house)
    assert can_lay(meld, Rules(max_jokers_per_meld=2, min_naturals_per_meld=1))
    assert can_lay(read_meld("5s *6s 7s"), FISCA)
    assert not can_lay(read_meld("*5s *6s 7s"), FISCA)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("5s 6s 7s", "4s", "8s"),
        ("2s 3s 4s", "As", "5s"),
        ("As 2s 3s", None, "4s"),
        ("Qs Ks As", "Js", None),
        ("Js Qs Ks", "Ts", "As"),
        ("7s 7h 7c", "7d", "7d"),
        ("7s *7h 7d 7c", None, None),
        ("*Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah", None, None),
    ],
)
def test_open_ends(text, low, high):
    meld = read_meld(text)
    assert tuple(None if cell is None else format_card(meld.card_at(cell)) for cell in meld.open_ends()) == (low, high)


@pytest.mark.parametrize(
    ("text", "cell", "second"),
    [
        ("2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh Ah", 0, True),
        ("2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh *Ah", 0, False),
        ("Ah 2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh", 13, True),
        ("2h 3h 4h", 0, False),
        ("Ah 2h 3h", 3, False),
        ("As Ad Ac", 1, False),
        ("2s 2h 2d", 3, False),
    ],
)
def test_second_ace(text, cell, second):
    assert read_meld(text).would_be_second_ace(cell) is second


def test_melds_are_values():
    assert read_meld("7s 7h 7d") == read_meld("7d 7s 7h")
    assert len({read_meld("5s 6s 7s"), read_meld("5S 6♠  7s")}) == 1
    assert read_meld("5s *6s 7s") == Meld("run", 0, 0b111_0000, 0b010_0000)
    assert read_meld("5s *6s 7s") != read_meld("5s 6s 7s")


WORDS = st.sampled_from(
    [star + rank + suit for star in ("", "*") for rank in "A23QK7x" for suit in "sh"] + ["*", "10h"]
)


@given(st.text(max_size=30) | st.lists(WORDS, max_size=6).map(" ".join))
def test_parsers_raise_only_our_errors_and_what_they_read_round_trips(text):
    try:
        meld = parse_meld(text, FISCA)
    except Scala40Error:
        return
    assert parse_meld(format_meld(meld), FISCA) == meld


@pytest.mark.parametrize("value", [None, 7, ["7s", "7h", "7d"]])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(BadNotation, match="string"):
        parse_meld(value, FISCA)
