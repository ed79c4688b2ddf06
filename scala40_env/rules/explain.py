"""Why a move is not legal, in words. What is legal the kernels alone decide; here only the reason is looked for.

Each check below knows one rule of rules.md and answers with a sentence if the move breaks it. They are asked in order,
and what none of them explains is left to *No dead ends*: after the move the turn could not be ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from scala40_env.kernels.state import BUY, DRAW, HAND_OVER, MATCH_OVER, NONE, PLAY
from scala40_env.rules.cards import JOKER, format_card
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import IllegalMove
from scala40_env.rules.melds import Meld
from scala40_env.rules.moves import (
    BUY as BUY_ACTION,
)
from scala40_env.rules.moves import (
    DISCARD,
    JOKER_LOW,
    MELD_ACTIONS,
    PASS,
    POZZO,
    SLOTS,
    STOCK,
    SWAP,
    expand_meld,
    parse_move,
    slot_of,
)
from scala40_env.rules.reading import (
    Games,
    hand_of,
    legal_ids,
    melds_of,
    number,
    numbers_of_melds,
    pozzo_of,
    rules_of,
    texts_of,
)

MOST_SHOWN = 12
"""How many legal moves a message names."""


@dataclass(frozen=True)
class _Case:
    """A move that was refused, and where it was tried."""

    action: int
    games: Games
    rules: Rules
    melds: list[Meld]
    hand: Counter[int]

    @property
    def phase(self) -> int:
        return number(self.games, "phase")

    @property
    def seat(self) -> int:
        return number(self.games, "turn")

    @property
    def opened(self) -> bool:
        return bool(self.games["opened"][0, self.seat])

    @property
    def size(self) -> int:
        """Cards in the hand."""
        return self.hand.total()

    @property
    def laid(self) -> Meld | None:
        """The meld that the move lays."""
        return MELD_ACTIONS.get(self.action)

    @property
    def discarded(self) -> int | None:
        """The card that the move discards."""
        return self.action - DISCARD if DISCARD <= self.action < SLOTS else None

    @property
    def target(self) -> tuple[int, Meld, int] | None:
        """Number and meld on the table that the move goes to, and what it does there (as `moves.slot_of`)."""
        on_meld = slot_of(self.action)
        if on_meld is None or on_meld[0] >= len(self.melds):
            return None
        return on_meld[0] + 1, self.melds[on_meld[0]], on_meld[1]

    @property
    def used(self) -> Counter[int]:
        """The cards that the move takes out of the hand."""
        if self.discarded is not None:
            return Counter([self.discarded])
        if self.laid:
            return Counter(JOKER if card.is_joker else card.card for card in self.laid.cards())
        return Counter(self._used_on_meld())

    def _used_on_meld(self) -> list[int]:
        if self.target is None:
            return []
        _, meld, what = self.target
        if what >= SWAP:
            cells = [cell for cell in meld.filled() if meld.has_joker_at(cell)]
            return [meld.card_at(cell) for cell in cells[what - SWAP : what - SWAP + 1]]
        if what >= JOKER_LOW:
            return [JOKER]
        cell = meld.open_ends()[what]
        return [] if cell is None else [meld.card_at(cell)]

    @property
    def uses_joker(self) -> bool:
        """Does a joker go to the table by this move?"""
        return self.discarded is None and self.used[JOKER] > 0

    @property
    def to_table(self) -> bool:
        """Does the move lay, attach or swap?"""
        return self.laid is not None or slot_of(self.action) is not None

    @property
    def is_swap(self) -> bool:
        on_meld = slot_of(self.action)
        return on_meld is not None and on_meld[1] >= SWAP

    @property
    def may_close(self) -> bool:
        """May anybody close now (not on the first lap)?"""
        return self.rules.first_lap_closing or number(self.games, "turns_played") >= number(self.games, "seats_in")

    @property
    def new_melds(self) -> list[int]:
        return numbers_of_melds(self.games, "new_melds")


def why_illegal(games: Games, action: int | str, rules: Rules | None = None) -> str:
    """Why a move, by its id or in notation, is not legal in a record of shape (1,), and what would be.

    Raises `BadNotation` for text that is no move.
    """
    rules = rules or rules_of(games)
    legal = legal_ids(games)
    return f"{_reason(games, action, rules, legal)}; {_what_is_legal(games, legal)}"


def _reason(games: Games, action: int | str, rules: Rules, legal: list[int]) -> str:
    phase = number(games, "phase")
    if phase in (HAND_OVER, MATCH_OVER):
        return "the match is over" if phase == MATCH_OVER else "the hand is over; next_hand() deals the next one"
    try:
        number_of_action = _parsed(games, action, rules) if isinstance(action, str) else action
        texts_of(games, [number_of_action])
    except IllegalMove as error:
        return error.reason
    if number_of_action in legal:
        return "nothing forbids this move"
    case = _Case(number_of_action, games, rules, melds_of(games), Counter(hand_of(games, number(games, "turn"))))
    return next((reason for check in _CHECKS if (reason := check(case))), _DEAD_END)


def _parsed(games: Games, text: str, rules: Rules) -> int:
    """The action of a move; of a longer meld its first small one."""
    if text.lower().startswith("meld ") and len(text.split()) > 4:
        text = expand_meld(text, rules, number(games, "meld_n") + 1)[0]
    return parse_move(text, melds_of(games))


_DEAD_END = "after it this turn could not be ended legally"


def _what_is_legal(games: Games, legal: list[int]) -> str:
    if not legal:
        return "no move is legal"
    texts = sorted(texts_of(games, legal))
    more = f" and {len(texts) - MOST_SHOWN} more" if len(texts) > MOST_SHOWN else ""
    return f"legal: {', '.join(texts[:MOST_SHOWN])}{more}"


def _cards(cards: Iterable[int]) -> str:
    return " ".join(format_card(card) for card in sorted(cards))


# ---------------------------------------------------------------------------------------------------------------------
# The checks, in the order asked


def _wrong_phase(case: _Case) -> str | None:
    draws = case.action in (STOCK, POZZO)
    buys = case.action in (BUY_ACTION, PASS)
    if case.phase == DRAW and not draws:
        return f"seat {case.seat} has to draw first, from the stock or the pozzo"
    if case.phase == PLAY and draws:
        return f"seat {case.seat} has drawn already in this turn"
    if case.phase == PLAY and buys:
        return "nobody is asked to buy now"
    return _wrong_in_buying(case, buys) if case.phase == BUY else None


def _wrong_in_buying(case: _Case, buys: bool) -> str | None:
    bought = number(case.games, "owed_card")
    if bought == NONE:
        return f"seat {case.seat} is asked whether it buys the top of the pozzo: buy or pass"
    if buys:
        return f"seat {case.seat} has bought {format_card(bought)} already and has to lay or attach it"
    if case.discarded is not None or case.is_swap or case.used[bought] == 0:
        return f"the card bought, {format_card(bought)}, has to go down at once, by one meld or one attach"
    return None


def _cannot_draw(case: _Case) -> str | None:
    if case.action == STOCK:
        return "the stock is empty, and the pozzo has no cards to make a new one of"
    if case.action != POZZO:
        return None
    pozzo = pozzo_of(case.games)
    if not pozzo:
        return "the pozzo is empty"
    if not case.opened and not case.rules.opening_from_pozzo:
        return f"seat {case.seat} has not opened, and only who has opened takes from the pozzo"
    card = format_card(pozzo[-1])
    if not case.opened:
        return f"with {card} in new melds this turn could not open, or could not be ended"
    return f"{card} could not be used in this turn and the turn still be ended"


def _not_held(case: _Case) -> str | None:
    lacking = case.used - case.hand
    if not lacking:
        return None
    return f"seat {case.seat} does not hold {_cards(lacking.elements())}"


def _too_many_jokers(case: _Case) -> str | None:
    most = case.rules.max_jokers_per_meld
    if case.laid:
        jokers = case.laid.jokers.bit_count()
        if jokers > most:
            return f"a meld holds at most {most} joker(s) (max_jokers_per_meld)"
        if case.laid.size - jokers < case.rules.min_naturals_per_meld:
            needed = case.rules.min_naturals_per_meld
            return f"three cards first laid hold at least {needed} natural ones (min_naturals_per_meld)"
    if case.target and case.uses_joker and case.target[1].jokers.bit_count() >= most:
        return f"meld {case.target[0]} ({case.target[1]}) holds {most} joker(s) already (max_jokers_per_meld)"
    return None


def _run_too_long(case: _Case) -> str | None:
    if case.target is None or case.is_swap:
        return None
    at, meld, _ = case.target
    if meld.is_run and meld.size >= case.rules.max_run_length:
        return f"meld {at} ({meld}) has the most cards that a run may have (max_run_length)"
    return None


def _not_opened(case: _Case) -> str | None:
    if case.opened or case.target is None:
        return None
    if case.is_swap:
        return f"seat {case.seat} has not opened, and only who has opened takes jokers from the table"
    if case.target[0] not in case.new_melds:
        return f"seat {case.seat} has not opened; until then it may only lay new melds and make them longer"
    return None


def _joker_before_threshold(case: _Case) -> str | None:
    if case.opened or case.rules.opening_jokers != "after_threshold" or not case.uses_joker:
        return None
    laid = number(case.games, "laid_points")
    return (
        f"no joker goes down before melds without one reach {case.rules.opening_points} points; "
        f"laid so far: {laid} (opening_jokers)"
    )


def _last_cards(case: _Case) -> str | None:
    """How many cards a move to the table has to leave in the hand."""
    if not case.to_table or case.is_swap:
        return None
    left = case.size - case.used.total()
    if not case.may_close and left < 2:
        return f"nobody closes on the first lap: two cards have to be left before the discard, not {left}"
    if left < 1 and (case.rules.closing_discard == "required" or case.phase == BUY):
        return "the last card of a hand is always discarded: a card has to be left"
    return None


def _recovered_joker_stays_away(case: _Case) -> str | None:
    owed = number(case.games, "recovered_jokers")
    if not case.uses_joker or not owed or case.target is None or case.hand[JOKER] > owed:
        return None
    at, rule = case.target[0], case.rules.recovered_joker
    if rule == "new_meld" and at not in case.new_melds:
        return "a joker taken from the table goes into a new meld only (recovered_joker)"
    if rule == "new_or_other_meld" and numbers_of_melds(case.games, "swapped_melds") == [at]:
        return f"a joker taken from meld {at} can't go back to it: it goes to a new or another meld (recovered_joker)"
    return None


def _owes_pozzo_card(case: _Case) -> str | None:
    owed = number(case.games, "owed_card")
    if case.discarded is None or owed == NONE:
        return None
    return f"{format_card(owed)}, taken from the pozzo, has to go to the table before the discard"


def _owes_joker(case: _Case) -> str | None:
    owed = number(case.games, "recovered_jokers")
    if case.discarded is None or not owed:
        return None
    return f"{owed} joker(s) taken from the table have to be used before the discard"


def _opening_incomplete(case: _Case) -> str | None:
    if case.opened or not case.new_melds or case.discarded is None or case.size == 1:
        return None
    laid, needed = number(case.games, "laid_points"), case.rules.opening_points
    return f"the melds of this turn count {laid} points, and an opening needs {needed}"


def _barred(case: _Case) -> str | None:
    barred = number(case.games, "barred_card")
    if case.discarded is None or case.discarded != barred or case.hand[barred] > 1:
        return None
    return f"{format_card(barred)} was taken from the pozzo in this turn and can't be thrown back"


def _closing_discard(case: _Case) -> str | None:
    if case.discarded is None or case.size > 1:
        return None
    if not case.opened and case.rules.in_hand_needs_opening_points:
        return "closing in hand needs the points of an opening too (in_hand_needs_opening_points)"
    if case.discarded == JOKER and not case.rules.closing_joker_discard:
        return "the discard that closes can't be a joker (closing_joker_discard)"
    return None


def _joker_discard(case: _Case) -> str | None:
    if case.discarded != JOKER or case.opened or case.rules.unopened_joker_discard:
        return None
    return f"seat {case.seat} has not opened and can't discard a joker"


def _attaching_discard(case: _Case) -> str | None:
    if case.discarded is None or not _ban_binds(case):
        return None
    for at, meld in enumerate(case.melds, 1):
        if _attaches(case.discarded, meld, case.rules):
            card = format_card(case.discarded)
            return f"{card} attaches to meld {at} ({meld}), and such a card can't be discarded (attaching_discard)"
    return None


def _ban_binds(case: _Case) -> bool:
    rule = case.rules.attaching_discard
    if rule == "federal":
        rule = "forbidden" if number(case.games, "seats_in") >= 3 else "unopened_forbidden"
    return rule == "forbidden" or (rule == "unopened_forbidden" and not case.opened)


def _attaches(card: int, meld: Meld, rules: Rules) -> bool:
    """Does a card attach to a meld, or could it take a joker's place there?"""
    cells = {cell for cell in meld.open_ends() if cell is not None}
    if meld.is_run and meld.size >= rules.max_run_length:
        cells = set()
    if card == JOKER:
        return bool(cells) and meld.jokers.bit_count() < rules.max_jokers_per_meld
    if rules.replacing_attaches:
        cells |= {cell for cell in meld.filled() if meld.has_joker_at(cell)}
    return any(meld.card_at(cell) == card and not meld.would_be_second_ace(cell) for cell in cells)


