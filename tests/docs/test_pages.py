"""What the pages say beside their examples: links, tables that code prints, figures that are in the results."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from experiments.cli import COMMANDS, Command
from experiments.commands.actions import as_markdown as actions_as_markdown
from experiments.commands.rules import as_markdown as rules_as_markdown
from scala40_env import Game, Rules, __version__
from scala40_env.render import svg_of
from tests.docs.pages import DOCS, PAGES, README, ROOT, name_of, prose_of

pytestmark = pytest.mark.once

LINK = re.compile(r"\]\(([^)\s]+)\)")
BESIDE_CODE = tuple(sorted(page for folder in ("agents", "experiments") for page in (ROOT / folder).rglob("*.md")))


@pytest.mark.parametrize("page", PAGES + BESIDE_CODE, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(prose_of(page)):
        assert link.startswith("https://") or leads_somewhere(page, link), link


def leads_somewhere(page: Path, link: str) -> bool:
    """Is there such a file, and in it the heading that a code host makes this anchor of?"""
    name, _, anchor = link.partition("#")
    target = page if not name else page.parent / name
    return target.is_file() and (not anchor or anchor in anchors_of(target))


def anchors_of(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_dead_links_are_seen(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `thing`, two\n")
    page = tmp_path / "page.md"
    page.write_text("# Here\n")
    good = ("other.md", "other.md#one-thing-two", "#here")
    assert all(leads_somewhere(page, link) for link in good)
    assert not any(leads_somewhere(page, link) for link in ("another.md", "other.md#two", "#there"))


def test_pages_that_commands_print_are_the_printed_ones() -> None:
    assert (DOCS / "action-table.md").read_text() == actions_as_markdown() + "\n", "scala40 actions --markdown"
    assert (DOCS / "rules-options.md").read_text() == rules_as_markdown(), "scala40 rules --markdown"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_page_of_commands_has_them_all(command: Command) -> None:
    row = f"| `scala40 {command.name}` | {command.summary} |\n"
    assert row in (DOCS / "command-line.md").read_text(), row


# ---------------------------------------------------------------------------------------------------------------------
# Figures of the README


def table_below(page: Path, comment: str) -> list[list[str]]:
    """The cells of the table below a comment, without its head."""
    text = page.read_text().partition(f"<!-- {comment}")[2]
    lines = re.split(r"\n(?!\|)", text.partition("-->")[2].strip(), maxsplit=1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_speeds_of_the_readme_are_those_of_the_benchmarks() -> None:
    said = (DOCS / "benchmarks.md").read_text()
    rows = table_below(README, "speed")
    assert len(rows) > 3
    for row in rows:
        for figure in re.findall(r"\d[\d,]*\d", " ".join(row[1:])):
            assert re.search(rf"(?<![\d,]){figure}(?![\d,]*\d)", said), (row, figure)


def test_figures_of_the_readmes_ladder_are_those_of_the_ladder() -> None:
    pairs = pairs_of_ladder()
    rows = table_below(README, "ladder")
    assert len(rows) > 3
    for agent, against, seats, share, interval, lead, *_ in rows:
        key = (seats, agent.strip("`"), against.strip("`"))
        assert pairs[key] == (share, interval, lead), key


def pairs_of_ladder() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Share, its interval and lead, by seats under the federation's rules, agent and opponent."""
    found = {}
    for part in (DOCS / "ladder.md").read_text().split("\n## ")[1:]:
        seats = re.match(r".* at (\d) seats under fisca\n", part)
        pairs = part.partition("### Pairs")[2].partition("### Line-ups")[0]
        for row in re.findall(r"^\| ([a-z].*) \|$", pairs, re.M) if seats else ():
            agent, against, _, share, interval, lead, *_ = row.split(" | ")
            found[seats[1], agent, against] = (share, interval, lead)
    return found


def test_the_drawing_of_the_readme_is_what_the_game_draws() -> None:
    """The hand that the page about the rules plays, as it stands after seven turns."""
    turns = re.findall(r'^game\.play\("(.*)"\)$', (DOCS / "rules.md").read_text(), re.M)
    game = Game(Rules.fisca(num_players=2), seed=391)
    for turn in turns[:7]:
        game.play(turn)
    assert (DOCS / "table.svg").read_text() == svg_of(game), "write svg_of(game) into docs/table.svg"


def test_the_version_to_cite_is_this_one() -> None:
    assert f"version = {{{__version__}}}" in README.read_text()
    assert f"\nversion: {__version__}\n" in (README.parent / "CITATION.cff").read_text()


def test_every_extra_is_told_about() -> None:
    said = (DOCS / "architecture.md").read_text().partition("| extra | for |")[2].partition("\n\n")[0]
    extras = tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras) <= set(re.findall(r"`([a-z]+)`", said))
