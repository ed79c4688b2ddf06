"""The site: it is built without a warning, and no link within it is dead."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.pages import DOCS, ROOT, SITE_PAGES
from tests.optional import library

pytestmark = pytest.mark.once


class Page(HTMLParser):
    """The anchors of a page, and what it links to or shows."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")


def dead_links(site: Path) -> list[str]:
    """Links of the pages in a folder that lead to no file of it, or to no such place in one."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site)}: {link}"
        for path, page in pages.items()
        for link in page.links
        if not urlsplit(link).scheme and not _leads_somewhere(path, link, pages)
    ]


def _leads_somewhere(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target in pages:
        return unquote(parts.fragment) in pages[target].anchors
    return target.is_file()


def test_the_site_is_built_without_a_warning_and_has_no_dead_link(tmp_path: Path) -> None:
    library("myst_nb")
    library("furo")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    said = [line for line in done.stderr.splitlines() if "compiling the game kernels" not in line]
    assert (done.returncode, said) == (0, [])
    made = {path.relative_to(tmp_path).with_suffix("") for path in tmp_path.rglob("*.html")}
    assert {page.relative_to(DOCS).with_suffix("") for page in SITE_PAGES} < made
    assert dead_links(tmp_path) == []
    assert "forty points" in (tmp_path / "index.html").read_text()
    assert not (DOCS / "notebooks").exists()


def test_dead_links_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#x"></a><a href="#y"></a><img src="c.svg"><i id="y"></i>')
    (tmp_path / "b.html").write_text('<a href="https://else.where"></a><a href="a.html"></a>')
    assert dead_links(tmp_path) == ["a.html: b.html#x", "a.html: c.svg"]


@pytest.fixture(scope="module")
def conf() -> Any:
    """The configuration of the site as a module."""
    library("sphinx")
    spec = spec_from_file_location("conf_of_the_site", DOCS / "conf.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("folder", "link", "in_site"),
    [
        (ROOT, "[The rules](docs/rules.md#closing)", "[The rules](/rules.md#closing)"),
        (ROOT, "![A table](docs/table.svg)", "![A table](/table.svg)"),
        (ROOT, "[`LICENSE`](LICENSE)", "{download}`LICENSE </../LICENSE>`"),
        (DOCS, "[first](../README.md)", "[first](/index.md)"),
        (DOCS / "agents", "[up](../agents.md)", "[up](/agents.md)"),
        (DOCS, "[rules.md](rules.md)", "[](/rules.md)"),
        (DOCS, "[here](#here), [there](https://else.where)", "[here](#here), [there](https://else.where)"),
        (DOCS, "[dead](nothing.md)", "[dead](nothing.md)"),
    ],
)
def test_links_are_put_where_the_site_has_what_they_lead_to(conf: Any, folder: Path, link: str, in_site: str) -> None:
    assert conf._with_site_links(link, folder) == in_site


def test_notebooks_are_linked_where_the_site_has_them(conf: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(conf, "NOTEBOOKS", tmp_path)
    (tmp_path / "one.ipynb").write_text("{}")
    assert conf._with_site_links("[One](one.ipynb)", tmp_path) == "[One](/notebooks/one.ipynb)"


def test_the_lists_of_pages_become_trees(conf: Any) -> None:
    page = "# All\n\n[Words](/w.md)\n\n## One\n\n- [](/a.md)\n- [B](/notebooks/b.ipynb) (b)\n\n## Two\n\n- [C](/c.md)\n"
    one, two = conf._as_trees(page).strip().split("\n\n```{toctree}")
    assert one == "```{toctree}\n:hidden:\n:caption: One\n\n/a.md\n/notebooks/b.ipynb\n```"
    assert two == "\n:hidden:\n:caption: Two\n\n/c.md\n```"
