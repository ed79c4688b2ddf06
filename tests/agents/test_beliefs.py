"""What search believes of hidden hands: the file of its weights, the swaps, and how real the hands are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
from agents import AgentError
from agents.beliefs import SHIPPED_BELIEFS, read_beliefs, write_beliefs
from agents.kernels.belief import BELIEF_CONTEXTS, BELIEF_FEATURES, BELIEF_TABLES, BELIEFS
from agents.kernels.determinize import deal_view
from scala40_env import Game, Rules, View
from scala40_env.kernels.state import GAME, PLAY
from scala40_env.rules.cards import JOKER, NUM_RANKS
from scala40_env.rules.moves import SLOTS
from scala40_env.rules.reading import Games, hand_of, legal_ids, melds_of

TWO = Rules.fisca(num_players=2, match="single_hand")


def changed(change: Any) -> str:
    """The shipped file with something changed."""
    content = json.loads(SHIPPED_BELIEFS.read_text(encoding="utf-8"))
    change(content)
    return json.dumps(content)


WRONG = {
    "no JSON": ("{", "no JSON"),
    "another format": (changed(lambda file: file.update(format="weights")), 'format "scala40 beliefs", version 1'),
    "another version": (changed(lambda file: file.update(version=2)), "version 1"),
    "other features": (changed(lambda file: file["features"].pop()), "points, joker"),
    "a table too few": (changed(lambda file: file["tables"].pop("more_seats")), "two_seats and more_seats"),
    "a context too few": (
        changed(lambda file: file["tables"]["two_seats"].pop(BELIEF_CONTEXTS[0])),
        f"two_seats has to hold {BELIEF_CONTEXTS[0]}",
    ),
    "a number too few": (
        changed(lambda file: file["tables"]["two_seats"][BELIEF_CONTEXTS[1]].pop()),
        f"two_seats, {BELIEF_CONTEXTS[1]}: {len(BELIEF_FEATURES)} whole numbers",
    ),
    "no whole number": (
        changed(lambda file: file["tables"]["two_seats"][BELIEF_CONTEXTS[1]].__setitem__(0, 0.5)),
        f"two_seats, {BELIEF_CONTEXTS[1]}: {len(BELIEF_FEATURES)} whole numbers",
    ),
}


@pytest.mark.once
@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_can_not_be_used(name: str, tmp_path: Path) -> None:
    text, words = WRONG[name]
    path = tmp_path / "beliefs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AgentError) as refused:
        read_beliefs(path)
    assert str(path) in str(refused.value) and words in str(refused.value)


@pytest.mark.once
def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="can't be read: No such file"):
        read_beliefs(tmp_path / "none.json")


@pytest.mark.once
def test_what_is_written_is_read(tmp_path: Path) -> None:
    shape = len(BELIEF_CONTEXTS), len(BELIEF_FEATURES)
    tables = {name: np.arange(at, at + shape[0] * shape[1]).reshape(shape) for at, name in enumerate(BELIEF_TABLES)}
    write_beliefs(tmp_path / "beliefs.json", tables, {"command": "a test"})
    assert read_beliefs(tmp_path / "beliefs.json").tolist() == [
        number for table in tables.values() for number in table.ravel().tolist()
    ]


# ---------------------------------------------------------------------------------------------------------------------
# The swaps


def weighing(**weights: int) -> NDArray[np.int64]:
    """Beliefs with the same weights in all contexts, in thousandths."""
    row = [weights.get(name.replace(" ", "_"), 0) for name in BELIEF_FEATURES]
    return np.array(row * (BELIEFS // len(row)), np.int64)


def dealt(view: View, beliefs: NDArray[np.int64], deal: int, swaps: int = 8) -> Games:
    games = np.zeros(1, GAME)
    deal_view(view.state, 0, view.seat, swaps, beliefs, np.uint64(5), deal, games, 0)
    return games


def points_of(card: int) -> int:
    return 0 if card == JOKER else 11 if card % NUM_RANKS == 0 else min(card % NUM_RANKS + 1, 10)


@pytest.mark.jit
def test_a_card_comes_up_as_often_as_it_is_likely() -> None:
    """With one hidden card and a weight on points, cards have the shares of a softmax over the unseen ones."""
    position = {"rules": {"preset": "fisca", "num_players": 2}, "turn": 0, "phase": "play", "opened": [True, True]}
    view = Game.from_position({**position, "hands": ["As 2s", "?1"], "table": ["5s 6s 7s"], "pozzo": "Jh"}).view(0)
    times, weight = 6000, -0.2
    found = Counter(hand_of(dealt(view, weighing(points=-200), deal, swaps=60), 1)[0] for deal in range(times))
    unseen = Counter(card for card in [*range(52), *range(52), *[JOKER] * 4])
    unseen.subtract([0, 1, 4, 5, 6, 36])
    likely = {card: count * np.exp(weight * points_of(card)) for card, count in unseen.items()}
    total = sum(likely.values())
    for points in range(12):
        share = sum(value for card, value in likely.items() if points_of(card) == points) / total
        seen = sum(count for card, count in found.items() if points_of(card) == points)
        assert abs(seen - share * times) <= 5 * np.sqrt(times * share * (1 - share))


def positions(hands: int) -> Iterator[tuple[Game, View]]:
    """Games of `expert` in which the other seat has thrown some cards, and what the seat on move sees."""
    expert, rng = agents.make("expert"), np.random.default_rng(0)
    for seed in range(hands):
        game = Game(TWO, seed=seed)
        while not game.hand_over:
            if game.phase == "draw" and game.turns_played >= 6:
                yield game, game.view(game.turn)
            game._step(expert.act(game.view(game.turn), rng))


def thrown_neighbours(state: Games, seat: int) -> int:
    """How many cards of a hand are next to one, or of the rank of one, that its holder has thrown."""
    word = int(state["threw"][0, seat])
    threw = {card for card in range(52) if word >> (card // 13 * 16 + card % 13) & 1}
    held = [card for card in hand_of(state, seat) if card != JOKER]
    near = sum(a // 13 == b // 13 and abs(a - b) == 1 for a in held for b in threw)
    return near + sum(a // 13 != b // 13 and a % 13 == b % 13 for a in held for b in threw)


def copies(state: Games, seat: int) -> int:
    """How many cards of a hand are held twice."""
    return sum(count - 1 for card, count in Counter(hand_of(state, seat)).items() if card != JOKER)


def ready(state: Games, seat: int) -> int:
    """How many cards of a hand attach to a meld."""
    ends = Counter(meld.card_at(cell) for meld in melds_of(state) for cell in meld.open_ends() if cell is not None)
    return sum(card in ends for card in hand_of(state, seat))


@pytest.mark.jit
@pytest.mark.parametrize(
    ("told", "opened"), [(thrown_neighbours, False), (copies, False), (thrown_neighbours, True), (ready, True)]
)
def test_hands_are_more_like_real_ones(told: Any, opened: bool) -> None:
    """Dealt hands have more copies than real ones, neighbours of what was thrown, and cards that attach."""
    real, plain, likely, beliefs = [], [], [], read_beliefs()
    for at, (game, view) in enumerate(positions(60)):
        if view.opened[1 - view.seat] != opened:
            continue
        real.append(told(game.state, 1 - view.seat))
        plain.append(told(dealt(view, beliefs, at, swaps=0), 1 - view.seat))
        likely.append(told(dealt(view, beliefs, at), 1 - view.seat))
    assert np.mean(plain) > 1.2 * np.mean(real)
    assert abs(np.mean(likely) - np.mean(real)) < 0.5 * (np.mean(plain) - np.mean(real))


def could_open(state: Games, seat: int) -> bool:
    """Whether a seat could open if it were its turn with these cards."""
    trial = state.copy()
    for name, value in (("turn", seat), ("mover", seat), ("phase", PLAY)):
        trial[name] = value
    return any(action >= SLOTS for action in legal_ids(trial))


@pytest.mark.jit
def test_hands_that_wait_to_open_are_dealt_too() -> None:
    """`expert` does not always open when it can: the others are taken for weaker than they are if it is thought to.

    Beliefs that look at pairs of cards deal such hands too often, but not twice as often as there are.
    """
    beliefs, rows = read_beliefs(SHIPPED_BELIEFS), []
    for at, (game, view) in enumerate(positions(120)):
        other = 1 - view.seat
        if not view.opened[other]:
            share = np.mean([could_open(dealt(view, beliefs, 8 * at + deal), other) for deal in range(8)])
            rows.append((could_open(game.state, other), share))
    real, found = np.mean(rows, axis=0)
    assert real > 0.15 and 0.5 * real < found < 2 * real


# ---------------------------------------------------------------------------------------------------------------------
# The fit


@pytest.mark.once
def test_a_fit_finds_the_weights_that_made_the_lessons() -> None:
    from experiments.fit_beliefs import fitted

    rng, weights = np.random.default_rng(0), np.array([0.8, -0.5, 0.0])
    rows = rng.integers(-2, 3, size=(40_000, 3)).astype(np.int8)
    real = rng.random(len(rows)) < 1 / (1 + np.exp(-(rows @ weights)))
    found, told = fitted(np.where(real[:, None], rows, -rows).astype(np.int8), 1.0)
    assert np.abs(found - weights).max() < 0.06 and told > 0.1


@pytest.mark.once
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The same seed gives the same bytes, and weights that can be read."""
    from experiments.fit_beliefs import main

    out = [tmp_path / "one.json", tmp_path / "two.json"]
    for path in out:
        monkeypatch.setattr("sys.argv", ["fit_beliefs", "--hands", "3", "--out", str(path)])
        main()
    texts = [path.read_text(encoding="utf-8").replace(str(path), "") for path in out]
    assert texts[0] == texts[1] and read_beliefs(out[0]).any()
    assert "two_seats, unopened" in capsys.readouterr().out
