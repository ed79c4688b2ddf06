"""The vector environments: equal to scalar ones step for step, to a plain loop over the kernels, and to themselves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import agents
from agents.base import KernelAgent
from scala40_env import Game, IllegalMove, Rules
from scala40_env.arguments import BadArgument, following_seed
from scala40_env.kernels import engine
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.kernels.rewards import REWARD_NAMES, hand_rewards
from scala40_env.kernels.state import CLOSED_NONE, HAND_OVER, MATCH_OVER
from scala40_env.observation import schema_of
from scala40_env.rewards import REWARDS, ZERO_SUM, BadReward, HandOutcome, outcome_of
from scala40_env.rules.errors import Scala40Error
from scala40_env.rules.moves import num_actions
from scala40_env.rules.reading import legal_ids, new_games
from scala40_env.rules.view import View
from scala40_env.single import Scala40Env
from scala40_env.vector import Scala40VectorEnv, SelfPlayVectorEnv
from tests.walks import RULE_SETS, fewer, name_of, walk

SMALL = Rules.fisca(num_players=3, hand_size=5, opening_points=10)
TWO = Rules.fisca(num_players=2, hand_size=6, opening_points=20)
BUYING = Rules.tavolo(num_players=4, hand_size=5, opening_points=0, buying=True, limit=60)
TEAMS = Rules.fisca(num_players=4, team_size=2, hand_size=4, opening_points=0, limit=40)
CAPPED = Rules.fisca(num_players=2, hand_size=13, max_laps=2)


def picked(masks: Any, rng: np.random.Generator) -> Any:
    """A random legal action in each row; more often one that goes to the table than a fair draw would."""
    weights = masks * (0.05 + rng.random(masks.shape))
    weights[..., 55:] *= 2
    return weights.argmax(axis=-1)


# ---------------------------------------------------------------------------------------------------------------------
# One learner: vector equals scalar


LEARNERS: dict[str, dict[str, Any]] = {
    "hands": {"rules": TWO, "opponents": "greedy"},
    "three": {"rules": SMALL, "opponents": ["greedy", "random"], "seat": "rotate", "reward": "placement"},
    "match": {"rules": BUYING, "opponents": "random", "episode": "match", "seat": 2, "reward": "match_win_loss"},
    "teams": {"rules": TEAMS, "opponents": "random", "episode": "match", "max_hands": 2, "seat": "rotate"},
    "capped": {"rules": CAPPED, "opponents": "random", "reward": "negative_points"},
    "own reward": {"rules": SMALL, "opponents": "random", "reward": lambda outcome: -outcome.hand_points},
}


def same_info(one: Any, other: Any) -> bool:
    return {key: repr(value) for key, value in one.items()} == {key: repr(value) for key, value in other.items()}


@pytest.mark.jit
@pytest.mark.parametrize("games", [1, 7, 64])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_vector_equals_scalar_environments(name: str, games: int) -> None:
    vector = Scala40VectorEnv(games, **LEARNERS[name])
    scalars = [Scala40Env(**LEARNERS[name]) for _ in range(games)]
    observations, infos = vector.reset(seed=5)
    starts = [env.reset(seed=5 + i) for i, env in enumerate(scalars)]
    assert (observations == [start[0] for start in starts]).all()
    rng, ends = np.random.default_rng(games), 0
    for _ in range(max(120 // games, 40)):
        actions = picked(infos["action_mask"], rng)
        observations, rewards, terminations, truncations, infos = vector.step(actions)
        for i, env in enumerate(scalars):
            observation, reward, terminated, truncated, info = env.step(actions[i])
            assert (reward, terminated, truncated) == (rewards[i], terminations[i], truncations[i])
            if terminated or truncated:
                ends += 1
                assert (infos["final_obs"][i] == observation).all()
                assert infos["_final_obs"][i] and infos["_final_info"][i]
                final = {key: infos["final_info"][key][i] for key in ("hand_points", "scores", "winner", "closing")}
                assert same_info(
                    final, {key: np.asarray(info[key])[()] for key in final} | {"closing": info["closing"]}
                )
                assert not info["action_mask"].any()
                observation, info = env.reset()
            assert (observation == observations[i]).all()
            assert (info["action_mask"] == infos["action_mask"][i]).all()
            assert info["seat"] == infos["seat"][i] == vector.games["turn"][i]
    assert ends > 10 or games < 64


def test_a_vector_equals_scalar_environments_in_plain_python() -> None:
    """The same in a few steps, also for the pass without compiled kernels."""
    vector = Scala40VectorEnv(2, rules=Rules.fisca(num_players=2, hand_size=3, opening_points=0), opponents="random")
    scalar = Scala40Env(rules=Rules.fisca(num_players=2, hand_size=3, opening_points=0), opponents="random")
    _, infos = vector.reset(seed=[9, 3])
    observation, info = scalar.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(fewer(150)):
        actions = picked(infos["action_mask"], rng)
        observations, rewards, terminations, _, infos = vector.step(actions)
        observation, reward, terminated, _, info = scalar.step(actions[1])
        assert (reward, terminated) == (rewards[1], terminations[1])
        if terminated:
            observation, info = scalar.reset()
        assert (observation == observations[1]).all() and (info["action_mask"] == infos["action_mask"][1]).all()


@pytest.mark.jit
def test_gymnasiums_own_vector_of_scalars_gives_the_same() -> None:
    """The infos too are those of `SyncVectorEnv` in the same mode of autoreset."""
    settings: dict[str, Any] = {"rules": TWO, "opponents": "greedy", "seat": "rotate"}
    ours = Scala40VectorEnv(3, **settings)
    theirs = gymnasium.vector.SyncVectorEnv(
        [lambda: Scala40Env(**settings)] * 3, autoreset_mode=AutoresetMode.SAME_STEP
    )
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    assert ours.observation_space == theirs.observation_space and ours.action_space == theirs.action_space
    results, others = ours.reset(seed=1), theirs.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(120):
        infos = dict(results[-1])
        theirs_infos = dict(others[-1])
        final, theirs_final = infos.pop("final_info", {}), theirs_infos.pop("final_info", {})
        for key in ("action_mask", "_action_mask", "seat", "_seat"):  # the last mask is zeros, the seat is known
            theirs_final.pop(key, None)
        assert same_info(infos, theirs_infos) and same_info(final, theirs_final)
        assert all((one == other).all() for one, other in zip(results[:-1], others[:-1], strict=True))
        actions = picked(infos["action_mask"], rng)
        results, others = ours.step(actions), theirs.step(actions)


def test_the_games_of_a_vector_do_not_depend_on_each_other() -> None:
    def played(seeds: list[int], row: int) -> bytes:
        env = Scala40VectorEnv(len(seeds), rules=SMALL, opponents="random")
        observations, infos = env.reset(seed=seeds)
        kept = observations[row].tobytes()
        for _ in range(fewer(30, 6)):
            observations, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
            kept += observations[row].tobytes()
        return kept

    assert played([4, 8], 1) == played([8], 0) == played([8, 8, 1], 0) != played([9], 0)


# ---------------------------------------------------------------------------------------------------------------------
# Self-play: equals a plain loop over the kernels


class PlainSelfPlay:
    """One game of self-play as a loop over `engine`: what a row of `SelfPlayVectorEnv` has to be."""

    def __init__(self, rules: Rules, seed: int, match: bool, reward: str, max_hands: int | None) -> None:
        self.rules, self.match, self.max_hands = rules, match, max_hands
        self.schema, self.reward = schema_of(rules), REWARDS[reward]
        self.games = new_games(rules if match else rules.replace(match="single_hand"), seed)
        engine.start_match(self.games, 0)

    def sight(self, seat: int | None = None) -> Any:
        out = self.schema.empty()
        self.schema.write(self.games, 0, int(self.games["turn"][0]) if seat is None else seat, out)
        return out

    def mask(self) -> Any:
        mask = np.zeros(num_actions(self.rules), np.int8)
        engine.write_mask(self.games, 0, mask)
        return mask

    def step(self, action: int) -> tuple[Any, bool, bool, Any]:
        """Rewards of all seats, terminated, truncated, the last observation or None."""
        mover = int(self.games["turn"][0])
        engine.step(self.games, 0, action)
        phase = self.games["phase"][0]
        if phase not in (HAND_OVER, MATCH_OVER):
            return np.zeros(self.rules.num_players), False, False, None
        paid = self.reward(outcome_of(self.games, 0, self.rules))
        capped = self.max_hands is not None and self.games["hand_no"][0] + 1 >= self.max_hands
        truncated = (phase == HAND_OVER and capped) if self.match else self.games["closing"][0] == CLOSED_NONE
        if phase == HAND_OVER and not truncated:
            engine.next_hand(self.games, 0)
            return paid, False, False, None
        final = self.sight(mover)
        self.games["seed"] = following_seed(int(self.games["seed"][0]))
        engine.start_match(self.games, 0)
        return paid, not truncated, bool(truncated), final


SELF_PLAY = [
    (TWO, False, "zero_sum_points", None),
    (BUYING, True, "match_win_loss", None),
    (TEAMS, True, "win_loss", 2),
    (CAPPED, False, "negative_points", None),
]


@pytest.mark.parametrize("games", [1, pytest.param(7, marks=pytest.mark.jit), pytest.param(64, marks=pytest.mark.jit)])
@pytest.mark.parametrize(("rules", "match", "reward", "max_hands"), SELF_PLAY)
def test_self_play_equals_a_plain_loop(rules: Rules, match: bool, reward: str, max_hands: Any, games: int) -> None:
    episode: Any = "match" if match else "hand"
    env = SelfPlayVectorEnv(games, rules, episode=episode, reward=reward, max_hands=max_hands)
    plain = [PlainSelfPlay(rules, 11 + i, match, reward, max_hands) for i in range(games)]
    observations, infos = env.reset(seed=11)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(fewer(max(600 // games, 100))):
        for i, game in enumerate(plain):
            assert (observations[i] == game.sight()).all() and (infos["action_mask"][i] == game.mask()).all()
            assert infos["seat"][i] == env.seats[i] == game.games["turn"][0]
        movers, actions = infos["seat"], picked(infos["action_mask"], rng)
        observations, rewards, terminations, truncations, infos = env.step(actions)
        for i, game in enumerate(plain):
            paid, terminated, truncated, final = game.step(int(actions[i]))
            assert (terminations[i], truncations[i]) == (terminated, truncated)
            assert (infos["seat_rewards"][i] == paid).all() and rewards[i] == paid[movers[i]]
            if final is not None:
                ends += 1
                assert (infos["final_obs"][i] == final).all() and infos["_final_obs"][i]
            assert env.games[i].tobytes() == game.games[0].tobytes()
    assert ends or games < 64


class Highest:
    """Plays the highest legal id: melds before discards, the pozzo before the stock."""

    name = "highest"

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> list[int]:
        return [view.legal_actions()[-1] for view in views]


class PlainLearner(PlainSelfPlay):
    """One game of a learner, whose seat rotates, against `Highest`."""

    def begin(self, seat: int) -> None:
        self.seat, self.carry = seat, 0.0
        ended = self.go_on()
        if any(ended):
            self.begin((seat + 1) % self.rules.num_players)

    def one(self, action: int) -> tuple[bool, bool]:
        paid, terminated, truncated, _ = self.step(action)
        self.carry += float(paid[self.seat])
        return terminated or bool(self.games["out"][0, self.seat]), truncated

    def go_on(self) -> tuple[bool, bool]:
        """Play on to the learner's decision, or the end of its episode: terminated, truncated."""
        ended = False, False
        while self.games["turn"][0] != self.seat and not any(ended):
            ended = self.one(int(np.flatnonzero(self.mask())[-1]))
        return ended

    def decide(self, action: int) -> tuple[float, bool, bool]:
        """Reward, terminated, truncated; afterwards it stands at the next decision."""
        terminated, truncated = self.one(action)
        if not terminated and not truncated:
            terminated, truncated = self.go_on()
        reward, self.carry = self.carry, 0.0
        if terminated or truncated:
            if self.games["out"][0, self.seat]:  # the match went on without it, into the next hand
                self.games["seed"] = following_seed(int(self.games["seed"][0]))
                engine.start_match(self.games, 0)
            self.begin((self.seat + 1) % self.rules.num_players)
        return reward, terminated and not truncated, truncated


