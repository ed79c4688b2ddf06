"""The words of pages: three languages say the same things, and all that the replay asks for is there."""

from __future__ import annotations

import re
import string

import pytest

from scala40_env.render.html import CARDS_SCRIPT, template
from scala40_env.render.words import LANGUAGES, content_of, language_names, words_of

pytestmark = pytest.mark.once


def names_in(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything(language: str) -> None:
    english, other = content_of("en"), content_of(language)
    assert list(other) == list(english)
    for part in ("cards", "verbs", "page"):
        assert list(other[part]) == list(english[part])
    for key, text in english["page"].items():
        assert names_in(other["page"][key]) == names_in(text), key


def test_languages_have_names() -> None:
    assert language_names() == {"en": "English", "it": "Italiano", "es": "Español"}


def test_moves_have_the_verbs_of_the_language() -> None:
    assert words_of("it").moves("meld 5s *6s 7s; attach 8s 2 high; discard Kd") == (
        "cala 5s *6s 7s; attacca 8s 2 sopra; scarta Kd"
    )


def test_what_the_replay_says_is_there() -> None:
    page = template("replay.html")
    script = template(CARDS_SCRIPT) + template("replay.js")
    named = set(re.findall(r'\bsay\("(\w+)"', script)) | set(re.findall(r'data-(?:word|label)="(\w+)"', page))
    assert len(named) > 20 and named <= set(content_of("en")["page"])
