"""The search player: it deals the cards that it does not see, plays its candidates out and takes the best on average.

>>> import agents
>>> agents.make("search:playouts=2000").settings.playouts
2000

Options, as in ``search:ms=100,threads=2,depth=2``, are the fields of `SearchSettings`. The kernels are in
`agents.kernels.search`; ``docs/agents.md`` tells how it searches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, AgentError, KernelAgent, make
from agents.beliefs import read_beliefs
from agents.expert import pack, read_weights
from agents.kernels.choice import EXPERT, NUM_WEIGHTS
from agents.kernels.search import (
    MOST_PLANS,
    PLAN_LENGTH,
    drop_worse,
    next_chunk,
    pick,
    plan_turns,
    play_deals,
    search_views,
    summarize,
)
from agents.kernels.search_value import VALUES
from scala40_env.cores import threads_there
from scala40_env.rules.errors import shown, suggestion

if TYPE_CHECKING:
    from scala40_env.rules.config import Rules
    from scala40_env.rules.view import View

#: The weights of the forecasts: an expert's, fitted to how hands ended and not only to what tells ends of a turn apart.
FORECASTS = Path(__file__).parent / "weights" / "forecasts.json"
#: What is played between two looks at the clock takes about so long.
_PART_SECONDS = 0.01
#: Slices of a batch for each thread: views differ in how long they take.
_SLICES = 4
#: Values by deals that there is room for at first, under a time budget.
_FIRST_ROOM = 512


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a search player searches.

    Attributes:
        ms: milliseconds for a decision; taken if `playouts` is None.
        playouts: how many hands to play out for a decision. The choice then depends on the view and the generator
            alone, whatever the number of threads.
        threads: how many threads; 0 is as many as ``SCALA40_THREADS`` says, or one for each core that this process may
            use.
        playout: the agent that plays the other seats, one that is a kernel.
        guide: the agent, a kernel too, whose own turn is the first candidate, and that draws and plays for the seat in
            its next turns.
        width: how many candidates a turn has at most, beside those of the agents: the ends that `expert` likes best.
        depth: how many turns of its own the seat looks ahead. What comes then is forecast; with 0 the agent of
            ``playout`` plays all seats to the end of the hand instead.
        value: what a hand played out is worth, one of `VALUES`; ``auto`` is ``match`` inside a match and ``points``
            where one hand is all.
        trust: how much of a candidate's value is what the guide forecasts for its end, from 0 to 1; the rest is what
            the playouts bring. Only an `expert` forecasts; other guides count as 0.
        bonus: points that closing the hand is worth beside what it charges, where the value is points.
        doubt: a candidate is given up when it is behind the best by so many standard errors of the difference.
        caution: another move than the guide's has to be better by so many standard errors of the difference.
        swaps: how many cards are swapped, on trial, for each hidden card of a hand, to make hands as likely as they are
            by what their holders did; 0 leaves them as they were dealt.
    """

    ms: float = 100.0
    playouts: int | None = None
    threads: int = 0
    playout: str = "expert"
    guide: str = "expert"
    width: int = 12
    depth: int = 2
    trust: float = 0.5
    value: str = "auto"
    bonus: int = 100
    doubt: float = 1.5
    caution: float = 0.5
    swaps: int = 6

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise AgentError(f"{name} = {shown(value)}: allowed is {low} to {high}", "search")
        if self.value not in ("auto", *VALUES):
            close = suggestion(self.value, ("auto", *VALUES))
            raise AgentError(f"value = {shown(self.value)}: allowed is auto, {', '.join(VALUES)}{close}", "search")


_RANGES: dict[str, tuple[float, float]] = {
    "ms": (1, 3_600_000),
    "playouts": (1, 10_000_000),
    "threads": (0, 256),
    "bonus": (0, 1000),
    "width": (1, 64),
    "depth": (0, 100),
    "trust": (0, 1),
    "doubt": (0, 100),
    "caution": (0, 100),
    "swaps": (0, 100),
}
_INTEGERS = set(_RANGES) - {"ms", "trust", "doubt", "caution"}


class ActionValues(NamedTuple):
    """What actions are worth: arrays with an entry for each, the best way to go on from it.

    `actions` (int64) ascend; `means` (float64) are in the units of the search's value, with their standard `errors`
    (float64; 0 where nothing was played out), and `visits` (int64) say how many deals were played.
    """

    actions: NDArray[np.int64]
    means: NDArray[np.float64]
    errors: NDArray[np.float64]
    visits: NDArray[np.int64]