def _no_opening(case: _Case) -> str | None:
    """Not opened, and the move does not lead to an opening."""
    if case.opened or not case.to_table:
        return None
    laid, needed = number(case.games, "laid_points"), case.rules.opening_points
    below = case.may_close and not case.rules.in_hand_needs_opening_points
    in_hand = " or the whole hand" if below else ""
    return (
        f"after it this turn's melds could not reach the {needed} points of an opening{in_hand}, with a card left to "
        f"discard; laid so far: {laid}"
    )


def _debt_unpayable(case: _Case) -> str | None:
    """The pozzo card or a recovered joker could not be used after the move."""
    if not case.to_table:
        return None
    if case.is_swap and case.rules.recovered_joker != "keep":
        return "the joker taken has to be used again in this turn, and after it the turn could not be ended so"
    if (owed := number(case.games, "owed_card")) != NONE:
        return f"after it {format_card(owed)}, taken from the pozzo, could not be used and the turn be ended"
    if number(case.games, "recovered_jokers"):
        return "after it the joker taken from the table could not be used and the turn be ended"
    return None


_CHECKS: tuple[Callable[[_Case], str | None], ...] = (
    _wrong_phase,
    _cannot_draw,
    _not_held,
    _too_many_jokers,
    _run_too_long,
    _not_opened,
    _joker_before_threshold,
    _last_cards,
    _recovered_joker_stays_away,
    _owes_pozzo_card,
    _owes_joker,
    _closing_discard,
    _opening_incomplete,
    _barred,
    _joker_discard,
    _attaching_discard,
    _no_opening,
    _debt_unpayable,
)
