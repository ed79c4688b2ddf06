"""Games of many seats, their rollouts, and PPO on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
from agents import KernelAgent
from agents.kernels.choice import choose_in_view
from experiments.training.games import LEARNER, TrainingGames, duel_lineups
from scala40_env import Rules
from scala40_env.observation import schema_of
from tests.optional import library

torch = library("torch")
library("sb3_contrib")
Checkpoint, NetworkSize = library("agents.ppo.checkpoint").Checkpoint, library("agents.ppo.network").NetworkSize
ppo, HandRollouts = library("experiments.training.ppo"), library("experiments.training.rollouts").HandRollouts
Coefficients, SelfPlayPPO = ppo.Coefficients, ppo.SelfPlayPPO

RULES = Rules.fisca(num_players=2)
TINY_GAME = Rules.fisca(num_players=2, hand_size=4, opening_points=0, max_laps=12)
STEADY = Coefficients(learning_rate=1e-3, clip=0.2, entropy=0.003, value=0.5, anchor=0.0)


def kernel(name: str) -> KernelAgent:
    agent = agents.make(name)
    assert isinstance(agent, KernelAgent)
    return agent


def learner(rules: Rules = TINY_GAME, games: int = 16, **changes: Any) -> SelfPlayPPO:
    settings: dict[str, Any] = {"batch_size": 128, "n_epochs": 2, "seed": 3, "device": "cpu"}
    return SelfPlayPPO(rules, NetworkSize(16, 2, 16), games, **(settings | changes))


def play_random(games: TrainingGames, lineups: Any, steps: int, rollouts: HandRollouts) -> list[dict[str, Any]]:
    """Play random legal moves, and keep rewards of hands by their own bookkeeping: (game, seat) and what was paid."""
    rng, paid, pending = np.random.default_rng(0), [], {}
    for _ in range(steps):
        masks = games.unpacked_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        which = np.flatnonzero(games.asked == LEARNER)
        for i in which.tolist():
            pending.setdefault((i, int(games.seats[i])), []).append(actions[i])
        rollouts.add(games, which, actions[which], np.zeros(len(which), np.float32), np.zeros(len(which), np.float32))
        games.step(actions, lineups)
        for i in np.flatnonzero(games.tables["ended"]).tolist():
            for key in [key for key in pending if key[0] == i]:
                paid.append({"actions": pending.pop(key), "paid": games.tables["paid"][i, key[1]]})
        rollouts.end_hands(games)
    return paid


@pytest.mark.jit
@pytest.mark.parametrize("rules", [RULES, Rules.fisca(num_players=4), TINY_GAME], ids=repr)
def test_every_seat_is_paid_for_all_its_decisions_whoever_ends_the_hand(rules: Rules) -> None:
    lineups = duel_lineups(rules, [kernel("greedy")], [1.0, 1.0])
    games = TrainingGames(rules, 12, seed=5, reward="zero_sum_points")
    rollouts = HandRollouts(games, 1.0, 1.0)
    games.begin(lineups)
    paid = play_random(games, lineups, 600, rollouts)
    rollouts.finish()
    whole = rollouts.column("whole")
    assert whole.sum() == rollouts.num_whole == sum(len(each["actions"]) for each in paid) > 500
    # with gamma and lambda 1 and values 0 the advantage of every decision is what its hand paid to its seat
    following, actions = rollouts.column("following"), rollouts.column("actions")
    starts = set(range(rollouts.size)) - set(following[following >= 0].tolist())
    found = []
    for row in sorted(starts):
        chain = [row]
        while following[chain[-1]] >= 0:
            chain.append(int(following[chain[-1]]))
        if whole[row]:
            advantages = set(rollouts.column("advantages")[chain].tolist())
            assert len(advantages) == 1
            found.append((actions[chain].tolist(), advantages.pop()))
    expected = [([int(a) for a in each["actions"]], float(np.float32(each["paid"]))) for each in paid]
    assert sorted(found) == sorted(expected)
    assert any(reward < 0 for _, reward in found)
    assert any(reward > 0 for _, reward in found)


def test_decisions_always_have_a_choice_and_scripted_seats_are_never_asked() -> None:
    lineups = duel_lineups(RULES, [kernel("greedy"), None], [1.0, 1.0, 1.0])
    games = TrainingGames(RULES, 8, seed=5, reward="win_loss", with_hidden=True)
    rollouts = HandRollouts(games, 1.0, 1.0)
    games.begin(lineups)
    for _ in range(12):
        play_random(games, lineups, 1, rollouts)
        assert games.unpacked_masks().sum(axis=1).min() >= 2
        assert set(games.asked.tolist()) <= {LEARNER, 2}
        for i in range(games.num):
            expected = schema_of(RULES).empty()
            schema_of(RULES).write(games.games, i, int(games.seats[i]), expected)
            assert np.array_equal(games.observations[i], expected)
            other = schema_of(RULES).split(schema_of(RULES).empty())
            whole = games.hidden[i]
            schema_of(RULES).write(games.games, i, 1 - int(games.seats[i]), expected)
            other = schema_of(RULES).split(expected)
            assert np.array_equal(whole[:-1], other["hand"].ravel())
            assert whole[-1] == other["hand_jokers"][0]


def test_advantages_are_those_of_the_textbook_and_do_not_mix_seats() -> None:
    games = TrainingGames(TINY_GAME, 1, seed=0, reward="win_loss")
    games.begin(duel_lineups(TINY_GAME, [], [1.0]))
    rollouts = HandRollouts(games, 0.9, 0.8)
    values = np.array([0.5, -0.3, 0.2, 0.1, -0.2], np.float32)
    for seat, value in zip([0, 1, 0, 1, 0], values, strict=True):
        games.tables["seat"] = seat
        rollouts.add(games, np.array([0]), np.array([0]), np.array([value]), np.zeros(1, np.float32))
    games.tables["ended"], games.tables["paid"][0, :2] = 1, [1.0, -1.0]
    rollouts.end_hands(games)
    rollouts.finish()
    expected = np.zeros(5)
    for rows, reward in (([0, 2, 4], 1.0), ([1, 3], -1.0)):
        after = 0.0
        for k in reversed(range(len(rows))):
            ahead = reward if k == len(rows) - 1 else 0.9 * values[rows[k + 1]]
            after = ahead - values[rows[k]] + 0.72 * after
            expected[rows[k]] = after
    np.testing.assert_allclose(rollouts.column("advantages"), expected, atol=1e-6)


@pytest.mark.once
def test_a_critic_that_sees_all_cards_changes_values_and_no_move() -> None:
    made = learner(central_critic=True)
    lineups = duel_lineups(TINY_GAME, [], [1.0])
    made.begin(lineups)
    state, found = made.training_state(), []
    for all_hidden in (False, True):
        made.restore(state)
        made.rollouts.size = 0
        if all_hidden:
            made.games.hidden[:] = 0
        found.append((made._actions(lineups, {}), made.rollouts.column("values").copy()))
    (actions, values), (same, others) = found
    assert np.array_equal(actions, same) and not np.array_equal(values, others)
    assert set(Checkpoint.of(made.network, TINY_GAME).weights) == set(made.network.state_dict())


def expert_moves(games: TrainingGames) -> np.ndarray[Any, np.dtype[np.int64]]:
    """What `expert` does in every game."""
    expert, moves = kernel("expert"), []
    for i in range(games.num):
        key, count = games.tables["keys"][i, games.seats[i]], int(games.tables["count"][i])
        moves.append(choose_in_view(expert.kernel_id, games.games, i, expert.weights, key, count))
    return np.array(moves, np.int64)


def test_a_guide_that_plays_on_foresees_what_its_own_moves_come_to() -> None:
    """Where the learner does what the guide would do, every decision comes to what the hand then pays."""
    lineups, guide = duel_lineups(TINY_GAME, [kernel("greedy")], [1.0, 1.0]), kernel("expert")
    games = TrainingGames(TINY_GAME, 6, seed=5, reward="points_and_win")
    games.begin(lineups)
    foreseen: dict[tuple[int, int], list[float]] = {}
    ended = 0
    for _ in range(60):
        before, moves = (games.games.tobytes(), games.tables.tobytes()), expert_moves(games)
        candidates = np.stack([np.full(games.num, -1), moves], axis=1)
        outcomes = games.foresee(np.arange(games.num), candidates, lineups, guide)
        assert (games.games.tobytes(), games.tables.tobytes()) == before
        assert not outcomes[:, 0].any()
        for i in range(games.num):
            foreseen.setdefault((i, int(games.seats[i])), []).append(float(outcomes[i, 1]))
        games.step(moves, lineups)
        for i in np.flatnonzero(games.tables["ended"]).tolist():
            for key in [key for key in foreseen if key[0] == i]:
                assert set(foreseen.pop(key)) == {float(np.float32(games.tables["paid"][i, key[1]]))}
                ended += 1
    assert ended >= 10


@pytest.mark.once
def test_likely_moves_are_compared_and_the_better_ones_become_likelier() -> None:
    made, lineups = learner(guide=kernel("expert"), compared=4, games=8), duel_lineups(TINY_GAME, [], [1.0])
    made.begin(lineups)
    made.collect(600, lineups, {})
    batch = next(made.rollouts.get(600, np.random.default_rng(0), made.device))
    places, log_probs, shares, gains = batch.compared
    torch.testing.assert_close(shares.sum(1), torch.ones(len(shares)))
    torch.testing.assert_close((shares * gains).sum(1), torch.zeros(len(shares)), rtol=0, atol=1e-5)
    assert (gains[shares == 0] == 0).all() and 0.1 < (gains != 0).any(1).float().mean() < 1

    def now() -> Any:
        legal = ppo.LegalActions(batch.action_masks)
        return ppo.LegalCategorical(made.network.logits(batch.observations), legal).log_probs.gather(1, places).detach()

    before = now()
    torch.testing.assert_close(before[shares > 0], log_probs[shares > 0], rtol=0, atol=1e-5)
    made.update(STEADY)
    assert (shares * gains * (now() - before)).sum() > 0


@pytest.mark.once
def test_moves_are_not_compared_without_somebody_who_plays_on() -> None:
    with pytest.raises(ValueError, match="compared = 4 without a guide"):
        learner(compared=4)


@pytest.mark.once
def test_rewards_are_scaled_once() -> None:
    """What a hand has paid stays as it is however long the next one goes on."""
    lineups, found = duel_lineups(TINY_GAME, [], [1.0]), []
    for scale in (1.0, 4.0):
        made = learner(reward_scale=scale, games=4)
        made.begin(lineups)
        ended = made.collect(300, lineups, {})
        found.append((np.array([mean for _, mean in ended]), made.rollouts.column("rewards").copy()))
        assert np.abs(made.games.tables["paid"]).max() <= 4 * scale
    for one, four in zip(*found, strict=True):
        np.testing.assert_allclose(4 * one, four, atol=1e-6)
        assert one.size > 10


def test_log_probs_at_collection_and_at_the_first_update_agree() -> None:
    made = learner()
    lineups = duel_lineups(TINY_GAME, [], [1.0])
    made.begin(lineups)
    made.collect(400, lineups, {})
    seen = 0
    for samples in made.rollouts.get(64, np.random.default_rng(0), made.device):
        values, log_probs, _ = made.policy.evaluate_actions(
            samples.observations, samples.actions, action_masks=samples.action_masks
        )
        torch.testing.assert_close(log_probs, samples.old_log_prob, rtol=0, atol=1e-5)
        torch.testing.assert_close(values[:, 0], samples.old_values, rtol=0, atol=1e-5)
        seen += len(samples.actions)
    assert seen >= 320


def test_what_is_kept_of_hands_that_go_on_is_what_comes_back() -> None:
    """Rows that were dropped change nothing in the others: the same hands, with and without updates in between."""
    lineups = duel_lineups(TINY_GAME, [kernel("greedy")], [1.0, 1.0])
    found = []
    for parts in (1, 4):
        games = TrainingGames(TINY_GAME, 12, seed=5, reward="zero_sum_points")
        rollouts, rng = HandRollouts(games, 1.0, 0.9), np.random.default_rng(0)
        games.begin(lineups)
        returns: list[tuple[int, float]] = []
        for _ in range(parts):
            for _ in range(240 // parts):
                masks = games.unpacked_masks()
                actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
                which = np.flatnonzero(games.asked == LEARNER)
                values = (actions[which] / 635).astype(np.float32)
                rollouts.add(games, which, actions[which], values, values)
                games.step(actions, lineups)
                rollouts.end_hands(games)
            rollouts.finish()
            done = rollouts.column("whole")
            pairs = zip(rollouts.column("actions")[done], rollouts.column("advantages")[done], strict=True)
            returns += [(int(action), float(advantage)) for action, advantage in pairs]
            rollouts.drop_whole()
        found.append(sorted(returns))
    assert found[0] == found[1]
    assert len(found[0]) > 500


@pytest.mark.once
@pytest.mark.parametrize("how", ["advantages", "central", "compared"])
def test_a_run_goes_on_to_the_last_bit(how: str) -> None:
    lineups = duel_lineups(TINY_GAME, [kernel("greedy"), None], [1.0, 1.0, 1.0])
    changes: dict[str, Any] = {"central_critic": how == "central", "reward_scale": 2.0}
    if how == "compared":
        changes |= {"compared": 3, "guide": kernel("expert")}

    def step(made: SelfPlayPPO) -> dict[str, float]:
        made.collect(300, lineups, {2: made.anchor})
        return made.update(Coefficients(1e-3, 0.2, 0.01, 0.5, 0.1))

    whole, stopped = learner(**changes), learner(**changes)
    for made in (whole, stopped):
        made.set_anchor(made.network.state_dict())
        made.begin(lineups)
        step(made)
    other = learner(**(changes | {"seed": 77}))
    other.restore(stopped.training_state())
    for _ in range(2):
        assert step(whole) == step(other)
    for one, two in zip(whole.network.parameters(), other.network.parameters(), strict=True):
        assert torch.equal(one, two)
    assert whole.num_timesteps == other.num_timesteps


@pytest.mark.once
def test_the_tie_to_the_first_network_holds_the_policy_back() -> None:
    moved = []
    for anchor in (0.0, 30.0):
        made, lineups = learner(), duel_lineups(TINY_GAME, [], [1.0])
        made.set_anchor(made.network.state_dict())
        made.begin(lineups)
        for _ in range(3):
            made.collect(300, lineups, {})
            curves = made.update(Coefficients(3e-3, 0.2, 0.0, 0.5, anchor or 1e-9))
        moved.append(curves["anchor"])
    assert moved[1] < moved[0] / 2