class Searched(NamedTuple):
    """What a search found, for n views.

    `plans` (int16[n, 64, 40]) are the candidates: rows of actions, -1 after the last; `counts` (int64[n]) how many;
    `means`, `errors` (float64[n, 64]) and `visits` (int64[n, 64]) what they are worth, as in `ActionValues`; `picks`
    (int64[n]) the candidate to play.
    """

    plans: NDArray[np.int16]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    errors: NDArray[np.float64]
    visits: NDArray[np.int64]
    picks: NDArray[np.int64]

    def actions(self) -> NDArray[np.int64]:
        """The action to play in each view: int64[n]."""
        return self.plans[np.arange(len(self.picks)), self.picks, 0].astype(np.int64)

    def values(self, k: int) -> ActionValues:
        """What the actions of view ``k`` are worth: each what the best candidate is that begins with it.

        Candidates given up early count only where none was played out longer.
        """
        n = int(self.counts[k])
        first, means, visits = self.plans[k, :n, 0], self.means[k, :n], self.visits[k, :n]
        order = np.lexsort((-means, -visits, first))
        best = order[np.unique(first[order], return_index=True)[1]]
        return ActionValues(first[best].astype(np.int64), means[best], self.errors[k, best], visits[best])


def _blank(n: int) -> Searched:
    shape = (n, MOST_PLANS)
    return Searched(
        plans=np.full((*shape, PLAN_LENGTH), -1, np.int16),
        counts=np.zeros(n, np.int64),
        means=np.zeros(shape),
        errors=np.zeros(shape),
        visits=np.zeros(shape, np.int64),
        picks=np.zeros(n, np.int64),
    )


class SearchAgent(Agent):
    """The player. Raises `AgentError` for a playout agent that there is not, or that is no kernel."""

    def __init__(self, settings: SearchSettings | None = None) -> None:
        self.settings = settings or SearchSettings()
        self.name = "search"
        self._player = _kernel_agent("playout", self.settings.playout)
        self._guide = _kernel_agent("guide", self.settings.guide)
        self._threads = self.settings.threads or threads_there()
        self._kinds = [self._player.kernel_id, self._guide.kernel_id, EXPERT]
        self.weights = np.array([self._player.weights, self._guide.weights, pack(read_weights(FORECASTS)), _beliefs()])

    def check_rules(self, rules: Rules) -> None:
        """Raise `AgentError` if one of its agents can't play by these rules."""
        self._player.check_rules(rules)
        self._guide.check_rules(rules)

    def act(self, view: View, rng: np.random.Generator) -> int:
        """Search, and play the first action of the best candidate. Raises `AgentError` for a seat not on move."""
        return int(self.search(view, rng).actions()[0])

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Sequence[int]:
        """The same actions as `act` gives; under a budget of playouts the threads share the views out among them."""
        if self.settings.playouts is None or len(views) == 1:
            return super().act_batch(views, rngs)
        for view in views:
            self._check(view)
        records = np.concatenate([view.state for view in views])
        found = self.search_records(records, np.array([_key(rng) for rng in rngs], np.uint64), _match_form(views[0]))
        return found.actions().tolist()

    def values(self, view: View, rng: np.random.Generator) -> ActionValues:
        """What the legal actions that were candidates are worth. Raises `AgentError` for a seat not on move."""
        return self.search(view, rng).values(0)

    def search(self, view: View, rng: np.random.Generator) -> Searched:
        """Search one view. Raises `AgentError` for a seat not on move."""
        self._check(view)
        decision = _Decision(self, view.state, _key(rng), self._numbers(_match_form(view)))
        if self.settings.playouts is None:
            decision.play_for(self.settings.ms / 1000)
        else:
            decision.play_playouts(self.settings.playouts)
        return decision.found()

    def search_records(self, records: NDArray[Any], keys: NDArray[np.uint64], match: bool = False) -> Searched:
        """Search many views at once, with a budget of playouts each: the way to label decisions in bulk.

        Args:
            records: scrubbed records (`kernels.view.write_view`), shape (n,), dtype `GAME`; the seat on move searches.
            keys: what the deals depend on, shape (n,).
            match: whether the hands are part of a match, for ``value=auto``.

        Raises `AgentError` under a time budget, which many views can't share.
        """
        playouts = self.settings.playouts
        if playouts is None:
            raise AgentError("many views at once want a budget of playouts: search:playouts=200", self.name)
        found, numbers = _blank(len(records)), self._numbers(match)

        def search_slice(first: int, last: int) -> None:
            limits = (playouts, float(self.settings.doubt), float(self.settings.caution))
            search_views(records, first, last, keys, *limits, numbers, self.weights, *found)

        self._in_threads(search_slice, 0, len(records), _SLICES * self._threads)
        return found

    def _check(self, view: View) -> None:
        if not view.on_move:
            raise AgentError(f"seat {view.seat} is not on move", self.name)

    def _numbers(self, match: bool) -> NDArray[np.int64]:
        """The settings as the kernels take them."""
        chosen = self.settings
        value = chosen.value if chosen.value != "auto" else "match" if match else "points"
        worth = [VALUES.index(value), chosen.bonus]
        trust = round(1000 * chosen.trust) if self._guide.kernel_id == EXPERT else 0
        return np.array([chosen.swaps, *self._kinds, *worth, chosen.width, chosen.depth, trust], np.int64)

    def _in_threads(self, work: Callable[[int, int], None], first: int, last: int, parts: int) -> None:
        """Call ``work`` for parts of a range, in the threads of this agent."""
        cuts = [first + (last - first) * part // parts for part in range(parts + 1)]
        if self._threads == 1 or last - first < 2:
            work(first, last)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(work, cuts[:-1], cuts[1:]))


