"""A table: moves, undo, the default move, and going on where it was left."""

from __future__ import annotations

import json

import pytest

from experiments.play.table import NotNow, Table
from scala40_env import Game, IllegalMove, Record, Rules
from scala40_env.rules.errors import BadNotation
from tests.experiments.play.tables import PEOPLE, SMALL, played, setup_of


@pytest.mark.parametrize("seed", range(6))
def test_a_table_that_was_left_goes_on_alike(seed: int) -> None:
    table = played(Table(setup_of(seed=seed)), 60, seed)
    again = Table(table.setup, json.loads(json.dumps(table.hands)))
    assert again.game == table.game and again.hands == table.hands
    assert (again.log, again.sheet, again.fresh) == (table.log, table.sheet, table.fresh)
    assert played(again, 30).game == played(table, 30).game


def test_a_move_out_of_turn_is_refused() -> None:
    table = Table(setup_of())
    other = (table.game.turn + 1) % 3
    with pytest.raises(NotNow) as caught:
        table.play(other, "stock")
    assert (caught.value.key, caught.value.name) == ("not_your_turn", table.setup.names[table.game.turn])


def test_nobody_moves_for_the_next_seat() -> None:
    table = Table(setup_of())
    seat = table.game.turn
    throw = table.game.copy().play("stock").legal_moves()
    discard = next(move for move in throw if move.startswith("discard"))
    with pytest.raises(NotNow):
        table.play(seat, f"stock; {discard}; stock")
    assert table.game.turn != seat and table.game.phase == "draw"


def test_a_refused_turn_tells_nothing_of_the_card_drawn() -> None:
    """Otherwise guesses behind a draw, all taken back, would find out the top of the stock."""
    table = Table(setup_of())
    with pytest.raises((IllegalMove, BadNotation)):
        table.play(table.game.turn, "stock; discard 99")
    assert table.game.phase == "play"


def drawn_with_melds() -> tuple[Table, list[str]]:
    """A table where the seat on move has drawn and could lay, and the melds that it could lay."""
    rules = Rules.fisca(num_players=2, hand_size=9, opening_points=0)
    for seed in range(40):
        table = Table(setup_of(rules, PEOPLE[:2], seed))
        table.play(table.game.turn, "stock")
        melds = [move for move in table.game.legal_moves() if move.startswith("meld")]
        if melds:
            return table, melds
    raise AssertionError("no seed of these deals a meld")


def test_undo_goes_back_to_the_draw_and_no_further() -> None:
    table, melds = drawn_with_melds()
    seat, drawn = table.game.turn, table.game.copy()
    fresh = table.fresh
    assert not table.can_undo(seat)
    table.play(seat, melds[0])
    assert table.can_undo(seat) and not table.can_undo(1 - seat)
    table.undo(seat)
    assert table.game == drawn and table.fresh == fresh and [move for _, move in table.log] == ["stock"]
    with pytest.raises(NotNow, match="nothing_to_undo"):
        table.undo(seat)


def test_a_draw_from_the_pozzo_can_be_taken_back() -> None:
    """It shows no card that was hidden."""
    rules = Rules.fisca(num_players=2, hand_size=4, first_player_free_upcard=True)
    table = Table(setup_of(rules, PEOPLE[:2]))
    before = table.game.copy()
    table.play(table.game.turn, "pozzo")
    table.undo(table.game.turn)
    assert table.game == before


def test_what_a_move_of_several_did_is_taken_back_at_once() -> None:
    rules = Rules.fisca(num_players=2, opening_points=0)
    position_hand = "4s 5s 6s 7s 9d Kc"
    game = Game.from_position(
        {"rules": rules.to_dict(), "turn": 0, "phase": "play", "hands": [position_hand, "?13"], "pozzo": "2h"}
    )
    table = Table(setup_of(rules, PEOPLE[:2]))
    table.game = game.copy()
    table.play(0, "meld 4s 5s 6s 7s")
    assert len(table.log) == 2
    table.undo(0)
    assert table.game == game and table.log == []


def test_an_undo_after_a_pause_goes_back_as_before_it() -> None:
    table = after_a_long_meld()
    assert len(Table(table.setup, table.hands).stops) == 2  # by small moves, for nothing tells what was one move
    again = Table(table.setup, table.hands, table.stops)
    for each in (table, again):
        each.undo(each.game.turn)
        assert not each.can_undo(each.game.turn)
    assert again.game == table.game


def after_a_long_meld() -> Table:
    """A table where a meld of four cards, two small moves, has just been laid."""
    rules = Rules.fisca(num_players=2, hand_size=13, opening_points=0)
    for seed in range(60):
        table = Table(setup_of(rules, PEOPLE[:2], seed))
        table.play(table.game.turn, "stock")
        for move in table.game.legal_moves():
            longer = _longer(table.game.copy().play(move)) if move.startswith("meld") else ""
            if longer:
                table.play(table.game.turn, f"meld {longer}")
                return table
    raise AssertionError("no seed of these deals a meld of four")


def _longer(game: Game) -> str:
    """The only meld on the table with one more card, or nothing."""
    attached = [game.copy().play(move) for move in game.legal_moves() if move.startswith("attach")]
    return next((str(after.view(after.turn).table[0]) for after in attached), "")


@pytest.mark.parametrize("seed", range(8))
def test_the_default_ends_the_turn_legally(seed: int) -> None:
    table = played(Table(setup_of(seed=seed)), seed * 5, seed)
    for _ in range(20):
        if table.on_move is None:
            break
        decision = table.decision
        table.play_default()
        assert table.decision != decision


def test_the_default_throws_the_card_drawn() -> None:
    table = Table(setup_of())
    seat = table.game.turn
    table.play(seat, "stock")
    (card,) = table.fresh[seat]
    table.play_default()
    assert table.log[-1] == (seat, f"discard {card}") or card == "*"


def test_cards_that_a_seat_got_are_forgotten_with_its_turn() -> None:
    table = Table(setup_of())
    seat = table.game.turn
    table.play(seat, "stock")
    assert set(table.fresh) == {seat}
    table.play_default()
    assert seat not in table.fresh


def test_the_record_holds_the_hands_that_are_over() -> None:
    table = Table(setup_of())
    assert table.record() is None
    while len(table.sheet) < 2:
        played(table, 1)
    played(table, 3)
    record = table.record()
    assert record is not None and len(record.hands) == 2 and record.players == ("Anna", "Bruno", "Carla")
    assert Record.from_json(record.to_json()).check().scores == list(table.sheet[-1].scores)


def test_a_match_to_its_end() -> None:
    table = played(Table(setup_of(SMALL.replace(match="hands", num_hands=2))), 10_000)
    assert table.over and len(table.sheet) == 2
    record = table.record()
    assert record is not None and record.check().phase == "match_over"
    for refused in (table.next_hand, lambda: table.play(0, "stock")):
        with pytest.raises(NotNow, match="match_is_over"):
            refused()


def test_the_next_hand_waits_for_the_end() -> None:
    with pytest.raises(NotNow, match="hand_not_over"):
        Table(setup_of()).next_hand()


def test_agents_choose_alike_after_a_pause() -> None:
    table = played(Table(setup_of()), 20)
    again = Table(table.setup, table.hands)
    assert table.generator(1).integers(1 << 60) == again.generator(1).integers(1 << 60)
    assert table.generator(1).integers(1 << 60) != table.generator(2).integers(1 << 60)
