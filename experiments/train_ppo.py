"""`scala40 train`: a network learns Scala 40.

First it clones a teacher on decisions made in kernels, then PPO goes on from there: it plays hands on several seats
against itself, its own past and scripted agents, and learns from what every hand brings to each of its seats. All that
this takes is in `experiments.training`; this is the order in which it happens. `docs/training.md` tells more.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Sequence
from copy import deepcopy
from time import monotonic
from typing import TYPE_CHECKING, Any

from experiments.console import BadUsage, Exit, print_json, progress_bar
from experiments.folders import alone_in
from experiments.training.runtime import check_libraries, prepare_torch, scaled, stopping
from experiments.training.settings import TrainSettings, settings_for

if TYPE_CHECKING:  # the rest is imported when something is trained: the help waits neither for kernels nor for PyTorch
    from agents.ppo.checkpoint import Checkpoint
    from experiments.training.cloning import Cloner
    from experiments.training.journal import Journal
    from experiments.training.ppo import Coefficients, SelfPlayPPO
    from experiments.training.teacher import Examples, Stream

#: Decisions that say how well a teacher is cloned, of hands of another seed.
_HELD_OUT, _HELD_SEED = 1 << 12, 1_000_003
#: Settings that change nothing in what comes of a run.
_NOT_KEPT = ("out", "resume", "keep_all", "save_seconds", "json")


def defaults(words: Sequence[str]) -> TrainSettings:
    """The settings beneath the flags: from YAML, by rule set and seats."""
    return settings_for(words)


def run(settings: TrainSettings, command: str | None = None) -> int:
    """Train, or go on training; returns the exit code. ``command`` made it, if it was not ``scala40 train``."""
    from agents import AgentError

    settings.check()
    check_libraries("torch", "sb3_contrib", "tensorboard", "yaml")
    try:
        with alone_in(settings.folder()), stopping() as stop:
            return Training(settings, stop, command).run()
    except AgentError as error:
        raise BadUsage(str(error)) from error


class Training:
    """A run: what learns, where it stands, and its journal.

    Args:
        settings: all that decides it.
        stop: it stops, saved, as soon as this holds something.
        command: what made it; None: the words of this process.
    """

    def __init__(self, settings: TrainSettings, stop: list[bool], command: str | None = None) -> None:
        from agents.ppo.network import size_of
        from experiments.training.averaging import WeightMeans
        from experiments.training.pool import Pool

        prepare_torch(settings.threads)
        self.settings, self.rules, self._stop = scaled(settings), settings.rules(), stop
        self._command = command or shlex.join(["scala40", *(word for word in sys.argv[1:] if word != "--resume")])
        self.pool = Pool(self.rules, settings.opponents, settings.frozen, settings.self_share, settings.reward_scale)
        start = self._start()
        self.ppo = _learner(self.settings, size_of(settings.size) if start is None else start.size)
        if start is not None:
            self.ppo.network.load_state_dict(start.network().state_dict())
            self.ppo.network.sharpen(settings.sharpen)
        self.means = WeightMeans(self.ppo.network, settings.averaging)
        self.stream, self.cloner = self._teacher_stream(settings.clone_noise, settings.seed), self._cloner()
        self.stage, self.next_evaluation, self.next_freeze = "clone", 0, 0
        self.journal = self._journal()
        state = self.journal.folder.state()
        if state is not None:
            self._restore(state)
        self.journal.begin(self.place)
        self._saved = monotonic()

    def run(self) -> int:
        """All of it; returns the exit code."""
        if self.stage == "clone":
            self._clone()
        if self.stage == "play":
            self._play()
        return self._close()

    @property
    def place(self) -> int:
        """Where the run stands on the axis of its curves: decisions cloned, then played."""
        return self.cloner.step * self.settings.clone_batch + self.ppo.num_timesteps

    # -- what it is made of ----------------------------------------------------------------------------------------

    def _start(self) -> Checkpoint | None:
        from agents.ppo.checkpoint import Checkpoint

        if self.settings.start is None:
            return None
        checkpoint = Checkpoint.load(self.settings.start)
        checkpoint.check_rules(self.rules, str(self.settings.start))
        return checkpoint

    def _teacher_stream(self, noise: float, seed: int) -> Stream:
        import agents
        from experiments.training.teacher import stream_of

        s, teacher = self.settings, agents.make(self.settings.teacher)
        beside = [agents.make(name) for name in s.clone_opponents]
        return stream_of(self.rules, teacher, noise, seed, s.reward, s.clone, beside, s.clone_bonus)

    def _cloner(self) -> Cloner:
        from experiments.training.cloning import Cloner

        settings = self.settings
        return Cloner(
            self.ppo.network,
            self.ppo.games.actions,
            settings.clone_learning_rate,
            settings.clone_decisions // settings.clone_batch,
            value_weight=settings.clone_value,
            temperature=settings.clone_temperature,
            value_scale=settings.reward_scale,
            averaging=settings.clone_averaging,
        )

    def _journal(self) -> Journal:
        import agents
        from experiments.training.journal import Journal
        from experiments.training.run_folder import RunFolder, made_by

        settings, config = self.settings, self._config()
        judges = [agents.make(name) for name in settings.evaluate_against]
        for judge in judges:
            judge.check_rules(self.rules)
        folder = RunFolder(settings.folder(), config, settings.resume, settings.keep_all)
        notes = {"settings": config["settings"], **made_by()}
        return Journal(folder, self.rules, judges, settings.evaluate_deals, notes, settings.json)

    def _config(self) -> dict[str, Any]:
        settings = {key: value for key, value in dataclasses.asdict(self.settings).items() if key not in _NOT_KEPT}
        return {
            "command": self._command,
            "settings": {key: str(value) if key in ("start", "settings") else value for key, value in settings.items()},
            "rules": self.rules.to_dict(),
        }

    # -- cloning ---------------------------------------------------------------------------------------------------

    def _clone(self) -> None:
        """Learn to decide as the teacher does."""
        from experiments.training.cloning import score_of

        if self.cloner.steps:
            held = self._teacher_stream(0.0, _HELD_SEED).read(_HELD_OUT)
            with progress_bar("steps") as progress:
                bar = progress.add_task(f"cloning {self.settings.teacher}", total=self.cloner.steps)
                while self.cloner.step < self.cloner.steps and not self._stop:
                    self._learn_from(self.stream.read(self.stream.chunk))
                    score = score_of(self.ppo.network, held, self.ppo.games.actions, self.settings.reward_scale)
                    self.journal.draw(self.place, "clone", dataclasses.asdict(score))
                    told = f"cloning {self.settings.teacher}: {score.agreement:.1%} alike"
                    progress.update(bar, completed=self.cloner.step, description=told)
                    self._save_in_time()
        if not self._stop:
            self._begin_to_play()

    def _learn_from(self, examples: Examples) -> None:
        import numpy as np

        rng = np.random.default_rng([self.settings.seed, self.stream.hand])
        for batch in examples.batches(self.settings.clone_batch, rng):
            if self.cloner.step < self.cloner.steps:
                self.cloner.learn(batch)

    def _begin_to_play(self) -> None:
        """Go over to PPO, which is tied at first to the network as it is now."""
        self.stage = "play"
        if self.cloner.steps:
            self.ppo.network.load_state_dict(self.cloner.means.weights)
        self.means.begin()
        if self.cloner.steps:
            self._evaluate()
        self.ppo.set_anchor(self.ppo.network.state_dict())
        self.pool.freeze(self.ppo.network)
        self.next_freeze, self.next_evaluation = self.settings.freeze_every, self.settings.evaluate_every
        self.ppo.begin(self.pool.lineups())
        self._save()

    # -- playing ---------------------------------------------------------------------------------------------------

    def _play(self) -> None:
        """Learn from hands of its own."""
        with progress_bar("decisions") as progress:
            bar = progress.add_task("playing", total=self.settings.decisions, completed=self.ppo.num_timesteps)
            while self.ppo.num_timesteps < self.settings.decisions and not self._stop:
                self._update()
                told = f"playing; {self.journal.told_last()}".rstrip("; ")
                progress.update(bar, completed=self.ppo.num_timesteps, description=told)
                self._save_in_time()

    def _update(self) -> None:
        """One rollout, and what is learnt from it."""
        began = monotonic()
        coefficients = coefficients_of(self.settings, self.ppo.num_timesteps)
        ended = self.ppo.collect(self.settings.rollout, self.pool.lineups(), self.pool.frozen())
        played = monotonic()
        self.pool.note(ended)
        curves = self.ppo.update(coefficients)
        self.means.step()
        speed = {"decisions": curves["decisions"] / (monotonic() - began), "playing": played - began}
        results = dict(zip(self.pool.names, self.pool.results / self.settings.reward_scale, strict=True))
        for group, values in (("update", curves), ("speed", speed), ("against", results)):
            self.journal.draw(self.place, group, values)
        if self.ppo.num_timesteps >= self.next_freeze:
            self.pool.freeze(self.ppo.network)
            self.next_freeze += self.settings.freeze_every
        if self.ppo.num_timesteps >= self.next_evaluation:
            self._evaluate()
            self.next_evaluation += self.settings.evaluate_every

    # -- what comes of it ------------------------------------------------------------------------------------------

    def _evaluate(self) -> None:
        """Measure the network with the means of its weights, which are the last ones where none are taken."""
        measured = deepcopy(self.ppo.network)
        measured.load_state_dict(self.means.weights)
        self.journal.evaluate(measured, self.place, self.ppo.num_timesteps)

    def _save_in_time(self) -> None:
        if self._stop or monotonic() - self._saved >= self.settings.save_seconds:
            self._save()

    def _save(self) -> None:
        """Save all that going on to the same bytes needs."""
        self.journal.save(
            {
                "stage": self.stage,
                "ppo": self.ppo.training_state(),
                "means": self.means.state(),
                "pool": self.pool.state(),
                "cloner": self.cloner.state(),
                "hand": self.stream.hand,
                "next": [self.next_evaluation, self.next_freeze],
            }
        )
        self._saved = monotonic()

    def _restore(self, state: dict[str, Any]) -> None:
        self.stage, self.stream.hand = state["stage"], state["hand"]
        self.next_evaluation, self.next_freeze = state["next"]
        self.ppo.restore(state["ppo"])
        self.means.restore(state["means"])
        self.pool.restore(state["pool"], self.ppo.network)
        self.cloner.restore(state["cloner"])
        self.journal.restore(state)

    def _close(self) -> int:
        """Save, and say where everything is; returns the exit code."""
        path = self.journal.folder.path
        place = shlex.quote(str(path))
        if self._stop:
            self._save()
            told = f"Stopped at {self.place:,} decisions. Go on with the same command and --resume; all is in {place}"
            self.journal.say(told)
            return Exit.INTERRUPTED
        done = self.journal.evaluations
        if not done or done[-1]["place"] != self.place:
            self._evaluate()
        self._save()
        self.journal.close()
        self.journal.say(f"The best network is {place}/best.npz; measure it with: scala40 evaluate {place}/best.npz")
        if self.settings.json:
            print_json({"folder": str(path), "best_margin": self.journal.best, "last": self.journal.evaluations[-1]})
        return Exit.OK


def _learner(settings: TrainSettings, size: Any) -> SelfPlayPPO:
    from experiments.training.pool import scripted_player
    from experiments.training.ppo import SelfPlayPPO

    rules = settings.rules()
    return SelfPlayPPO(
        rules,
        size,
        settings.games,
        batch_size=settings.batch_size,
        n_epochs=settings.epochs,
        target_kl=settings.target_kl,
        discount=settings.discount,
        decay=settings.decay,
        reward=settings.reward,
        reward_scale=settings.reward_scale,
        central_critic=settings.central_critic,
        compared=settings.compared,
        guide=scripted_player("expert", rules) if settings.compared else None,
        seed=settings.seed,
        device=settings.device,
    )


def coefficients_of(settings: TrainSettings, decisions: int) -> Coefficients:
    """What an update goes by after so many decisions: straight lines over the run."""
    from experiments.training.ppo import Coefficients

    done = min(decisions / max(settings.decisions, 1), 1.0)
    held = max(1 - done / settings.anchor_share, 0.0) if settings.anchor_share else 0.0
    return Coefficients(
        learning_rate=settings.learning_rate + done * (settings.final_learning_rate - settings.learning_rate),
        clip=settings.clip,
        entropy=settings.entropy + done * (settings.final_entropy - settings.entropy),
        value=settings.value,
        anchor=settings.anchor * held,
    )
