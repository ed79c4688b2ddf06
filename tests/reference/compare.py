"""Hold the engine against the twin, position by position of whole random and greedy-like games.

``python -m tests.reference.compare --positions 200000 --seed 7`` runs a larger comparison than the tests do; it stops
at the first difference, prints the position and what each side says of it, and exits with 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from scala40_env.kernels import engine
from scala40_env.kernels.state import GAME, HAND_OVER, MATCH_OVER
from scala40_env.rules.cards import format_cards
from scala40_env.rules.config import CHOICES, PRESETS, Rules
from scala40_env.rules.errors import BadRules
from scala40_env.rules.moves import format_action
from scala40_env.rules.position import to_position
from scala40_env.rules.reading import melds_of

from .twin import legal, play

Position = dict[str, Any]

#: Keys of the engine's positions that the rules of play do not look at.
UNKNOWN_TO_TWIN = ("known", "discarded_by", "threw", "took", "seed", "champions")
#: Values of the single options that are tried one by one on top of the federation's rules.
SINGLE_OPTIONS: dict[str, tuple[Any, ...]] = {
    **{field: values[1:] for field, values in CHOICES.items() if field not in ("match", "team_score")},
    "num_jokers": (0, 2),
    "hand_size": (3, 5, 8),
    "first_player_free_upcard": (True,),
    "max_jokers_per_meld": (2, 4),
    "max_run_length": (5, 7),
    "opening_points": (0, 30, 70),
    "opening_from_pozzo": (True,),
    "unopened_joker_discard": (True,),
    "closing_joker_discard": (False,),
    "replacing_attaches": (False,),
    "dead_hand_reshuffles": (1, 2),
    "max_laps": (1, 12),
    "first_lap_closing": (True,),
    "in_hand_needs_opening_points": (True,),
    "in_hand_multiplier": (2,),
    "in_hand_full_hand": (100,),
    "in_hand_bonus": (100,),
    "closing_bonus": (10,),
    "unopened_points": (100,),
    "limit": (30, 201),
    "reentries": (1, None),
    "buying": (True,),
}


def single_options() -> list[Rules]:
    """The federation's rules with one option changed, and the presets, with various numbers of players."""
    sets = [Rules.from_preset(name, num_players=n) for name in PRESETS for n in (2, 3, 5)]
    for at, (field, values) in enumerate(SINGLE_OPTIONS.items()):
        sets += [Rules.fisca(num_players=2 + (at + k) % 3, **{field: value}) for k, value in enumerate(values)]
    sets += [
        Rules.fisca(num_players=3, max_jokers_per_meld=3, min_naturals_per_meld=1, opening_points=20),
        Rules.fisca(num_players=4, team_size=2),
        Rules.fisca(num_players=6, team_size=3, team_score="worst", limit=60),
        Rules.fisca(num_players=3, match="total", limit=60),
        Rules.fisca(num_players=3, match="hands", num_hands=2),
        Rules.fisca(num_players=2, match="single_hand"),
    ]
    return sets


def random_rules(rng: random.Random) -> Rules:
    """A preset with a handful of options changed at random, as far as they can be combined."""
    while True:
        chosen: dict[str, Any] = {"num_players": rng.randint(2, 5)}
        for field in rng.sample(list(SINGLE_OPTIONS), rng.randint(1, 8)):
            chosen[field] = rng.choice(SINGLE_OPTIONS[field])
        if chosen.get("max_jokers_per_meld", 1) > 1 and rng.random() < 0.5:
            chosen["min_naturals_per_meld"] = 1
        try:
            return Rules.from_preset(rng.choice(list(PRESETS)), **chosen)
        except BadRules:
            continue


def position_of(games: np.ndarray, rules: Rules) -> Position:
    """The position with everything that the twin wants to have said."""
    position = to_position(games, rules)
    if position["phase"] == "buy":
        position["mover"] = int(games[0]["mover"])
    position["reshuffles"] = int(games[0]["shuffles"])
    return {key: value for key, value in position.items() if key not in UNKNOWN_TO_TWIN}


