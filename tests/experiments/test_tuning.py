"""`scala40 tune`: rounds are whole, go on where they stopped, give the same bytes; the net learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.expert import PARTS, SHIPPED, pack, read_weights
from experiments import cli, expert_net, tuning
from experiments.console import Exit
from experiments.expert_net import Lessons, fit, fit_unopened
from scala40_env.kernels.jit import JIT_DISABLED

SMALL = ["--lessons", "40", "--deals", "4", "--passes", "1", "--against", "greedy"]


def tune(*flags: str) -> int:
    return cli.main(["tune", *SMALL, *flags])


def some_lessons(n: int, seed: int = 0) -> Lessons:
    """Lessons in which the ends with more points left are charged more and closed less often."""
    rng, lessons = np.random.default_rng(seed), Lessons.room_for(n)
    lessons.features[:] = rng.integers(0, 20, lessons.features.shape)
    lessons.contexts[:] = rng.integers(0, 30, lessons.contexts.shape)
    lessons.counts[:] = rng.integers(2, 8, n)
    lessons.outcomes[:, :, 1] = lessons.features[:, :, 2] * 3
    lessons.outcomes[:, :, 0] = lessons.features[:, :, 2] < 10
    return lessons


@pytest.mark.jit
def test_the_same_command_gives_the_same_bytes_interrupted_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert tune("--out", str(whole), "--rounds", "2") == Exit.OK

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    assert tune("--out", str(halves), "--rounds", "1") == Exit.OK
    with monkeypatch.context() as broken:
        broken.setattr(expert_net, "fit", interrupt)
        assert tune("--out", str(halves), "--rounds", "2", "--resume") == Exit.INTERRUPTED
    assert "Stopped after 1 of 2 rounds; go on with: scala40 tune" in capsys.readouterr().err
    assert tune("--out", str(halves), "--rounds", "2", "--resume") == Exit.OK
    for name in ("tuning.json", "lessons-1.npz", "lessons-2.npz"):
        assert (whole / name).read_bytes() == (halves / name).read_bytes()
    made = [read_weights(folder / "expert.json")["tables"] for folder in (whole, halves)]
    assert made[0] == made[1]


@pytest.mark.jit
def test_worse_weights_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def upside_down(table: dict[str, Any], *_: Any) -> dict[str, Any]:
        return {**table, "stakes": {name: -value for name, value in table["stakes"].items()}}

    monkeypatch.setattr(expert_net, "fit", upside_down)
    assert tune("--out", str(tmp_path), "--rounds", "1", "--deals", "100") == Exit.OK
    assert "dropped" in capsys.readouterr().out
    assert json.loads((tmp_path / "tuning.json").read_text())["rounds"][0]["kept"] is False
    assert np.array_equal(pack(read_weights(tmp_path / "expert.json")), pack(read_weights(SHIPPED)))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--rounds", "0"], ["--rounds 0", "1 and more"]),
        (["--levels", "-1"], ["--levels -1", "0 to 100"]),
        (["--rate", "0"], ["--rate 0", "less than 1"]),
        (["--seed", "-1"], ["--seed -1", "0 and more"]),
        (["--against", "tests.agents.test_base:Stubborn"], ["only scripted agents"]),
        (["--against", "gredy"], ["did you mean 'greedy'"]),
        (["--set", "num_players=3"], ["num_players", "--seats"]),
        (["--seats", "9"], ["num_players", "9"]),
        (["--seats", "2", "3"], ["--seats", "two_seats", "apart"]),
        (["--seats", "3", "--preset", "fisca", "scala_quaranta"], ["--preset", "more_seats_keeping", "apart"]),
        (["--points-of-a-hand", "0"], ["--points-of-a-hand 0", "1 and more"]),
        (["--start", "none.json"], ["none.json", "No such file"]),
    ],
)
def test_what_can_not_be_tuned(
    tmp_path: Path, flags: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tune("--out", str(tmp_path), *flags) == Exit.BAD_INPUT
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and [word for word in words if word not in error] == []


def test_a_folder_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tuning.json").write_text("{}")
    assert tune("--out", str(tmp_path)) == Exit.BAD_INPUT
    assert "--resume" in capsys.readouterr().err
    assert tune("--out", str(tmp_path), "--resume") == Exit.BAD_INPUT
    assert "no state of a tuning" in capsys.readouterr().err
    (tmp_path / "tuning.json").write_text(json.dumps({"rounds": [], "settings": {}}))
    assert tune("--out", str(tmp_path), "--resume") == Exit.BAD_INPUT
    assert "other settings" in capsys.readouterr().err


def test_whole_weights_become_floats_and_back() -> None:
    table = read_weights(SHIPPED)["tables"]["two_seats"]
    scaling = expert_net._Scaling.of(some_lessons(200))
    whole = scaling.whole(scaling.floats(table))
    for part in PARTS:
        before = np.array(table[part])
        assert np.abs(whole[part] - before).max() <= 1 + 1e-5 * np.abs(before).max()


def _error(table: dict[str, Any], lessons: Lessons) -> float:
    """The squared error of the differences in points."""
    scaling = expert_net._Scaling.of(lessons)
    (batch,) = expert_net._batches(lessons, scaling, np.random.default_rng(0))
    weights = scaling.floats(table)
    x, c = batch.features, batch.contexts
    units = np.maximum(x @ weights["units_by_feature"] + c @ weights["units_by_context"], 0)
    forecasts = units @ weights["forecasts_by_unit"].T + x @ weights["forecasts_by_feature"].T
    forecasts += c @ weights["forecasts_by_context"].T
    off = expert_net._centred(forecasts, batch.real) - expert_net._centred(batch.outcomes, batch.real)
    return float((off**2).mean())


def test_the_net_learns() -> None:
    table = read_weights(SHIPPED)["tables"]["two_seats"]
    passes = 20 if JIT_DISABLED else 60
    fitted = fit(table, some_lessons(2000), passes, 0)
    unseen = some_lessons(400, seed=1)
    assert _error(fitted, unseen) < _error(table, unseen) / 2
    assert fitted["stakes"] == table["stakes"]


def test_only_forecasts_of_unopened_hands_are_fitted() -> None:
    table = read_weights(SHIPPED)["tables"]["two_seats"]
    taught = some_lessons(2000)
    taught.outcomes[:, :, 3] = taught.features[:, :, 5] > 9
    taught.outcomes[:, :, 4] = taught.features[:, :, 2] * 4
    fitted = fit_unopened(table, taught)
    first = expert_net.UNOPENED
    for part in PARTS:
        shared = first if part.startswith("forecasts") else len(table[part])
        assert fitted[part][:shared] == table[part][:shared]
    assert fitted["forecasts_by_feature"][first + 1][2] == pytest.approx(4 * 1e4, rel=0.05)
    assert fitted["forecasts_by_feature"][first][5] > 100


@pytest.mark.jit
def test_levels_are_kept_whatever_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are not for play: neither the stakes are changed nor the old weights kept where those play better."""
    assert tune("--out", str(tmp_path), "--rounds", "1", "--levels", "0.5", "--rate", "0.05", "--json") == Exit.OK
    told = json.loads(capsys.readouterr().out)
    assert told["weights"] == str(tmp_path / "expert.json") and [each["kept"] for each in told["rounds"]] == [True]
    made, shipped = (read_weights(path)["tables"]["two_seats"] for path in (tmp_path / "expert.json", SHIPPED))
    assert made["stakes"] == shipped["stakes"]
    assert made["forecasts_by_context"] != shipped["forecasts_by_context"]
    assert "--levels 0.5" in read_weights(tmp_path / "expert.json")["made_by"]["command"]


