"""The table of actions, moves as text, and turn text."""

import json
import pickle
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation, IllegalMove, Scala40Error
from scala40_env.rules.melds import Meld, parse_meld, read_meld
from scala40_env.rules.moves import (
    BLOCKS,
    BUY,
    MAX_MELDS,
    MELD_ACTIONS,
    NUM_ACTIONS,
    NUM_ACTIONS_EXTENDED,
    PASS,
    RUNS,
    SETS,
    SLOTS,
    SWAP,
    SWAPS,
    TWO_JOKER_RUNS,
    TWO_JOKER_SETS,
    describe_action,
    expand_meld,
    format_action,
    num_actions,
    parse_move,
    slot_action,
    slot_of,
    split_turn,
)

CASES = Path(__file__).parents[1] / "cases"
ALL = range(NUM_ACTIONS_EXTENDED)
LONG = "2h 3h 4h 5h 6h 7h 8h 9h Th Jh Qh Kh"

# For each of the eight actions on a meld, one where it exists, and its text on meld number {}.
ON_MELD = [
    ("5s 6s 7s", "attach 4s {} low"),
    ("5s 6s 7s", "attach 8s {} high"),
    ("7s 7h 7d", "attach *7c {}"),
    ("Js Qs Ks", "attach *As {} high"),
    ("7s *7h 7d", "swap 7h {}"),
    ("5s *6s *7s", "swap 7s {}"),
    ("*5s *6s *7s 8s", "swap 7s {}"),
    (f"*Ah {LONG} *Ah".replace("3h 4h", "*3h *4h"), "swap Ah {} high"),
]


def table(*texts):
    return [read_meld(text) for text in texts]


def filled_up_to(slot, text):
    """A table of 36 melds with that one in a slot."""
    melds = table(*["9s 9h 9d"] * MAX_MELDS)
    melds[slot] = read_meld(text)
    return melds


def text_of_meld_action(action):
    """The text of laying three cards, worked out from the layout in design.md alone."""
    for start, forms, lowest, place in (
        (235, 4, 12, "run"),
        (427, 4, 4, "set"),
        (635, 3, 12, "run"),
        (779, 3, 4, "set"),
    ):
        groups = (4 if place == "run" else 13) * lowest
        if start <= action < start + groups * forms:
            rest, form = divmod(action - start, forms)
            first, second = divmod(rest, lowest)
            if place == "run":
                cards = ["A23456789TJQKA"[second + i] + "shdc"[first] for i in range(3)]
            else:
                cards = ["A23456789TJQK"[first] + suit for suit in ("shd", "shc", "sdc", "hdc")[second]]
            jokers = {form - 1} if forms == 4 else {0, 1, 2} - {form}
            return "meld " + " ".join("*" * (i in jokers) + card for i, card in enumerate(cards))
    raise AssertionError(action)


def grown(meld, action):
    """The meld after an attach to it."""
    _, what = slot_of(action)
    cell = meld.open_ends()[what % 2]
    return Meld(meld.kind, meld.key, meld.cells | 1 << cell, meld.jokers | (what >= 2) << cell)


# The layout


def test_the_layout_is_the_agreed_one():
    assert (SLOTS, RUNS, SETS, NUM_ACTIONS) == (55, 235, 427, 635)
    assert (TWO_JOKER_RUNS, TWO_JOKER_SETS, SWAPS, BUY, PASS) == (635, 779, 935, 1043, 1044)
    assert NUM_ACTIONS_EXTENDED == 1045


def test_the_blocks_cover_all_actions_in_order():
    assert [block.first for block in BLOCKS] == [0, *(block.last + 1 for block in BLOCKS[:-1])]
    assert BLOCKS[-1].last == NUM_ACTIONS_EXTENDED - 1


def test_the_notation_of_each_block_is_of_its_actions():
    melds = table("3c 4c 5c", "5s *6s 7s", "7s 7h 7d")
    others = {
        "swap 8s 2": table("3c 4c 5c", "*7s *8s 9s"),
        "swap As 1 high": table(f"*Ah {LONG} *Ah".replace("h", "s")),
    }
    for block in BLOCKS:
        for text in split_turn(block.notation):
            assert block.first <= parse_move(text, others.get(text, melds)) <= block.last


