"""``scala40 play``: what can't be is said in one line, before anything is served."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from experiments.cli import main
from experiments.console import Exit
from experiments.play.command import PlaySettings, new_table, shown_host
from experiments.play.store import Store
from experiments.play.table import Table
from scala40_env import Rules
from tests.experiments.play.tables import setup_of
from tests.optional import library


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line of an error."""
    assert main(["play", "--no-browser", *words]) == Exit.BAD_INPUT
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("scala40_env: compiling")]
    assert out == "" and len(lines) == 1 and lines[0].startswith("scala40 play: error: ")
    return lines[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--agents", "gredy"), "did you mean 'greedy'"),
        (("--agents", "greedy", "greedy", "--seats", "2"), "more than 2 seats"),
        (("--seats", "7"), "from 2 to 6"),
        (("--seats", "3", "--set", "num_players=3"), "leave one out"),
        (("--preset", "fiska"), "did you mean 'fisca'"),
        (("--set", "limitt=3"), "did you mean 'limit'"),
        (("--clock", "-5"), "clock = -5"),
        (("--name", " "), "name = ' '"),
        (("--seed", "-1"), "seed = -1"),
        (("--language", "fr"), "language"),
        (("--port", "70000"), "--port 70000"),
        (("--resume", "nothing"), "nothing.json"),
        (("--resume", "last"), "no table in"),
        (("--terminal", "--resume", "nothing"), "nothing.json"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_usage_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    library("aiohttp")
    port = () if "--port" in words else ("--port", "0")
    assert said in refused(capsys, "--out", str(tmp_path), *port, *words)


def test_a_port_in_use(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    library("aiohttp")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"--port {port}: Address already in use" in refused(capsys, "--out", str(tmp_path), "--port", port)


@pytest.mark.once
def test_a_host_that_there_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    library("aiohttp")
    said = refused(capsys, "--out", str(tmp_path), "--host", "no.such.host.invalid")
    assert "--host no.such.host.invalid --port 8040: " in said and "another port" not in said


@pytest.mark.once
@pytest.mark.parametrize(
    ("host", "shown"),
    [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("", "127.0.0.1"), ("::1", "[::1]"), ("box", "box")],
    ids=["all", "all six", "empty", "six", "name"],
)
def test_the_address_is_one_that_a_browser_reaches(host: str, shown: str) -> None:
    assert shown_host(host) == shown


def test_a_broken_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    Store(tmp_path).save(Table(setup_of()))
    (tmp_path / "tables" / "table.json").write_text("{")
    assert "table.json" in refused(capsys, "--out", str(tmp_path), "--terminal", "--resume", "table")


def test_a_folder_that_is_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "file" in refused(capsys, "--out", str(tmp_path / "file"), "--terminal")


@pytest.mark.parametrize(
    ("settings", "agents"),
    [
        (PlaySettings(), ["expert"] * 3),
        (PlaySettings(agents=("greedy", "random")), ["greedy", "random"]),
        (PlaySettings(agents=("greedy",), seats=4), ["greedy"] * 3),
        (PlaySettings(agents=("greedy", "random"), set=("num_players=5",)), ["greedy", "random", "random", "random"]),
    ],
    ids=["none", "as many", "seats", "num_players"],
)
def test_agents_and_seats(settings: PlaySettings, agents: list[str]) -> None:
    setup = new_table(settings)
    assert [place.agent for place in setup.places] == [None, *agents]
    assert setup.rules == Rules(num_players=len(agents) + 1)
    assert len(set(setup.names)) == len(setup.names)


@pytest.mark.once
def test_it_serves_until_it_is_stopped(tmp_path: Path) -> None:
    library("aiohttp")
    Store(tmp_path).save(Table(setup_of()))
    (tmp_path / "tables" / "bad.json").write_text("{")
    words = ["play", "--no-browser", "--json", "--port", "0", "--out", str(tmp_path), "--resume", "table"]
    command = [sys.executable, "-m", "experiments.cli", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        found = json.loads(process.stdout.readline())
        with urllib.request.urlopen(found["address"]) as answer:
            assert b"Scala 40" in answer.read() and found["address"].endswith("/table/token-a")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == Exit.OK
        assert "left out" in process.stderr.read()
