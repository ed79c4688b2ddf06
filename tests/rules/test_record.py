"""Records: the form, files, replaying, and the errors that say where a record breaks."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scala40_env import BadRecord, Game, Record, Rules, Scala40Error
from scala40_env.rules.record import HandLog, record_from_log, save_records


def played(rules: Rules, seed: int, moves: int = 100_000) -> Game:
    """A match played at random, keen on laying, to its end or for some moves."""
    rng, game = random.Random(seed), Game(rules, seed=seed)
    for _ in range(moves):
        if game.phase == "match_over":
            break
        if game.phase == "hand_over":
            game.next_hand()
            continue
        actions = game.legal_actions()
        game.play_action(rng.choice([action for action in actions if action >= 55 or action == 1] or actions))
    return game


SMALL = Rules.fisca(num_players=3, hand_size=6, opening_points=20, limit=150)


@pytest.fixture(scope="module")
def match() -> Game:
    game = played(SMALL, 3)
    assert game.phase == "match_over"
    return game


@pytest.fixture
def line(match: Game) -> dict[str, Any]:
    """A fresh copy of a record as an object, to be spoilt."""
    given: dict[str, Any] = json.loads(match.record().to_json())
    return given


def test_the_form(line: dict[str, Any]) -> None:
    assert list(line) == ["rules", "seed", "players", "hands"]
    assert line["rules"] == SMALL.to_dict()
    assert line["players"] == ["player_0", "player_1", "player_2"]
    first = line["hands"][0]
    assert list(first) == ["dealer", "deal", "moves", "points", "winner", "closing"]
    assert len(first["deal"].split()) == 108
    assert all(turn.startswith(("stock", "pozzo")) for turn in first["moves"])
    assert all("discard" in turn for turn in first["moves"][:-1])
    assert first["closing"] in ("normal", "in_hand", "none")


@pytest.mark.parametrize(
    "rules",
    [
        SMALL,
        Rules.casa(num_players=2, hand_size=7, opening_points=20),
        Rules.scala_quaranta(num_players=3, buying=True, match="single_hand"),
        Rules.megajogos(num_players=5, match="hands", num_hands=2),
        Rules.fisca(num_players=6, max_laps=4, match="single_hand"),
        Rules.fisca(num_players=4, team_size=2, hand_size=5, opening_points=15, num_jokers=2),
    ],
    ids=lambda rules: f"{rules.preset}-{rules.num_players}",
)
def test_a_match_replays_to_the_same_end(rules: Rules) -> None:
    game = played(rules, 5, 900)
    record = Record.from_json(game.record().to_json())
    assert record == game.record()
    end = record.check()
    assert end.state.tobytes() == game.state.tobytes()
    assert end.scores == game.scores


def test_moves_of_buyers_are_in_the_text_of_the_turn() -> None:
    game = played(Rules.casa(num_players=4, buying=True, hand_size=10, opening_points=12), 21, 400)
    turns = [turn for hand in game.record().hands for turn in hand.moves if "buy" in turn or "pass" in turn]
    assert turns
    assert all(turn.startswith("stock; ") for turn in turns)


def test_replay_gives_every_step(match: Game) -> None:
    steps = list(match.record().replay())
    assert (steps[0].hand, steps[0].turn, steps[0].move) == (1, 0, "")
    assert steps[0].game.phase == "draw"
    assert steps[-1].game == match
    moves = sum(len(turn.split(";")) for hand in match.record().hands for turn in hand.moves)
    assert len(steps) == moves + len(match.record().hands)
    halfway = steps[len(steps) // 2].game
    assert halfway.record().check() == halfway


def test_an_unfinished_hand_is_recorded_up_to_there() -> None:
    game = played(Rules.fisca(num_players=3), 4, 25)
    hand = game.record().hands[-1]
    assert (hand.points, hand.winner, hand.closing, game.record().finished) == (None, None, None, False)
    given = game.record().to_dict()
    for key in ("points", "winner", "closing"):
        del given["hands"][-1][key]
    assert Record.from_dict(given).check() == game


def test_a_game_from_a_position_is_recorded_with_it() -> None:
    position = {"turn": 0, "phase": "play", "hands": ["9d 8c", "6h", "Jc", "2d"], "opened": [True] * 4, "seed": 7}
    game = Game.from_position(position).play("discard 9d; stock")
    record = Record.from_json(game.record(players="abcd").to_json())
    assert (record.hands[0].deal, record.players) == (None, ("a", "b", "c", "d"))
    assert record.hands[0].moves == ("discard 9d", "stock")
    assert record.check() == game


def test_the_number_of_players_has_to_fit() -> None:
    with pytest.raises(BadRecord, match="players"):
        Game(seed=1).record(players=["a", "b"])


# --- the fast path -------------------------------------------------------------------------------------------------


def test_record_from_log_is_the_record_of_the_game(match: Game) -> None:
    logs = [*match._logs, match._finished_log()]
    assert record_from_log(match.rules, match.seed, ["player_0", "player_1", "player_2"], logs) == match.record()
    arrays = [HandLog(log.dealer, log.deck, np.array(log.actions, np.int16)) for log in logs]
    assert record_from_log(match.rules, match.seed, ["player_0", "player_1", "player_2"], arrays) == match.record()


def test_record_from_log_refuses_what_does_not_fit(match: Game) -> None:
    log = match._logs[0]
    names = ["a", "b", "c"]
    with pytest.raises(BadRecord, match="actions are left"):
        record_from_log(match.rules, match.seed, names, [log._replace(actions=(*log.actions, 0))])
    with pytest.raises(BadRecord, match="dealer"):
        record_from_log(match.rules, match.seed, names, [log, match._logs[0]._replace(dealer=log.dealer)])


def test_seats_may_be_rotated_over_the_same_deal(match: Game) -> None:
    """A tournament deals the same pack with another dealer: the record says so itself."""
    game = Game(SMALL, seed=3)
    other = game._hand._replace(dealer=(game.dealer + 1) % 3, actions=())
    record = record_from_log(SMALL, 3, ["a", "b", "c"], [other])
    end = record.check()
    assert end.dealer == (game.dealer + 1) % 3
    shifted = [end.position()["hands"][(seat + 1) % 3] for seat in range(3)]
    assert shifted == game.position()["hands"]


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["match.jsonl", "match.jsonl.gz"])
def test_files(tmp_path: Path, match: Game, name: str) -> None:
    path, record = tmp_path / name, match.record()
    record.save(path)
    record.append(path)
    loaded = Record.load(path)
    assert loaded == [record, record]
    assert [each.line for each in loaded] == [1, 2]
    save_records(path, [record])
    assert Record.load(str(path)) == [record]
    before = path.read_bytes()
    save_records(path, [record])
    assert path.read_bytes() == before


def test_append_makes_the_file_and_blank_lines_are_skipped(tmp_path: Path, match: Game) -> None:
    path = tmp_path / "new.jsonl"
    match.record().append(path)
    path.write_text("\n" + path.read_text() + "\n\n")
    assert [record.line for record in Record.load(path)] == [2]


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Record.load(tmp_path / "none.jsonl")


def test_a_packed_file_cut_off(tmp_path: Path, match: Game) -> None:
    path = tmp_path / "cut.jsonl.gz"
    save_records(path, [match.record()] * 3)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadRecord, match=r"line \d+: .*cut"):
        Record.load(path)


@pytest.mark.parametrize("content", [b"no gzip at all", b"\x1f\x8b\x08\x00broken header and all"])
def test_a_packed_file_that_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(BadRecord, match="line 1"):
        Record.load(path)


@pytest.mark.parametrize(
    "text",
    ['{"rules": ', "[]", "[" * 100_000, "nonsense", '{"seed": NaN}', "1" * 5000, "\udcff"],
    ids=lambda text: text[:9],
)
def test_a_broken_line_is_named(tmp_path: Path, match: Game, text: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(match.record().to_json().encode() + b"\n" + text.encode(errors="surrogateescape") + b"\n")
    with pytest.raises(BadRecord, match="line 2"):
        Record.load(path)


# --- what does not fit ---------------------------------------------------------------------------------------------

Spoil = Callable[[dict[str, Any]], Any]


def hand(at: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda line: line["hands"][at]


FORM: dict[str, tuple[Spoil, str]] = {
    "unknown key": (lambda line: line.update(player=1), "player.*did you mean 'players'"),
    "no rules": (lambda line: line.pop("rules"), "rules"),
    "bad rules": (lambda line: line.update(rules={"preset": "fisco"}), "fisco"),
    "seed": (lambda line: line.update(seed=-1), "seed"),
    "seed is text": (lambda line: line.update(seed="7"), "seed"),
    "players": (lambda line: line.update(players=["a"]), "players"),
    "players are text": (lambda line: line.update(players=[1, 2, 3]), r"players\[0\]"),
    "no hands": (lambda line: line.update(hands=[]), "hands"),
    "hands is no list": (lambda line: line.update(hands={}), "hands"),
    "unknown key of a hand": (lambda line: line["hands"][0].update(point=[]), r"hands\[0\].*point"),
    "no dealer": (lambda line: line["hands"][0].pop("dealer"), "dealer"),
    "dealer": (lambda line: line["hands"][1].update(dealer=3), r"hands\[1\].dealer"),
    "no deal": (lambda line: line["hands"][0].pop("deal"), "deal"),
    "two beginnings": (lambda line: line["hands"][0].update(position={}), "deal"),
    "a late position": (lambda line: (line["hands"][1].pop("deal"), line["hands"][1].update(position={})), "first"),
    "a card short": (lambda line: line["hands"][0].update(deal=line["hands"][0]["deal"][3:]), "whole pack"),
    "no card": (lambda line: line["hands"][0].update(deal="Xx"), "Xx"),
    "deal is no text": (lambda line: line["hands"][0].update(deal=[1]), "deal"),
    "moves": (lambda line: line["hands"][0].update(moves="stock"), "moves"),
    "a move is no text": (lambda line: line["hands"][0].update(moves=[None]), r"moves\[0\]"),
    "points": (lambda line: line["hands"][0].update(points=[1]), "points"),
    "points are no numbers": (lambda line: line["hands"][0].update(points=[1.5, 2, 3]), "points"),
    "winner": (lambda line: line["hands"][0].update(winner=9), "winner"),
    "closing": (lambda line: line["hands"][0].update(closing="late"), "closing"),
}


@pytest.mark.parametrize(("spoil", "message"), FORM.values(), ids=FORM)
def test_the_form_is_checked(line: dict[str, Any], spoil: Spoil, message: str) -> None:
    spoil(line)
    with pytest.raises(BadRecord, match=f"line 4: .*{message}"):
        Record.from_json(json.dumps(line), line=4)


def swap_cards(hand: dict[str, Any]) -> None:
    cards = hand["deal"].split()
    cards[0], cards[1] = cards[1], cards[0]
    hand["deal"] = " ".join(cards)


def unfinish(hand: dict[str, Any]) -> None:
    hand.update(points=None, winner=None, closing=None)


REPLAY: dict[str, tuple[Spoil, str]] = {
    "points": (lambda line: line["hands"][0]["points"].reverse(), "hand 1: points, winner and closing"),
    "winner": (lambda line: line["hands"][1].update(winner=None, closing="none"), "hand 2: points, winner"),
    "illegal move": (
        lambda line: line["hands"][0]["moves"].__setitem__(3, "pozzo; discard 2c"),
        r"hand 1, turn 4, move 'pozzo'.*legal: ",
    ),
    "unreadable move": (lambda line: line["hands"][1]["moves"].__setitem__(0, "fold"), "hand 2, turn 1, move 'fold'"),
    "no such meld": (
        lambda line: line["hands"][0]["moves"].__setitem__(0, "stock; attach 8s 7 high"),
        "hand 1, turn 1, move 'attach 8s 7 high'.*no meld 7",
    ),
    "empty turn": (lambda line: line["hands"][0]["moves"].__setitem__(1, " ; "), "hand 1, turn 2: .*without a move"),
    "turn cut short": (
        lambda line: line["hands"][0]["moves"].__setitem__(0, "stock"),
        "hand 1, turn 1: .*end the turn",
    ),
    "turns missing": (lambda line: line["hands"][0]["moves"].pop(), "hand 1: its moves do not end it"),
    "turns missing before another hand": (
        lambda line: (line["hands"][0]["moves"].pop(), unfinish(line["hands"][0])),
        "hand 1: .*another hand follows",
    ),
    "a move after the end": (lambda line: line["hands"][0]["moves"].append("stock"), "move 'stock': the hand was over"),
    "finished but not said so": (lambda line: unfinish(line["hands"][-1]), "points, winner and closing are"),
    "dealer": (lambda line: line["hands"][1].update(dealer=(line["hands"][1]["dealer"] + 1) % 3), "hand 2: the dealer"),
    "deal": (lambda line: swap_cards(line["hands"][0]), "hand 1"),
    "a hand missing": (lambda line: line["hands"].pop(1), "hand 2: the dealer"),
    "a hand after the match": (lambda line: line["hands"].append(line["hands"][-1]), "match_over"),
    "another seed still replays until a stock is renewed": (lambda line: line.update(seed=line["seed"] + 1), ""),
}


@pytest.mark.parametrize(("spoil", "message"), REPLAY.values(), ids=REPLAY)
def test_what_does_not_replay_is_refused(line: dict[str, Any], spoil: Spoil, message: str) -> None:
    spoil(line)
    record = Record.from_dict(line, line=2)
    if not message:
        record.check()
        return
    with pytest.raises(BadRecord, match=f"line 2: .*{message}"):
        record.check()
    with pytest.raises(BadRecord, match=f"line 2: .*{message}"):
        list(record.replay())


def test_turns_may_be_written_with_long_melds() -> None:
    position = {
        "rules": {"num_players": 3},
        "turn": 0,
        "phase": "play",
        "hands": ["9c Tc Jc Qc Kc 7s 9d 5s 8h Td Js 6d 2h 4h", "?13", "?13"],
    }
    game = Game.from_position(position).play("meld 9c Tc Jc Qc Kc; discard 5s")
    given = game.record().to_dict()
    given["hands"][0]["moves"] = ["meld 9c Tc Jc Qc Kc; discard 5s"]
    assert Record.from_dict(given).check() == game
    given["hands"][0]["moves"] = ["meld 9c Tc Jc Kc; discard 5s"]
    with pytest.raises(BadRecord, match="turn 1"):
        Record.from_dict(given).check()


def test_a_bad_position_in_a_record_is_named() -> None:
    given = Game.from_position({"turn": 0, "phase": "play", "hands": ["9d 8c", "6h", "Jc", "2d"]}).record().to_dict()
    spoilt = json.loads(json.dumps(given))
    spoilt["hands"][0]["position"]["turn"] = 9
    with pytest.raises(BadRecord, match="hand 1: position: turn"):
        Record.from_dict(spoilt).check()
    for changes in ({"seed": 5}, {"rules": {"num_players": 4, "limit": 201}}):
        with pytest.raises(BadRecord, match="other rules, or another seed"):
            Record.from_dict({**given, **changes}).check()


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["stock", "normal"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["dealer", "deal", "moves", "points", "winner", "closing", "position", "rules", "players"]), JSON
)
def test_garbage_raises_our_errors(match: Game, key: str, value: Any) -> None:
    given = match.record().to_dict()
    target = given if key in given else given["hands"][0]
    target[key] = value
    if key == "position":
        del target["deal"]
    try:
        Record.from_dict(given).check()
    except Scala40Error as error:
        assert isinstance(error, BadRecord)


@pytest.mark.jit
def test_turning_a_log_into_a_record_is_fast() -> None:
    """Tens of thousands of hands have to be written: well under a millisecond each."""
    import time

    game = played(Rules.fisca(match="single_hand"), 1)
    logs = [game._finished_log()]
    record_from_log(game.rules, game.seed, "abcd", logs)
    start = time.perf_counter()
    for _ in range(50):
        record_from_log(game.rules, game.seed, "abcd", logs)
    assert (time.perf_counter() - start) / 50 < 0.002
