"""`scala40 tune`: the expert plays against a pool, learns from how its hands went on, and keeps what plays better.

A round gives lessons (`agents.kernels.lessons`), fits the net to all lessons so far, plays the new weights and the old
ones against the pool on the same deals, and then tries the same with points counting more or less. The folder is whole
after every round, and the same command gives the same bytes on the same machine, interrupted or not.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from experiments.console import BadUsage, Exit, print_json_line, progress_bar

if TYPE_CHECKING:  # the rest is imported when tuning runs: other commands must not wait for the kernels
    import numpy as np
    from numpy.typing import NDArray

    from agents import KernelAgent
    from experiments.expert_net import Lessons
    from scala40_env import Rules

STATE, WEIGHTS = "tuning.json", "expert.json"
FORMAT = "scala40 tuning"
#: The stakes that rounds try to raise and to lower by this factor: those of single hands, for tuning plays no matches.
TRIED = ("own points without limit", "others' points without limit")
FACTOR = 1.5
#: Weight of the levels at most: differences would be drowned.
MOST_LEVELS = 100
#: Lessons of a block, the steps of the progress bar, and games that are made ready for one.
_BLOCK, _GAMES = 2000, 4000


@dataclass(frozen=True)
class TuneSettings:
    """Tune the weights of the expert by play against a pool of agents."""

    out: Path
    """Folder for expert.json, the best weights so far (play them as expert:PATH), and what they were made of."""
    against: tuple[str, ...] = ("greedy", "expert")
    """The pool: scripted agents, by name."""
    start: Path | None = None
    """Weights to begin with: those that expert plays with if left out."""
    preset: tuple[str, ...] = ("fisca",)
    """Rules to play by, in turn; one that is named twice counts twice."""
    set: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="FIELD=VALUE")] = ()
    """Change one field of the rules, as --set opening_points=30; may be given again."""
    seats: tuple[int, ...] = (2,)
    """Seats at a table, in turn. With two the weights for two are tuned, with more those for more, of which there are
    others for rules that let pozzo cards be kept."""
    rounds: int = 3
    """How often to give lessons, fit and compare."""
    lessons: int = 100_000
    """Lessons of a round."""
    only_unopened: bool = False
    """Fit only the forecasts of unopened hands, which count where a flat sum is charged; keep them whatever comes."""
    levels: float = 0.0
    """Fit how hands end too, with this weight beside what tells the ends of a turn apart, and keep it whatever comes:
    search forecasts by such weights."""
    passes: int = 2
    """How often a fit goes through all lessons."""
    rate: float = 3e-4
    """Rate of learning at the start of a fit. Weights that millions of lessons made are spoilt by a high one."""
    deals: int = 3000
    """Deals on which old and new weights are compared, each in all seats, for every preset and number of seats."""
    points_of_a_hand: int = 100
    """Points of difference that count as much as a hand won, when weights are compared."""
    seed: int = 0
    """Decides all deals and all chance."""
    resume: bool = False
    """Go on with the rounds in the folder, or begin if it holds none."""
    json: bool = False
    """Print one JSON object with all rounds instead of a line for each."""


def run(settings: TuneSettings) -> int:
    """Tune; returns the exit code."""
    from agents import AgentError

    try:
        tuning = _Tuning(settings)
    except AgentError as error:
        raise BadUsage(str(error)) from error
    try:
        tuning.play()
    except KeyboardInterrupt:
        print(tuning.what_is_kept(), file=sys.stderr)
        return Exit.INTERRUPTED
    if settings.json:
        print_json_line({"weights": str(settings.out / WEIGHTS), "rounds": tuning.rounds})
    else:
        print(f"The best weights are in {settings.out / WEIGHTS}.")
    return Exit.OK


def _check(settings: TuneSettings) -> None:
    for name in ("rounds", "lessons", "passes", "deals", "points_of_a_hand"):
        if getattr(settings, name) < 1:
            raise BadUsage(f"--{name.replace('_', '-')} {getattr(settings, name)}: allowed is 1 and more")
    if not 0 < settings.rate < 1:
        raise BadUsage(f"--rate {settings.rate}: allowed is more than 0 and less than 1")
    if not 0 <= settings.levels <= MOST_LEVELS:
        raise BadUsage(f"--levels {settings.levels:g}: allowed is 0 to {MOST_LEVELS}")
    if settings.seed < 0:
        raise BadUsage(f"--seed {settings.seed}: allowed is 0 and more")
    for name in ("against", "preset", "seats"):
        if not getattr(settings, name):
            raise BadUsage(f"--{name} needs one or more")


def _rules_of(settings: TuneSettings) -> list[Rules]:
    """The rules that are played by, in turn."""
    from scala40_env import Rules
    from scala40_env.rules.config import parse_setting

    changes = dict(parse_setting(text) for text in settings.set)
    clashing = {"num_players", "match", "num_hands"} & set(changes)
    if clashing:
        raise BadUsage(f"--set {min(clashing)}: tuning plays single hands, and --seats says how many play")
    return [
        Rules.from_preset(preset, **{**changes, "num_players": seats, "match": "single_hand"})
        for preset in settings.preset
        for seats in settings.seats
    ]


def _table_of(rules: Sequence[Rules]) -> str:
    """The table of weights that holds for all of these rules. Raises `BadUsage` if there is none."""
    from agents.kernels.expert import TABLES, table_row
    from scala40_env import Game

    tables = {TABLES[table_row(Game(each, seed=0).state, 0)] for each in rules}
    if len(tables) > 1:
        raise BadUsage(
            f"--seats and --preset are of games with weights of their own, {', '.join(sorted(tables))}; tune them apart"
        )
    return tables.pop()


def _pool_of(settings: TuneSettings, rules: Sequence[Rules]) -> list[KernelAgent]:
    """The pool. Raises `BadUsage` for an agent that is no kernel: lessons are given inside one."""
    import agents

    pool = []
    for spec in settings.against:
        agent = agents.make(spec)
        if not isinstance(agent, agents.KernelAgent):
            raise BadUsage(f"--against {spec}: only scripted agents can be in the pool, {', '.join(agents.names())}")
        for each in rules:
            agent.check_rules(each)
        pool.append(agent)
    return pool


class _Tuning:
    """A tuning that is under way."""

    def __init__(self, settings: TuneSettings) -> None:
        from agents.expert import SHIPPED, read_weights

        _check(settings)
        self.settings = settings
        self.rules = _rules_of(settings)
        self.table = _table_of(self.rules)
        self.pool = _pool_of(settings, self.rules)
        self.best = read_weights(settings.start or SHIPPED)
        self.rounds: list[dict[str, Any]] = []
        self._open()

    # -- the folder ----------------------------------------------------------------------------------------------

    def _heading(self) -> dict[str, Any]:
        """What makes this tuning what it is: rounds may be added later."""
        kept = asdict(self.settings)
        for name in ("out", "resume", "json", "rounds", "start"):
            del kept[name]
        kept["start"] = None if self.settings.start is None else self.settings.start.name
        return json.loads(
            json.dumps({"format": FORMAT, "settings": kept, "rules": [rules.to_dict() for rules in self.rules]})
        )

    def _open(self) -> None:
        from agents.expert import read_weights

        state = self.settings.out / STATE
        if not state.exists():
            self.settings.out.mkdir(parents=True, exist_ok=True)
            return
        if not self.settings.resume:
            raise BadUsage(f"--out {self.settings.out}: there is a tuning already; go on with it by --resume")
        try:
            kept = json.loads(state.read_text(encoding="utf-8"))
            self.rounds = kept.pop("rounds")
        except (ValueError, KeyError, AttributeError) as error:
            raise BadUsage(f"{state} is no state of a tuning") from error
        if kept != self._heading():
            raise BadUsage(f"--out {self.settings.out}: it holds a tuning with other settings; see {state}")
        self.best = read_weights(self.settings.out / WEIGHTS)

    def _save(self) -> None:
        from agents.expert import write_weights

        out = self.settings.out
        write_weights(out / f"{WEIGHTS}.new", self.best)
        os.replace(out / f"{WEIGHTS}.new", out / WEIGHTS)
        text = json.dumps({**self._heading(), "rounds": self.rounds}, indent=1)
        (out / f"{STATE}.new").write_text(text + "\n", encoding="utf-8")
        os.replace(out / f"{STATE}.new", out / STATE)

    def what_is_kept(self) -> str:
        """How far the tuning came, and how to go on."""
        done = f"Stopped after {len(self.rounds)} of {self.settings.rounds} rounds"
        return f"{done}; go on with: {self._command()} --out {shlex.quote(str(self.settings.out))} --resume"

    def _command(self) -> str:
        s = self.settings
        words = ["scala40", "tune", "--against", *s.against, "--preset", *s.preset, "--seats", *map(str, s.seats)]
        for change in s.set:
            words += ["--set", change]
        if s.start is not None:
            words += ["--start", str(s.start)]
        if s.only_unopened:
            words.append("--only-unopened")
        if s.levels:
            words += ["--levels", f"{s.levels:g}"]
        for name in ("rounds", "lessons", "passes", "rate", "deals", "points_of_a_hand", "seed"):
            words += [f"--{name.replace('_', '-')}", str(getattr(s, name))]
        return shlex.join(words)

    # -- rounds --------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play the rounds that are left."""
        while len(self.rounds) < self.settings.rounds:
            self._round(len(self.rounds))
            self._save()
            if not self.settings.json:
                self._tell(self.rounds[-1])

    def _tell(self, last: dict[str, Any]) -> None:
        kept = "kept" if last["kept"] else "dropped"
        print(f"round {len(self.rounds)}: worth {last['old']:+.4f} before, {last['new']:+.4f} after: {kept}")

    def _round(self, number: int) -> None:
        lessons = self._lessons(number)
        old, new = self._worth(self.best, number), self._fitted(lessons, number)
        worth = self._worth(new, number)
        for_play = not (self.settings.only_unopened or self.settings.levels)
        if for_play:
            new, worth = self._with_better_stakes(new, worth, number)
        kept = worth > old or not for_play
        self.rounds.append({"lessons": len(lessons.counts), "old": old, "new": worth, "kept": kept})
        if kept:
            self.best = new

    def _fitted(self, lessons: Lessons, number: int) -> dict[str, Any]:
        """The best weights so far, fitted to lessons."""
        from experiments.expert_net import fit, fit_unopened

        table = self.best["tables"][self.table]
        if self.settings.only_unopened:
            return self._with_table(fit_unopened(table, lessons), number)
        s = self.settings
        return self._with_table(fit(table, lessons, s.passes, s.seed + number, s.rate, s.levels), number)

    def _with_better_stakes(self, content: dict[str, Any], worth: float, number: int) -> tuple[dict[str, Any], float]:
        """The weights with stakes of single hands raised and lowered, one after the other, where that is worth more."""
        for name in TRIED:
            for factor in (FACTOR, 1 / FACTOR):
                table = content["tables"][self.table]
                stakes = {**table["stakes"], name: round(table["stakes"][name] * factor)}
                other = self._with_table({**table, "stakes": stakes}, number)
                if (its_worth := self._worth(other, number)) > worth:
                    content, worth = other, its_worth
        return content, worth

    def _with_table(self, table: dict[str, Any], number: int) -> dict[str, Any]:
        """The best weights with another table."""
        tables = {**self.best["tables"], self.table: table}
        return {**self.best, "tables": tables, "made_by": self._made_by(number)}

    def _made_by(self, number: int) -> dict[str, Any]:
        return {"command": self._command(), "round": number + 1, "before": self.best["made_by"]}

    def _players(self, content: dict[str, Any]) -> list[KernelAgent]:
        """The learner with these weights, and the pool."""
        from agents import KernelAgent
        from agents.expert import pack
        from agents.kernels.choice import EXPERT

        return [KernelAgent("learner", EXPERT, pack(content).tolist()), *self.pool]

    def _words(self, number: int, purpose: int, shape: tuple[int, ...]) -> NDArray[np.uint64]:
        import numpy as np

        return np.random.default_rng((self.settings.seed, number, purpose)).integers(0, 2**64, shape, dtype=np.uint64)

    def _lessons(self, number: int) -> Lessons:
        """The lessons of this round and of those before it."""
        from experiments.expert_net import Lessons

        path = self.settings.out / f"lessons-{number + 1}.npz"
        with progress_bar("lessons") as progress:
            bar = progress.add_task(f"round {number + 1}: lessons", total=self.settings.lessons)
            blocks: list[Lessons] = []
            done = 0
            while done < self.settings.lessons:
                blocks.append(self._block(number, len(blocks), min(_BLOCK, self.settings.lessons - done)))
                done += len(blocks[-1].counts)
                progress.update(bar, completed=done)
        Lessons.joined(blocks).save(path)
        paths = [self.settings.out / f"lessons-{at + 1}.npz" for at in range(number + 1)]
        return Lessons.joined([Lessons.load(each) for each in paths])

    def _block(self, number: int, block: int, room: int) -> Lessons:
        """Some lessons, of games that depend on the seed, the round and the block alone."""
        import numpy as np

        from agents.kernels.lessons import give_lessons
        from experiments.expert_net import Lessons
        from scala40_env.rules.reading import new_games

        players, rules = self._players(self.best), self.rules[block % len(self.rules)]
        words = self._words(number, 2 + block, (_GAMES, 2))
        games = np.repeat(new_games(rules, 0), _GAMES)
        games["seed"] = words[:, 0]
        seating = self._seating(words[:, 1], rules.num_players)
        lessons = Lessons.room_for(room)
        given = give_lessons(
            games,
            seating,
            np.array([player.kernel_id for player in players], np.int64),
            np.array([player.weights for player in players]),
            words[0, 1],
            lessons.features,
            lessons.contexts,
            lessons.outcomes,
            lessons.counts,
        )
        if not given:
            raise BadUsage(f"{_GAMES} hands by these rules hold no turn with a choice: nothing to learn from")
        return lessons.first(int(given))

    def _seating(self, words: NDArray[np.uint64], seats: int) -> NDArray[np.int64]:
        """The learner on one seat of every game, who is in the pool (or the learner) by chance on the others."""
        import numpy as np

        rng = np.random.default_rng(int(words[0]))
        seating = rng.integers(0, 1 + len(self.pool), (len(words), seats))
        seating[np.arange(len(words)), rng.integers(0, seats, len(words))] = 0
        return seating

    # -- comparing -----------------------------------------------------------------------------------------------

    def _worth(self, content: dict[str, Any], number: int) -> float:
        """Hands won above an even share, and points below the others', a hand: the mean over all rules and the pool."""
        import numpy as np

        players = self._players(content)
        rivals = range(1, len(players))
        worths = [self._worth_against(rules, players, rival, number) for rules in self.rules for rival in rivals]
        return float(np.mean(worths))

    def _worth_against(self, rules: Rules, players: Sequence[KernelAgent], rival: int, number: int) -> float:
        import numpy as np

        from agents.arena import Arena

        seats, deals = rules.num_players, self.settings.deals
        seeds = np.repeat(self._words(number, 0, (deals,)), seats)
        keys = self._words(number, 1, (deals * seats, seats))
        own = np.tile(np.arange(seats), deals)
        games = np.arange(deals * seats)
        seating = np.full((deals * seats, seats), rival)
        seating[games, own] = 0
        (ended,) = Arena(rules, players).play(seating, seeds, keys, 1)
        points = ended.points[games, own]
        others = (ended.points.sum(axis=1) - points) / (seats - 1)
        won = (ended.winner == own) - (ended.winner >= 0) / seats
        return float(np.mean(won) + np.mean(others - points) / self.settings.points_of_a_hand)