@pytest.mark.parametrize(("rules", "match", "reward", "max_hands"), SELF_PLAY)
def test_a_learner_gets_what_a_plain_loop_gives(rules: Rules, match: bool, reward: str, max_hands: Any) -> None:
    """Rewards until the next decision, over hands and matches, from every seat."""
    episode: Any = "match" if match else "hand"
    quick = rules.replace(limit=min(rules.limit, 60), hand_size=min(rules.hand_size, 5), opening_points=0)
    env = Scala40VectorEnv(
        2, quick, Highest(), seat="rotate", episode=episode, reward=reward, max_hands=max_hands, illegal_action="raise"
    )
    plain = [PlainLearner(quick, 3 + i, match, reward, max_hands) for i in range(2)]
    for i, game in enumerate(plain):
        game.begin((3 + i) % quick.num_players)
    observations, infos = env.reset(seed=3)
    paid = 0
    for _ in range(fewer(200, 2)):
        for i, game in enumerate(plain):
            assert infos["seat"][i] == game.seat and (observations[i] == game.sight()).all()
        actions = [int(np.flatnonzero(mask)[-1]) for mask in infos["action_mask"]]
        observations, rewards, terminations, truncations, infos = env.step(np.array(actions))
        for i, game in enumerate(plain):
            expected = game.decide(actions[i])
            assert (rewards[i], terminations[i], truncations[i]) == expected
            paid += expected[0] != 0
    assert paid


