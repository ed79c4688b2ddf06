"""Examples of a teacher, and learning from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import agents
from agents import Agent, AgentError
from agents.search import SearchAgent
from experiments.training import teacher
from experiments.training.teacher import (
    ComparisonStream,
    Examples,
    SearchStream,
    TeacherStream,
    stream_of,
    unpacked,
)
from scala40_env import Rules
from scala40_env.rules.moves import num_actions
from tests.optional import library

RULES = Rules.fisca(num_players=2)
SMALL = Rules.fisca(num_players=2, hand_size=4, opening_points=0)


def test_examples_are_choices_among_legal_actions_with_their_returns() -> None:
    found = TeacherStream(RULES, agents.make("greedy"), seed=3).read(5000)
    masks = unpacked(found.masks, num_actions(RULES))
    assert 3000 < len(found) <= 5000
    assert masks.sum(axis=1).min() >= 2
    assert masks[np.arange(len(found)), found.actions].all()
    assert 0.02 < np.abs(found.returns).mean() < 1


@pytest.mark.jit
def test_reading_on_gives_what_reading_at_once_gives() -> None:
    whole = TeacherStream(SMALL, agents.make("greedy"), seed=3, noise=0.1)
    parts = TeacherStream(SMALL, agents.make("greedy"), seed=3, noise=0.1)
    at_once = whole.read(4800)
    first = parts.read(4096)
    later = TeacherStream(SMALL, agents.make("greedy"), seed=3, noise=0.1)
    later.hand = parts.hand
    rest = later.read(4096)
    overlap = len(at_once) - len(first)
    assert overlap > 0
    for name in ("observations", "masks", "actions", "returns"):
        one = np.concatenate([getattr(first, name), getattr(rest, name)[:overlap]])
        assert np.array_equal(one, getattr(at_once, name)), name


@pytest.mark.jit
def test_noise_and_other_players_change_the_positions_but_not_the_teacher() -> None:
    plain = TeacherStream(RULES, agents.make("greedy"), seed=3).read(4096)
    noisy = TeacherStream(RULES, agents.make("greedy"), [agents.make("random")], noise=0.2, seed=3).read(4096)
    assert not np.array_equal(plain.observations[:500], noisy.observations[:500])
    # the first decision of the first hand is the same position: what is played there differs, what is taught does not
    assert np.array_equal(plain.observations[0], noisy.observations[0])
    assert plain.actions[0] == noisy.actions[0]


class Stranger(Agent):
    name = "stranger"

    def act(self, view: Any, rng: Any) -> int:
        return view.legal_actions()[0]


def test_a_teacher_of_python_is_refused() -> None:
    with pytest.raises(AgentError, match=r"stranger.*kernel"):
        TeacherStream(RULES, Stranger())


@pytest.mark.once
@pytest.mark.jit
def test_a_search_teaches_what_its_candidates_are_worth() -> None:
    """The labels are those that the search itself gives to these views, however much is read at once."""
    rules = Rules.fisca(num_players=2, hand_size=4, opening_points=0, max_laps=6)
    search = agents.make("search:playouts=16,threads=1")
    assert isinstance(search, SearchAgent)
    stream, later = SearchStream(rules, search, seed=3), SearchStream(rules, search, seed=3)
    found = stream.read(4096)
    plain = TeacherStream(rules, agents.make("expert"), seed=3)
    same, views = plain.read_with_views(4096)
    assert np.array_equal(found.observations, same.observations) and np.array_equal(found.returns, same.returns)
    masks = unpacked(found.masks, num_actions(rules))
    assert found.candidates is not None and found.worths is not None
    rows, columns = np.nonzero(found.candidates >= 0)
    assert masks[rows, found.candidates[rows, columns]].all()
    assert (found.candidates == found.actions[:, None]).any(axis=1).all()
    assert (found.actions != same.actions).mean() > 0.02  # it does not always agree with its guide
    keys = np.array([stream._key(view) for view in views[:50]], np.uint64)
    expected = search.search_records(views[:50].copy(), keys).values(7)
    there = found.candidates[7] >= 0
    assert found.candidates[7][there].tolist() == expected.actions.tolist()
    np.testing.assert_allclose(found.worths[7][there], expected.means, rtol=1e-6)
    later.hand = stream.hand
    assert not np.array_equal(later.read(4096).observations[:100], found.observations[:100])


def test_a_search_without_a_budget_of_playouts_is_no_teacher() -> None:
    with pytest.raises(AgentError, match="search:playouts=200"):
        stream_of(SMALL, agents.make("search:ms=5"), 0.0, 0, "zero_sum_points")


def test_only_expert_forecasts() -> None:
    for name in ("greedy", "search:playouts=20"):
        with pytest.raises(AgentError, match=f"{name}.*forecasts nothing.*expert"):
            stream_of(SMALL, agents.make(name), 0.0, 0, "zero_sum_points", "outcomes")


@pytest.mark.jit
def test_comparisons_are_of_the_decisions_that_the_expert_clones() -> None:
    """The hands are those of `TeacherStream`; candidates are legal, the expert's own first."""
    found = ComparisonStream(SMALL, agents.make("expert"), outcomes=False, seed=3).read(4096)
    same = TeacherStream(SMALL, agents.make("expert"), seed=3).read(4096)
    for name in ("observations", "masks", "actions", "returns"):
        assert np.array_equal(getattr(found, name), getattr(same, name)), name
    assert found.candidates is not None and found.worths is not None and found.forecasts is None
    assert np.array_equal(found.candidates[:, 0], found.actions)
    masks, (rows, columns) = unpacked(found.masks, 635), np.nonzero(found.candidates >= 0)
    assert masks[rows, found.candidates[rows, columns]].all()
    for row in found.candidates[:500]:
        assert len(set(row[row >= 0].tolist())) == (row >= 0).sum()
    best = np.where(found.candidates >= 0, found.worths, -np.inf).max(axis=1)
    np.testing.assert_array_equal(found.worths[:, 0], best)


