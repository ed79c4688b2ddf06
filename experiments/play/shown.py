"""What the page of a seat is told.

It is made of the seat's view and of moves that all have seen, so nothing hidden is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scala40_env.rules.view import View

if TYPE_CHECKING:
    from experiments.play.players import Hint
    from experiments.play.table import HandResult, Table
    from experiments.play.words import Words

__all__ = ["LOG_LENGTH", "ending", "said_hint", "standing", "state_of"]

LOG_LENGTH = 60
"""Moves that a page lists: several laps."""


def state_of(table: Table, seat: int, words: Words) -> dict[str, Any]:
    """The state of a table as the page of a seat shows it."""
    view = table.game.view(seat)
    return {
        "type": "state",
        "version": table.version,
        "hand_number": len(table.hands),
        "lap": view.turns_played // max(len(view.hand_sizes) - len(view.out), 1) + 1,
        "seat": seat,
        "turn": None if table.on_move is None else view.turn,
        "phase": view.phase,
        "seats": _seats(table, view),
        "hand": list(view.hand),
        "fresh": list(table.fresh.get(seat, ())),
        "melds": _melds(view),
        "pozzo": {"top": view.pozzo[-1] if view.pozzo else None, "size": len(view.pozzo)},
        "stock": view.stock_size,
        "draws": _draws(view),
        "can_undo": table.can_undo(seat),
        "standing": standing(table, view, words),
        "log": [list(move) for move in table.log[-LOG_LENGTH:]],
        "sheet": [_line(result) for result in table.sheet],
        "ending": ending(table, words),
        "over": table.over,
    }


def _seats(table: Table, view: View) -> list[dict[str, Any]]:
    return [
        {
            "name": place.name,
            "size": view.hand_sizes[seat],
            "known": [] if seat == view.seat else list(view.known[seat]),
            "opened": view.opened[seat],
            "score": view.scores[seat],
            "out": seat in view.out,
            "dealer": seat == view.dealer,
        }
        for seat, place in enumerate(table.setup.places)
    ]


def _melds(view: View) -> list[dict[str, Any]]:
    new = view.this_turn["new_melds"]
    return [{"cards": meld.split(), "new": number in new} for number, meld in enumerate(view.table, 1)]


def _draws(view: View) -> list[str]:
    """The moves that take no card of the hand: to draw, to buy, to decline."""
    return [move for move in view.legal_moves() if move in ("stock", "pozzo", "buy", "pass")]


def _line(result: HandResult) -> dict[str, Any]:
    return {**result._asdict(), "points": list(result.points), "scores": list(result.scores)}


# ---------------------------------------------------------------------------------------------------------------------
# Sentences


def standing(table: Table, view: View, words: Words) -> list[str]:
    """What has to be done now, and what is owed in this turn; nothing between hands."""
    if table.on_move is None:
        return []
    if table.on_move != view.seat:
        return [words.say(f"on_move_{view.phase}", name=table.setup.names[view.turn])]
    asked = "play" if view.phase == "buy" and not _draws(view) else view.phase  # who has bought has to lay that card
    return [words.say(f"your_{asked}"), *words.owed(view.this_turn, table.setup.rules)]


def ending(table: Table, words: Words) -> list[str]:
    """How the hand ended, and who has won the match; nothing while it runs."""
    outcome = table.game.outcome
    return [] if outcome is None else words.ending(outcome, table.setup.names)


def said_hint(hint: Hint, words: Words) -> str:
    """A hint in words."""
    said = words.say("hint", agent=hint.agent, moves=words.moves(hint.moves))
    if hint.points is None or hint.error is None:
        return said
    return f"{said} {words.say('estimate', points=f'{hint.points:+.1f}', error=f'{hint.error:.1f}')}"
