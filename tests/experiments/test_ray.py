"""Tournaments on a Ray cluster of two nodes on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.cli import main
from tests.optional import library

ROOT = Path(__file__).parents[2]

library("ray")
pytestmark = [pytest.mark.jit, pytest.mark.once]

#: Starts a cluster, plays the tournaments of its arguments one after the other, prints the exit codes.
SCRIPT = """
import json, sys
from ray.cluster_utils import Cluster
from experiments.cli import main

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
cluster.add_node(num_cpus=1)
try:
    for words in json.loads(sys.argv[1]):
        print("code", main([*words, "--ray", cluster.address]), flush=True)
finally:
    cluster.shutdown()
"""


def test_a_cluster_makes_no_difference_and_survives_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = tmp_path / "wish"
    monkeypatch.setenv("SCALA40_TEST_WISH", str(wish))
    words = ["tournament", "greedy", "tests.experiments.test_tournament:Dying", "--seats", "2", "--deals", "30"]
    words += ["--set", "hand_size=4", "opening_points=0", "max_laps=8"]
    assert main([*words, "--out", str(tmp_path / "one")]) == 0
    wish.write_text("once")
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    job = json.dumps([[*words, "--out", str(tmp_path / "ray")]])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, job], env=settings, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert "code 0" in done.stdout, done.stderr
    assert not wish.exists()
    for name in ("results.json", "records.jsonl.gz"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
