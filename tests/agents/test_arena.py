"""The arena: every agent under every rule set, errors of agents, and that a game depends on nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import agents
from agents import Agent, AgentError, arena
from agents.arena import Arena
from scala40_env import Game, Rules, View
from scala40_env.kernels.jit import JIT_DISABLED
from scala40_env.rules.config import PRESET_MAX_PLAYERS, PRESETS, SPECS
from tests.agents.tables import chance, play, records

PLAYERS = [agents.make("greedy"), agents.make("random")]
#: All that play inside the kernels.
SCRIPTED = [*PLAYERS, agents.make("expert")]


class Chancer(Agent):
    """Plays any legal move, one view at a time."""

    name = "chancer"

    def act(self, view: View, rng: np.random.Generator) -> int:
        return int(rng.choice(view.legal_actions()))


class BatchChancer(Chancer):
    """The same, in batches."""

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> list[int]:
        return [self.act(view, rng) for view, rng in zip(views, rngs, strict=True)]


class Answering(Agent):
    """Answers all questions alike."""

    name = "answering"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, view: View, rng: np.random.Generator) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Miscounting(Answering):
    """Gives as many answers as it likes."""

    def act_batch(self, views: Sequence[View], rngs: Sequence[np.random.Generator]) -> Any:
        return self.answer


def mixed_seating(games: int, seats: int) -> Any:
    """All greedy, all experts, and all mixtures with random players."""
    mixed = np.random.default_rng(seats).integers(0, len(SCRIPTED), (games, seats))
    alike = np.arange(games)[:, None] % 6
    return np.where(alike == 0, 0, np.where(alike == 3, 2, mixed))


def rule_sets() -> list[Rules]:
    """Every preset with all its numbers of players, teams, buying, and every value of the single options."""
    sets = [
        Rules.from_preset(name, num_players=players)
        for name in PRESETS
        for players in range(2, PRESET_MAX_PLAYERS.get(name, 6) + 1)
    ]
    sets += [Rules.from_preset(name, num_players=4, team_size=2, buying=True) for name in PRESETS]
    sets += [Rules.fisca(num_players=6, team_size=3), Rules.fisca(num_players=6, team_size=2, team_score="worst")]
    sets += [Rules.fisca(num_players=3, match="total"), Rules.fisca(num_players=3, match="hands", num_hands=2)]
    sets += [Rules.fisca(num_players=2, max_jokers_per_meld=4, min_naturals_per_meld=1, buying=True)]
    fixed = {"num_players", "team_size", "team_score", "match", "num_hands", "min_naturals_per_meld"}
    for name, spec in SPECS.items():
        choices = spec.get("choices") or (spec["range"][0], min(spec["range"][0] + 2, spec["range"][1]))
        sets += [Rules.fisca(num_players=3, **{name: value}) for value in choices if name not in fixed]
    return sets


@pytest.mark.jit
@pytest.mark.parametrize("rules", rule_sets(), ids=repr)
def test_nobody_stalls_under_any_rules(rules: Rules) -> None:
    """200 hands; the records replay, in which every move is checked against the mask."""
    games = 100
    rounds = play(rules, SCRIPTED, mixed_seating(games, rules.num_players), max_hands=4, logs=True)
    assert sum(len(ended.games) for ended in rounds) >= min(200, games)
    for record in records(rules, rounds, games)[:8]:
        record.check()


@pytest.mark.parametrize("name", PRESETS)
def test_a_hand_under_every_preset(name: str) -> None:
    rules = Rules.from_preset(name, num_players=3, buying=True)
    rounds = play(rules, SCRIPTED, [[0, 1, 2]], logs=True)
    for record in records(rules, rounds, 1):
        record.check()


def test_agents_of_python_play_beside_kernels() -> None:
    rules = Rules.fisca(num_players=3)
    games = 2 if JIT_DISABLED else 20
    players = [*PLAYERS, Chancer()]
    rounds = play(rules, players, [[2, 0, 2], [0, 2, 1]] * (games // 2), logs=True)
    for record in records(rules, rounds, games):
        record.check()
    batched = play(rules, [*PLAYERS, BatchChancer()], [[2, 0, 2], [0, 2, 1]] * (games // 2), logs=True)
    assert _moves(rounds) == _moves(batched)


def _moves(rounds: Any) -> list[list[int]]:
    return [log.actions.tolist() for ended in rounds for log in ended.logs]


def test_a_game_depends_on_itself_alone() -> None:
    rules, games = Rules.fisca(num_players=2), 3 if JIT_DISABLED else 30
    players = [*PLAYERS, Chancer()]
    seating = np.array([[0, 1], [1, 2], [2, 0]] * (games // 3))
    seeds, keys = chance(games, 2)
    table = Arena(rules, players)
    together = _moves(table.play(seating, seeds, keys, 1, True))
    alone = [
        _moves(table.play(seating[i : i + 1], seeds[i : i + 1], keys[i : i + 1], 1, True))[0] for i in range(games)
    ]
    assert together == alone
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    assert _moves(table.play(seating, seeds, keys, 1, True)) == together
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index, union-attr]


def test_hands_of_a_match_differ_for_the_random_agent() -> None:
    rules = Rules.fisca(num_players=2, max_laps=1, limit=1000)
    logs = _moves(play(rules, PLAYERS, [[1, 1]], max_hands=3, logs=True))
    assert len({tuple(log) for log in logs}) == len(logs) == 3


def test_the_log_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Rules.fisca(num_players=2, max_laps=8)
    players = [*PLAYERS, Chancer()]
    expected = _moves(play(rules, players, [[1, 0], [1, 2]], logs=True))
    monkeypatch.setattr(arena, "_FIRST_ROOM", 3)
    assert _moves(play(rules, players, [[1, 0], [1, 2]], logs=True)) == expected


@pytest.mark.parametrize("rules", [Rules.fisca(num_players=3), Rules.casa(num_players=4, buying=True)], ids=repr)
def test_laps_of_opening_and_jokers_left_are_those_of_the_record(rules: Rules) -> None:
    games = 1 if JIT_DISABLED else 40
    rounds = play(rules, PLAYERS, [[0] * rules.num_players] * games, max_hands=2, logs=True)
    told = {}
    for ended in rounds:
        for at, game in enumerate(ended.games.tolist()):
            told[game, int(ended.hand_no[at])] = ended.opening_lap[at].tolist(), ended.jokers[at].tolist()
    for game, record in enumerate(records(rules, rounds, games)):
        seen, lap = [0] * rules.num_players, 1
        for at in record.replay():
            opened = zip(seen, at.game.opened, strict=True)
            seen = [was or (lap if now else 0) for was, now in opened] if at.move else [0] * rules.num_players
            lap = at.game.turns_played // int(at.game.state["seats_in"][0]) + 1
            if at.game.hand_over:
                jokers = [at.game.view(seat).hand.count("*") for seat in range(rules.num_players)]
                assert told[game, at.hand - 1] == (seen, jokers)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Answering(1), ["chose 1", "no legal action", "legal are [0]", "stock"]),
        (Answering("stock"), ["'stock'"]),
        (Answering(True), ["True"]),
        (Answering(None), ["None"]),
        (Answering(ZeroDivisionError("of no use")), ["ZeroDivisionError", "of no use"]),
        (Miscounting([0, 0, 0]), ["3 actions for 1 views"]),
        (Miscounting(7), ["TypeError"]),
    ],
)
def test_an_agent_that_fails(agent: Agent, words: list[str]) -> None:
    rules = Rules.fisca(num_players=2)
    with pytest.raises(AgentError) as failed:
        play(rules, [agent], [[0, 0]], seed=3)
    error, text = failed.value, str(failed.value)
    assert [word for word in ["'answering'", "hand 1", *words] if word not in text] == []
    assert error.seed == int(chance(1, 2, 3)[0][0]) and str(error.seed) in text
    position = json.loads(text[text.index("position: ") + len("position: ") :])
    assert Game.from_position(position).position() == error.position == position


def test_an_agent_that_can_not_play_the_rules_says_so() -> None:
    class Narrow(Chancer):
        def check_rules(self, rules: Rules) -> None:
            raise AgentError("it plays with two only", self.name)

    with pytest.raises(AgentError, match="two only"):
        Arena(Rules.fisca(num_players=3), [Narrow()])


def test_the_arena_shows_what_a_view_shows() -> None:
    """Greedy in the arena moves as it does on the views of a `Game`."""
    rules, games = Rules.casa(num_players=3), 1 if JIT_DISABLED else 20
    seeds, keys = chance(games, 3)
    (ended,) = Arena(rules, PLAYERS).play(np.zeros((games, 3), np.int64), seeds, keys, 1, True)
    for seed, log in zip(seeds.tolist(), ended.logs, strict=True):
        game = Game(rules, seed=seed)
        for action in log.actions.tolist():
            assert PLAYERS[0].act(game.view(game.turn), np.random.default_rng(1)) == action
            game._step(action)
        assert game.hand_over