@pytest.mark.parametrize(
    ("rules", "number"),
    [
        (Rules.fisca(), 635),
        (Rules.casa(), 1045),
        (Rules.fisca(max_jokers_per_meld=2), 1045),
        (Rules.fisca(buying=True), 1045),
        (Rules.scala_quaranta(), 635),
    ],
)
def test_the_size_of_the_space(rules, number):
    assert num_actions(rules) == number


# Every number to text and back


def test_actions_off_the_table_round_trip():
    for action in ALL:
        if slot_of(action) is None:
            assert parse_move(format_action(action, []), []) == action


@pytest.mark.parametrize("slot", range(MAX_MELDS))
def test_actions_on_every_meld_round_trip(slot):
    for what, (meld, text) in enumerate(ON_MELD):
        melds = filled_up_to(slot, meld)
        action = slot_action(slot, what)
        assert slot_of(action) == (slot, what)
        assert format_action(action, melds) == text.format(slot + 1)
        assert parse_move(text.format(slot + 1), melds) == action


def test_slot_actions_are_where_the_design_says():
    for slot in range(MAX_MELDS):
        assert [slot_action(slot, what) for what in range(5)] == list(range(55 + slot * 5, 60 + slot * 5))
        assert [slot_action(slot, SWAP + n) for n in (1, 2, 3)] == list(range(935 + slot * 3, 938 + slot * 3))


def test_draws_discards_and_buying():
    assert [format_action(action, []) for action in (0, 1, 2, 14, 15, 53, 54, 1043, 1044)] == [
        "stock",
        "pozzo",
        "discard As",
        "discard Ks",
        "discard Ah",
        "discard Kc",
        "discard *",
        "buy",
        "pass",
    ]


def test_every_lay_is_where_the_design_says():
    for action in (*range(235, 635), *range(635, 935)):
        text = text_of_meld_action(action)
        assert format_action(action, []) == text
        assert parse_move(text, []) == action
        assert MELD_ACTIONS[action] == read_meld(text.removeprefix("meld "))
    assert sorted(MELD_ACTIONS) == list(range(235, 935))


def test_every_action_that_formats_on_a_table_parses_back():
    melds = table(*(meld for meld, _ in ON_MELD), LONG, f"Ah {LONG}", f"{LONG} *Ah", "As *2s 3s", "Qs Ks *As")
    shown = 0
    for action in ALL:
        try:
            text = format_action(action, melds)
        except IllegalMove:
            continue
        assert parse_move(text, melds) == action
        shown += 1
    assert shown > 800


def test_texts_are_unique_on_a_table():
    melds = table(*(meld for meld, _ in ON_MELD))
    texts = []
    for action in ALL:
        try:
            texts.append(format_action(action, melds))
        except IllegalMove:
            continue
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("action", [-1, 1045, 10**9])
def test_other_numbers_are_no_actions(action):
    for function in (describe_action, lambda a: format_action(a, [])):
        with pytest.raises(BadNotation, match=rf"{action}.*0 to 1044"):
            function(action)


def test_every_action_is_described():
    descriptions = [describe_action(action) for action in ALL]
    assert len(set(descriptions)) == len(descriptions)
    assert descriptions[0] == "draw from the stock"
    assert descriptions[54] == "discard a joker"
    assert descriptions[60] == "attach a card at the low end of meld 2, to a set its missing suit"
    assert descriptions[1042] == "swap the fourth joker of meld 36"
    assert descriptions[235 + 16 + 2] == "lay the run 5s *6s 7s"


