"""`scala40 train` and `scala40 evaluate`: settings, a small run, going on after a stop, and that learning works."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from experiments import evaluate, train_ppo
from experiments.cli import main
from experiments.console import BadUsage, Exit
from experiments.evaluate import sampling
from experiments.training.evaluation import Watched, measure
from experiments.training.settings import FOLDER, TrainSettings, hand_rules, read_settings, settings_for
from scala40_env import Rules, Scala40Error
from tests.optional import library

for name in ("torch", "sb3_contrib", "tensorboard", "yaml"):
    library(name)
Checkpoint, PPOAgent = library("agents.ppo.checkpoint").Checkpoint, library("agents.ppo.agent").PPOAgent

ROOT = Path(__file__).parents[3]
TINY = ("hand_size=4", "opening_points=0", "max_laps=12")
SMALL_RUN = TrainSettings(
    set=TINY,
    threads=1,
    device="cpu",
    clone_decisions=5000,
    clone_batch=128,
    decisions=3000,
    games=16,
    rollout=600,
    batch_size=128,
    epochs=2,
    averaging=0.8,
    frozen=2,
    freeze_every=1000,
    evaluate_every=1500,
    evaluate_deals=10,
    opponents=("random",),
    evaluate_against=("random", "greedy"),
    save_seconds=0.0,
)


# ---------------------------------------------------------------------------------------------------------------------
# Settings


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_flags_win_over_yaml_and_yaml_over_defaults(tmp_path: Path) -> None:
    path = written(
        tmp_path / "mine.yaml", "games: 99\nlearning_rate: 1\nopponents: [greedy, random]\ntarget_kl: null\n"
    )
    found = settings_for(["--settings", str(path)])
    assert (found.games, found.learning_rate, found.opponents) == (99, 1.0, ("greedy", "random"))
    assert found.target_kl is None
    assert found.epochs == TrainSettings.epochs
    assert settings_for(["--seats=4", "--preset", "casa"]) == TrainSettings()
    assert settings_for(["--seats", "2"]) == read_settings(FOLDER / "fisca-2.yaml") != TrainSettings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("game: 3\n", "no setting 'game'.*games"),
        ("seats: 3\n", "no setting 'seats'"),
        ("games: many\n", "games = 'many': int is asked for"),
        ("games: true\n", "games = True: int"),
        ("central_critic: 1\n", "central_critic = 1: bool"),
        ("opponents: greedy\n", "a list of names"),
        ("- games\n", "keys and values"),
        ("games: [\n", "no YAML"),
    ],
)
def test_files_that_are_no_settings_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadUsage, match=words):
        read_settings(written(tmp_path / "bad.yaml", text))


def test_the_help_waits_for_no_library_of_training() -> None:
    """Nor for kernels; and it can be read where PyYAML is missing."""
    code = (
        "import sys; sys.modules['yaml'] = None; from experiments.cli import main\n"
        "assert main(['train', '--help']) == main(['evaluate', '--help']) == 0\n"
        "print(sorted({'torch', 'numba', 'numpy', 'sb3_contrib'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_without_a_library_the_message_says_what_to_install(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    assert main(["train", "--out", str(tmp_path / "run")]) == Exit.BAD_INPUT
    error = capsys.readouterr().err
    assert "tensorboard" in error and "pip install 'scala40-env[train]'" in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("seats", "changes", "words"),
    [
        (3, ["num_players=2"], "--seats 3 and --set num_players=2"),
        (4, ["team_size=2"], "plays for itself"),
        (2, ["limit=201"], "nothing between hands"),
        (None, ["match=total"], "nothing between hands"),
    ],
)
def test_rules_that_are_not_of_single_hands_are_refused(seats: int | None, changes: list[str], words: str) -> None:
    with pytest.raises(BadUsage, match=words):
        hand_rules("fisca", seats, changes)


def test_rules_of_hands_are_those_of_the_flags() -> None:
    casa = Rules.casa(num_players=3, match="single_hand")
    assert hand_rules("fisca", None, ["preset=casa", "num_players=3"]) == casa
    assert hand_rules(Rules.casa(num_players=3), None, []) == hand_rules(casa, 3, []) == casa
    assert hand_rules("fisca", None, []).num_players == 2


def test_the_files_that_come_with_the_package_are_good() -> None:
    """Those for a rule set are found by it; the others, such as the demo's, are named by a flag."""
    for path in FOLDER.glob("*.yaml"):
        settings, (preset, _, seats) = read_settings(path), path.stem.rpartition("-")
        if preset:
            settings = dataclasses.replace(settings, preset=preset, seats=int(seats))
            assert settings.rules().num_players == int(seats)
        settings.check()