@pytest.mark.jit
@pytest.mark.parametrize("reward", sorted(ZERO_SUM))
def test_rewards_of_self_play_sum_to_zero(reward: str) -> None:
    env = SelfPlayVectorEnv(64, SMALL, reward=reward)
    _, infos = env.reset(seed=3)
    rng, paid = np.random.default_rng(3), 0
    for _ in range(100):
        *_, infos = env.step(picked(infos["action_mask"], rng))
        assert np.abs(infos["seat_rewards"].sum(axis=1)).max() < 1e-12
        paid += (infos["seat_rewards"] != 0).any(axis=1).sum()
    assert paid > 20


@pytest.mark.jit
@pytest.mark.parametrize("rules", RULE_SETS, ids=name_of)
def test_rewards_of_kernels_are_those_of_python(rules: Rules) -> None:
    for number, name in enumerate(REWARD_NAMES):
        assert REWARDS[name].__name__ == name and number == list(REWARDS).index(name)
    quick = rules.replace(hand_size=4, opening_points=0)
    out, hands = np.zeros(rules.num_players), 0
    for games, actions in walk(quick, seed=1, decisions=800, eagerness=0.9):
        if actions is None:
            hands += 1
            outcome = outcome_of(games, 0, quick)
            for number, name in enumerate(REWARD_NAMES):
                hand_rewards(number, games, 0, out)
                assert (out == REWARDS[name](outcome)).all(), name
    assert hands


