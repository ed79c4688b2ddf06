"""The two questions that the tests ask the twin: which moves are legal, and what does a move do.

    legal(position) -> sorted list of moves in notation
    play(position, move, new_stock=None) -> the position after a legal move

Positions are complete ones of notation.md (`positions.complete` makes them). Each phase has one function that lists
its moves and one that plays them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from .cards import JOKER, NONE, codes, names
from .finish import Finisher
from .positions import Board, Position, read, write
from .scoring import end_hand
from .turn import Attach, Lay, Move, Turn, closes_at_once, closing_kind, move_text, table_moves

NewStock = str | list[str] | None


class HandAbandoned(Exception):
    """The stock would have to be renewed once too often."""


def legal(position: Position) -> list[str]:
    """The legal moves of a position, sorted."""
    if position["phase"] in ("hand_over", "match_over"):
        return []
    return sorted(_LEGAL[position["phase"]](read(position)))


def play(position: Position, move: str, new_stock: NewStock = None) -> Position:
    """The position after a legal move.

    The move is checked against the basic rules only (a move that strands the player is not noticed here).
    `new_stock` is the order of the stock, last card drawn next and before that draw, where the move shuffles it anew.
    """
    board = read(position)
    _PLAY[board.phase](board, move, new_stock)
    return write(board)


# --- drawing -----------------------------------------------------------------------------------------------------


def _legal_draw(board: Board) -> list[str]:
    moves = ["stock"] if board.stock or len(board.pozzo) >= 2 else []
    return [*moves, "pozzo"] if _pozzo_legal(board) else moves


def _free_upcard(board: Board) -> bool:
    """In the first turn of the hand the upcard may be anybody's who plays first."""
    return board.options.first_player_free_upcard and board.turns_played == 0


def _pozzo_legal(board: Board) -> bool:
    """Who may take the top of the pozzo can do so if the turn can then be ended with no ban lifted."""
    if not board.pozzo:
        return False
    may_take = board.opened[board.turn] or board.options.opening_from_pozzo or _free_upcard(board)
    if not may_take:
        return False
    taken = _turn_with_pozzo_card(board)
    return Finisher(board.law).can_finish(taken, 0)


def _turn_with_pozzo_card(board: Board) -> Turn:
    """The turn after the pozzo card was taken: the card is owed to the table, or only barred from the discard."""
    card = board.pozzo[-1]
    turn = board.take_turn()
    kept = _free_upcard(board) or (board.options.pozzo_card == "keep" and turn.opened)
    turn = turn._replace(owed=NONE if kept else card, barred=card if kept else NONE)
    return _with_card(turn, card)


def _with_card(turn: Turn, card: int) -> Turn:
    """The turn with one more card in the hand."""
    if card == JOKER:
        return turn._replace(jokers=turn.jokers + 1)
    if turn.ones >> card & 1:
        return turn._replace(twos=turn.twos | 1 << card)
    return turn._replace(ones=turn.ones | 1 << card)


def _play_draw(board: Board, move: str, new_stock: NewStock) -> None:
    if move == "pozzo" and board.pozzo:
        board.put_turn(_turn_with_pozzo_card(board))
        board.pozzo.pop()
        board.phase = "play"
    elif move == "stock":
        _play_stock(board, new_stock)
    else:
        raise ValueError(f"{move!r} can't be played in the phase draw")


def _play_stock(board: Board, new_stock: NewStock) -> None:
    """Draw from the stock; with buying the others are then asked whether they want the top of the pozzo."""
    try:
        card = _draw_from_stock(board, new_stock)
    except HandAbandoned:
        end_hand(board, None, "none")
        return
    board.hands[board.turn].append(card)
    board.phase = "play"
    if board.options.buying:
        board.mover = board.turn
        _ask_next_buyer(board, board.seats_after(board.turn))


def _draw_from_stock(board: Board, new_stock: NewStock) -> int:
    """The next card of the stock, which is renewed at this moment if it is empty."""
    if not board.stock:
        _renew_stock(board, new_stock)
    elif new_stock is not None:
        raise ValueError("the stock is not renewed by this move")
    return board.stock.pop()


def _renew_stock(board: Board, new_stock: NewStock) -> None:
    """The pozzo without its top card, shuffled, becomes the stock; or the whole pozzo is turned over."""
    rules, pozzo = board.options, board.pozzo
    if len(pozzo) < 2:
        raise ValueError("nothing to make a stock of")
    if rules.dead_hand_reshuffles is not None:
        renewals = board.tally("reshuffles") + 1
        if renewals >= rules.dead_hand_reshuffles:
            raise HandAbandoned
        board.tallies["reshuffles"] = renewals
    if rules.stock_end == "turn_over":
        board.stock, board.pozzo = pozzo[:0:-1], pozzo[:1]
        return
    if new_stock is None:
        raise ValueError("the order of the new stock is needed")
    order = codes(new_stock if isinstance(new_stock, str) else " ".join(new_stock))
    if Counter(order) != Counter(pozzo[:-1]):
        raise ValueError(f"the new stock is not the pozzo {names(pozzo)} without its top card")
    board.stock, board.pozzo = order, pozzo[-1:]


