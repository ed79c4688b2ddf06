"""Who may import whom: the lines that keep the game free of agents, learning and drawing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LEARNING = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard", "ray"}
DRAWING = {"matplotlib", "pygame", "resvg_py", "PIL", "IPython"}
ENVIRONMENTS = {"gymnasium", "pettingzoo"}
CONSOLE = {"rich", "tyro", "scipy", "pandas"}


def imports(source: Path, *, at_import_only: bool = False) -> set[str]:
    """The modules that a file imports, with dots; inside functions too, or only when it is imported itself."""
    tree = ast.parse(source.read_text())
    found: set[str] = set()
    for node in _nodes(tree, at_import_only):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(_base(node, source) + (node.module or ""))
    return found


def _nodes(tree: ast.AST, at_import_only: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if at_import_only and (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_for_types(node)):
            continue
        yield node
        yield from _nodes(node, at_import_only)


def _is_for_types(node: ast.AST) -> bool:
    """Is this ``if TYPE_CHECKING:``?"""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _base(node: ast.ImportFrom, source: Path) -> str:
    """What the dots of ``from ..rules import`` stand for."""
    folders = source.relative_to(ROOT).parts[: -node.level] if node.level else ()
    return "".join(f"{folder}." for folder in folders)


def sources(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"nothing in {folder}"
    return found


def offenders(folder: str, forbidden: set[str], *, but: str = "\0", at_import_only: bool = False) -> list[str]:
    """The imports of these packages in a folder, but for its subfolder `but`."""
    return [
        f"{source.relative_to(ROOT)} imports {module}"
        for source in sources(folder)
        if but not in source.relative_to(ROOT / folder).parts
        for module in sorted(imports(source, at_import_only=at_import_only))
        if module.split(".")[0] in forbidden
    ]


def test_the_package_imports_neither_agents_nor_experiments() -> None:
    assert offenders("scala40_env", {"agents", "experiments", "tests", "notebooks"}) == []


def test_agents_import_no_experiments() -> None:
    assert offenders("agents", {"experiments", "tests", "notebooks"}) == []


def test_experiments_import_no_tests() -> None:
    assert offenders("experiments", {"tests", "notebooks"}) == []


@pytest.mark.parametrize("folder", ["scala40_env/rules", "scala40_env/kernels"])
def test_the_game_knows_nothing_of_learning_drawing_or_consoles(folder: str) -> None:
    assert offenders(folder, LEARNING | DRAWING | ENVIRONMENTS | CONSOLE) == []


def test_the_game_imports_nothing_of_the_package_but_the_game() -> None:
    """`rules` and `kernels` stand alone: no environment, observation, reward. Only notebooks load the drawing, late."""
    for folder in ("scala40_env/rules", "scala40_env/kernels"):
        for source in sources(folder):
            late = {"scala40_env.render.svg"} if source.name in ("game.py", "view.py") else set()
            assert not late & imports(source, at_import_only=True), source
            inside = {module for module in imports(source) - late if module.split(".")[0] == "scala40_env"}
            assert all(module.split(".")[1:2] in (["rules"], ["kernels"]) for module in inside), source


def test_learning_libraries_are_nowhere_in_the_package() -> None:
    assert offenders("scala40_env", LEARNING | {"matplotlib"}) == []


def test_drawing_libraries_are_loaded_by_who_draws_alone_and_late() -> None:
    assert offenders("scala40_env", DRAWING, but="render") == []
    assert offenders("scala40_env", DRAWING, at_import_only=True) == []


def test_the_cards_and_rules_import_no_kernels() -> None:
    """So that looking at rules needs no Numba."""
    for name in ("cards", "config", "errors", "melds", "moves"):
        source = ROOT / "scala40_env" / "rules" / f"{name}.py"
        assert not {module for module in imports(source) if "kernels" in module or "numba" in module}


def modules_after(code: str) -> set[str]:
    """The packages loaded in a fresh process that has run some code."""
    script = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_and_its_rules_loads_no_numba() -> None:
    heavy = {"numba", "numpy", "llvmlite"} | LEARNING | DRAWING | ENVIRONMENTS | CONSOLE
    assert not modules_after("import scala40_env") & heavy
    assert not modules_after("from scala40_env import Rules, IllegalMove; Rules.casa().describe()") & heavy


def test_playing_a_game_loads_no_environment_and_no_drawing() -> None:
    loaded = modules_after("from scala40_env import Game; Game(seed=1).play('stock')")
    assert "numba" in loaded
    assert not loaded & (LEARNING | DRAWING | ENVIRONMENTS | CONSOLE - {"scipy"})  # which Numba looks for


def test_the_walk_bites(tmp_path: Path) -> None:
    source = tmp_path / "spoilt.py"
    source.write_text(
        "import os, torch.nn\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import pygame\n"
        "class C:\n    from matplotlib import pyplot\n    def f(self):\n        from agents.base import Agent\n"
    )
    everywhere = {"os", "torch.nn", "typing", "pygame", "matplotlib", "agents.base"}
    assert imports(source) == everywhere
    assert imports(source, at_import_only=True) == everywhere - {"pygame", "agents.base"}