# What a table can't take


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (slot_action(2, 0), "no meld 3; the table has melds 1 to 2"),
        (slot_action(0, 1), "meld 1 (Qs Ks As) takes Js low"),
        (slot_action(0, 4), "meld 1 (Qs Ks As) holds no joker"),
        (slot_action(0, 5), "meld 1 (Qs Ks As) holds no joker"),
        (slot_action(1, 1), "meld 2 (7s *7h 7d) takes 7c"),
        (slot_action(1, 5), "the jokers of meld 2 (7s *7h 7d) stand for: 7h"),
    ],
)
def test_actions_that_do_not_exist_on_the_table(action, reason):
    with pytest.raises(IllegalMove) as error:
        format_action(action, table("Qs Ks As", "7s *7h 7d"))
    assert reason in error.value.reason
    assert error.value.move == describe_action(action)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("attach 9s 2 high", "meld 2 (5s 6s 7s) takes 4s low or 8s high"),
        ("attach 8s 2 low", "meld 2 (5s 6s 7s) takes 4s low or 8s high"),
        ("attach 8h 2 high", "takes 4s low or 8s high"),
        ("attach *8h 2 high", "takes 4s low or 8s high"),
        ("attach 7s 1", "meld 1 (7s 7h 7d) takes 7c"),
        ("attach 7s 3", "meld 3 (7s 7h 7d 7c) takes no more cards"),
        ("attach Ah 4 low", "takes *Ah low"),
        ("attach 5s 99 low", "there is no meld 99; the table has melds 1 to 6"),
        ("swap 6s 2", "meld 2 (5s 6s 7s) holds no joker"),
        ("swap 9s 5", "the jokers of meld 5 (8d *9d Td) stand for: 9d"),
        ("swap Ah 6", "never holds two"),
    ],
)
def test_moves_that_no_rule_could_allow_say_why(text, reason):
    melds = table("7s 7h 7d", "5s 6s 7s", "7s 7h 7d 7c", f"{LONG} Ah", "8d *9d Td", f"Ah {LONG} *Ah")
    with pytest.raises(IllegalMove) as error:
        parse_move(text, melds)
    assert reason in str(error.value)
    assert (error.value.move, error.value.position) == (text, None)


def test_no_meld_at_all():
    with pytest.raises(IllegalMove, match="no meld 1; the table has no meld yet"):
        parse_move("attach 5s 1 low", [])


# Aces


def test_an_ace_may_fit_both_ends():
    melds = table(LONG)
    low, high = parse_move("attach Ah 1 low", melds), parse_move("attach Ah 1 high", melds)
    assert (low, high) == (55, 56)
    assert (parse_move("attach *Ah 1 low", melds), parse_move("attach *Ah 1 high", melds)) == (57, 58)
    with pytest.raises(BadNotation, match="add low or high"):
        parse_move("attach Ah 1", melds)


def test_beside_a_natural_ace_only_a_joker_fits():
    melds = table(f"{LONG} Ah", f"Ah {LONG}", f"{LONG} *Ah")
    assert parse_move("attach *Ah 1 low", melds) == 57
    assert parse_move("attach *Ah 2 high", melds) == 63
    assert parse_move("attach Ah 3 low", melds) == 65
    for number, end in ((1, "low"), (2, "high")):
        with pytest.raises(IllegalMove):
            parse_move(f"attach Ah {number} {end}", melds)
        with pytest.raises(IllegalMove):
            format_action(slot_action(number - 1, end == "high"), melds)


def test_swapping_an_ace_names_the_upper_one_only_beside_a_lower_joker():
    both = table(f"*Ah {LONG} *Ah")
    assert parse_move("swap Ah 1", both) == parse_move("swap Ah 1 low", both) == 59
    assert parse_move("swap Ah 1 high", both) == 935
    assert format_action(59, both) == "swap Ah 1"
    assert format_action(935, both) == "swap Ah 1 high"
    high = table("Qh Kh *Ah")
    assert parse_move("swap Ah 1", high) == parse_move("swap Ah 1 high", high) == 59
    assert format_action(59, high) == "swap Ah 1"
    with pytest.raises(IllegalMove):
        parse_move("swap Ah 1 low", high)
    with pytest.raises(IllegalMove, match="never holds two"):
        format_action(59, table(f"Ah {LONG} *Ah"))