@pytest.mark.parametrize(
    "flags",
    [
        *(["--games", "0"], ["--decay", "1.5"], ["--device", "tpu"], ["--opponents", "nobody", "--out", "none"]),
        *(["--self-share", "0", "--opponents"], ["--size", "vast"], ["--set", "hand_size=99"], ["--gmaes", "3"]),
        *(["--learning-rate", "nan"], ["--clip", "0"], ["--reward", "points"], ["--entropy", "-1"]),
        *(["--value", "inf"], ["--target-kl", "0"], ["--evaluate-against"], ["--set", "limit=7"]),
        *(["--compared", "1"], ["--compared", "-1"], ["--compared", "4", "--central-critic"]),
        *(
            ["--teacher", "nobody"],
            ["--teacher", "search"],
            ["--start", "none.npz"],
            ["--settings", "none.yaml"],
            ["--out", "/dev/null"],
        ),
    ],
)
def test_bad_flags_are_one_line(flags: list[str], tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *flags]) == Exit.BAD_INPUT
    error = capsys.readouterr().err
    assert error.startswith("scala40 train: error: ")
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------------------------------
# Runs


class StopAfter(list[bool]):
    """In place of what Ctrl-C fills: as if it were pressed at the so-many-th look."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.looks = looks

    def __bool__(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def test_the_smallest_run_stops_goes_on_and_ends(tmp_path: Path, capsys: Any) -> None:
    """So small that the kernels play it as plain Python too."""
    settings = dataclasses.replace(
        SMALL_RUN,
        out=tmp_path / "run",
        set=("hand_size=3", "opening_points=0", "max_laps=6"),
        clone_decisions=0,
        decisions=120,
        games=4,
        rollout=40,
        batch_size=20,
        epochs=1,
        frozen=1,
        freeze_every=40,
        evaluate_every=60,
        evaluate_deals=2,
        evaluate_against=("random",),
        resume=True,
        keep_all=True,
        json=True,
    )
    assert train_ppo.Training(settings, StopAfter(2)).run() == Exit.INTERRUPTED
    training = train_ppo.Training(settings, [])
    assert training.run() == Exit.OK
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(tmp_path / "run") and told["last"]["decisions"] >= 120
    assert Checkpoint.load(tmp_path / "run" / "best.npz").rules.hand_size == 3
    kept = Checkpoint.load(tmp_path / "run" / "last.npz").weights
    assert all(np.array_equal(kept[name], mean) for name, mean in training.means.weights.items())
    assert any(not np.array_equal(kept[name], last) for name, last in training.ppo.network.state_dict().items())
    every = sorted((tmp_path / "run").glob("at-*.npz"))
    assert [int(path.stem[3:]) for path in every] == [each["place"] for each in training.journal.evaluations]
    assert every[-1].read_bytes() == (tmp_path / "run" / "last.npz").read_bytes() != every[0].read_bytes()


class Killed(BaseException):
    """Ends a run where nothing is saved any more."""


def killed_at(training: train_ppo.Training, method: str, call: int) -> None:
    """Let a run go on until so many calls of a method of its learner or cloner, and there end it at once."""
    owner = training.cloner if method == "learn" else training.ppo
    calls, whole = [0], getattr(owner, method)

    def counted(*arguments: Any) -> Any:
        calls[0] += 1
        if calls[0] == call:
            raise Killed
        return whole(*arguments)

    setattr(owner, method, counted)
    with pytest.raises(Killed):
        training.run()


@pytest.mark.once
def test_a_run_that_was_stopped_and_killed_goes_on_to_the_same_bytes(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.training.teacher.TeacherStream.chunk", 4096)
    monkeypatch.setattr("experiments.training.run_folder._revision", lambda: "of the sources")  # edited meanwhile
    whole = dataclasses.replace(SMALL_RUN, out=tmp_path / "whole")
    parts = dataclasses.replace(SMALL_RUN, out=tmp_path / "parts", resume=True)
    assert train_ppo.Training(whole, []).run() == Exit.OK
    assert train_ppo.Training(parts, StopAfter(1)).run() == Exit.INTERRUPTED  # after the first chunk of cloning
    killed_at(train_ppo.Training(parts, []), "learn", 3)
    unsaved = dataclasses.replace(parts, save_seconds=1e9)  # from the clone on: all of it is played again
    killed_at(train_ppo.Training(unsaved, []), "update", 4)
    assert train_ppo.Training(parts, StopAfter(2)).run() == Exit.INTERRUPTED
    killed_at(train_ppo.Training(parts, []), "collect", 2)
    assert train_ppo.Training(parts, []).run() == Exit.OK
    for name in ("last.npz", "best.npz", "evaluations.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()
    found = json.loads((tmp_path / "whole" / "evaluations.json").read_text())
    assert found[0]["decisions"] == 0 and len(found) >= 3
    assert "--resume" in capsys.readouterr().out
    _check_folder(tmp_path / "whole")
    with pytest.raises(BadUsage, match="holds a run already"):
        train_ppo.Training(whole, [])
    with pytest.raises(BadUsage, match="games is 16, now it is 8"):
        train_ppo.Training(dataclasses.replace(parts, games=8), [])
    (tmp_path / "parts" / "state.pt").write_text("nothing")
    with pytest.raises(BadUsage, match=r"state\.pt is broken"):
        train_ppo.Training(parts, [])
    (tmp_path / "parts" / "config.json").write_text("[]")
    with pytest.raises(BadUsage, match=r"config\.json is broken"):
        train_ppo.Training(parts, [])


def _check_folder(folder: Path) -> None:
    """A run tells what made it, and its best network can be measured."""
    config = json.loads((folder / "config.json").read_text())
    assert config["settings"]["games"] == 16
    assert {"command", "revision", "versions", "machine", "rules"} <= set(config)
    assert list((folder / "curves").glob("events*"))
    notes = Checkpoint.load(folder / "best.npz").notes
    assert {"settings", "decisions", "evaluation", "revision", "versions", "machine"} <= set(notes)
    for more in ([], ["--seats", "2"], ["--sample"]):
        words = ["evaluate", str(folder / "best.npz"), "--against", "random", "--deals", "5", *more]
        assert main(words) == Exit.OK


@pytest.mark.once
@pytest.mark.jit
def test_a_tiny_game_is_learnt_from_nothing_to_beat_random_clearly(tmp_path: Path) -> None:
    """Three cards a hand, no threshold: who lays three and throws the fourth has won."""
    settings = dataclasses.replace(
        SMALL_RUN,
        out=tmp_path / "run",
        set=("hand_size=3", "opening_points=0", "max_laps=40"),
        clone_decisions=0,
        decisions=16_000,
        games=128,
        rollout=3000,
        batch_size=500,
        epochs=4,
        learning_rate=2e-3,
        final_learning_rate=5e-4,
        anchor=0.0,
        frozen=0,
        opponents=(),
        self_share=1.0,
        evaluate_every=10**9,
        evaluate_deals=200,
        evaluate_against=("random",),
        save_seconds=1e9,
    )
    before = dataclasses.replace(settings, out=tmp_path / "before", decisions=0)
    assert train_ppo.Training(before, []).run() == Exit.OK
    assert train_ppo.Training(settings, []).run() == Exit.OK
    low, high = (
        json.loads((tmp_path / each / "evaluations.json").read_text())[-1]["results"][0] for each in ("before", "run")
    )
    assert high["win_share_ci"][0] > 0.55 and high["win_share"] > low["win_share"]
    assert high["margin_ci"][0] > max(5, low["margin"])  # points a hand fewer than random


# ---------------------------------------------------------------------------------------------------------------------
# Measuring


class Cheat(agents.Agent):
    name = "cheat"

    def act(self, view: Any, rng: Any) -> int:
        return 634


def test_measuring_counts_illegal_moves_and_plays_on() -> None:
    rules = Rules.fisca(num_players=3, hand_size=4, opening_points=0, max_laps=12)
    found = measure(Cheat(), agents.make("random"), rules, deals=6, seed=1)
    assert found.hands == 18
    assert found.illegal > 18
    assert found.against == "random"


@pytest.mark.jit
def test_measuring_agrees_with_the_games() -> None:
    """greedy against itself is even; against random it wins, opens and closes as its hands say."""
    rules = Rules.fisca(num_players=2)
    even = measure(agents.make("greedy"), agents.make("greedy"), rules, deals=200, seed=1)
    assert even.win_share == 0.5 - even.points_by_outcome.get("abandoned", 0)
    assert even.margin == 0
    assert even.illegal == 0
    strong = measure(agents.make("greedy"), agents.make("random"), rules, deals=200, seed=1)
    assert strong.win_share_ci is not None
    assert strong.win_share > 0.75
    assert strong.margin_ci is not None
    assert strong.margin_ci[0] > 20
    assert 0.8 < strong.opened <= 1
    assert 1 < strong.opening_lap < 20
    assert strong.points_by_outcome["won"] == 0
    assert strong.points_by_outcome["lost unopened"] > strong.points_by_outcome["lost after opening"]
    again = measure(agents.make("greedy"), agents.make("random"), rules, deals=200, seed=1)
    assert dataclasses.replace(again, ms=0) == dataclasses.replace(strong, ms=0)


def test_watching_changes_nothing() -> None:
    agent = PPOAgent(None)
    assert Watched(agent).name == agent.name
    with pytest.raises(agents.AgentError, match="no weights"):
        Watched(agent).check_rules(Rules.fisca(num_players=5, opening_points=77))


def test_evaluate_refuses_what_is_no_checkpoint(tmp_path: Path, capsys: Any) -> None:
    for words in (
        *(["nobody"], [str(tmp_path / "none.npz")], ["greedy", "--deals", "0"], ["greedy", "--against", "x"]),
        *(["greedy", "--against"], ["greedy", "--sample"], ["greedy", "--seed", "-1"], ["greedy", "--seats", "9"]),
    ):
        assert main(["evaluate", *words]) == Exit.BAD_INPUT
        assert capsys.readouterr().err.startswith("scala40 evaluate: error: ")


def test_a_cuda_device_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(BadUsage, match="cuda"):
        train_ppo.Training(dataclasses.replace(SMALL_RUN, device="cuda", out=tmp_path / "run"), [])
    assert not (tmp_path / "run").exists()


@pytest.mark.once
def test_a_loss_that_is_no_number_ends_the_run_with_an_error(tmp_path: Path) -> None:
    training = train_ppo.Training(dataclasses.replace(SMALL_RUN, out=tmp_path / "run"), [])
    next(training.ppo.network.parameters()).data.fill_(float("nan"))
    with pytest.raises(Scala40Error, match="the loss is nan in cloning step 0"):
        training.run()


def test_sampling_has_a_name() -> None:
    assert (sampling("ppo"), sampling("ppo:mine")) == ("ppo:sample", "ppo:mine,sample")


def test_an_evaluation_that_is_interrupted_tells_what_is_done(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evaluate._measured

    def measured(settings: Any, player: Any, other: Any, rules: Any) -> Any:
        if other.name == "greedy":
            raise KeyboardInterrupt
        return whole(settings, player, other, rules)

    monkeypatch.setattr(evaluate, "_measured", measured)
    words = ["evaluate", "greedy", "--deals", "2", "--set", "hand_size=4", "--json", "--against"]
    assert main([*words, "random", "greedy"]) == Exit.INTERRUPTED
    assert [one["against"] for one in json.loads(capsys.readouterr().out)["results"]] == ["random"]
    assert main([*words, "greedy"]) == Exit.INTERRUPTED
    assert capsys.readouterr().out == ""


def test_evaluate_prints_a_table_or_json(capsys: Any) -> None:
    words = ["evaluate", "greedy", "--against", "random", "--deals", "4", *("--set", "hand_size=4")]
    assert main(words) == Exit.OK
    assert "random" in capsys.readouterr().out
    assert main([*words, "--json"]) == Exit.OK
    found = json.loads(capsys.readouterr().out)
    assert found["results"][0]["hands"] == 8
    assert found["rules"]["hand_size"] == 4
