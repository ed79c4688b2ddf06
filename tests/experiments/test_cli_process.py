"""The command line as a process: exit codes, no traceback, pipes that close, and what is not imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.console import Exit

ROOT = Path(__file__).parents[2]
WORDS = (sys.executable, "-W", "error", "-m", "experiments.cli")


def scala40(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run((*WORDS, *words), input=given, capture_output=True, text=True, cwd=ROOT, timeout=120)


def test_rules_and_help_wait_for_no_kernel() -> None:
    code = (
        "import sys; from experiments.cli import main\n"
        "for line in ('rules casa', 'rules --list', 'actions', '--help', 'bench engine --help', 'replay --help',\n"
        "             'legal --help', 'tournament --help'): assert main(line.split()) == 0\n"
        "print(sorted({'numba', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (done.returncode, done.stderr) == (0, "[]\n")


@pytest.mark.parametrize(
    ("words", "given"),
    [(("legal", "-"), "{"), (("rules", "nothing"), ""), (("replay", "/nowhere"), ""), (("nothing",), "")],
)
def test_bad_input_is_one_line_and_exit_code_2(words: tuple[str, ...], given: str) -> None:
    done = scala40(*words, given=given)
    assert done.returncode == Exit.BAD_INPUT and done.stdout == ""
    assert ": error: " in done.stderr and done.stderr.count("\n") == 1  # and none about compiling: no kernel is needed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of this kind are Unix's")
def test_a_reader_that_stops_early_is_no_error() -> None:
    with subprocess.Popen(
        (*WORDS, "actions", "--all"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert said == "" and process.returncode in (Exit.OK, Exit.BROKEN_PIPE)
