"""The replay page: small, sufficient to itself, and with the very states of the engine."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from scala40_env import BadRecord, Game, Record, Rules
from scala40_env.render import replay_html
from scala40_env.render.html import LETTERS, replay_page
from scala40_env.rules.cards import format_card
from scala40_env.rules.errors import Scala40Error
from scala40_env.rules.reading import known_of
from tests.render.tables import NAMES, long_match, short_match

FACES = {letter: face for face, letter in LETTERS.items()}


@pytest.fixture(scope="module")
def page() -> str:
    return replay_page(long_match())


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def hand_text(coded: str) -> str:
    return " ".join(FACES[letter] for letter in coded)


def meld_text(coded: str) -> str:
    return " ".join("*" * (len(part) - 1) + FACES[part[-1]] for part in re.findall(r"\*?[A-Za-z]", coded))


def check_state(state: dict[str, Any], game: Game, players: Sequence[str]) -> None:
    """Does a state of the page say what the game says?"""
    position, seats = game.position(), range(game.rules.num_players)
    assert [hand_text(state[f"h{seat}"]) for seat in seats] == position["hands"]
    assert [hand_text(state[f"k{seat}"]).split() for seat in seats] == [
        [format_card(card) for card in known_of(game.state, seat)] for seat in seats
    ]
    melds = [meld_text(state[key]) for key in sorted((k for k in state if k[0] == "m"), key=lambda k: int(k[1:]))]
    assert melds == position["table"]
    assert state["w"] == position["this_turn"]["new_melds"]
    pozzo = position["pozzo"].split()
    assert (hand_text(state["p"]).split(), state["q"]) == (pozzo[-1:], len(pozzo))
    assert state["s"] == len(position["stock"].split())
    assert state["o"] == "".join(str(int(flag)) for flag in game.opened)
    assert state["c"] == game.scores
    assert state["t"] == (-1 if game.hand_over else game.turn)
    check_note(state["n"], game, players)


def check_note(note: str, game: Game, players: Sequence[str]) -> None:
    """Does it name who is on move, or who has closed?"""
    if game.outcome is None:
        said = f"{players[game.turn]} "
    else:
        said = "Nobody closed" if game.outcome.winner is None else f"{players[game.outcome.winner]} closes"
    assert note.startswith(said)
    assert ("The match is over. Won by" in note) == (game.phase == "match_over")


def check_match(match: dict[str, Any], record: Record) -> None:
    """Does a match of the page say what its record does?"""
    assert match["players"] == list(record.players) and match["seed"] == str(record.seed)
    steps = iter(record.replay())
    for hand, recorded in zip(match["hands"], record.hands, strict=True):
        assert next(steps).move == ""
        state = dict(hand["start"])
        for move, changes in hand["moves"]:
            step = next(steps)
            assert move == step.move
            state |= changes
            check_state(state, step.game, record.players)
        assert (hand["points"], hand["winner"]) == (recorded.points and list(recorded.points), recorded.winner)
        assert hand["dealer"] == recorded.dealer
    assert next(steps, None) is None


def test_the_states_are_those_of_the_engine() -> None:
    record = short_match()
    check_match(data_of(replay_page(record))["matches"][0], record)


def test_a_match_that_still_runs_is_replayed_as_far_as_it_goes() -> None:
    record = Game(seed=1).play("stock").record()
    match = data_of(replay_page(record))["matches"][0]
    check_match(match, record)
    assert match["hands"][0]["points"] is None


@pytest.mark.jit
def test_a_match_of_thirty_hands_is_small(page: str) -> None:
    assert len(long_match().hands) == 30
    assert len(page.encode()) < 600_000
    check_match(data_of(page)["matches"][0], long_match())


@pytest.mark.jit
def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    links = set(re.findall(r"https?://[^\s\"'<)]+", page))
    assert links == {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"\b(?:src|srcset|@import)\b\s*[=\s]", page.replace("default-src", "").replace("-src", ""))
    assert not re.findall(r"\bhref=\"(?!#)|url\(|fetch\(|XMLHttpRequest|<link|<img", page)


@pytest.mark.jit
def test_all_faces_that_the_page_may_show_are_in_it(page: str) -> None:
    defined = set(re.findall(r'<symbol id="s40-([^"]+)"', page))
    assert {*LETTERS} - {"*"} <= defined and {"joker", "back"} <= defined
    melds = [
        meld_text(value)
        for hand in data_of(page)["matches"][0]["hands"]
        for state in (hand["start"], *(changes for _, changes in hand["moves"]))
        for key, value in state.items()
        if key[0] == "m"
    ]
    jokers = {face for text in melds for face in text.split() if face[0] == "*"}
    assert jokers and {face.replace("*", "for-") for face in jokers} == {n for n in defined if n.startswith("for-")}


@pytest.mark.jit
def test_names_can_not_break_out(page: str) -> None:
    assert data_of(page)["matches"][0]["players"] == list(NAMES)
    assert "<b>x</b>" not in page
    assert page.count("</script>") == 2


def test_several_matches_and_none(tmp_path: Path) -> None:
    record = short_match()
    size = replay_html([record, record], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_bytes()
    assert len(text) == size and len(data_of(text.decode())["matches"]) == 2
    assert "anna, bruno and 1 more</title>" in text.decode()
    assert replay_page([record, record]).encode() == text
    with pytest.raises(BadRecord, match="no match"):
        replay_html([], tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_a_record_that_does_not_replay_leaves_no_page(tmp_path: Path) -> None:
    given = short_match().to_dict()
    given["hands"][0]["moves"][0] = "pozzo; discard Kd"
    with pytest.raises(BadRecord, match="hand 1, turn 1, move 'pozzo'"):
        replay_html(Record.from_dict(given), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_what_a_turn_owes_is_said() -> None:
    rules = Rules.fisca(num_players=2, hand_size=4, opening_points=9, first_player_free_upcard=True)
    game = Game(rules, seed=1).play("pozzo")
    (match,) = data_of(replay_page(game.record(["anna", "bruno"])))["matches"]
    barred = game.position()["this_turn"]["barred_card"]
    note = match["hands"][0]["moves"][0][1]["n"]
    assert barred and f"{barred} from the pozzo can't be thrown back" in note


@pytest.mark.once
def test_the_words_are_of_the_language(tmp_path: Path) -> None:
    replay_html(short_match(), tmp_path / "page.html", language="es")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '<html lang="es">' in page and "dibuja un script" in page
    data = data_of(page)
    assert data["words"]["page"]["stock"] == "Mazo" and data["matches"][0]["rules"] == "fisca, 2 jugadores"
    assert "tiene que robar" in data["matches"][0]["hands"][0]["start"]["n"]


@pytest.mark.once
def test_a_language_that_there_is_not() -> None:
    with pytest.raises(Scala40Error, match="language = 'fr': allowed are en, it, es"):
        replay_page(short_match(), language="fr")
