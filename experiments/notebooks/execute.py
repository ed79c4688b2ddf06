"""``make notebooks``: executes the notebooks from their sources, and keeps them with outputs and plots.

A notebook is written as ``notebooks/NAME.py`` (cells between lines ``# %%``, which Jupyter opens through jupytext);
``NAME.ipynb`` beside it is made from that, and holds nothing that differs from run to run but what its cells print.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.console import BadUsage, Exit, complain
from experiments.notebooks.show import SIZE

__all__ = ["FOLDER", "ROOT", "execute", "main", "names", "sources_of", "tidied"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"
#: Seconds that a cell may take: a stop for what hangs, not a measure.
_PATIENCE = 600
#: What the package itself tells on stderr: that it compiles.
_TOLD = "scala40_env: "
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


class Unclean(ValueError):
    """A notebook with an output that should not be kept: a warning, or an address that differs from run to run."""


def names() -> list[str]:
    """The notebooks, in their order."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def sources_of(name: str) -> Any:
    """The notebook of a source, without outputs. Raises `BadUsage` for a name that there is not."""
    import jupytext

    path = FOLDER / f"{name}.py"
    if not path.exists():
        raise BadUsage(f"there is no notebook {name!r}; there are {', '.join(names())}")
    notebook = jupytext.read(path, fmt="py:percent")
    notebook.metadata = dict(_METADATA)
    for at, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{at}", {}
    return notebook


def execute(name: str, folder: Path = ROOT) -> Any:
    """A notebook with its outputs, from a kernel of its own that works in a folder.

    Raises `CellExecutionError` for a cell that fails, `Unclean` for one that writes to stderr.
    """
    from nbclient import NotebookClient
    from traitlets.config import Config

    notebook = sources_of(name)
    quiet = ["--HistoryManager.enabled=False"]  # what cells hold is no history of the user's
    place = {"metadata": {"path": str(folder)}}
    with TemporaryDirectory() as sockets:
        # TCP without encryption is open to all on the machine; sockets in one place would be shared by all kernels.
        config = Config({"KernelManager": {"transport": "ipc", "ip": str(Path(sockets) / "kernel")}})
        NotebookClient(notebook, timeout=_PATIENCE, resources=place, config=config, extra_arguments=quiet).execute()
    return tidied(notebook)


def tidied(notebook: Any) -> Any:
    """The notebook without times and versions. Raises `Unclean`."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_told(output)]
            _check_addresses(cell.outputs)
    notebook.metadata = dict(_METADATA)
    return notebook


def _is_told(output: Any) -> bool:
    """Is this only the note that kernels are compiled? Raises `Unclean` for anything else on stderr."""
    if output.output_type != "stream" or output.name != "stderr":
        return False
    lines = [line for line in output.text.splitlines() if line.strip() and not line.startswith(_TOLD)]
    if lines:
        raise Unclean(f"a cell wrote to stderr: {' '.join(lines)}")
    return True


def _check_addresses(outputs: Sequence[Any]) -> None:
    for output in outputs:
        text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
        if " at 0x" in text:
            raise Unclean(f"a cell shows an object and no value: {text}")


def main(words: Sequence[str]) -> int:
    """Execute the notebooks of these names, all if none is given, and write them; returns the exit code."""
    import nbformat
    from nbclient.exceptions import CellExecutionError

    if os.environ.get(SIZE, "full") != "full":
        return complain("notebooks", f"outputs are kept in full size only: unset {SIZE}", Exit.BAD_INPUT)
    try:
        for name in words or names():
            print(f"executing {name} ...", flush=True)
            nbformat.write(execute(name), FOLDER / f"{name}.ipynb")
    except BadUsage as error:
        return complain("notebooks", error, Exit.BAD_INPUT)
    except Unclean as error:
        return complain("notebooks", f"{name}: {error}", Exit.FAILED)
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return complain("notebooks", f"{name}: {error.ename}: {error.evalue}", Exit.FAILED)
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
