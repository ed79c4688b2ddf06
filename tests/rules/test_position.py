"""Positions both ways: complete ones come back as written, what cannot be is refused by name."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scala40_env import BadPosition, BadRules, Game, Rules, Scala40Error
from scala40_env.rules.position import from_position, to_position
from scala40_env.rules.position_reader import KEYS, TURN_DEFAULTS

BASE: dict[str, Any] = {
    "rules": {"preset": "fisca", "num_players": 3},
    "turn": 0,
    "phase": "play",
    "hands": ["8s 2c Kd", "?5", "?13"],
    "opened": [True, True, False],
    "table": ["5s 6s 7s", "9s 9h *9d"],
}

COMPLETE: dict[str, Any] = {
    "rules": {"preset": "fisca", "num_players": 3},
    "dealer": 0,
    "turn": 1,
    "phase": "play",
    "turns_played": 5,
    "hands": ["Ks Kh 3s 4s", "9c 9d 2h *", "5d 5h"],
    "opened": [False, True, False],
    "table": ["5s 6s *7s", "9h 9s 9c"],
    "pozzo": "2h 6c Kd",
    "stock": "4h Jc As",
    "this_turn": dict(TURN_DEFAULTS),
    "scores": [0, 42, 14],
}


def base(**changes: Any) -> dict[str, Any]:
    return {**BASE, **changes}


def this_turn(**changes: Any) -> dict[str, Any]:
    return base(this_turn=changes)


# --- round trips ---------------------------------------------------------------------------------------------------


def test_a_complete_position_comes_back_word_for_word() -> None:
    assert Game.from_position(COMPLETE).position() == COMPLETE


@pytest.mark.parametrize(
    "extra",
    [
        {"seed": 0},
        {"seed": 2**64 - 1},
        {"out": []},
        {"out": [2], "hands": ["Ks Kh 3s 4s", "9c 9d 2h *", ""]},
        {"hands_won": [1, 0, 2], "unopened_hands": [0, 3, 0], "reentries_used": [0, 0, 1]},
        {"hands_played": 3, "reshuffles": 2},
        {"known": ["", "9c", ""], "discarded_by": [None, 2, 1]},
        {"threw": ["2h Kd", "2h 3d", "As 6c *"], "took": ["Ks", "9d *", ""]},
        {"threw": ["Kd", "2h", "6c"], "took": ["", "", ""]},
        {"mover": 1},
        {"rules": {"preset": "fisca", "num_players": 3, "limit": 101}},
    ],
    ids=lambda extra: " ".join(extra),
)
def test_optional_keys_come_back(extra: dict[str, Any]) -> None:
    position = {**COMPLETE, **extra}
    assert Game.from_position(position).position() == position


def test_what_lies_in_the_pozzo_was_thrown_and_what_is_known_was_taken() -> None:
    """A position need not say so, and can't say otherwise; a known joker may have come from the table."""
    known = {"known": ["", "9c *", ""], "discarded_by": [None, 2, 1]}
    for said in ({}, {"threw": ["", "3d", ""], "took": ["", "", "5d"]}):
        view = Game.from_position({**COMPLETE, **known, **said}).view(0)
        assert view.threw == ((), ("3d", "Kd") if said else ("Kd",), ("6c",))
        assert view.took == ((), ("9c",), ("5d",) if said else ())


def test_the_order_of_cards_is_kept_while_the_cards_are_the_same() -> None:
    game = Game.from_position({**COMPLETE, "hands": ["4s Kh 3s Ks", "9c * 9d 2h", "5d 5h"]})
    game.play("attach 9d 2; discard 2h")
    assert game.position()["hands"] == ["4s Kh 3s Ks", "9c *", "5d 5h"]
    assert game.position()["table"] == ["5s 6s *7s", "9s 9h 9d 9c"]
    assert game.position()["rules"] == COMPLETE["rules"]


def test_other_spellings_are_read_and_never_written() -> None:
    position = {**COMPLETE, "hands": ["K♠ kh 3s 4S", "9c 9d 2h *", "10d 5h"], "table": ["5S 6s *7s", "9h  9s 9c"]}
    written = Game.from_position(position).position()
    assert (written["hands"][0], written["hands"][2]) == ("Ks Kh 3s 4s", "Td 5h")
    assert written["table"] == ["5s 6s *7s", "9h 9s 9c"]


