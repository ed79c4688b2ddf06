"""Every notebook runs from its source, and what is kept of it is what the source makes."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from experiments.notebooks import execute
from experiments.notebooks.show import SIZE
from scala40_env import Rules
from tests.optional import library

NAMES = execute.names()
NETWORK = "SCALA40_NOTEBOOKS_PPO"
#: A bound on what is kept, in bytes: a page of GitHub shows no larger ones.
_LARGEST = 500_000


@pytest.fixture(scope="module")
def nbformat() -> ModuleType:
    module = library("nbformat")
    assert isinstance(module, ModuleType)
    return module


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of an agent that plays a network that knows nothing."""
    torch = library("torch")
    from agents.ppo.checkpoint import Checkpoint
    from experiments.ppo_torch import new_network

    rules = Rules.fisca(num_players=2, match="single_hand")
    path = tmp_path_factory.mktemp("network") / "new.npz"
    Checkpoint.of(new_network(rules, "small", 0, torch.device("cpu")), rules).save(path)
    return f"ppo:{path}"


def kept(nbformat: Any, name: str) -> Any:
    return nbformat.read(execute.FOLDER / f"{name}.ipynb", as_version=4)


def outputs_of(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_six_and_the_page_tells_of_them_all() -> None:
    page = (execute.FOLDER / "README.md").read_text()
    assert len(NAMES) == 6
    assert re.findall(r"\((\w+)\.ipynb\)", page) == NAMES


@pytest.mark.once
@pytest.mark.jit
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_in_small(
    name: str, network: str, nbformat: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library("jupytext")
    monkeypatch.chdir(tmp_path)  # kernels that are reached through the working folder get in each other's way
    monkeypatch.setenv(SIZE, "small")
    monkeypatch.setenv(NETWORK, network)
    made = execute.execute(name)
    nbformat.validate(made)
    assert outputs_of(made)


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_whole_and_of_this_source(name: str, nbformat: Any) -> None:
    library("jupytext")
    found, wanted = kept(nbformat, name), execute.sources_of(name)
    assert [(cell.cell_type, cell.source, cell.id) for cell in found.cells] == [
        (cell.cell_type, cell.source, cell.id) for cell in wanted.cells
    ], "make notebooks executes them again"
    code = [cell for cell in found.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    shown = outputs_of(found)
    assert {output.output_type for output in shown} <= {"display_data", "execute_result", "stream"}
    assert any({"image/png", "image/svg+xml"} & set(output.get("data", {})) for output in shown)


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_tells_nothing_of_the_machine(name: str, nbformat: Any) -> None:
    path = execute.FOLDER / f"{name}.ipynb"
    assert path.stat().st_size < _LARGEST
    found = kept(nbformat, name)
    assert execute.tidied(kept(nbformat, name)) == found
    words = " ".join(
        str(output.get("text", "")) + " ".join(map(str, output.get("data", {}).values()))
        for output in outputs_of(found)
        if "image/png" not in output.get("data", {})
    )
    assert not re.search(r"/(home|root|tmp|work|Users)/", words)


# ---------------------------------------------------------------------------------------------------------------------
# The gates bite


@pytest.fixture
def spoilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of notebooks with one that can be written."""
    library("jupytext")
    monkeypatch.setattr(execute, "FOLDER", tmp_path)
    return tmp_path / "spoilt.py"


@pytest.mark.once
def test_an_error_fails(spoilt: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoilt.write_text("# %%\n1 / 0\n")
    assert execute.main([]) == 1
    assert "spoilt: ZeroDivisionError" in capsys.readouterr().err
    assert not spoilt.with_suffix(".ipynb").exists()


@pytest.mark.once
@pytest.mark.parametrize(
    ("code", "why"),
    [("import warnings\nwarnings.warn('careful')", "careful"), ("object()", "no value")],
    ids=["warning", "address"],
)
def test_unclean_output_fails(spoilt: Path, code: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    spoilt.write_text(f"# %%\n{code}\n")
    assert execute.main([]) == 1
    assert why in capsys.readouterr().err


@pytest.mark.once
def test_twice_the_same_bytes(spoilt: Path) -> None:
    spoilt.write_text("# %% [markdown]\n# Words\n\n# %%\nprint('scala')\n41 + 1\n")
    bytes_of = []
    for _ in range(2):
        assert execute.main(["spoilt"]) == 0
        bytes_of.append(spoilt.with_suffix(".ipynb").read_bytes())
    assert bytes_of[0] == bytes_of[1]


def test_bad_input_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    library("jupytext")
    assert execute.main(["07_nothing"]) == 2
    assert "there is no notebook '07_nothing'; there are 01_first_hand" in capsys.readouterr().err
    monkeypatch.setenv(SIZE, "small")
    assert execute.main([]) == 2
    assert "full size only" in capsys.readouterr().err


def test_compiling_is_no_warning() -> None:
    notebook = library("nbformat").v4.new_notebook()
    told = library("nbformat").v4.new_output("stream", name="stderr", text="scala40_env: compiling ...\n")
    notebook.cells = [library("nbformat").v4.new_code_cell("pass", outputs=[told])]
    assert execute.tidied(notebook).cells[0].outputs == []
