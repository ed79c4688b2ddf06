"""The table as plain text, for people at a terminal: of a whole game, or of what one seat sees."""

from __future__ import annotations

from scala40_env.kernels.state import CLOSINGS, HAND_OVER, MATCH_OVER, NONE, PHASES
from scala40_env.rules.cards import format_card, format_cards
from scala40_env.rules.config import Rules
from scala40_env.rules.melds import format_meld
from scala40_env.rules.reading import (
    Games,
    discarders_of,
    hand_of,
    melds_of,
    number,
    numbers,
    numbers_of_melds,
    pozzo_of,
)


def table_text(games: Games, rules: Rules, seat: int | None = None) -> str:
    """Melds with their numbers, pozzo, stock size, hands, scores, and what the seat on move has to do.

    `seat`: whose view it is; the other hands are then given as their sizes and the cards that everybody has seen.
    """
    above, below = title_line(games, rules), standing_lines(games, rules)
    lines = [above, *_melds(games), _piles(games), *_hands(games, rules, seat), *below]
    return "\n".join(lines)


def title_line(games: Games, rules: Rules) -> str:
    """The first line: the rules, and how far the match is."""
    hand, played = number(games, "hand_no") + 1, number(games, "turns_played")
    lap = played // max(number(games, "seats_in"), 1) + 1
    return f"{rules.preset}, {rules.num_players} players: hand {hand}, turn {played + 1} (lap {lap})"


def _melds(games: Games) -> list[str]:
    melds = melds_of(games)
    if not melds:
        return ["table: no melds"]
    return ["table:", *(f"  {at}  {format_meld(meld)}" for at, meld in enumerate(melds, 1))]


def _piles(games: Games) -> str:
    pozzo, stock = pozzo_of(games), number(games, "stock_n")
    if not pozzo:
        return f"pozzo: empty   stock: {stock} cards"
    by = discarders_of(games)[-1]
    whose = "" if by == NONE else f", by seat {by}"
    below = f" on top of {len(pozzo) - 1}" if len(pozzo) > 1 else ""
    return f"pozzo: {format_card(pozzo[-1])}{below}{whose}   stock: {stock} cards"


def _hands(games: Games, rules: Rules, viewer: int | None) -> list[str]:
    over = number(games, "phase") in (HAND_OVER, MATCH_OVER)
    on_move = NONE if over else number(games, "turn")
    return [_hand(games, seat, seat == on_move, viewer in (None, seat)) for seat in range(rules.num_players)]


def _hand(games: Games, seat: int, on_move: bool, is_open: bool) -> str:
    marker = ">" if on_move else " "
    score = int(games["scores"][0, seat])
    if games["out"][0, seat]:
        return f"{marker} seat {seat}  {score:4d} points  out of the match"
    opened = "opened    " if games["opened"][0, seat] else "not opened"
    return f"{marker} seat {seat}  {score:4d} points  {opened}  {_cards(games, seat, is_open)}"


def _cards(games: Games, seat: int, is_open: bool) -> str:
    """The cards of a hand that the reader may see, and how many others there are."""
    cards, size = hand_of(games, seat), int(games["hand_n"][0, seat])
    hidden = "" if is_open or size == len(cards) else f"?{size - len(cards)}"
    return " ".join(part for part in (format_cards(cards), hidden) if part) + f" ({size})"


def standing_lines(games: Games, rules: Rules) -> list[str]:
    """The last lines: who is on move and what was done in this turn, or how the hand ended."""
    phase = number(games, "phase")
    if phase in (HAND_OVER, MATCH_OVER):
        return [_ending(games), *([_champions(games, rules)] if phase == MATCH_OVER else [])]
    return [f"seat {number(games, 'turn')} is on move: {PHASES[phase]}", *_this_turn(games, rules)]


def _ending(games: Games) -> str:
    closing, winner = CLOSINGS[number(games, "closing")], number(games, "winner")
    points = " ".join(map(str, numbers(games, "hand_points")))
    how = "nobody closed, the hand was abandoned" if winner == NONE else f"seat {winner} closed ({closing})"
    return f"the hand is over: {how}; charged by seat: {points}"


def _champions(games: Games, rules: Rules) -> str:
    seats = [str(seat) for seat, flag in enumerate(numbers(games, "champion")) if flag]
    return f"the match is over: won by seat {' and '.join(seats)}"


def _this_turn(games: Games, rules: Rules) -> list[str]:
    done = []
    if points := number(games, "laid_points"):
        done.append(f"laid {points} points of an opening of {rules.opening_points}")
    if (owed := number(games, "owed_card")) != NONE:
        done.append(f"{format_card(owed)} from the pozzo has to go to the table")
    if (barred := number(games, "barred_card")) != NONE:
        done.append(f"{format_card(barred)} from the pozzo can't be discarded")
    if jokers := number(games, "recovered_jokers"):
        melds = ", ".join(map(str, numbers_of_melds(games, "swapped_melds")))
        done.append(f"{jokers} joker(s) taken from meld {melds} have to be used")
    return [f"this turn: {'; '.join(done)}"] if done else []