def compared(position: Position) -> Position:
    """The part of a position that both sides write alike."""
    return {key: value for key, value in position.items() if key not in ("reshuffles", "match_winners")}


def new_game(rules: Rules, seed: int) -> np.ndarray:
    """A game at its first decision."""
    games = np.zeros(1, GAME)
    for field, value in rules.encode().items():
        games[0][field] = value
    games[0]["seed"] = seed
    engine.start_match(games, 0)
    return games


def moves_of(games: np.ndarray) -> dict[str, int]:
    """The engine's legal moves, in notation, with their ids."""
    out = np.empty(1045, np.int16)
    melds = melds_of(games)
    return {format_action(int(action), melds): int(action) for action in out[: engine.legal_actions(games, 0, out)]}


def pick(moves: dict[str, int], rng: random.Random, eagerness: float) -> str:
    """A random move; with some probability one that lays rather than one that discards."""
    eager = [move for move in moves if move.split()[0] in ("meld", "attach", "swap", "pozzo", "buy")]
    if eager and rng.random() < eagerness:
        return rng.choice(eager)
    return rng.choice(list(moves))


def walk(rules: Rules, seed: int, most: int) -> Iterator[tuple[Position, dict[str, int], str, Position, str | None]]:
    """Play on at random: position, legal moves, the move taken, the position after it, the new stock if shuffled."""
    rng = random.Random(seed)
    games = new_game(rules, seed)
    eagerness = rng.choice((0.0, 0.5, 0.9))
    for _ in range(most):
        phase = int(games[0]["phase"])
        if phase == MATCH_OVER:
            return
        if phase == HAND_OVER:
            engine.next_hand(games, 0)
            continue
        before, moves = position_of(games, rules), moves_of(games)
        if not moves:
            yield before, moves, "", before, None
            return
        move = pick(moves, rng, eagerness)
        shuffles = int(games[0]["shuffles"])
        engine.step(games, 0, moves[move])
        renewed = int(games[0]["shuffles"]) != shuffles and rules.stock_end == "reshuffle"
        yield before, moves, move, position_of(games, rules), stock_before_draw(games) if renewed else None


def stock_before_draw(games: np.ndarray) -> str:
    """The stock as it was shuffled, with the card that was drawn from it still on top."""
    size = int(games[0]["stock_n"]) + 1
    return format_cards([int(card) for card in games[0]["pile"][:size]])


def difference(rules: Rules, seed: int, most: int) -> tuple[int, str | None]:
    """How many positions were compared, and the first difference as text, if there is one."""
    count = 0
    for before, moves, move, after, stock in walk(rules, seed, most):
        count += 1
        theirs = legal(before)
        if sorted(moves) != theirs:
            only_engine, only_twin = sorted(set(moves) - set(theirs)), sorted(set(theirs) - set(moves))
            return count, f"{json.dumps(before)}\nonly the engine: {only_engine}\nonly the twin: {only_twin}"
        found, expected = compared(play(before, move, stock)), compared(after)
        wrong = {key: (expected[key], found.get(key)) for key in expected if expected[key] != found.get(key)}
        if wrong:
            return count, f"{json.dumps(before)}\nafter {move} (engine, twin): {wrong}"
    return count, None


def main() -> int:
    """Compare until the number of positions is reached; 1 if there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, count, sets = random.Random(arguments.seed), 0, single_options()
    seed = arguments.seed
    while count < arguments.positions:
        rules = sets[seed % len(sets)] if rng.random() < 0.5 else random_rules(rng)
        seed += 1
        looked_at, wrong = difference(rules, seed, 300)
        count += looked_at
        if wrong:
            print(f"seed {seed}, {rules!r}\n{wrong}")
            return 1
    print(f"{count} positions, no difference")
    return 0


__all__ = ["difference", "main", "random_rules", "single_options", "walk"]

if __name__ == "__main__":
    sys.exit(main())