# ---------------------------------------------------------------------------------------------------------------------
# Scripted hands


CLOSES: dict[str, Any] = {
    "rules": {"preset": "fisca", "num_players": 3, "match": "single_hand"},
    "turn": 0,
    "phase": "play",
    "turns_played": 6,
    "hands": ["Ks Qd", "8s", "2c 3d"],
    "opened": [True, True, True],
    "table": ["5s 6s 7s"],
    "stock": "9h 4c 4h",
}
"""Seat 0 throws a card; seat 1 draws, attaches its 8s and closes with the card that it drew."""


def set_up(env: Any, position: dict[str, Any], i: int = 0) -> None:
    """Let game ``i`` of an environment that has been reset stand as a position says."""
    env.games[i] = Game.from_position(position).state[0]
    env._batch.masks[i] = 0
    engine.write_mask(env.games, i, env._batch.masks[i])


@pytest.mark.parametrize("opponents", ["greedy", "python"])
@pytest.mark.parametrize("reward", ["zero_sum_points", "negative_points", "win_loss", "placement"])
def test_the_closing_by_an_opponent_is_in_the_learners_reward(reward: str, opponents: str) -> None:
    others: Any = opponents if opponents == "greedy" else PlainGreedy()
    env = Scala40VectorEnv(2, rules=Rules.fisca(num_players=3), opponents=others, reward=reward)
    env.reset(seed=0)
    set_up(env, CLOSES, 1)
    masks = env.action_masks()
    discard = Game.from_position(CLOSES).play("discard Ks")
    (action,) = {2 + 12} & set(np.flatnonzero(masks[1]))  # the king of spades
    assert not discard.hand_over
    first = int(masks[0].argmax())
    _, rewards, terminations, truncations, infos = env.step(np.array([first, action]))
    assert terminations[1] and not truncations.any() and not terminations[0]
    assert infos["final_info"]["hand_points"][1].tolist() == [10, 0, 5]
    assert infos["final_info"]["winner"][1] == 1
    assert (
        rewards[1]
        == {
            "zero_sum_points": (5 / 2 - 10) / 100,
            "negative_points": -0.1,
            "win_loss": -0.5,
            "placement": -1.0,
        }[reward]
    )