def test_the_defaults() -> None:
    position = Game.from_position({"turn": 0, "phase": "play", "hands": ["2c Kd", "?5", "?5", "?5"]}).position()
    assert position["rules"] == {"preset": "fisca", "num_players": 4}
    assert (position["table"], position["pozzo"], position["scores"]) == ([], "", [0] * 4)
    assert (position["opened"], position["turns_played"], position["dealer"]) == ([False] * 4, 40, 3)
    assert position["this_turn"] == TURN_DEFAULTS
    assert len(position["stock"].split()) == 108 - 17


def test_this_turn_may_be_partial() -> None:
    done = Game.from_position(this_turn(pozzo_card="8s")).position()["this_turn"]
    assert done == {**TURN_DEFAULTS, "pozzo_card": "8s"}


def test_unknown_cards_are_dealt_by_the_seed() -> None:
    position = base(hands=["8s 2c Kd", "7h ?3", "?13"])
    hands = Game.from_position(position).position()["hands"]
    assert hands == Game.from_position(position).position()["hands"]
    assert [len(hand.split()) for hand in hands] == [3, 4, 13]
    assert "7h" in hands[1]
    other = Game.from_position({**position, "seed": 1}).position()
    assert other["hands"] != hands
    assert other["seed"] == 1


def test_unknown_cards_leave_a_given_stock_alone() -> None:
    assert Game.from_position(base(stock="As Ah")).position()["stock"] == "As Ah"


def test_a_record_goes_through_a_position() -> None:
    games = from_position(COMPLETE)
    assert games.shape == (1,)
    assert from_position(to_position(games)).tobytes() == games.tobytes()
    assert to_position(games, Rules.fisca(num_players=3)) == to_position(games)


PRESETS = [
    Rules.fisca(num_players=3),
    Rules.casa(num_players=2),
    Rules.scala_quaranta(num_players=4),
    Rules.tavolo(num_players=3),
    Rules.megajogos(num_players=5),
    Rules.fisca(num_players=4, team_size=2, team_score="worst"),
    Rules.casa(num_players=3, buying=True, max_laps=12),
    Rules.fisca(num_players=3, max_jokers_per_meld=4, min_naturals_per_meld=1, dead_hand_reshuffles=2),
    Rules.fisca(num_players=6, hand_size=4, opening_points=12, match="hands", num_hands=3),
]


@pytest.mark.parametrize("rules", PRESETS, ids=lambda rules: f"{rules.preset}-{rules.num_players}")
def test_reachable_positions_go_on_alike(rules: Rules) -> None:
    rng, game = random.Random(4), Game(rules, seed=17)
    for at in range(250):
        if game.phase == "match_over":
            break
        if at % 9 == 0 or game.hand_over:
            position = json.loads(json.dumps(game.position()))
            twin = Game.from_position(position)
            assert twin.position() == position
            assert twin == game
            assert twin.legal_moves() == game.legal_moves()
            if game.hand_over:
                assert twin.next_hand() == game.next_hand()
        keen = [move for move in game.legal_moves() if move.split()[0] in ("meld", "attach", "swap", "pozzo", "buy")]
        game.play(rng.choice(keen or game.legal_moves()))


# --- refused -------------------------------------------------------------------------------------------------------

