"""The network: its shape, what a change of suits does, and the policy of SB3 around it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Discrete

from agents.ppo.layout import input_layout, layout_for_size
from scala40_env import Game, Rules
from scala40_env.kernels.observation import SLOT_FEATURES
from scala40_env.observation import schema_of
from scala40_env.rules.moves import MELD_ACTIONS, NUM_ACTIONS_EXTENDED, SLOTS, num_actions
from tests.optional import library

torch = library("torch")
library("sb3_contrib")
made_of, sb3_policy = library("agents.ppo.network"), library("agents.ppo.policy")
SIZES, CardNetwork, NetworkSize = made_of.SIZES, made_of.CardNetwork, made_of.NetworkSize
CardPolicy, size_of = sb3_policy.CardPolicy, made_of.size_of

TINY = NetworkSize(8, 2, 12)


def network(rules: Rules, seed: int = 0) -> CardNetwork:
    torch.manual_seed(seed)
    net = CardNetwork(input_layout(schema_of(rules)), num_actions(rules), TINY)
    for weight in net.parameters():  # far from the beginning, where much is zero
        weight.data.add_(0.1 * torch.randn_like(weight))
    return net


def observations(rules: Rules, count: int = 30) -> Any:
    """What seats see in hands where melds are laid whenever they can be; every other one with melds on the table."""
    schema, rng = schema_of(rules), np.random.default_rng(1)
    seen: list[Any] = []
    game = Game(rules, seed=5)
    while len(seen) < count:
        legal = game.legal_actions()
        if not legal:
            game = Game(rules, seed=int(rng.integers(1000)))
            continue
        game.play_action(max(legal) if max(legal) >= SLOTS else int(rng.choice(legal)))
        if game.legal_actions() and (game.view(0).table or len(seen) % 2):
            seen.append(schema.observe(game.view(game.turn)))
    return np.array(seen)


def permuted_observations(given: Any, rules: Rules, order: tuple[int, ...]) -> Any:
    """The same with suit ``order[k]`` in the place of suit k."""
    schema = schema_of(rules)
    changed = given.copy()
    planes = schema.planes(changed)
    planes[:] = schema.planes(given)[:, :, list(order)]
    new_suit = np.argsort(order)
    slots = schema.split(changed)["slots"]
    for name in ("first", "last", "low", "high", "joker_1", "joker_2", "joker_3", "joker_4"):
        place = slots[..., SLOT_FEATURES.index(name)]
        suit, rank = np.divmod(np.maximum(place.astype(int) - 1, 0), 14)
        place[:] = np.where(place > 0, new_suit[suit] * 14 + rank + 1, 0)
    return changed


def permuted_action(action: int, order: tuple[int, ...]) -> int:
    """What an action is called when suit ``order[k]`` is in the place of suit k."""
    new_suit = [order.index(suit) for suit in range(4)]
    if 2 <= action < 54:
        suit, rank = divmod(action - 2, 13)
        return 2 + 13 * new_suit[suit] + rank
    if action not in MELD_ACTIONS:
        return action
    meld = MELD_ACTIONS[action]
    if meld.is_run:
        key, cells, jokers = new_suit[meld.key], meld.cells, meld.jokers
    else:
        cells, jokers = (sum(1 << new_suit[s] for s in range(4) if m >> s & 1) for m in (meld.cells, meld.jokers))
        key = meld.key
    same = (meld.kind, key, cells, jokers)
    return next(a for a, m in MELD_ACTIONS.items() if (m.kind, m.key, m.cells, m.jokers) == same)


@pytest.mark.parametrize("rules", [Rules.fisca(num_players=2), Rules.casa(num_players=4)], ids=repr)
def test_suits_that_change_places_change_the_logits_with_them(rules: Rules) -> None:
    net, seen = network(rules), observations(rules, 12)
    with torch.no_grad():
        logits, values = net(torch.from_numpy(seen))
        for order in list(permutations(range(4)))[1::4]:
            other, same = net(torch.from_numpy(permuted_observations(seen, rules, order)))
            moved = [permuted_action(action, order) for action in range(num_actions(rules))]
            torch.testing.assert_close(other[:, moved], logits, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(same, values, rtol=1e-4, atol=1e-4)


def test_sharpened_logits_are_multiples() -> None:
    rules = Rules.fisca(num_players=2)
    net, seen = network(rules), torch.from_numpy(observations(rules, 8))
    with torch.no_grad():
        before, values = net(seen)
        net.sharpen(3.0)
        after, same = net(seen)
    torch.testing.assert_close(after, 3 * before, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(values, same)


def test_the_table_of_discards_runs_sets_and_slots_is_in_order() -> None:
    """A cell that is raised raises the logits of the actions on its card and no others."""
    rules = Rules.casa(num_players=2)
    net, layout = network(rules), input_layout(schema_of(rules))
    suit, rank = 2, 6
    cells = torch.zeros(1, TINY.channels, 4, 14)
    raised = cells.clone()
    raised[0, :, suit, rank] = 1.0
    seen = torch.zeros(1, layout.size)
    slot = layout.slots.start
    seen[0, slot + SLOT_FEATURES.index("low")] = suit * 14 + rank + 1
    summary = torch.zeros(1, TINY.channels + TINY.numbers)
    with torch.no_grad():
        before, after = (net.heads(seen, each, summary)[0] for each in (cells, raised))
    changed = set((before != after).nonzero()[:, 0].tolist())
    runs = {a for a, m in MELD_ACTIONS.items() if m.is_run and m.key == suit and m.cells >> rank & 1}
    of_rank = {a for a, m in MELD_ACTIONS.items() if not m.is_run and m.key == rank}
    discard, attach_low, joker_low = 2 + 13 * suit + rank, 55, 57
    assert changed <= runs | of_rank | {discard, attach_low, joker_low}
    assert runs | {discard, attach_low, joker_low} <= changed
    assert of_rank & changed
    assert len(before) == NUM_ACTIONS_EXTENDED


def test_sizes_have_names_and_bounds() -> None:
    assert size_of("small") == SIZES["small"]
    layout = layout_for_size(schema_of(Rules.fisca(num_players=2)).size)
    assert sum(p.numel() for p in CardNetwork(layout, 635, SIZES["small"]).parameters()) < 100_000
    with pytest.raises(ValueError, match="small, medium, large"):
        size_of("huge")
    with pytest.raises(ValueError, match="channels = 0"):
        NetworkSize(0, 1, 1)
    with pytest.raises(ValueError, match="2 players"):
        layout_for_size(17)
    with pytest.raises(ValueError, match="635 and 1045"):
        CardNetwork(layout, 636, TINY)


def policy(rules: Rules) -> CardPolicy:
    torch.manual_seed(0)
    return CardPolicy(schema_of(rules).space(), Discrete(num_actions(rules)), lambda _: 1e-3, size=TINY)


def test_an_untrained_policy_with_one_legal_action_plays_it() -> None:
    rules = Rules.fisca(num_players=2)
    made, seen = policy(rules), observations(rules, 8)
    masks = np.zeros((8, num_actions(rules)), np.int8)
    only = np.array([0, 1, 54, 99, 300, 500, 633, 634])
    masks[np.arange(8), only] = 1
    for deterministic in (True, False):
        actions, _ = made.predict(seen, deterministic=deterministic, action_masks=masks)
        assert actions.tolist() == only.tolist()


def test_the_doors_of_the_policy_agree() -> None:
    rules = Rules.fisca(num_players=2)
    made, seen = policy(rules), torch.from_numpy(observations(rules, 16))
    masks = torch.rand(16, num_actions(rules)) < 0.1
    masks[:, 0] = True
    actions, values, log_probs = made(seen, action_masks=masks)
    again, same_log_probs, entropies = made.evaluate_actions(seen, actions, action_masks=masks)
    torch.testing.assert_close(again, values, rtol=0, atol=1e-5)
    torch.testing.assert_close(same_log_probs, log_probs, rtol=0, atol=1e-5)
    torch.testing.assert_close(made.predict_values(seen), values, rtol=0, atol=1e-5)
    torch.testing.assert_close(made.get_distribution(seen, masks).entropy(), entropies, rtol=0, atol=1e-5)