# Reading


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  STOCK ", "stock"),
        ("Discard 10H", "discard Th"),
        ("discard T♥", "discard Th"),
        ("meld 7D 7s  7♥", "meld 7s 7h 7d"),
        ("ATTACH 8S 2 HIGH", "attach 8s 2 high"),
        ("attach 8s high 2", "attach 8s 2 high"),
        ("attach 8s 2", "attach 8s 2 high"),
        ("attach *4s 2", "attach *4s 2 low"),
        ("attach  7c   1", "attach 7c 1"),
        ("attach 8s 02 high", "attach 8s 2 high"),
        ("swap\t9d 3", "swap 9d 3"),
    ],
)
def test_other_spellings(text, same):
    melds = table("7s 7h 7d", "5s 6s 7s", "8d *9d Td")
    assert parse_move(text, melds) == parse_move(same, melds)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["''", "stock, pozzo"]),
        ("take", ["'take'", "stock, pozzo"]),
        ("discrad Kd", ["did you mean 'discard'"]),
        ("stock Kd", ["stock stands alone"]),
        ("pass 1", ["pass stands alone"]),
        ("discard", ["one card"]),
        ("discard Kd Ks", ["one card"]),
        ("discard Xx", ["'Xx'"]),
        ("discard *7d", ["'*7d'"]),
        ("meld", ["3 cards or more"]),
        ("meld 5s 6s", ["3 cards or more"]),
        ("meld 5s 6s 7s 8s", ["not one move", "attach"]),
        ("meld Ks As 2s", ["2s after As"]),
        ("meld 9s 9s 9h", ["twice"]),
        ("meld * 6s 7s", ["stands for"]),
        ("attach", ["attach CARD NUMBER"]),
        ("attach 8s", ["attach CARD NUMBER"]),
        ("attach 8s high", ["attach CARD NUMBER"]),
        ("attach 8s 2 high low", ["attach CARD NUMBER"]),
        ("attach 8s 2 up", ["attach CARD NUMBER"]),
        ("attach 8s 2 3", ["attach CARD NUMBER"]),
        ("attach 2 8s high", ["'2'", "not a card"]),
        ("attach 8s two high", ["'two'", "numbered from 1"]),
        ("attach 8s 0 high", ["'0'", "numbered from 1"]),
        ("attach 8s -1 high", ["'-1'"]),
        ("attach 8s ² high", ["'²'"]),
        ("attach 8s " + "9" * 5000, ["numbered from 1"]),
        ("attach * 2 high", ["stands for"]),
        ("attach 7c 1 low", ["is a set", "leave out 'low'"]),
        ("swap *9d 3", ["without the *"]),
        ("swap * 3", ["stands for"]),
        ("swap 9d 3 high", ["ace of a run", "leave out 'high'"]),
        ("swap 7c 1 high", ["leave out 'high'"]),
    ],
)
def test_what_is_no_move_is_refused(text, words):
    with pytest.raises(BadNotation) as error:
        parse_move(text, table("7s 7h 7d", "5s 6s 7s", "8d *9d Td"))
    assert [word for word in words if word not in str(error.value)] == []
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("value", [None, 7, ["stock"]])
def test_what_is_no_text_is_refused(value):
    for parser in (lambda v: parse_move(v, []), split_turn, lambda v: expand_meld(v, Rules(), 1)):
        with pytest.raises(BadNotation, match="string"):
            parser(value)


WORDS = [
    "stock",
    "meld",
    "attach",
    "swap",
    "discard",
    "pass",
    "5s",
    "6s",
    "*7s",
    "Ah",
    "*Ah",
    "7c",
    "1",
    "2",
    "5",
    "low",
]
MOVE_LIKE = st.lists(st.sampled_from([*WORDS, "high", "*", "0", ";"]), max_size=6).map(" ".join)


@given(st.text(max_size=30) | MOVE_LIKE)
def test_parsers_raise_only_our_errors_and_what_they_read_round_trips(text):
    melds = table("7s 7h 7d", "3s 4s *5s", f"*Ah {LONG} *Ah")
    for move in split_turn(text):
        try:
            action = parse_move(move, melds)
        except Scala40Error:
            continue
        assert parse_move(format_action(action, melds), melds) == action


# Turn text


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("stock; meld 9c Tc Jc Qc Kc; discard 4d", ["stock", "meld 9c Tc Jc Qc Kc", "discard 4d"]),
        ("stock", ["stock"]),
        (" ; stock ;; discard   4d;\n", ["stock", "discard 4d"]),
        ("", []),
    ],
)
def test_turns_split_at_semicolons(text, moves):
    assert split_turn(text) == moves


TWO = Rules(max_jokers_per_meld=2)
LOOSE = Rules(max_jokers_per_meld=4, min_naturals_per_meld=1)