@pytest.mark.jit
def test_outcomes_of_what_the_expert_does_are_what_its_hands_bring() -> None:
    """Without strays a hand that goes on from the expert's own move is the hand that it played."""
    streams = [ComparisonStream(SMALL, agents.make("expert"), True, bonus=bonus, seed=3) for bonus in (0, 60)]
    plain, paid = (stream.read(4096) for stream in streams)
    assert plain.candidates is not None and plain.worths is not None and paid.worths is not None
    several = (plain.candidates >= 0).sum(axis=1) > 1
    assert 0.5 < several.mean() < 1
    np.testing.assert_allclose(plain.worths[several, 0], plain.returns[several], atol=1e-6)
    closed = plain.returns[several] > 0
    np.testing.assert_allclose(
        paid.worths[several, 0] - plain.worths[several, 0], np.where(closed, 0.3, -0.3), atol=1e-6
    )
    assert (plain.worths[several, 0] != plain.worths[several, 1]).mean() > 0.1  # other moves lead elsewhere


def test_a_hand_with_comparisons_is_the_hand_that_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """One hand, so that the kernel runs without the JIT too: what the expert does leads to what the hand brought."""
    monkeypatch.setattr(teacher, "_MOST_HANDS", 1)
    found = ComparisonStream(SMALL, agents.make("expert"), True, [agents.make("greedy")], bonus=0, seed=4).read(4096)
    assert found.candidates is not None and found.worths is not None
    several = (found.candidates >= 0).sum(axis=1) > 1
    assert several.any() and np.array_equal(found.candidates[:, 0], found.actions)
    np.testing.assert_allclose(found.worths[several, 0], found.returns[several], atol=1e-6)


def test_comparisons_weigh_differences_by_the_forecasts() -> None:
    torch = library("torch")
    from experiments.training.cloning import comparison_error

    one = Examples(
        observations=np.zeros((1, 4), np.int8),
        masks=np.zeros((1, 80), np.uint8),
        actions=np.array([9]),
        returns=np.zeros(1, np.float32),
        candidates=np.array([[40, 9, -1]]),
        worths=np.array([[0.8, 0.2, 9.0]], np.float32),
        forecasts=np.array([[0.1 * float(np.log(3)), 0.0, 9.0]], np.float32),
    )
    logits = torch.zeros(1, 635)
    logits[0, 40], logits[0, 9] = 12.0, 0.0  # 12 * 0.05 is the difference of 0.6; what both have in common is free
    assert float(comparison_error(logits + 5, one, 0.05)) == pytest.approx(0, abs=1e-9)
    logits[0, 40] = 0.0  # three quarters and one quarter are 0.15 and 0.45 off their mean
    expected = (0.75 * 0.15**2 + 0.25 * 0.45**2) / 0.05
    assert float(comparison_error(logits, one, 0.05)) == pytest.approx(expected)