def test_in_self_play_a_closing_pays_everybody() -> None:
    env = SelfPlayVectorEnv(1, Rules.fisca(num_players=3))
    env.reset(seed=0)
    set_up(env, CLOSES | {"turn": 1, "phase": "draw", "hands": ["Qd", "8s", "2c 3d"], "pozzo": "Ks"})
    env._batch.episodes["seat"] = 1
    for action in (0, 56, 2 + 13 + 3):  # draws the 4h, attaches the 8s, throws the 4h
        assert not env._batch.episodes["reported"][0]
        _, rewards, terminations, _, infos = env.step(np.array([action]))
    assert terminations[0]
    assert infos["seat_rewards"][0].tolist() == pytest.approx([-0.075, 0.075, 0.0])
    assert rewards[0] == pytest.approx(0.075)


def test_a_learner_that_is_out_ends_its_episode_though_the_match_goes_on() -> None:
    rules = Rules.fisca(num_players=3)
    env = Scala40Env(rules=rules, episode="match", opponents="greedy")
    env.reset(seed=0)
    position = CLOSES | {"rules": {"preset": "fisca", "num_players": 3}, "scores": [95, 20, 20]}
    set_up(env, position)
    _, reward, terminated, truncated, info = env.step(2 + 12)
    assert env.games["phase"][0] == HAND_OVER and (terminated, truncated) == (True, False)
    assert info["scores"].tolist() == [105, 20, 25]
    assert reward == pytest.approx(-0.075)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)


def test_who_stays_in_goes_on_into_the_next_hand() -> None:
    env = Scala40Env(rules=Rules.fisca(num_players=3), episode="match", opponents="greedy")
    env.reset(seed=0)
    set_up(env, CLOSES | {"rules": {"preset": "fisca", "num_players": 3}, "scores": [50, 20, 20]})
    _, reward, terminated, truncated, info = env.step(2 + 12)
    assert not terminated and not truncated and reward == pytest.approx(-0.075)
    assert env.games["hand_no"][0] == 1 and info["action_mask"].any() and env.games["turn"][0] == 0


# ---------------------------------------------------------------------------------------------------------------------
# Opponents


class PlainGreedy:
    """The greedy agent as an agent of Python, which notes what it was asked."""

    name = "plain greedy"

    def __init__(self) -> None:
        self._agent, self.asked = agents.make("greedy"), 0
        self.most = 0

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> list[int]:
        assert len({id(rng) for rng in rngs}) == len(rngs)
        self.asked += 1
        self.most = max(self.most, len(views))
        return [self._agent.act(view, rng) for view, rng in zip(views, rngs, strict=True)]


class Drawn:
    """Plays at random with its generator."""

    name = "drawn"

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> list[int]:
        return [int(rng.choice(view.legal_actions())) for view, rng in zip(views, rngs, strict=True)]


def followed(env: Any, steps: int, seed: int = 2) -> bytes:
    """All bytes that an environment gives in so many steps."""
    observations, infos = env.reset(seed=seed)
    rng, kept = np.random.default_rng(0), [observations.tobytes()]
    for _ in range(fewer(steps)):
        results = env.step(picked(infos["action_mask"], rng))
        infos = results[-1]
        kept += [part.tobytes() for part in (*results[:4], infos["action_mask"], infos["seat"])]
    return b"".join(kept)