@pytest.mark.parametrize(
    ("text", "rules", "moves"),
    [
        ("meld 9c Tc Jc Qc Kc", Rules(), ["meld 9c Tc Jc", "attach Qc 3 high", "attach Kc 3 high"]),
        ("MELD 9c  10c Jc", Rules(), ["meld 9c Tc Jc"]),
        ("meld Kc Kd Kh Ks", Rules(), ["meld Ks Kh Kd", "attach Kc 3"]),
        ("meld Ks Kh Kd *Kc", Rules(), ["meld Ks Kh Kd", "attach *Kc 3"]),
        ("meld 4s 5s *6s 7s 8s", Rules(), ["meld 4s 5s *6s", "attach 7s 3 high", "attach 8s 3 high"]),
        ("meld *5s *6s 7s 8s", TWO, ["meld *6s 7s 8s", "attach *5s 3 low"]),
        ("meld *5s *6s 7s 8s", LOOSE, ["meld *5s *6s 7s", "attach 8s 3 high"]),
        (
            "meld *5s 6s *7s 8s 9s Ts",
            TWO,
            ["meld 6s *7s 8s", "attach *5s 3 low", "attach 9s 3 high", "attach Ts 3 high"],
        ),
        ("meld *7s *7h 7d 7c", TWO, ["meld *7s 7d 7c", "attach *7h 3"]),
    ],
)
def test_long_melds_become_small_moves(text, rules, moves):
    assert expand_meld(text, rules, 3) == moves


@pytest.mark.parametrize(
    ("text", "rules", "words"),
    [
        ("meld 5s *6s *7s", TWO, ["min_naturals_per_meld", "2 natural"]),
        ("meld 9s *9h *9d", Rules(), ["max_jokers_per_meld"]),
        ("meld Ks As 2s", Rules(), ["2s after As"]),
        ("meld", Rules(), ["3 cards or more"]),
        ("attach 5s 1 low", Rules(), ["lays no meld"]),
        ("meld As 2s 3s 4s 5s 6s", Rules(max_run_length=5), ["max_run_length"]),
    ],
)
def test_melds_that_can_not_be_laid_are_refused(text, rules, words):
    with pytest.raises(BadNotation) as error:
        expand_meld(text, rules, 3)
    assert [word for word in words if word not in str(error.value)] == []


def played(moves, number):
    """The meld that some moves of `expand_meld` build on an empty table."""
    first = MELD_ACTIONS[parse_move(moves[0], [])]
    melds = [first] * number
    for move in moves[1:]:
        action = parse_move(move, melds)
        assert slot_of(action)[0] == number - 1
        assert format_action(action, melds) == move
        melds[number - 1] = grown(melds[number - 1], action)
    return melds[-1]


def test_the_small_moves_build_the_meld():
    for suit, low in product("sd", range(12)):
        for high in range(low + 2, 14):
            cards = ["A23456789TJQKA"[p] + suit for p in range(low, high + 1)]
            for joker in range(len(cards)):
                text = " ".join("*" * (at == joker) + card for at, card in enumerate(cards))
                if len(cards) < 14 or joker in (0, 13):
                    assert played(expand_meld(f"meld {text}", Rules(), 2), 2) == parse_meld(text, Rules())


@given(st.integers(0, 11), st.integers(3, 14), st.sets(st.integers(0, 13), max_size=4), st.sampled_from([TWO, LOOSE]))
def test_with_more_jokers_the_small_moves_build_the_meld_or_none_could(low, size, jokers, rules):
    cards = ["A23456789TJQKA"[p] + "h" for p in range(low, min(low + size, 14))]
    text = " ".join("*" * (at in jokers) + card for at, card in enumerate(cards))
    try:
        meld = parse_meld(text, rules)
        moves = expand_meld(f"meld {text}", rules, 1)
    except BadNotation:
        return
    assert played(moves, 1) == meld


# The cases that every build has to agree with


def case_moves():
    """Every move that a case calls legal, with the table that it is played on."""
    for path in sorted(CASES.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8")):
            for key in ("legal", "exactly"):
                yield from ((move, case["position"].get("table", [])) for move in case.get(key, []))


def test_legal_moves_of_the_cases_are_read_and_written_back():
    for text, melds in case_moves():
        assert format_action(parse_move(text, table(*melds)), table(*melds)) == text


# The error


def test_an_illegal_move_carries_where_it_was_tried():
    error = IllegalMove("discard Kd", "it attaches to meld 1", {"turn": 1})
    assert str(error) == "illegal move 'discard Kd': it attaches to meld 1\nposition: {\"turn\": 1}"
    assert (error.move, error.reason, error.position) == ("discard Kd", "it attaches to meld 1", {"turn": 1})
    assert isinstance(error, ValueError)


def test_an_illegal_move_survives_a_process():
    again = pickle.loads(pickle.dumps(IllegalMove("pozzo", "why", {"turn": 1})))
    assert (again.move, again.reason, again.position) == ("pozzo", "why", {"turn": 1})
