"""How Sphinx builds the site (``make docs``). Pages are Markdown that a code host shows as well as the site does.

The README is the first page; ``index.md``, the list of pages, gives the tree beside all of them. Pages link to each
other, to notebooks and to files of the repository as a code host wants it, by relative paths; what lies outside this
folder is put where the site has it when a page is read.
"""

from __future__ import annotations

import re
import shutil
from os.path import relpath
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

from scala40_env import __version__

DOCS = Path(__file__).parent
ROOT = DOCS.parent
README = ROOT / "README.md"
NOTEBOOKS = ROOT / "notebooks"
COPIED_NOTEBOOKS = DOCS / "notebooks"  # Sphinx reads nothing outside its folder; git ignores the copies

project = "scala40_env"
author = "The scala40_env authors"
version = release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc"]
exclude_patterns = ["**/.ipynb_checkpoints"]

html_theme = "furo"
html_title = "scala40_env"
html_copy_source = False
html_show_copyright = False
html_css_files = ["tables.css"]
html_static_path = ["_static"]

nb_execution_mode = "off"  # notebooks are executed by tests of their own, and keep what they printed
myst_heading_anchors = 3  # those that code hosts make too
myst_number_code_blocks = ()

default_role = "code"  # docstrings put names in single backticks
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_mock_imports = ["stable_baselines3"]  # the site is built without PyTorch
_ALIASES = ("Games", "Int8s", "Int64s", "Opponents", "RewardFunction", "RulesLike", "Seat", "Value", "Vector")
autodoc_type_aliases = {name: name for name in _ALIASES}

# Every name in a signature has to be found, but for those of other libraries and those that no page describes.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|np|collections|gymnasium|pettingzoo|os|pathlib|typing)\..*"),
    ("py:.*", "|".join((*_ALIASES, "ArrayLike", "NDArray", "Box", "TypeAliasForwardRef"))),
]


# ---------------------------------------------------------------------------------------------------------------------
# Pages

_LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)\s]+)\)")
_TARGET = re.compile(r"\]\(([^)\s]+)\)")
_LIST = re.compile(r"^## (.*)\n\n((?:- .*\n)+)", re.M)


def _read_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the links of a page right; the first one is the README with the tree of pages."""
    path = Path(app.env.doc2path(docname))
    if path.suffix not in (".md", ".ipynb"):
        return
    text = _with_site_links(source[0], NOTEBOOKS if path.parent == COPIED_NOTEBOOKS else path.parent)
    if docname == app.config.root_doc:
        text = f"{_with_site_links(README.read_text(), ROOT)}\n{_as_trees(text)}"
    source[0] = text


def _as_trees(text: str) -> str:
    """The lists of links in a page, each below a heading, as Sphinx takes them; the titles are those of the pages."""
    return "".join(_as_tree(caption, links) for caption, links in _LIST.findall(text))


def _as_tree(caption: str, links: str) -> str:
    pages = "\n".join(_TARGET.findall(links))
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"


def _with_site_links(text: str, folder: Path) -> str:
    """The text of a page that lies in `folder`, with its links as the site has them."""
    return _LINK.sub(lambda match: _site_link(match, folder), text)


def _site_link(link: re.Match[str], folder: Path) -> str:
    """One link or picture: to a page or a notebook of the site, or a download of what is neither."""
    mark, text, target = link.groups()
    name, hash_mark, anchor = target.partition("#")
    path = (folder / name).resolve()
    if not name or not path.is_file():
        return link[0]  # within the page, out of the site, or dead: Sphinx says so
    text = "" if text == name and path.suffix == ".md" else text  # the site puts the title there
    if path == README:
        return f"[{text}](/index.md{hash_mark}{anchor})"
    if path.is_relative_to(DOCS):
        return f"{mark}[{text}](/{path.relative_to(DOCS)}{hash_mark}{anchor})"
    if path.parent == NOTEBOOKS and path.suffix in (".md", ".ipynb"):
        return f"{mark}[{text}](/notebooks/{path.relative_to(NOTEBOOKS)}{hash_mark}{anchor})"
    return f"{{download}}`{text.strip('`')} </{relpath(path, DOCS)}>`"


def _copy_notebooks(app: Sphinx) -> None:
    """Bring the notebooks, with all that they printed, below this folder, as long as the site is built."""
    _remove_notebooks(app)
    COPIED_NOTEBOOKS.mkdir()
    for page in (*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("*.md")):
        shutil.copy(page, COPIED_NOTEBOOKS)


def _remove_notebooks(app: Sphinx, error: Exception | None = None) -> None:
    """Leave nothing behind."""
    shutil.rmtree(COPIED_NOTEBOOKS, ignore_errors=True)


# ---------------------------------------------------------------------------------------------------------------------
# Docstrings

_ONE_LINERS = ("attribute", "data", "property")
"""Napoleon would read "the seed: 0 to 9" below one of these as a type and a text."""
_NAPOLEON: Any = Config(napoleon_use_rtype=False)
"""Passes for a configuration of Sphinx, which it is no kind of."""


def _read_docstring(app: Sphinx, what: Any, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Read the sections of a docstring in Google's style."""
    if what not in _ONE_LINERS:
        lines[:] = GoogleDocstring(lines, _NAPOLEON, app, what, name, thing, options).lines()


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", _copy_notebooks)
    app.connect("build-finished", _remove_notebooks)
    app.connect("source-read", _read_page)
    app.connect("autodoc-process-docstring", _read_docstring)