@pytest.mark.jit
def test_an_opponent_of_python_plays_as_the_kernel_does() -> None:
    def played(*opponents: Any) -> bytes:
        return followed(Scala40VectorEnv(5, SMALL, list(opponents), seat="rotate"), 60)

    plain = PlainGreedy()
    by_kernel = played("greedy", "greedy")
    assert by_kernel == played(plain, plain) == played("greedy", plain) == played(plain, "greedy")
    assert plain.most > 1, "games that wait for the same agent are asked in one batch"
    assert by_kernel != played("greedy", "random")


class Alternative(KernelAgent):
    """Another kernel than that of `agents`: it can't share a table with one of those, and is asked in Python then."""

    calls = 0

    def play_on(self, *arguments: Any) -> None:
        from agents.kernels.play import play_on

        type(self).calls += 1
        play_on(*arguments)


@pytest.mark.jit
def test_an_opponent_may_bring_its_own_kernel() -> None:
    greedy: Any = agents.make("greedy")
    own = Alternative("own", greedy.kernel_id, greedy.weights)
    env = Scala40VectorEnv(4, TWO, own)
    assert followed(env, 60) == followed(Scala40VectorEnv(4, TWO, "greedy"), 60)
    assert Alternative.calls > 0


@pytest.mark.jit
def test_long_hands_of_opponents_find_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log of their moves grows, and they go on as they would have."""
    settings: dict[str, Any] = {"rules": SMALL, "opponents": "random", "seat": "rotate"}
    roomy = followed(Scala40VectorEnv(3, **settings), 80)
    monkeypatch.setattr("scala40_env.vector._FIRST_ROOM", 3)
    narrow = Scala40VectorEnv(3, **settings)
    assert followed(narrow, 80) == roomy and narrow._batch._others._logs.shape[1] > 3


@pytest.mark.parametrize("opponent", ["random", Drawn()], ids=["kernel", "python"])
def test_the_same_seed_gives_the_same_bytes(opponent: Any) -> None:
    def played(seed: int) -> bytes:
        np.random.seed(seed)  # the global generator must not matter
        return followed(Scala40VectorEnv(3, SMALL, opponent, seat="rotate"), 40, seed)

    assert played(1) == played(1) != played(2)


@pytest.mark.jit
def test_the_moves_of_an_opponent_vary_within_a_hand() -> None:
    """Every decision has its own chance: an opponent of one key for all would always pick the same place."""
    env = Scala40VectorEnv(1, Rules.fisca(num_players=2), "random")
    env.reset(seed=0)
    assert len(set(env._batch.keys[0].tolist())) == 2
    before = env._batch.keys.copy()
    env.reset()
    assert (before != env._batch.keys).all()


def test_the_learner_sits_where_it_is_told() -> None:
    fixed = Scala40VectorEnv(4, SMALL, "random", seat=2)
    assert fixed.reset(seed=0)[1]["seat"].tolist() == [2, 2, 2, 2]
    turning = Scala40VectorEnv(4, SMALL, "random", seat="rotate")
    assert turning.reset(seed=4)[1]["seat"].tolist() == [1, 2, 0, 1]
    assert turning.reset()[1]["seat"].tolist() == [2, 0, 1, 2]
    assert turning.reset()[1]["seat"].tolist() == [0, 1, 2, 0]
    assert turning._batch.seating[0].tolist() == [0, 1, 2] and turning._batch.seating[1].tolist() == [2, 0, 1]
    assert turning.reset(seed=4)[1]["seat"].tolist() == [1, 2, 0, 1]


def test_a_hand_that_ends_before_the_learner_moves_is_passed_over() -> None:
    """With cards for three and closing on the first lap, opponents sometimes close before its first decision."""
    rules = Rules.fisca(num_players=6, hand_size=3, opening_points=0, first_lap_closing=True, num_jokers=4)
    env = Scala40VectorEnv(fewer(300, 30), rules, "greedy")
    _, infos = env.reset(seed=0)
    assert (
        (env.games["phase"] < HAND_OVER).all() and (env.games["turn"] == 0).all() and infos["action_mask"].any(1).all()
    )
    skipped = env.games["seed"] != np.arange(env.num_envs)
    assert skipped.any() or JIT_DISABLED
    assert all(env.games["seed"][i] == following_seed(i) for i in np.flatnonzero(skipped)[:1].tolist())
    _, rewards, *_ = env.step(infos["action_mask"].argmax(axis=1))
    assert np.abs(rewards).max() < 2


# ---------------------------------------------------------------------------------------------------------------------
# Seeds and buffers


def test_the_first_episode_is_the_game_of_the_seed_and_the_next_follow() -> None:
    env = SelfPlayVectorEnv(2, SMALL, episode="match")
    env.reset(seed=7)
    for i in range(2):
        assert env.games[i].tobytes() == Game(SMALL, seed=7 + i).state[0].tobytes()
    env.reset()
    assert env.games["seed"].tolist() == [following_seed(7), following_seed(8)]
    env.reset(seed=2**64 - 1)
    assert env.games["seed"].tolist() == [2**64 - 1, 0]
    for _ in range(3):
        before = env.games["seed"].tolist()
        env.reset()
        assert env.games["seed"].tolist() == [following_seed(seed) for seed in before]
    env.reset(seed=[3, 3])
    assert env.games[0].tobytes() == env.games[1].tobytes()


def test_without_a_seed_games_differ() -> None:
    one, other = SelfPlayVectorEnv(2, SMALL), SelfPlayVectorEnv(2, SMALL)
    one.reset()
    other.reset()
    assert len({*one.games["seed"].tolist(), *other.games["seed"].tolist()}) == 4


@pytest.mark.parametrize("rules", RULE_SETS, ids=name_of)
def test_masks_are_the_legal_moves_under_every_rule_set(rules: Rules) -> None:
    env = SelfPlayVectorEnv(3, rules, episode="match")
    _, infos = env.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(fewer(60)):
        masks = infos["action_mask"]
        assert masks.dtype == np.int8 and masks.shape == (3, env.single_action_space.n)
        assert [np.flatnonzero(mask).tolist() for mask in masks] == [legal_ids(env.games[i : i + 1]) for i in range(3)]
        assert masks.max() == 1 and masks.any(axis=1).all()
        *_, infos = env.step(picked(masks, rng))


def test_buffers_are_the_callers_unless_asked_otherwise() -> None:
    for copy in (True, False):
        env = SelfPlayVectorEnv(2, SMALL, copy=copy)
        observations, infos = env.reset(seed=1)
        before = observations.copy(), infos["action_mask"].copy()
        later, *_, later_infos = env.step(infos["action_mask"].argmax(axis=1))
        assert (observations is later) != copy and (infos["action_mask"] is later_infos["action_mask"]) != copy
        assert ((observations == before[0]).all() and (infos["action_mask"] == before[1]).all()) == copy
        assert later.dtype == later_infos["action_mask"].dtype == np.int8
        assert later in env.observation_space and env.action_masks().flags["C_CONTIGUOUS"]


# ---------------------------------------------------------------------------------------------------------------------
# Gymnasium


@pytest.fixture
def registered() -> None:
    from scala40_env.gym_registration import register_gymnasium

    register_gymnasium()
    register_gymnasium()  # twice does no harm, and warns of nothing


@pytest.mark.usefixtures("registered")
def test_make_vec_and_the_wrappers_of_gymnasium() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made: Any = gymnasium.make_vec("Scala40-v0", num_envs=3, rules="casa", opponents="random")
        assert isinstance(made.unwrapped, Scala40VectorEnv) and made.spec.id == "Scala40-v0"
        env: Any = RecordEpisodeStatistics(made)
        _, infos = env.reset(seed=1)
        for _ in range(fewer(40)):
            *_, infos = env.step(infos["action_mask"].argmax(axis=1))
        assert made.action_space.sample().shape == (3,)
        env.close()
        pair: Any = gymnasium.make_vec("Scala40SelfPlay-v0", num_envs=2)
        assert isinstance(pair.unwrapped, SelfPlayVectorEnv)
        with pytest.raises(gymnasium.error.Error):
            gymnasium.make("Scala40SelfPlay-v0")


@pytest.mark.parametrize("kind", [Scala40VectorEnv, SelfPlayVectorEnv])
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"num_envs": 0}, BadArgument, "num_envs = 0"),
        ({"episode": "hands"}, BadArgument, "episode = .hands.*did you mean"),
        ({"reward": "zero_sum"}, BadReward, "zero_sum_points"),
        ({"max_hands": 3}, BadArgument, "max_hands = 3 with episode = 'hand'"),
        ({"max_hands": 0, "episode": "match"}, BadArgument, "max_hands = 0"),
        ({"rules": 3}, Scala40Error, "rules = 3"),
        ({"render_mode": "human"}, BadArgument, "render_mode = .human"),
    ],
)
def test_arguments_that_are_none(kind: Any, arguments: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        kind(**{"num_envs": 2} | arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"seat": 4}, BadArgument, "seat = 4"),
        ({"seat": "turn"}, BadArgument, "seat = .turn"),
        ({"opponents": ["greedy"]}, BadArgument, "1 of them; 4 players leave 3 seats"),
        ({"opponents": 3}, BadArgument, "3 is none"),
        ({"opponents": "gredy"}, ValueError, "gredy.*greedy"),
        ({"illegal_action": "ignore"}, BadArgument, "illegal_action = .ignore"),
    ],
)
def test_arguments_of_learners_that_are_none(arguments: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        Scala40VectorEnv(2, **arguments)


def test_actions_that_are_none() -> None:
    env = SelfPlayVectorEnv(2, SMALL)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(np.array([0, 0]))
    _, infos = env.reset(seed=0)
    before = env.games.tobytes()
    wrong: list[Any] = [np.zeros(3, int), np.zeros(2), [0], 0]
    for actions in wrong:
        with pytest.raises(BadArgument, match="actions"):
            env.step(actions)
    for illegal in (634, -1, 635, 2**40):
        with pytest.raises(IllegalMove) as caught:
            env.step(np.array([infos["action_mask"][0].argmax(), illegal]))
        assert "game 1" in "".join(caught.value.__notes__) and env.games.tobytes() == before
    with pytest.raises(BadArgument, match="3 seeds for 2 games"):
        env.reset(seed=[1, 2, 3])
    with pytest.raises(BadArgument, match="seed"):
        env.reset(seed=[1, -1])


def test_an_illegal_action_ends_the_episode_or_raises() -> None:
    env = Scala40VectorEnv(2, SMALL, "random")
    _, infos = env.reset(seed=0)
    seed = int(env.games["seed"][1])
    _, rewards, terminations, _, infos = env.step(np.array([infos["action_mask"][0].argmax(), 634]))
    assert terminations.tolist() == [False, True] and rewards.tolist() == [0.0, -1.0]
    assert infos["final_info"]["illegal_action"].tolist() == [False, True]
    assert env.games["seed"][1] == following_seed(seed) and infos["action_mask"][1].any()
    strict = Scala40VectorEnv(2, SMALL, "random", illegal_action="raise")
    strict.reset(seed=0)
    with pytest.raises(IllegalMove):
        strict.step(np.array([634, 634]))


class Cheat:
    name = "cheat"

    def __init__(self, answers: list[int], spare: int) -> None:
        self.answers, self.spare = answers, spare

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Any:
        return self.answers * (len(views) + self.spare)


@pytest.mark.parametrize(
    ("answer", "spare", "error"), [(634, 0, IllegalMove), (None, 0, IllegalMove), (0, 1, Scala40Error)]
)
def test_an_opponent_that_plays_what_is_not_legal(answer: Any, spare: int, error: Any) -> None:
    env = Scala40VectorEnv(4, SMALL, Cheat([answer], spare))
    with pytest.raises(error) as caught:
        for _ in range(9):
            env.reset()
    assert "cheat" in str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))


def test_rewards_of_ones_own_are_asked_at_the_ends_of_hands_alone() -> None:
    asked: list[HandOutcome] = []

    def reward(outcome: HandOutcome) -> Any:
        asked.append(outcome)
        return np.arange(outcome.rules.num_players)

    rules = Rules.fisca(num_players=2, hand_size=3, opening_points=0)
    env = SelfPlayVectorEnv(2, rules, reward=reward)
    _, infos = env.reset(seed=1)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(fewer(100)):
        movers = infos["seat"]
        _, rewards, terminations, truncations, infos = env.step(picked(infos["action_mask"], rng))
        over = terminations | truncations
        ends += int(over.sum())
        assert (rewards == np.where(over, movers, 0)).all()
    assert len(asked) == ends