# --- playing -----------------------------------------------------------------------------------------------------


def _legal_play(board: Board) -> list[str]:
    return Finisher(board.law).legal(board.take_turn())


def _play_play(board: Board, move: str, new_stock: NewStock) -> None:
    if move.startswith("discard "):
        _play_discard(board, move.removeprefix("discard "))
    else:
        _play_to_table(board, move)


def _play_discard(board: Board, card: str) -> None:
    """The discard ends the turn, and the hand if it was the last card."""
    turn = board.take_turn()
    [number] = codes(card)
    if not turn.holds(number):
        raise ValueError(f"{card} is not in the hand")
    board.hands[board.turn].remove(number)
    board.pozzo.append(number)
    board.turns_played += 1
    if board.hands[board.turn]:
        _next_turn(board)
    else:
        end_hand(board, board.turn, closing_kind(turn))


def _next_turn(board: Board) -> None:
    """The next seat's turn begins, unless the hand is abandoned: too many laps, or nothing left to draw."""
    board.new_turn()
    if board.turns_played >= board.options.max_laps * len(board.seats):
        end_hand(board, None, "none")
        return
    board.turn = board.seats_after(board.turn)[0]
    board.phase = "draw"
    if not _legal_draw(board):
        end_hand(board, None, "none")


def _play_to_table(board: Board, move: str) -> None:
    """A meld, an attach or a swap; where the discard is optional it may take the last card and close."""
    after = _find(move, table_moves(board.law, board.take_turn()))
    board.put_turn(after)
    if after.size:
        return
    if not closes_at_once(board.law, after):
        raise ValueError(f"{move!r} takes the last card")
    board.turns_played += 1
    end_hand(board, board.turn, closing_kind(after))


def _find(text: str, moves: Iterable[tuple[Move, Turn]]) -> Turn:
    for move, after in moves:
        if move_text(move) == text:
            return after
    raise ValueError(f"{text!r} can't be played")


# --- buying ------------------------------------------------------------------------------------------------------


def _legal_buy(board: Board) -> list[str]:
    """Who is asked may buy or pass; who has bought makes its one meld or attach."""
    if board.this_turn["pozzo_card"] is None:
        return ["buy", "pass"]
    return [move_text(move) for move, _ in _uses(board, board.take_turn())]


def _uses(board: Board, turn: Turn) -> list[tuple[Move, Turn]]:
    """The melds and attaches that put down the card bought and leave the buyer a card: nobody closes by buying."""
    return [
        (move, after)
        for move, after in table_moves(board.law, turn)
        if isinstance(move, Lay | Attach) and after.owed == NONE and after.size >= 1
    ]


def _ask_next_buyer(board: Board, seats: list[int]) -> None:
    """The first of these seats that can buy is asked; if none can, the mover goes on."""
    mover = board.mover
    assert mover is not None
    board.new_turn()
    for seat in seats:
        board.turn = seat
        if _can_buy(board):
            board.phase = "buy"
            return
    board.turn, board.mover, board.phase = mover, None, "play"


def _can_buy(board: Board) -> bool:
    """Only who has opened and can use the card at once; there must be a penalty card left to draw."""
    if not board.opened[board.turn] or not board.pozzo or len(board.stock) + len(board.pozzo) < 3:
        return False
    return bool(_uses(board, _with_card_bought(board)))


def _with_card_bought(board: Board) -> Turn:
    return _with_card(board.take_turn()._replace(owed=board.pozzo[-1]), board.pozzo[-1])


def _play_buy(board: Board, move: str, new_stock: NewStock) -> None:
    if board.this_turn["pozzo_card"] is not None:
        _play_purchase(board, move, new_stock)
    elif move == "buy":
        board.put_turn(_with_card_bought(board))
        board.pozzo.pop()
    elif move == "pass":
        others = board.seats_after(board.turn)
        _ask_next_buyer(board, others[: others.index(board.mover)] if board.mover in others else [])
    else:
        raise ValueError(f"{move!r} can't be played in the phase buy")


def _play_purchase(board: Board, move: str, new_stock: NewStock) -> None:
    """The one move of the buyer, its penalty card, and back to the seat whose turn it is."""
    board.put_turn(_find(move, _uses(board, board.take_turn())))
    try:
        board.hands[board.turn].append(_draw_from_stock(board, new_stock))
    except HandAbandoned:
        end_hand(board, None, "none")
        return
    mover = board.mover
    assert mover is not None
    board.new_turn()
    board.turn, board.mover, board.phase = mover, None, "play"


_LEGAL: dict[str, Callable[[Board], list[str]]] = {"draw": _legal_draw, "play": _legal_play, "buy": _legal_buy}
_PLAY = {"draw": _play_draw, "play": _play_play, "buy": _play_buy}
