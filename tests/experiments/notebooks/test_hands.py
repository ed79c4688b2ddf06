"""Hands by the thousand: what is played again is what was played, and cards are counted right."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import agents
from experiments.notebooks.cards import CHARGES, PARTNERS, could_use, dealt_anew, held_by, live_pairs, unseen_by
from experiments.notebooks.hands import DISCARDS, DRAWS, MELDS, Hands, Moments, before, play_hands, played_out, takes
from scala40_env import Game, Rules
from scala40_env.rewards import SCALE, outcome_of, zero_sum_points
from scala40_env.rules.cards import JOKER, NUM_CARD_TYPES, parse_cards
from scala40_env.rules.moves import MELD_ACTIONS, POZZO
from scala40_env.rules.reading import hand_of
from scala40_env.rules.view import View

TWO = Rules.fisca(num_players=2)


@lru_cache
def hands(players: int = 2, deals: int = 4) -> Hands:
    greedy, dull = agents.make("greedy"), agents.make("random")
    return play_hands(TWO.replace(num_players=players), [greedy, dull], deals, seed=3, lineup=(0, 1) * (players // 2))


def kernel_agent(name: str) -> agents.KernelAgent:
    agent = agents.make(name)
    assert isinstance(agent, agents.KernelAgent)
    return agent


def counts_of(text: str) -> np.ndarray:
    return np.bincount(parse_cards(text), minlength=NUM_CARD_TYPES)[None].astype(np.int8)


def test_every_deal_is_played_in_all_rotations() -> None:
    found = hands()
    assert found.deal.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert found.seating.tolist() == [[0, 1], [1, 0]] * 4
    assert found.names == ("greedy", "random")
    assert (found.seeds[::2] == found.seeds[1::2]).all()
    assert hands(4, 2).seating.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]] * 2


def test_one_agent_alone_has_all_seats() -> None:
    found = play_hands(TWO, [agents.make("random")], 2)
    assert found.seating.tolist() == [[0, 0]] * 2


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.notebooks.hands._GAMES", 2)
    again = play_hands(TWO, [agents.make("greedy"), agents.make("random")], 4, seed=3, lineup=(0, 1))
    assert all((one == two).all() for one, two in zip(again.logs, hands().logs, strict=True))
    assert (again.points == hands().points).all()


def test_records_replay_to_the_same_points() -> None:
    found = hands()
    for hand in range(len(found)):
        game = found.record(hand).check()
        assert game.hand_points == found.points[hand].tolist()
        assert game.turns_played == found.turns[hand]


def test_places_begin_after_the_dealer() -> None:
    found = hands(4, 2)
    for places, dealer in zip(found.places, found.dealer, strict=True):
        assert places[(dealer + 1) % 4] == 0 and places[dealer] == 3


def test_rewards_are_those_of_the_package() -> None:
    found = hands(4, 2)
    for hand, rewards in enumerate(found.rewards):
        outcome = outcome_of(found.record(hand).check().state, 0, found.rules)
        assert rewards == pytest.approx(SCALE * zero_sum_points(outcome))


def test_kinds_of_action() -> None:
    assert DRAWS.sum() == 2 and DISCARDS.sum() == 53 and np.flatnonzero(MELDS).tolist() == sorted(MELD_ACTIONS)


def test_moments_stand_before_their_actions() -> None:
    found = hands()
    moments = before(found, np.ones(len(DRAWS), bool))
    assert len(moments) == sum(map(len, found.logs))
    (record,) = [found.record(5)]
    steps = [step.game for step in record.replay()]
    of_hand = np.flatnonzero(moments.hand == 5)
    for at, place in enumerate(of_hand):
        assert steps[at].turn == moments.seat[place]
        assert moments.lap[place] == steps[at].turns_played // 2 + 1
        assert found.logs[5][moments.at[place]] == moments.action[place]
        assert held_by(moments.take([place]), moments.seat[[place]])[0].sum() == len(
            hand_of(steps[at].state, steps[at].turn)
        )


def test_moments_of_one_agent() -> None:
    found = hands()
    moments = before(found, DISCARDS, agent=1)
    assert len(moments) and (found.seating[moments.hand, moments.seat] == 1).all()
    assert DISCARDS[moments.action].all()


def some(deals: int = 2) -> Moments:
    return before(hands(4, deals), DISCARDS)


def test_what_is_seen_is_what_the_view_says() -> None:
    moments = some().take(np.arange(0, 40, 8))
    _, masks = moments.seen()
    for place in range(len(moments)):
        view = View.of(moments.states[place : place + 1], int(moments.seat[place]), moments.rules)
        assert np.flatnonzero(masks[place]).tolist() == view.legal_actions()


def test_unseen_is_what_no_view_places() -> None:
    moments = some()
    for place in range(0, len(moments), 7):
        moment = moments.take([place])
        view = View.of(moment.states, int(moment.seat[0]), moment.rules)
        melds = " ".join(view.table).split()
        seen = [*view.hand, *view.pozzo, *("*" if card.startswith("*") else card for card in melds)]
        seen += [card for seat, cards in enumerate(view.known) if seat != view.seat for card in cards]
        pack = np.array([2] * JOKER + [4], np.int8)
        assert (unseen_by(moment, moment.seat) == pack - counts_of(" ".join(seen))).all()


def test_charges_are_those_of_a_hand() -> None:
    end = played_out([Game(TWO, seed=1)], kernel_agent("random"))
    loser = np.array([1 - end["winner"][0]], np.int64)
    last = Moments(TWO, end, *(np.zeros(1, np.int64),) * 2, loser, *(np.zeros(1, np.int64),) * 2)
    assert (held_by(last, loser) @ CHARGES).tolist() == end["hand_points"][0, loser].tolist()


def test_dealt_anew_keeps_sizes_and_stays_within_the_unseen() -> None:
    moments = some()
    other = (moments.seat + 1) % 4
    dealt = dealt_anew(moments, moments.seat, other, seed=1)
    assert (dealt.sum(axis=1) == moments.of_seat("hand_n", other)).all()
    assert (dealt <= unseen_by(moments, moments.seat) + held_by(moments, other)).all()
    assert (dealt == dealt_anew(moments, moments.seat, other, seed=1)).all()
    assert (dealt != dealt_anew(moments, moments.seat, other, seed=2)).any()


def test_partners_are_those_of_the_melds() -> None:
    """The pairs of every card, from the table of actions."""
    wanted: dict[int, set[frozenset[int]]] = {card: set() for card in range(JOKER)}
    for meld in MELD_ACTIONS.values():
        cards = meld.cards()
        if not any(card.is_joker for card in cards):
            for card in cards:
                wanted[card.card].add(frozenset(other.card for other in cards if other.card != card.card))
    for card in range(JOKER):
        pairs = [frozenset(pair) for pair in PARTNERS[card].tolist() if pair[0] >= 0]
        assert len(pairs) == len(set(pairs)) and set(pairs) == wanted[card]


def test_use_of_a_card() -> None:
    (seven, ace) = parse_cards("7h As")
    for text, uses in (("5h 6h", True), ("6h 8h", True), ("7s 7d", True), ("7s 8h", False), ("7h *", False)):
        assert could_use(counts_of(text))[0, seven] == uses, text
    assert could_use(counts_of("8h *"))[0, seven] and could_use(counts_of("Qs Ks"))[0, ace]
    assert not could_use(counts_of("Ks 2s"))[0, ace]
    assert live_pairs(counts_of("5h 6h 8h 9h 7s 7d"))[0, seven] == 4


def test_takes_is_the_next_move_from_the_pozzo() -> None:
    found = hands()
    discards = before(found, DISCARDS)
    taken = takes(found, discards)
    assert taken.sum() == sum((log == POZZO).sum() for log in found.logs) > 0
    ends = [at + 1 == len(found.logs[hand]) for hand, at in zip(discards.hand, discards.at, strict=True)]
    assert not taken[ends].any()


def test_a_game_of_the_same_seed_begins_alike() -> None:
    found = hands()
    game = Game(found.rules, seed=int(found.seeds[0]))
    first = before(found, DRAWS).take([0])
    assert game.turn == first.seat[0]
    assert (held_by(first, first.seat)[0] == np.bincount(hand_of(game.state, game.turn), minlength=53)).all()


def test_played_out_is_the_rest_of_the_hand() -> None:
    """From the deal, and from any moment, to the same end: greedy leaves nothing to chance."""
    greedy = kernel_agent("greedy")
    found = play_hands(TWO, [greedy], 1, seed=8)
    steps = [step.game for step in found.record(0).replay()]
    for game in (steps[0], steps[len(steps) // 2]):
        (end,) = played_out([game], greedy)
        assert end["winner"] == found.winner[0] and end["hand_points"][:2].tolist() == found.points[0].tolist()


def test_a_hand_that_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.notebooks.hands._ROOM", 3)
    with pytest.raises(ValueError, match="hand 0 has not ended after 3 actions"):
        played_out([Game(TWO, seed=1)], kernel_agent("random"))