class _Decision:
    """One search under way."""

    def __init__(self, agent: SearchAgent, record: NDArray[Any], key: Any, numbers: NDArray[np.int64]) -> None:
        self.agent, self.record, self.key, self.numbers = agent, record.copy(), key, numbers
        self.result = _blank(1)
        self.forecasts = np.empty(MOST_PLANS)
        self.n = int(plan_turns(self.record, 0, numbers, agent.weights, self.result.plans[0], self.forecasts))
        self.result.counts[0] = self.n
        self.alive = np.ones(self.n, np.bool_)
        self.values = np.empty((_FIRST_ROOM, MOST_PLANS))
        self.left, self.deals = self.n, 0

    def play_playouts(self, playouts: int) -> None:
        """Play so many hands out: the very ones that `search_views` plays."""
        while self.left > 1 and (count := int(next_chunk(self.deals, self.left, playouts))):
            playouts -= count * self.left
            self._play(count)
            self._drop()

    def play_for(self, seconds: float) -> None:
        """Play out until the time is over, looking at the clock between short parts."""
        start = before = perf_counter()
        count, mark = self.agent._threads, int(next_chunk(0, 1, 1 << 30))
        while self.left > 1:
            self._play(count)
            now = perf_counter()
            each = (now - before) / count
            count = int(min(_PART_SECONDS, start + seconds - now) / each)
            if count < 1 and now + each > start + seconds:
                break
            count = max(count, 1)
            if self.deals >= mark:
                mark += int(next_chunk(self.deals, 1, 1 << 30))
                self._drop()
            before = perf_counter()
        self._drop()

    def _play(self, count: int) -> None:
        first, last = self.deals, self.deals + count
        while last > len(self.values):
            self.values = np.concatenate([self.values, np.empty_like(self.values)])
        self.agent._in_threads(self._play_slice, first, last, self.agent._threads)
        self.deals = last
        self.result.visits[0, : self.n][self.alive] = last

    def _play_slice(self, first: int, last: int) -> None:
        how = (self.key, self.numbers, self.agent.weights)
        play_deals(self.record, 0, first, last, *how, self.result.plans[0], self.forecasts, self.alive, self.values)

    def _drop(self) -> None:
        if self.left > 1 and self.deals:
            self.left = int(drop_worse(self.values, self.deals, self.alive, float(self.agent.settings.doubt)))

    def found(self) -> Searched:
        """What has come of it."""
        if self.deals:
            self.result.picks[0] = pick(self.values, self.deals, self.alive, float(self.agent.settings.caution))
            summarize(self.values, self.result.visits[0], self.n, self.result.means[0], self.result.errors[0])
        return self.result


def _key(rng: np.random.Generator) -> Any:
    """What the deals of a search depend on: a uint64."""
    return rng.integers(0, 2**64, dtype=np.uint64)


def _beliefs() -> NDArray[np.int64]:
    """The beliefs as a row of the weights."""
    row, beliefs = np.zeros(NUM_WEIGHTS, np.int64), read_beliefs()
    row[: len(beliefs)] = beliefs
    return row


def _match_form(view: View) -> bool:
    return view.rules.match != "single_hand"


# ---------------------------------------------------------------------------------------------------------------------
# Options


def search_agent(options: str = "") -> SearchAgent:
    """The agent of ``search:ms=100,threads=2``. Raises `AgentError` for an option that can't be."""
    given: dict[str, Any] = {}
    for option in filter(None, options.split(",")):
        name, equals, text = option.partition("=")
        known = tuple(field.name for field in fields(SearchSettings))
        if name not in known or not equals:
            form = "name=value, with a name of"
            raise AgentError(
                f"option {shown(option)}: allowed is {form} {', '.join(known)}{suggestion(name, known)}", "search"
            )
        if name in given:
            raise AgentError(f"option {name} is given twice", "search")
        given[name] = _number(name, text)
    if "ms" in given and "playouts" in given:
        raise AgentError("options ms and playouts: a search has one budget, not both", "search")
    agent = SearchAgent(SearchSettings(**given))
    agent.name = f"search:{options}" if options else "search"
    return agent


def _number(name: str, text: str) -> Any:
    """The value of an option out of its text."""
    if name not in _RANGES:
        return text
    try:
        return int(text) if name in _INTEGERS else float(text)
    except ValueError:
        kind = "an integer" if name in _INTEGERS else "a number"
        raise AgentError(f"option {name}={text}: allowed is {kind}", "search") from None


def _kernel_agent(name: str, spec: str) -> KernelAgent:
    player = make(spec)
    if not isinstance(player, KernelAgent):
        raise AgentError(f"{name} = {shown(spec)}: allowed is an agent that is a kernel, such as greedy", "search")
    return player