TAKEN = {"recovered_jokers": 1, "swapped_melds": [1]}
BUYING = {"num_players": 3, "buying": True}
REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    (base(tabel=[]), ["tabel", "table"]),
    ({key: value for key, value in BASE.items() if key != "hands"}, ["hands", "missing"]),
    ({key: value for key, value in BASE.items() if key != "turn"}, ["turn", "missing"]),
    (base(hands=["8s 2c Kd", "?5"]), ["hands", "2", "3"]),
    (base(hands="8s 2c"), ["hands"]),
    (base(hands=["8s 2c Kd", None, "?13"]), ["hands[1]"]),
    (base(hands=["8s 8s 8s", "?5", "?13"]), ["hands[0]", "8s"]),
    (base(hands=["8s", "8s", "8s"]), ["hands[2]", "8s"]),
    (base(pozzo="9h 9h"), ["pozzo", "9h"]),
    (base(stock="9h 9h"), ["stock", "9h"]),
    (base(hands=["* * *", "*", "?5"]), ["table[1]", "*", "num_jokers"]),
    (base(hands=["Xx", "?5", "?5"]), ["hands[0]", "Xx"]),
    (base(hands=["?", "?5", "?5"]), ["hands[0]", "?"]),
    (base(hands=["?-1", "?5", "?5"]), ["hands[0]", "?-1"]),
    (base(hands=["8s", "?90", "?90"]), ["hands"]),
    (base(hands=["", "?5", "?5"]), ["hands[0]", "empty"]),
    (base(hands=["8s", "", "?5"]), ["hands[1]", "empty"]),
    (base(table=["Ks As 2s"]), ["table[0]", "2s"]),
    (base(table=["5s 6s"]), ["table[0]", "5s 6s"]),
    (base(table=["5s *6s *7s"]), ["table[0]", "max_jokers_per_meld"]),
    (base(table=[3]), ["table[0]"]),
    (base(table="5s 6s 7s"), ["table"]),
    (base(table=["5s 6s 7s"] * 40), ["table", "36"]),
    (base(turn=3), ["turn", "3"]),
    (base(turn=-1), ["turn"]),
    (base(turn=True), ["turn"]),
    (base(turn=1.0), ["turn"]),
    (base(turn=10**30), ["turn"]),
    (base(dealer=7), ["dealer", "7"]),
    (base(phase="deal"), ["phase", "deal"]),
    (base(phase="drew"), ["phase", "draw"]),
    (base(phase=1), ["phase"]),
    (base(opened=[True]), ["opened", "1"]),
    (base(opened=[1, 0, 0]), ["opened[0]"]),
    (base(opened=None), ["opened"]),
    (base(threw=["2h"]), ["threw", "1", "3"]),
    (base(took=["2h", None, ""]), ["took[1]"]),
    (base(threw=["", "", "2x"]), ["threw[2]", "2x"]),
    (base(rules={"num_players": 3, "num_jokers": 0}, table=[], took=["*", "", ""]), ["took[0]", "*", "num_jokers"]),
    (base(scores=[0, 0]), ["scores"]),
    (base(scores=[0, 0, 2**40]), ["scores[2]"]),
    (base(scores=[0, 0, "7"]), ["scores[2]"]),
    (base(turns_played=-1), ["turns_played"]),
    (base(turns_played=2**31), ["turns_played"]),
    (base(seed=2**64), ["seed"]),
    (base(seed=-1), ["seed"]),
    (base(hands_won=[0, 0, 40_000]), ["hands_won[2]"]),
    (base(reshuffles=-1), ["reshuffles"]),
    (base(known=["9c", "", ""]), ["known[0]", "9c"]),
    (base(pozzo="9c", discarded_by=[]), ["discarded_by"]),
    (base(pozzo="9c", discarded_by=[5]), ["discarded_by[0]"]),
    (base(scores=[101, 0, 0]), ["turn", "out"]),
    (base(scores=[0, 0, 101]), ["hands[2]", "out"]),
    (base(scores=[0, 101, 101]), ["out", "match is over"]),
    (base(out=[1, 1]), ["out"]),
    (base(out=[2], hands=["8s", "?5", ""], opened=[True] * 3), ["opened[2]"]),
    (base(out=[2], hands=["8s", "?5", ""], dealer=2), ["dealer", "2"]),
    (base(mover=1), ["mover"]),
    (base(winner=1), ["winner", "hand_over"]),
    (base(phase="hand_over", winner=1, closing="normal"), ["hands[1]", "winner"]),
    (base(phase="hand_over", hands=["8s", "", "9c"], winner=1), ["closing"]),
    (base(phase="hand_over", closing="normal"), ["closing"]),
    (base(phase="hand_over", closing="late"), ["closing", "late"]),
    (base(phase="hand_over", hand_points=[0]), ["hand_points"]),
    (base(phase="hand_over", champions=[0]), ["champions", "match_over"]),
    (base(phase="buy"), ["turn", "buy"]),
    (base(phase="draw", stock=""), ["phase draw", "draw"]),
    (base(phase="draw", this_turn={"pozzo_card": "8s"}), ["this_turn", "draw"]),
    (this_turn(new_meld=[1]), ["new_meld", "new_melds"]),
    (this_turn(new_melds=[3]), ["new_melds[0]", "3"]),
    (this_turn(new_melds=[0]), ["new_melds[0]"]),
    (this_turn(new_melds=[1, 1]), ["new_melds"]),
    (this_turn(new_melds=1), ["new_melds"]),
    (this_turn(pozzo_card="9c"), ["pozzo_card", "9c"]),
    (this_turn(pozzo_card=9), ["pozzo_card"]),
    (this_turn(pozzo_card="8s", barred_card="2c"), ["pozzo_card", "barred_card"]),
    (this_turn(recovered_jokers=1, swapped_melds=[1]), ["recovered_jokers", "*"]),
    (this_turn(touched_table=1), ["touched_table"]),
    (this_turn(touched_table=True, new_melds=[1, 2], opening_points=45, natural_points=18), ["touched_table"]),
    (this_turn(opening_points=2**20), ["opening_points"]),
    (base(this_turn=[]), ["this_turn"]),
    (base(rules={"preset": "casa", "num_players": 3}, hands=["* 2c", "?5", "?5"], this_turn=TAKEN), ["keep"]),
    (base(hands=["* 2c", "?5", "?5"], opened=[False, True, True], this_turn=TAKEN), ["recovered_jokers", "opened"]),
    (base(phase="buy", rules=BUYING, pozzo="8s", this_turn={"touched_table": True}), ["this_turn", "buy"]),
    (base(opened=[False] * 3, this_turn={"new_melds": [1], "opening_points": 17}), ["opening_points", "18"]),
    (base(opened=[False] * 3, this_turn={"touched_table": True}), ["touched_table"]),
    (
        base(opened=[False] * 3, this_turn={"new_melds": [1], "opening_points": 18, "natural_points": 18}),
        ["phase play"],
    ),
    (base(opened=[False] * 3, this_turn={"new_melds": [1, 2], "opening_points": 45, "natural_points": 18}), ["opened"]),
    (base(hands=["2c Kd", "?5", "?5"], this_turn={"pozzo_card": "2c"}), ["phase play"]),
]


