"""The three languages say the same things, and every refusal of the package has its words in each."""

from __future__ import annotations

import random
import re
import string
from functools import lru_cache
from pathlib import Path

import pytest

from experiments.play.offers import reason_of
from experiments.play.words import LANGUAGES, text_of_file, words_of
from scala40_env import Game, Rules
from scala40_env.render.html import CARDS_SCRIPT, template
from scala40_env.rules.config import FIELDS, PRESETS, SPECS
from scala40_env.rules.errors import Scala40Error
from scala40_env.rules.explain import why_illegal
from scala40_env.rules.moves import NUM_ACTIONS_EXTENDED
from tests.experiments.play.tables import SMALL

ROOT = Path(__file__).parents[3]
PLAY, RENDER = ROOT / "experiments" / "play", ROOT / "scala40_env" / "render"


def names_in(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything(language: str) -> None:
    english, other = words_of("en").content, words_of(language).content
    assert list(other) == list(english)
    for part in ("page", "fields", "rules", "reasons"):
        assert set(other[part]) == set(english[part])
    for key, text in english["page"].items():
        assert names_in(other["page"][key]) == names_in(text), key
    for sentence, text in other["reasons"].items():
        assert names_in(text) <= names_in(sentence), sentence


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_has_a_sentence_for_every_value(language: str) -> None:
    words = words_of(language)
    for name in FIELDS:
        spec = SPECS[name]
        values = [*spec["range"]] if "range" in spec else [*spec["choices"]]
        said = [words.rule(name, value) for value in [*values, *([None] if spec["none"] else [])]]
        assert all(said) and not any("{" in text for text in said)
        assert len(set(said)) == len(said), name


@pytest.mark.parametrize("preset", PRESETS)
def test_the_rules_in_force_leave_out_what_has_no_part(preset: str) -> None:
    words = words_of("en")
    said = words.rules(Rules.from_preset(preset, num_players=4))
    assert words.rule("limit", 101) in said and words.rule("team_score", "sum") not in said
    assert words.rule("team_score", "sum") in words.rules(Rules.from_preset(preset, num_players=4, team_size=2))


@lru_cache
def refusals() -> set[str]:
    """Why moves of all kinds are refused in many positions, as the package says it."""
    said, rng = set[str](), random.Random(4)
    kinds = (SMALL, Rules.casa(num_players=2, hand_size=8), Rules.scala_quaranta(num_players=3, buying=True))
    for rules in kinds:
        game = Game(rules, seed=3)
        for _ in range(40):
            for action in rng.sample(range(NUM_ACTIONS_EXTENDED), 40):
                if action not in game.legal_actions():
                    said.add(reason_in(game, action))
            if game.hand_over:
                break
            keen = [move for move in game.legal_moves() if move.split()[0] in ("meld", "attach", "swap", "pozzo")]
            game.play(rng.choice(keen or game.legal_moves()))
    return said


def reason_in(game: Game, action: int) -> str:
    return why_illegal(game.state, action, game.rules).partition("; legal: ")[0].removesuffix("; no move is legal")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_refusal_is_said_in_the_language(language: str) -> None:
    words = words_of(language)
    for sentence in refusals():
        assert words.reason(sentence) != sentence, sentence
        assert not re.search(r"\bseat \d|\{", words.reason(sentence))


@pytest.mark.parametrize(
    "cards", ["5s 6s", "5s 7s 8s", "Ks As 2s", "5s 5h 5s", "5s 9d Kd", "5s *6s *7s", "5s 6s 7s 8s 9s Ts", "*5s *6s *7s"]
)
def test_what_is_no_meld_is_said_in_the_language(cards: str) -> None:
    rules = Rules.fisca(num_players=2, max_run_length=5)
    game = Game.from_position({"rules": rules.to_dict(), "turn": 0, "phase": "play", "hands": ["?13", "?13"]})
    with pytest.raises(Scala40Error) as caught:
        game.play(f"meld {cards}")
    for language in LANGUAGES:
        assert words_of(language).reason(reason_of(caught.value)) != reason_of(caught.value), language


@pytest.mark.once
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "changes",
    [
        *({"team_size": 3}, {"team_size": 2, "num_players": 2}, {"match": "hands"}, {"min_naturals_per_meld": 1}),
        {"in_hand_needs_opening_points": True, "opening_points": 200, "hand_size": 5},
        {"preset": "megajogos", "num_players": 6},
    ],
    ids=range(6),
)
def test_rules_that_exclude_each_other_are_said_in_the_language(changes: dict[str, object], language: str) -> None:
    with pytest.raises(Scala40Error) as caught:
        Rules.from_dict({"preset": "fisca", "num_players": 4, **changes})
    said = words_of(language).reason(str(caught.value))
    assert said != str(caught.value) and "_" not in said


def test_a_sentence_without_words_names_the_seats() -> None:
    assert words_of("it").reason("seat 1 does something new", ["Anna", "Bruno"]) == "Bruno does something new"


@pytest.mark.once
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_choice_of_the_rules_has_a_name(language: str) -> None:
    assert set(words_of(language).content["fields"]) == {name for name in FIELDS if "choices" in SPECS[name]}


def test_what_pages_say_is_there() -> None:
    """Every key that the scripts and templates name, and none besides but what the server says or replays do."""
    page = words_of("en").content["page"]
    scripts = "".join(text_of_file("static", name) for name in ("words.js", "table.js", "start.js"))
    pages = "".join(text_of_file("templates", name) for name in ("start.html", "table.html"))
    named = set(re.findall(r'\bsay\(\s*"(\w+)"', scripts)) | set(re.findall(r'data-(?:word|label)="(\w+)"', pages))
    assert named <= set(page)
    replays = "".join(template(name) for name in ("replay.html", CARDS_SCRIPT, "replay.js"))
    server = "".join(file.read_text() for folder in (PLAY, RENDER) for file in sorted(folder.glob("*.py")))
    everything = "".join([scripts, pages, replays, server])
    made = {f"{who}_{phase}" for who in ("your", "on_move") for phase in ("draw", "play", "buy")}
    made |= {f"preset_{preset}" for preset in PRESETS} | {"closed_normal", "closed_in_hand"}
    for key in set(page) - made:
        assert re.search(rf"[\"']{key}[\"']", everything), key
