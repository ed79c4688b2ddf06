"""How search plays: its options, that its choice follows from the seed alone, its budget, its values, its strength."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import agents
from agents import Agent, AgentError
from agents.kernels.search import MOST_PLANS
from agents.kernels.search_value import VALUES
from agents.search import SearchAgent, SearchSettings, search_agent
from scala40_env import Game, Rules, View
from scala40_env.cores import cores_there
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.rules.config import PRESETS
from tests.agents.tables import play, records

GREEDY = agents.make("greedy")
#: Playouts of a decision here: few where kernels run as plain Python.
FEW = 40 if JIT_DISABLED else 300
TWO = Rules.fisca(num_players=2, match="single_hand")

#: Without the JIT `expert` is too slow to play out in all tests; `test_expert_plays_on` lets it, once.
PLAYED_OUT = {"playout": "greedy", "depth": 1} if JIT_DISABLED else {}


def search(**options: Any) -> SearchAgent:
    return SearchAgent(SearchSettings(**{"playouts": FEW, "threads": 1, "width": 5, **PLAYED_OUT, **options}))


def choices(rules: Rules, seed: int, most: int) -> list[View]:
    """Views of a hand of `greedy` in which there is a choice."""
    game, rng, found = Game(rules, seed=seed), np.random.default_rng(0), []
    while not game.hand_over and len(found) < most:
        if len(game.legal_actions()) > 1:
            found.append(game.view(game.turn))
        game._step(GREEDY.act(game.view(game.turn), rng))
    return found


def view_of(position: dict[str, Any]) -> View:
    game = Game.from_position({"rules": {"preset": "fisca", "num_players": 2}, "turn": 0, "phase": "play", **position})
    return game.view(0)


def action_of(view: View, text: str) -> int:
    """The action that a move in notation is."""
    from scala40_env.rules.reading import texts_of

    legal = view.legal_actions()
    return legal[texts_of(view.state, legal).index(text)]


def move(agent: SearchAgent, view: View) -> str:
    """What it plays, in notation."""
    from scala40_env.rules.reading import texts_of

    return texts_of(view.state, [agent.act(view, np.random.default_rng(0))])[0]


# ---------------------------------------------------------------------------------------------------------------------
# Options


def test_options() -> None:
    settings = search_agent("ms=50,threads=2,playout=greedy,value=win,caution=0.5").settings
    assert settings == SearchSettings(ms=50.0, threads=2, playout="greedy", value="win", caution=0.5)
    assert search_agent("playouts=200").settings.playouts == 200
    assert agents.make("search").name == "search" and agents.make("search:ms=9").name == "search:ms=9"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("playout", ["'playout'", "name=value", "playouts"]),
        ("playots=3", ["'playots=3'", "did you mean 'playouts'"]),
        ("ms=fast", ["ms=fast", "a number"]),
        ("threads=1.5", ["threads=1.5", "an integer"]),
        ("ms=0", ["ms = 0.0", "1 to"]),
        ("ms=nan", ["ms = nan", "1 to"]),
        ("playouts=0", ["playouts = 0", "1 to"]),
        ("threads=-1", ["threads = -1", "0 to"]),
        ("ms=1,ms=2", ["ms", "twice"]),
        ("ms=1,playouts=2", ["one budget"]),
        ("value=points2", ["value = 'points2'", "did you mean 'points'", "match"]),
        ("playout=gredy", ["gredy", "did you mean 'greedy'"]),
        ("playout=search", ["playout = 'search'", "a kernel"]),
        ("guide=search", ["guide = 'search'", "a kernel"]),
        ("width=0", ["width = 0", "1 to 64"]),
        ("depth=1.5", ["depth=1.5", "an integer"]),
    ],
)
def test_options_that_can_not_be(options: str, words: list[str]) -> None:
    with pytest.raises(AgentError) as refused:
        agents.make(f"search:{options}")
    assert [word for word in words if word not in str(refused.value)] == []


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """An option, or else what a league tells its workers, or else a thread for each core."""
    monkeypatch.setenv("SCALA40_THREADS", "3")
    assert (search(threads=0)._threads, search(threads=5)._threads) == (3, 5)
    monkeypatch.setenv("SCALA40_THREADS", "many")
    with pytest.raises(AgentError, match="SCALA40_THREADS=many: allowed is a number of threads"):
        agents.make("search")
    monkeypatch.delenv("SCALA40_THREADS")
    assert search(threads=0)._threads == len(cores_there())


def test_it_survives_pickling() -> None:
    agent, view = search(), choices(TWO, 1, 1)[0]
    twin = pickle.loads(pickle.dumps(agent))
    assert twin.act(view, np.random.default_rng(3)) == agent.act(view, np.random.default_rng(3))


def test_a_seat_not_on_move_is_refused() -> None:
    game = Game(TWO, seed=1)
    for ask in (search().act, search().values):
        with pytest.raises(AgentError, match="not on move"):
            ask(game.view(1 - game.turn), np.random.default_rng(0))


def test_many_views_want_a_budget_of_playouts() -> None:
    with pytest.raises(AgentError, match="budget of playouts"):
        search(playouts=None).search_records(choices(TWO, 1, 1)[0].state, np.zeros(1, np.uint64))


# ---------------------------------------------------------------------------------------------------------------------
# The same choice


@pytest.mark.parametrize("rules", [TWO, Rules.casa(num_players=4, buying=True)], ids=["fisca2", "casa4"])
def test_threads_and_batches_change_nothing(rules: Rules) -> None:
    views = choices(rules, 4, 2 if JIT_DISABLED else 30)
    found = [[search(threads=threads).search(view, _rng(at)) for at, view in enumerate(views)] for threads in (1, 2, 3)]
    for one, *others in zip(*found, strict=True):
        for other in others:
            assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
    together = search(threads=2).act_batch(views, [_rng(at) for at in range(len(views))])
    assert list(together) == [int(one.actions()[0]) for one in found[0]]
    in_bulk = search(threads=2).search_records(
        np.concatenate([view.state for view in views]),
        np.array([_rng(at).integers(0, 2**64, dtype=np.uint64) for at in range(len(views))]),
        match=rules.match != "single_hand",
    )
    for at, one in enumerate(found[0]):
        assert all(a[0].tobytes() == b[at].tobytes() for a, b in zip(one, in_bulk, strict=True))


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.jit
def test_another_seed_may_choose_otherwise() -> None:
    views = choices(TWO, 4, 30)
    means = [[search().values(view, _rng(seed)).means.tolist() for view in views] for seed in (1, 2)]
    assert means[0] != means[1]


# ---------------------------------------------------------------------------------------------------------------------
# The budget


def test_a_single_legal_move_is_played_at_once() -> None:
    game = Game(TWO, seed=2)
    assert game.legal_moves() == ["stock"]
    values = search(playouts=None, ms=60_000).values(game.view(game.turn), _rng(0))
    assert values.actions.tolist() == game.legal_actions() and values.visits.tolist() == [0]


def test_playouts_are_not_exceeded() -> None:
    for view in choices(TWO, 5, 3 if JIT_DISABLED else 20):
        found = search(playouts=FEW).search(view, _rng(0))
        assert found.visits.sum() <= FEW
        assert (found.visits.sum() > 0) == (found.counts[0] > 1)
        few = search(playouts=1).search(view, _rng(0))  # not even one deal for two candidates
        assert few.visits.sum() == 0 and few.picks[0] == 0


@pytest.mark.jit
def test_the_budget_of_time_is_used_and_ends() -> None:
    """More time is more deals; and a minute is never used up where one candidate is surely best."""
    view = choices(Rules.fisca(num_players=6, match="single_hand"), 3, 1)[0]
    fast, slow = (search(playouts=None, ms=ms, threads=2).search(view, _rng(0)) for ms in (5, 250))
    assert 0 < fast.visits.max() < slow.visits.max()
    sure = view_of({"opened": [True, True], "table": ["5s 6s 7s"], "hands": ["8s Kd", "?5"]})
    found = search(playouts=None, ms=60_000).search(sure, _rng(0))
    assert found.actions().tolist() == [action_of(sure, "attach 8s 1 high")]
    assert found.visits.max() < 10_000  # a minute would be a hundred times as many


# ---------------------------------------------------------------------------------------------------------------------
# Values and candidates


def test_values_are_of_legal_actions() -> None:
    for view in choices(TWO, 6, 3 if JIT_DISABLED else 25):
        found = search(width=12).search(view, _rng(1))
        values = found.values(0)
        assert set(values.actions.tolist()) <= set(view.legal_actions())
        assert (np.diff(values.actions) > 0).all() and (values.errors >= 0).all()
        chosen = values.actions.tolist().index(int(found.actions()[0]))
        assert values.visits[chosen] == found.visits.max()
        assert np.abs(values.means).max() < 5  # points over 100


def test_candidates_are_whole_turns_each_once() -> None:
    several = 0
    for view in choices(TWO, 7, 4 if JIT_DISABLED else 30):
        n, plans = _candidates(search(width=12), view)
        several += n > 3
        assert 1 <= n <= MOST_PLANS
        assert len(set(plans)) == n
        for plan in plans:
            assert _ends_the_turn(view, plan)
    assert several


def _candidates(agent: SearchAgent, view: View) -> tuple[int, list[tuple[int, ...]]]:
    """How many candidates there are, and their actions."""
    found = agent.search(view, _rng(1))
    n = int(found.counts[0])
    return n, [tuple(plan[plan >= 0].tolist()) for plan in found.plans[0, :n]]


def _ends_the_turn(view: View, plan: tuple[int, ...]) -> bool:
    """Play a candidate in a game that could be: all its moves are legal, and one begun in play ends the turn."""
    game = Game.from_position(view.position())
    for action in plan:
        game.play_action(action)
    return view.phase != "play" or game.hand_over or game.turn != view.seat


@pytest.mark.parametrize("guide", ["greedy", "expert"])
def test_the_first_candidate_is_the_turn_of_the_guide(guide: str) -> None:
    agent = agents.make(guide)
    for view in choices(TWO, 8, 3 if JIT_DISABLED else 30):
        game, turn = Game.from_position(view.position()), []
        while not game.hand_over and game.turn == view.seat and (view.phase == "play" or not turn):
            turn.append(agent.act(game.view(view.seat), _rng(0)))
            game.play_action(turn[-1])
        assert _candidates(search(guide=guide), view)[1][0] == tuple(turn)


def test_the_width_bounds_the_candidates() -> None:
    """Beside the turns of the three agents; a wider search has those of a narrower one too."""
    wider = 0
    for view in choices(TWO, 9, 3 if JIT_DISABLED else 30):
        if view.phase == "play":
            (few, narrow), (many, wide) = (_candidates(search(width=width), view) for width in (4, 20))
            assert few <= 4 and many <= 20 and set(narrow) <= set(wide)
            wider += many > few
    assert wider


def test_caution_keeps_to_the_guide() -> None:
    views = choices(TWO, 4, 4 if JIT_DISABLED else 40)
    bold, timid = (
        [int(search(caution=caution, doubt=100).search(view, _rng(0)).picks[0]) for view in views]
        for caution in (0, 100)
    )
    assert not any(timid)
    assert any(bold)


def test_where_the_attaching_ban_is_lifted_every_move_is_a_candidate() -> None:
    """No card may be thrown while it attaches, unless all do: then the planner sees no end of the turn."""
    view = view_of({"opened": [False, True], "table": ["5s 6s 7s", "9h 9d 9c"], "hands": ["8s 4s 9s", "?5"]})
    n, plans = _candidates(search(), view)
    assert n == 3 and {plan[0] for plan in plans} == set(view.legal_actions())


def test_expert_plays_on() -> None:
    """As the agent comes: without the JIT too, so in a small hand."""
    rules = Rules.fisca(num_players=2, match="single_hand", hand_size=4, opening_points=0)
    game = Game(rules, seed=3).play("stock")
    settings = SearchSettings(playouts=8, threads=1, width=3)
    assert (settings.playout, settings.depth) == ("expert", 2)
    found = SearchAgent(settings).search(game.view(game.turn), _rng(0))
    n = int(found.counts[0])
    assert n > 1 and 0 < found.visits[0, :n].sum() <= 8 and np.isfinite(found.means[0, :n]).all()
    assert found.actions()[0] in game.view(game.turn).legal_actions()


@pytest.mark.jit
def test_without_depth_hands_are_played_out() -> None:
    """By the value of winning each playout is 1, -1 or, if nobody closes, 0; and forecasts lie between."""
    for phase in ("draw", "play"):
        views = [view for seed in range(8) for view in choices(TWO, seed, 40) if view.phase == phase]
        whole = {
            depth: [_is_whole(search(depth=depth, value="win", playouts=64), view) for view in views]
            for depth in (0, 1)
        }
        assert all(whole[0]) and not all(whole[1])


def _is_whole(agent: SearchAgent, view: View) -> bool:
    """Whether the values of all candidates are sums of whole numbers."""
    found = agent.search(view, _rng(0))
    total = found.means[0] * found.visits[0]
    return bool(np.allclose(total, np.rint(total)))


@pytest.mark.jit
def test_forecasts_are_on_the_level_of_hands_played_out() -> None:
    """What they leave out is luck: hands played to the end scatter much more around about the same mean."""
    views = [view for seed in range(4) for view in choices(TWO, seed, 30) if view.phase == "play"]
    found = [[search(depth=depth, doubt=100).search(view, _rng(0)) for view in views] for depth in (1, 0)]
    some = [at for at, one in enumerate(found[0]) if one.visits[0, 0]]
    means, errors = (np.array([[getattr(one[at], name)[0, 0] for at in some] for one in found]) for name in _MOMENTS)
    assert len(some) > 40
    assert abs(means[0].mean() - means[1].mean()) < 0.15
    assert np.corrcoef(means)[0, 1] > 0.8
    assert np.median(errors[0] / errors[1]) < 0.7


_MOMENTS = ("means", "errors")


@pytest.mark.parametrize("value", VALUES)
def test_it_closes_when_it_can(value: str) -> None:
    position = {"opened": [True, True], "table": ["5s 6s 7s", "8h 8d 8c"], "hands": ["8s 9s Ts 2d", "?5"]}
    view = view_of(position)
    n, [plan] = _candidates(search(value=value), view)
    game = Game.from_position(view.position())
    for action in plan:
        game.play_action(action)
    assert n == 1 and game.hand_over


@pytest.mark.jit
def test_it_does_not_feed_the_next_player() -> None:
    """The opponent has one card left after its turn: a card that attaches lets it close by drawing from the pozzo."""
    rules = {"preset": "fisca", "num_players": 2, "match": "single_hand"}
    position = {"rules": rules, "opened": [True, True], "table": ["5s 6s 7s"], "hands": ["8s Kd Qc 2h", "?1"]}
    assert move(search(playouts=2000), view_of(position)) != "discard 8s"


@pytest.mark.jit
def test_the_match_counts() -> None:
    """The chance of the match lies between 0 and 1, and is worse for who is near the limit."""
    for totals, low, high in (([0, 0], 0.3, 0.7), ([95, 0], 0.0, 0.35), ([0, 95], 0.65, 1.0)):
        game = Game(Rules.fisca(num_players=2), seed=3)
        position = {**game.play("stock").position(), "scores": totals if game.turn == 0 else totals[::-1]}
        values = search(value="match").values(Game.from_position(position).view(game.turn), _rng(0))
        best = values.means[values.visits == values.visits.max()].max()
        assert low < best < high


# ---------------------------------------------------------------------------------------------------------------------
# At the table


@pytest.mark.parametrize("name", PRESETS)
def test_it_plays_every_preset(name: str) -> None:
    rules = Rules.from_preset(name, num_players=3, buying=True, **({"max_laps": 2} if JIT_DISABLED else {}))
    agent = search(playouts=8 if JIT_DISABLED else 60, threads=2)
    rounds = play(rules, [GREEDY, agent], [[1, 0, 1]] * (1 if JIT_DISABLED else 3), logs=True)
    for record in records(rules, rounds, 1 if JIT_DISABLED else 3):
        record.check()


@pytest.mark.jit
@pytest.mark.parametrize("players", [4, 5, 6])
def test_it_plays_with_many_and_in_teams(players: int) -> None:
    rules = Rules.fisca(num_players=players, team_size=2 if players % 2 == 0 else 1)
    rounds = play(rules, [GREEDY, search(playouts=60, threads=2)], [([1, 0] * 3)[:players]], logs=True)
    for record in records(rules, rounds, 1):
        record.check()


def _gain(agent: SearchAgent, other: Agent, deals: int) -> np.ndarray:
    """By how many points more than search the other is charged in each deal, played from both seats."""
    rounds = [play(TWO, [agent, other], [seats] * deals)[0] for seats in ([0, 1], [1, 0])]
    return sum(rounds[seat].points[:, 1 - seat] - rounds[seat].points[:, seat] for seat in (0, 1)) / 2


@pytest.mark.jit
def test_it_beats_random() -> None:
    gain = _gain(search(playouts=100, threads=2), agents.make("random"), 25)
    assert gain.mean() > 20


@pytest.mark.slow
def test_it_beats_greedy() -> None:
    """With a budget of less than 100 ms on two cores. The ladder tells how it does against `expert`."""
    gain = _gain(search(playouts=4000, width=12, threads=2), GREEDY, 150)
    assert gain.mean() > 0
