"""Every example of the README and of the pages in docs/ runs, and prints what the page says."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from experiments.cli import main
from tests.docs.pages import PAGES, ROOT, Block, blocks, blocks_of, name_of
from tests.optional import library

pytestmark = pytest.mark.once

RUN, SHOWN = ("python", "sh"), ("json", "text", "python")
"""Languages that are run, and those of blocks that are only there to be read, or to be a file."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with the settings where a clone has them; modules found there are forgotten afterwards."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "settings").symlink_to(ROOT / "experiments" / "settings")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Let PyTorch have one thread: its others wait busily, and these networks are tiny."""
    torch = library("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_examples(page: Path, folder: Path, one_thread: None) -> None:
    library("sb3_contrib")
    run_page(blocks_of(page), name_of(page), folder)


def run_page(page: list[Block], name: str, folder: Path) -> None:
    """Write the files of a page, then run its blocks in their order."""
    for block in page:
        if block.file:
            (folder / block.file).write_text(block.code)
    names: dict[str, object] = {"__name__": "example"}
    before = set(sys.modules)
    try:
        for block in page:
            if block.is_run and block.language in RUN:
                printed = printed_by(block, f"{name}:{block.line}", names)
                assert block.printed in (None, printed), f"{name}:{block.line} printed {printed!r}"
    finally:
        for module in set(sys.modules) - before:
            if str(getattr(sys.modules[module], "__file__", None)).startswith(str(folder)):
                del sys.modules[module]


def printed_by(block: Block, where: str, names: dict[str, object]) -> str:
    """What a block prints. Python shares `names` with the blocks before, as a reader would."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if block.language == "python":
            exec(compile(block.code_to_run, where, "exec"), names)
        else:
            for line in block.code_to_run.replace("\\\n", " ").splitlines():
                run_line([name for word in shlex.split(line, comments=True) for name in expanded(word)], where)
    return out.getvalue()


def expanded(word: str) -> list[str]:
    """The files that a word stands for, as a shell finds them; the word itself where there are none."""
    return sorted(glob.glob(word)) or [word]


def run_line(words: list[str], where: str) -> None:
    """Run one line of a shell; those of make have to name a target, the tests of which run elsewhere."""
    match words:
        case []:
            pass
        case ["make", *targets]:
            assert set(targets) <= make_targets(), where
        case ["scala40", *flags]:
            assert main(flags) == 0, f"{where}: scala40 {shlex.join(flags)}"
        case ["python", "-m", module, *flags]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "argv", [module, *flags])
                assert import_module(module).main() == 0, f"{where}: {module}"
        case _:
            pytest.fail(f"{where}: {words[0]} is no command of this project; say above the block why it is not run")


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_of_languages_that_are_run_or_shown(page: Path) -> None:
    for block in blocks_of(page):
        allowed = RUN if block.is_run and block.language in RUN else (*SHOWN, *RUN)
        assert block.language in allowed, f"{name_of(page)}:{block.line} is {block.language or 'of no language'}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_comments_above_blocks_are_read(page: Path) -> None:
    """A comment with a slip in it would be none of ours, and the block would run as it is."""
    above = re.findall(r"^(<!--.*)\n+```\w", page.read_text(), re.M)
    ours = [line for line in above if not line.startswith("<!-- speed: ")]
    assert len(ours) == sum(block.word is not None for block in blocks_of(page)), ours


# ---------------------------------------------------------------------------------------------------------------------
# That it bites


def run_text(text: str, folder: Path) -> None:
    run_page(blocks(text), "page", folder)


def test_what_is_printed_has_to_be_what_is_written(folder: Path) -> None:
    run_text("```python\nprint(1)\n```\n\n```text\n1\n```\n", folder)
    with pytest.raises(AssertionError, match="printed '1"):
        run_text("```python\nprint(1)\n```\n\n```text\n2\n```\n", folder)


def test_commands_are_run_with_the_files_of_the_page(folder: Path) -> None:
    run_text("<!-- file: p.json -->\n```json\n{\n```\n\n```sh\nmake demo  # all\nscala40 actions\n```\n", folder)
    assert (folder / "p.json").read_text() == "{\n"
    with pytest.raises(AssertionError, match="scala40 nothing"):
        run_text("```sh\nscala40 nothing\n```\n", folder)
    with pytest.raises(AssertionError):
        run_text("```sh\nmake nothing\n```\n", folder)
    with pytest.raises(pytest.fail.Exception, match="rm is no command"):
        run_text("```sh\nrm -r /\n```\n", folder)


def test_a_block_is_run_smaller_or_not_at_all(folder: Path) -> None:
    run_text("<!-- small: 9 => 1; 8 => 2 -->\n```python\nprint(9, 8)\n```\n\n```text\n1 2\n```\n", folder)
    run_text("<!-- not run: it fails -->\n```python\nraise ValueError\n```\n", folder)
    with pytest.raises(AssertionError, match="replaces nothing"):
        run_text("<!-- small: 7 => 1 -->\n```python\nprint(9)\n```\n", folder)


def test_modules_of_a_page_are_forgotten(folder: Path) -> None:
    page = "<!-- file: ours_alone.py -->\n```python\nX = 1\n```\n\n```python\nimport sys\nsys.path.append('{}')\n"
    run_text(page.format(os.getcwd()) + "import ours_alone\n```\n", folder)
    assert "ours_alone" not in sys.modules
