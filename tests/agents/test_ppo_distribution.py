"""The distribution over the legal actions against sb3-contrib's: the same mathematics."""

from __future__ import annotations

import pytest

from tests.optional import library

torch = library("torch")
MaskableCategorical = library("sb3_contrib.common.maskable.distributions").MaskableCategorical
ours_of = library("agents.ppo.distribution")
LegalActions, LegalCategorical = ours_of.LegalActions, ours_of.LegalCategorical
LegalCategoricalDistribution = library("agents.ppo.policy").LegalCategoricalDistribution

ACTIONS = 635


def some_case(rows: int = 64, spread: float = 5.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits, and masks of one to many legal actions."""
    chance = torch.Generator().manual_seed(3)
    logits = spread * torch.randn(rows, ACTIONS, generator=chance)
    shares = torch.rand(rows, 1, generator=chance) ** 3
    masks = torch.rand(rows, ACTIONS, generator=chance) < shares
    masks[torch.arange(rows), torch.randint(ACTIONS, (rows,), generator=chance)] = True
    masks[0] = False
    masks[0, 7] = True
    return logits, masks


@pytest.mark.parametrize("spread", [0.01, 5.0, 60.0])
def test_log_probs_entropies_and_modes_are_those_of_sb3(spread: float) -> None:
    logits, masks = (each.double() if each.is_floating_point() else each for each in some_case(spread=spread))
    theirs, ours = MaskableCategorical(logits=logits, masks=masks), LegalCategorical(logits, LegalActions(masks))
    actions = theirs.sample()
    torch.testing.assert_close(ours.log_prob(actions), theirs.log_prob(actions), rtol=0, atol=1e-6)
    torch.testing.assert_close(ours.entropy(), theirs.entropy(), rtol=0, atol=1e-6)
    assert torch.equal(ours.mode(), theirs.probs.argmax(1))
    dense = torch.where(masks, theirs.logits, -torch.inf)
    torch.testing.assert_close(ours.dense_log_probs(), dense, rtol=0, atol=1e-6)


def test_gradients_are_those_of_sb3_and_none_reaches_illegal_actions() -> None:
    found = []
    logits, masks = some_case()
    for kind in ("theirs", "ours"):
        given = logits.double().requires_grad_()
        if kind == "theirs":
            chosen = MaskableCategorical(logits=given, masks=masks)
        else:
            chosen = LegalCategorical(given, LegalActions(masks))
        actions = masks.double().argmax(1)
        (chosen.log_prob(actions).sum() + 0.3 * chosen.entropy().sum()).backward()
        found.append(given.grad)
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=1e-6)
    assert not found[1][~masks].any()


def test_illegal_logits_are_never_looked_at() -> None:
    logits, masks = some_case()
    spoilt = torch.where(masks, logits, torch.nan)
    ours = LegalCategorical(spoilt.requires_grad_(), LegalActions(masks))
    (ours.entropy().sum() + ours.log_prob(ours.sample()).sum()).backward()
    assert torch.equal(ours.log_probs, LegalCategorical(logits, LegalActions(masks)).log_probs)
    assert bool(torch.isfinite(spoilt.grad).all())


def test_samples_are_legal_and_as_frequent_as_their_probabilities() -> None:
    times = 4000
    logits, masks = (each[1:9] for each in some_case(spread=1.0))
    ours = LegalCategorical(logits.repeat(times, 1), LegalActions(masks.repeat(times, 1)))
    torch.manual_seed(0)
    counts = torch.nn.functional.one_hot(ours.sample().view(times, 8), ACTIONS).sum(0)
    assert not counts[~masks].any()
    torch.testing.assert_close(counts / times, ours.dense_log_probs()[:8].exp(), rtol=0, atol=0.04)


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-24])
def test_the_ends_of_chance_are_legal_too(uniform: float) -> None:
    logits, masks = some_case(spread=30.0)
    drawn = LegalCategorical(logits, LegalActions(masks)).sample(torch.full((len(logits),), uniform))
    assert bool(masks[torch.arange(len(masks)), drawn].all())


def test_an_illegal_action_has_no_probability_and_a_row_without_legal_ones_is_refused() -> None:
    logits, masks = some_case()
    illegal = (~masks).int().argmax(1)
    assert LegalCategorical(logits, LegalActions(masks)).log_prob(illegal).isneginf().all()
    masks[5] = False
    with pytest.raises(ValueError, match="row 5"):
        LegalActions(masks)


def test_the_likeliest_actions_come_in_order_and_unlikely_ones_are_left_out() -> None:
    logits, masks = some_case(spread=2.0)
    ours = LegalCategorical(logits, LegalActions(masks))
    probs = ours.dense_log_probs().exp()
    for least in (0.0, 0.1, 1.0):
        actions, places = ours.likeliest(4, least)
        for row, found in enumerate(actions.tolist()):
            best = probs[row].argsort(descending=True)[: min(4, int(masks[row].sum()))].tolist()
            wanted = best[:1] + [action for action in best[1:] if probs[row, action] >= least]
            assert found == wanted + [-1] * (4 - len(wanted))
            assert ours.legal.ids[row, places[row, : len(wanted)]].tolist() == wanted
    assert ours.likeliest(10**6)[0].shape[1] == int(masks.sum(1).max())


def test_sb3_finds_what_it_asks_for() -> None:
    logits, masks = some_case()
    distribution = LegalCategoricalDistribution(ACTIONS)
    distribution.proba_distribution(logits).apply_masking(masks.numpy())
    assert torch.equal(distribution.get_actions(deterministic=True), distribution.mode())
    distribution.apply_masking(None)
    assert torch.equal(distribution.mode(), logits.argmax(1))
    actions, log_probs = distribution.log_prob_from_params(logits)
    torch.testing.assert_close(log_probs, torch.log_softmax(logits, 1).gather(1, actions[:, None])[:, 0])