def test_cloning_can_end_with_means_of_the_weights() -> None:
    torch = library("torch")
    from experiments.training.cloning import Cloner

    class Number(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.all = torch.nn.Parameter(torch.zeros(635))

        def forward(self, seen: Any) -> Any:
            return self.all.expand(len(seen), -1), self.all[:1].expand(len(seen))

    examples = some_examples(4096).take(slice(0, 64))
    last, mean = (Cloner(Number(), 635, 0.1, 40, averaging=averaging) for averaging in (0.0, 0.9))
    for cloner in (last, mean):
        for _ in range(40):
            cloner.learn(examples)
    learnt = last.network.all.detach()
    assert torch.equal(last.means.weights["all"], learnt) and torch.equal(mean.network.all.detach(), learnt)
    lag = mean.means.weights["all"].norm() / learnt.norm()
    assert 0.5 < float(lag) < 0.99  # where weights grow their mean is behind
    again = Cloner(Number(), 635, 0.1, 40, averaging=0.9)
    again.restore(mean.state())
    assert torch.equal(again.means.weights["all"], mean.means.weights["all"])


def some_examples(n: int) -> Examples:
    return TeacherStream(SMALL, agents.make("greedy"), seed=1).read(n)


@pytest.mark.jit
def test_batches_hold_examples_once() -> None:
    """Each once, in another order; what is left over at the end is left out."""
    found = some_examples(4096)
    numbered = replace(found, actions=np.arange(len(found)))
    batches = list(numbered.batches(100, np.random.default_rng(0)))
    assert len(batches) == len(found) // 100 and all(len(batch) == 100 for batch in batches)
    order = np.concatenate([batch.actions for batch in batches])
    assert len(set(order.tolist())) == len(order) and not (np.diff(order) > 0).all()
    assert np.array_equal(batches[0].observations, found.observations[batches[0].actions])


@pytest.mark.once
def test_cloning_learns_what_the_teacher_does() -> None:
    torch = library("torch")
    from agents.ppo.layout import input_layout
    from agents.ppo.network import CardNetwork, NetworkSize
    from experiments.training.cloning import Cloner, score_of
    from scala40_env.observation import schema_of

    torch.manual_seed(0)
    network = CardNetwork(input_layout(schema_of(SMALL)), 635, NetworkSize(16, 2, 16))
    held = TeacherStream(SMALL, agents.make("greedy"), seed=2).read(4096)
    before = score_of(network, held, 635)
    cloner = Cloner(network, 635, learning_rate=3e-3, steps=120)
    stream, rng = TeacherStream(SMALL, agents.make("greedy"), seed=1), np.random.default_rng(0)
    while cloner.step < 120:
        for batch in stream.read(8192).batches(128, rng):
            cloner.learn(batch)
    after = score_of(network, held, 635)
    assert after.agreement > max(0.65, before.agreement + 0.2)
    assert after.cross_entropy < before.cross_entropy
    assert after.value_error < before.value_error


def test_soft_targets_follow_the_worths() -> None:
    torch = library("torch")
    from agents.ppo.distribution import LegalActions
    from experiments.training.cloning import Cloner, soft_targets

    masks = torch.zeros(1, 635, dtype=torch.bool)
    masks[0, [3, 9, 40]] = True
    one = Examples(
        observations=np.zeros((1, 4), np.int8),
        masks=np.packbits(masks.numpy(), axis=1),
        actions=np.array([9]),
        returns=np.zeros(1, np.float32),
        candidates=np.array([[40, 9, -1]]),
        worths=np.array([[0.1, 0.3, 9.0]], np.float32),
    )
    targets = soft_targets(one, LegalActions(masks), temperature=0.1)
    e = float(np.exp(2))
    torch.testing.assert_close(targets, torch.tensor([[0.0, e / (1 + e), 1 / (1 + e)]]))

    class Constant(torch.nn.Module):
        """The same logits and values whatever is seen."""

        def __init__(self) -> None:
            super().__init__()
            self.all = torch.nn.Parameter(torch.zeros(635))

        def forward(self, seen: Any) -> Any:
            return self.all.expand(len(seen), -1), self.all[:1].expand(len(seen))

    network = Constant()
    cloner = Cloner(network, 635, learning_rate=0.5, steps=1)
    for _ in range(20):
        cloner.learn(one)
    assert network.all[9] > network.all[40] > network.all[3]