@pytest.mark.parametrize(("position", "words"), REFUSED, ids=[" ".join(words) for _, words in REFUSED])
def test_what_cannot_be_is_refused(position: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(BadPosition) as refused:
        Game.from_position(position)
    assert [word for word in words if word not in str(refused.value)] == []


@pytest.mark.parametrize("rules", [{"preset": "fisco"}, {"num_players": 9}, None, [], {"num_jokers": True}])
def test_bad_rules_are_refused_as_rules(rules: object) -> None:
    with pytest.raises(BadRules):
        Game.from_position(base(rules=rules))


@pytest.mark.parametrize("position", [None, [], "draw", 3, {}, {1: 2}])
def test_a_position_is_an_object(position: object) -> None:
    with pytest.raises(BadPosition):
        Game.from_position(position)  # type: ignore[arg-type]


def test_teams_share_their_total_and_go_out_together() -> None:
    teams = base(rules={"num_players": 4, "team_size": 2}, hands=["8s", "?5", "?5", "?5"], opened=[True] * 4)
    assert Game.from_position({**teams, "scores": [5, 7, 5, 7]}).scores == [5, 7, 5, 7]
    with pytest.raises(BadPosition, match=r"scores\[2\]"):
        Game.from_position({**teams, "scores": [5, 7, 6, 7]})
    with pytest.raises(BadPosition, match="team"):
        Game.from_position({**teams, "out": [1], "hands": ["8s", "", "?5", "?5"], "opened": [True, False, True, True]})


def test_who_has_won_a_match_that_is_over() -> None:
    over = base(phase="match_over", hands=["", "6h", "Jc"], winner=0, closing="normal", scores=[10, 120, 104])
    outcome = Game.from_position(over).outcome
    assert outcome is not None
    assert (outcome.champions, outcome.eliminated, outcome.match_over) == ((0,), (1, 2), True)


# --- garbage -------------------------------------------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 60)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["draw", "play", "buy", "hand_over", "?13", "?2 8s", "*", "5s 6s 7s", "As 2s", "8s 2c Kd", "9d"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON))
TURNS = st.fixed_dictionaries({}, optional=dict.fromkeys(TURN_DEFAULTS, JSON))
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_or_refuse(position: Any) -> None:
    """A position is refused by one of our errors, or it reads back and has legal moves."""
    try:
        game = Game.from_position(position)
    except Scala40Error as error:
        assert len(str(error)) < 2000
        return
    assert game.hand_over or game.legal_moves()
    assert Game.from_position(game.position()).position() == game.position()


@FUZZ
@given(JSON)
def test_garbage_raises_our_errors(position: Any) -> None:
    read_or_refuse(position)


@FUZZ
@given(FIELDS)
def test_garbage_in_a_field_raises_our_errors(fields: dict[str, Any]) -> None:
    read_or_refuse({**BASE, **fields})


@FUZZ
@given(st.sampled_from(KEYS), JSON)
def test_garbage_in_one_field_raises_our_errors(key: str, value: Any) -> None:
    read_or_refuse({**BASE, key: value})


@FUZZ
@given(TURNS)
def test_garbage_in_this_turn_raises_our_errors(done: dict[str, Any]) -> None:
    read_or_refuse({**BASE, "this_turn": done})


SMALL = st.integers(0, 4)
PLAUSIBLE = st.fixed_dictionaries(
    {"turn": SMALL, "phase": st.sampled_from(["draw", "play", "buy", "hand_over", "match_over"])},
    optional={
        "hands": st.lists(
            st.sampled_from(["8s", "8s 2c", "* 9c 2d", "?13", "", "8s 9s Ts 7h"]), min_size=3, max_size=3
        ),
        "opened": st.lists(st.booleans(), min_size=3, max_size=3),
        "scores": st.lists(st.sampled_from([0, 50, 101]), min_size=3, max_size=3),
        "pozzo": st.sampled_from(["", "8s", "9c Ts", "*"]),
        "stock": st.sampled_from(["", "As", "As Ah Ad"]),
        "mover": SMALL,
        "out": st.lists(SMALL, max_size=2),
        "winner": SMALL | st.none(),
        "closing": st.sampled_from(["none", "normal", "in_hand"]),
        "rules": st.sampled_from(
            [
                {"num_players": 3, "buying": True},
                {"preset": "casa", "num_players": 3},
                {"preset": "megajogos", "num_players": 3},
            ]
        ),
        "turns_played": st.integers(0, 8),
        "this_turn": st.fixed_dictionaries(
            {},
            optional={
                "new_melds": st.lists(st.integers(1, 2), max_size=2),
                "opening_points": st.sampled_from([0, 18, 27, 45]),
                "natural_points": st.sampled_from([0, 18]),
                "pozzo_card": st.sampled_from([None, "8s", "*"]),
                "barred_card": st.sampled_from([None, "8s"]),
                "recovered_jokers": st.integers(0, 1),
                "swapped_melds": st.lists(st.integers(1, 2), max_size=2),
                "touched_table": st.booleans(),
            },
        ),
    },
)


@FUZZ
@given(PLAUSIBLE)
def test_plausible_garbage_raises_our_errors_or_plays(fields: dict[str, Any]) -> None:
    read_or_refuse({**BASE, **fields})


def test_hands_may_be_larger_than_a_deal() -> None:
    """Positions are for teaching and for tests: only the pack bounds a hand."""
    game = Game.from_position(base(hands=["8s ?20", "?14", "?5"]))
    assert len(game.view(0).hand) == 21


def test_points_laid_are_worked_out_from_the_new_melds() -> None:
    """Who writes only `new_melds` of a player who has not opened means the points that they make."""
    kings = base(
        hands=["8s 2c Kc 3h", "?5", "?13"], opened=[False] * 3, table=["Ks Kh Kd"], this_turn={"new_melds": [1]}
    )
    game = Game.from_position(kings)
    assert game.position()["this_turn"]["opening_points"] == 30
    assert "attach Kc 1" in game.legal_moves()


def test_origins_of_jokers_no_longer_owed_bar_nothing() -> None:
    """`swapped_melds` says where owed jokers come from: with none owed it is emptied."""
    assert Game.from_position(this_turn(swapped_melds=[1])).position()["this_turn"]["swapped_melds"] == []