@pytest.mark.parametrize("levels", [0.0, 0.5])
def test_gradients_are_those_of_the_error(levels: float) -> None:
    lessons = some_lessons(50)
    scaling = expert_net._Scaling.of(lessons)
    (batch,) = expert_net._batches(lessons, scaling, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    weights = {part: rng.normal(0, 0.2, shape) for part, shape in PARTS.items()}
    gradients = expert_net._gradients(weights, batch, levels)

    def loss() -> float:
        x, c = batch.features.astype(float), batch.contexts.astype(float)
        units = np.maximum(x @ weights["units_by_feature"] + c @ weights["units_by_context"], 0)
        forecasts = units @ weights["forecasts_by_unit"].T + x @ weights["forecasts_by_feature"].T
        forecasts = forecasts + c @ weights["forecasts_by_context"].T
        missed = (forecasts - batch.outcomes) * batch.real
        squares = expert_net._centred(missed, batch.real) ** 2 + levels * missed**2
        return float(squares.sum() / batch.real.sum())

    for part in PARTS:
        for at in [(0, 0), (1, 2)]:
            weights[part][at] += 1e-5
            above = loss()
            weights[part][at] -= 2e-5
            below = loss()
            weights[part][at] += 1e-5
            assert gradients[part][at] == pytest.approx((above - below) / 2e-5, rel=2e-2, abs=1e-5)


def test_every_game_has_the_learner(tmp_path: Path) -> None:
    settings = tuning.TuneSettings(out=tmp_path, seats=(4,), against=("greedy", "random"))
    seating = tuning._Tuning(settings)._seating(np.arange(500, dtype=np.uint64), 4)
    assert (seating == 0).any(axis=1).all() and set(np.unique(seating)) == {0, 1, 2}
