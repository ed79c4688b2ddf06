"""The table of actions: every move as one number, the same under all rules, and as text.

The numbers and what they mean::

      0          draw from the stock
      1          draw from the pozzo
      2 ..   54  discard: 52 cards in suit order s h d c, ace to king, then the joker
     55 ..  234  on each of 36 melds of the table (5 numbers a meld):
                   +0 attach at the low end; to a set, its missing suit     +1 attach at the high end
                   +2 the same as +0 with a joker                           +3 the same as +1 with a joker
                   +4 swap the lowest joker
    235 ..  426  lay a run: (4 suits, 12 lowest positions, 4), the last axis: no joker, or a joker in place 1 2 3
    427 ..  634  lay a set: (13 ranks, 4 triples of suits shd shc sdc hdc, 4), the last axis the same
    ----------------------------------------------------------------- the space of most rules ends here: 635
    635 ..  778  lay a run with two jokers: (4 suits, 12 lowest positions, 3), the last axis: place of the natural card
    779 ..  934  lay a set with two jokers: (13 ranks, 4 triples, 3), the last axis the same
    935 .. 1042  swap the second, third or fourth joker of each of 36 melds (3 numbers a meld)
   1043, 1044    buy the top of the pozzo; decline (pass)

The blocks are dense arrays over suits and ranks, so that a policy can compute their logits by convolution. Melds on the
table are numbered from 1 in text and from 0 (slots) in actions. What a number means on the table depends on the melds
that lie there, so `format_action` and `parse_move` take them; the rest is fixed, and made once when this is imported.
Whether a move is legal is not decided here. Only what no rule set could ever allow on that table is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from scala40_env.rules.cards import (
    JOKER,
    NUM_CARD_TYPES,
    NUM_RANKS,
    NUM_SUITS,
    TableCard,
    format_card,
    parse_card,
    parse_table_card,
    words_of,
)
from scala40_env.rules.config import Rules
from scala40_env.rules.errors import BadNotation, IllegalMove, shown, suggestion
from scala40_env.rules.melds import ACE_HIGH, ACE_LOW, MIN_SIZE, Meld, can_lay, format_meld, parse_meld, read_meld

MAX_MELDS = 36
"""Most melds that fit on the table: 108 cards in threes."""

ATTACH_LOW = 0
ATTACH_HIGH = 1
JOKER_LOW = 2
JOKER_HIGH = 3
SWAP = 4
SLOT_ACTIONS = 5
"""Offsets within the numbers of one meld, and how many there are. SWAP + n (n = 1 to 3) is swapping joker n + 1."""

LATER_SWAPS = 3
NUM_RUN_LOWS = 12
"""Positions of a run's lowest card when three are laid: ace to queen."""
NUM_TRIPLES = 4
TRIPLES = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3))
"""Suits of the sets of three: shd, shc, sdc, hdc."""
ONE_JOKER_FORMS = 4
TWO_JOKER_FORMS = 3

STOCK = 0
POZZO = 1
DISCARD = 2
SLOTS = DISCARD + NUM_CARD_TYPES
RUNS = SLOTS + MAX_MELDS * SLOT_ACTIONS
SETS = RUNS + NUM_SUITS * NUM_RUN_LOWS * ONE_JOKER_FORMS
NUM_ACTIONS = SETS + NUM_RANKS * NUM_TRIPLES * ONE_JOKER_FORMS
TWO_JOKER_RUNS = NUM_ACTIONS
TWO_JOKER_SETS = TWO_JOKER_RUNS + NUM_SUITS * NUM_RUN_LOWS * TWO_JOKER_FORMS
SWAPS = TWO_JOKER_SETS + NUM_RANKS * NUM_TRIPLES * TWO_JOKER_FORMS
BUY = SWAPS + MAX_MELDS * LATER_SWAPS
PASS = BUY + 1
NUM_ACTIONS_EXTENDED = PASS + 1

_JOKERS = (0b000, 0b001, 0b010, 0b100)
"""Masks over the three places for the last axis of RUNS and SETS."""
_TWO_JOKERS = (0b110, 0b101, 0b011)
"""The same for TWO_JOKER_RUNS and TWO_JOKER_SETS: all but the natural card."""


class ActionBlock(NamedTuple):
    """Some consecutive actions: a row of the table that ``scala40 actions`` prints."""

    first: int
    last: int
    meaning: str
    notation: str


BLOCKS = (
    ActionBlock(STOCK, STOCK, "draw from the stock", "stock"),
    ActionBlock(POZZO, POZZO, "draw from the pozzo", "pozzo"),
    ActionBlock(DISCARD, SLOTS - 1, "discard a card: 52 in suit order s h d c, ace to king; the joker", "discard Kd"),
    ActionBlock(
        SLOTS,
        RUNS - 1,
        "36 melds x 5: attach at the low end (a set: its missing suit), at the high end, the same two with a joker, "
        "swap the lowest joker",
        "attach 8s 2 high; attach *4s 2 low; attach 7c 3; swap 6s 2",
    ),
    ActionBlock(
        RUNS, SETS - 1, "lay a run of three: 4 suits x 12 lowest ranks x no joker or its place", "meld 5s *6s 7s"
    ),
    ActionBlock(
        SETS, NUM_ACTIONS - 1, "lay a set of three: 13 ranks x 4 triples x no joker or its place", "meld 7s 7h *7d"
    ),
    ActionBlock(
        TWO_JOKER_RUNS,
        TWO_JOKER_SETS - 1,
        "lay a run with two jokers: 4 suits x 12 lowest ranks x place of the natural card",
        "meld *5s *6s 7s",
    ),
    ActionBlock(
        TWO_JOKER_SETS,
        SWAPS - 1,
        "lay a set with two jokers: 13 ranks x 4 triples x place of the natural card",
        "meld 7s *7h *7d",
    ),
    ActionBlock(SWAPS, BUY - 1, "36 melds x 3: swap the second, third, fourth joker", "swap 8s 2; swap As 1 high"),
    ActionBlock(BUY, BUY, "buy the top of the pozzo, out of turn", "buy"),
    ActionBlock(PASS, PASS, "decline to buy", "pass"),
)
"""All actions in order, without a gap."""


def num_actions(rules: Rules) -> int:
    """The size of the action space: `NUM_ACTIONS`, or `NUM_ACTIONS_EXTENDED` for rules that need the last block."""
    return NUM_ACTIONS_EXTENDED if rules.max_jokers_per_meld >= 2 or rules.buying else NUM_ACTIONS


def slot_action(slot: int, what: int) -> int:
    """The action on meld `slot` (0 to 35): `what` is ATTACH_LOW to SWAP, or SWAP + 1 to 3 for later jokers."""
    if what <= SWAP:
        return SLOTS + slot * SLOT_ACTIONS + what
    return SWAPS + slot * LATER_SWAPS + what - SWAP - 1


def slot_of(action: int) -> tuple[int, int] | None:
    """The inverse of `slot_action`: ``(slot, what)``, or None for an action that is not on a meld."""
    if SLOTS <= action < RUNS:
        return divmod(action - SLOTS, SLOT_ACTIONS)
    if SWAPS <= action < BUY:
        slot, later = divmod(action - SWAPS, LATER_SWAPS)
        return slot, SWAP + 1 + later
    return None


def _run_of_three(suit: int, low: int, jokers: int) -> Meld:
    return Meld("run", suit, 0b111 << low, jokers << low)


def _set_of_three(rank: int, triple: int, jokers: int) -> Meld:
    suits = TRIPLES[triple]
    mask = sum(1 << suit for place, suit in enumerate(suits) if jokers >> place & 1)
    return Meld("set", rank, sum(1 << suit for suit in suits), mask)


def _melds_with(forms: Sequence[int]) -> list[Meld]:
    """All runs and then all sets of three whose jokers are in the places of `forms`, in the order of the actions."""
    runs = [_run_of_three(s, low, form) for s in range(NUM_SUITS) for low in range(NUM_RUN_LOWS) for form in forms]
    sets = [_set_of_three(r, t, form) for r in range(NUM_RANKS) for t in range(NUM_TRIPLES) for form in forms]
    return runs + sets


MELD_ACTIONS: dict[int, Meld] = {
    **dict(enumerate(_melds_with(_JOKERS), RUNS)),
    **dict(enumerate(_melds_with(_TWO_JOKERS), TWO_JOKER_RUNS)),
}
"""The meld that each action of laying puts on the table."""

_TEXTS: dict[int, str] = {
    STOCK: "stock",
    POZZO: "pozzo",
    BUY: "buy",
    PASS: "pass",
    **{DISCARD + card: f"discard {format_card(card)}" for card in range(NUM_CARD_TYPES)},
    **{action: f"meld {format_meld(meld)}" for action, meld in MELD_ACTIONS.items()},
}
"""The text of every action that does not depend on the table."""

_ACTIONS: dict[str, int] = {text: action for action, text in _TEXTS.items()}
_MEANINGS = {block.first: block.meaning for block in BLOCKS if block.first == block.last}
_SLOT_MEANINGS = (
    "attach a card at the low end of meld {}, to a set its missing suit",
    "attach a card at the high end of meld {}",
    "attach a joker at the low end of meld {}, to a set as its missing suit",
    "attach a joker at the high end of meld {}",
    "swap the lowest joker of meld {}",
    "swap the second joker of meld {}",
    "swap the third joker of meld {}",
    "swap the fourth joker of meld {}",
)


def describe_action(action: int) -> str:
    """What an action means on any table, in plain words. Raises `BadNotation` for a number that is no action."""
    on_meld = slot_of(_known_action(action))
    if on_meld:
        slot, what = on_meld
        return _SLOT_MEANINGS[what].format(slot + 1)
    if action in MELD_ACTIONS:
        return f"lay the {MELD_ACTIONS[action].kind} {MELD_ACTIONS[action]}"
    if action == DISCARD + JOKER:
        return "discard a joker"
    return _MEANINGS.get(action) or _TEXTS[action]


def _known_action(action: int) -> int:
    if not 0 <= action < NUM_ACTIONS_EXTENDED:
        raise BadNotation(f"{shown(action)} is not an action; actions are 0 to {NUM_ACTIONS_EXTENDED - 1}")
    return action


def format_action(action: int, melds: Sequence[Meld]) -> str:
    """An action in notation, on a table with these melds.

    Raises `BadNotation` for a number that is no action, and `IllegalMove` for one that does not exist on this table:
    a meld that does not lie there, an end that takes no card, a joker that is not there.
    """
    on_meld = slot_of(_known_action(action))
    if on_meld is None:
        return _TEXTS[action]
    slot, what = on_meld
    move = describe_action(action)
    meld = _meld_at(move, slot + 1, melds)
    if what >= SWAP:
        return _format_swap(move, slot + 1, meld, what - SWAP)
    return _format_attach(move, slot + 1, meld, what)


def _format_attach(move: str, number: int, meld: Meld, what: int) -> str:
    """The text of attaching at an end; see `format_action`."""
    is_joker = what >= JOKER_LOW
    for end in _ends_of(meld):
        if end.high == what % 2 and _takes(meld, end.cell, is_joker):
            return f"attach {TableCard(meld.card_at(end.cell), is_joker)} {number}{end.suffix}"
    raise IllegalMove(move, _takes_text(number, meld))


def _format_swap(move: str, number: int, meld: Meld, nth: int) -> str:
    """The text of swapping the joker number `nth` from 0; see `format_action`."""
    jokers = _joker_cells(meld)
    if nth >= len(jokers):
        raise IllegalMove(move, _jokers_text(number, meld))
    cell = jokers[nth]
    _refuse_second_ace(move, number, meld, cell)
    both_aces = cell == ACE_HIGH and meld.is_run and meld.has_joker_at(ACE_LOW)
    return f"swap {format_card(meld.card_at(cell))} {number}{' high' if both_aces else ''}"


class _End(NamedTuple):
    """A place where a meld can grow: the cell, its word in a move, and whether the actions of the high end mean it."""

    cell: int
    word: str
    high: bool

    @property
    def suffix(self) -> str:
        return f" {self.word}" if self.word else ""


def _ends_of(meld: Meld) -> list[_End]:
    """Where a meld can grow: at the ends of a run, or by the missing suit of a set, which has the low end's actions."""
    low, high = meld.open_ends()
    ends = [] if low is None else [_End(low, "low" if meld.is_run else "", False)]
    if high is not None and meld.is_run:
        ends.append(_End(high, "high", True))
    return ends


def _takes(meld: Meld, cell: int, is_joker: bool) -> bool:
    """May a natural card, or a joker, fill that open end, as far as aces go?"""
    return is_joker or not meld.would_be_second_ace(cell)


def _joker_cells(meld: Meld) -> list[int]:
    """The cells of a meld where jokers lie, in ascending order."""
    return [cell for cell in meld.filled() if meld.has_joker_at(cell)]


def _refuse_second_ace(move: str, number: int, meld: Meld, cell: int) -> None:
    if meld.would_be_second_ace(cell):
        raise IllegalMove(move, f"meld {number} ({meld}) holds a natural ace already, and a run never holds two")


def _takes_text(number: int, meld: Meld) -> str:
    """What a meld takes, in words: ``"meld 2 (5s 6s 7s) takes 4s low or 8s high"``."""
    # Where the other end holds a natural ace only a joker fits: it is written with its star.
    takes = [
        f"{TableCard(meld.card_at(end.cell), meld.would_be_second_ace(end.cell))}{end.suffix}" for end in _ends_of(meld)
    ]
    return f"meld {number} ({meld}) takes {' or '.join(takes) or 'no more cards'}"


def _jokers_text(number: int, meld: Meld) -> str:
    """Which jokers a meld holds, in words: ``"the jokers of meld 2 (5s *6s 7s) stand for: 6s"``."""
    cells = _joker_cells(meld)
    if not cells:
        return f"meld {number} ({meld}) holds no joker"
    return f"the jokers of meld {number} ({meld}) stand for: {', '.join(format_card(meld.card_at(c)) for c in cells)}"


def _meld_at(move: str, number: int, melds: Sequence[Meld]) -> Meld:
    """The meld of a number from 1. Raises `IllegalMove` where there is none."""
    if 1 <= number <= len(melds):
        return melds[number - 1]
    there = f"the table has melds 1 to {len(melds)}" if melds else "the table has no meld yet"
    raise IllegalMove(move, f"there is no meld {number}; {there}")


def parse_move(text: str, melds: Sequence[Meld]) -> int:
    """The action of one small move in notation, on a table with these melds.

    Read generously: extra spaces, capitals, ``10h``, suit signs, a set in any order of suits, no end where only one end
    of a run takes the card. `meld` lays three cards; for longer ones see `expand_meld`.

    Raises `BadNotation` for text that is no move, and `IllegalMove` for a move that this table can't take whatever the
    rules: a meld that does not lie there, a card that does not fit at that end, a joker that is not there.

    >>> parse_move("discard 10h", []), parse_move("attach 8s 1 high", [read_meld("5s 6s 7s")])
    (24, 56)
    """
    words = words_of(text, "a move").split()
    parser = _PARSERS.get(words[0].lower()) if words else None
    if parser is None:
        verb = words[0].lower() if words else ""
        raise BadNotation(f"{shown(text)} is not a move; moves are {_FORMS}{suggestion(verb, tuple(_PARSERS))}")
    return parser(text, words, melds)


def _parse_bare(text: str, words: Sequence[str], melds: Sequence[Meld]) -> int:
    """Moves of one word: stock, pozzo, buy, pass."""
    if len(words) > 1:
        raise BadNotation(f"{shown(text)} is not a move; {words[0].lower()} stands alone")
    return _ACTIONS[words[0].lower()]


def _parse_discard(text: str, words: Sequence[str], melds: Sequence[Meld]) -> int:
    if len(words) != 2:
        raise BadNotation(f"{shown(text)} is not a move; discard names one card, as discard Kd or discard *")
    return DISCARD + parse_card(words[1])


def _parse_meld_move(text: str, words: Sequence[str], melds: Sequence[Meld]) -> int:
    if len(words) > 1 + MIN_SIZE:
        raise BadNotation(f"{shown(text)} is not one move: lay three of the cards, then attach the others one by one")
    return _ACTIONS[f"meld {read_meld(' '.join(words[1:]))}"]


def _parse_attach(text: str, words: Sequence[str], melds: Sequence[Meld]) -> int:
    card, number, word = _parse_on_meld(text, words)
    meld = _meld_at(text, number, melds)
    if word and not meld.is_run:
        raise BadNotation(f"{shown(text)}: meld {number} ({meld}) is a set and has no ends; leave out {word!r}")
    fits = [end for end in _ends_of(meld) if word in ("", end.word) and _fits(card, meld, end.cell)]
    if not fits:
        raise IllegalMove(text, _takes_text(number, meld))
    if len(fits) > 1:
        raise BadNotation(f"{shown(text)} fits at both ends of meld {number} ({meld}); add low or high")
    return slot_action(number - 1, (JOKER_LOW if card.is_joker else ATTACH_LOW) + fits[0].high)


def _fits(card: TableCard, meld: Meld, cell: int) -> bool:
    """Is that the card of an open end, and may it lie there?"""
    return meld.card_at(cell) == card.card and _takes(meld, cell, card.is_joker)


def _parse_swap(text: str, words: Sequence[str], melds: Sequence[Meld]) -> int:
    card, number, end = _parse_on_meld(text, words)
    if card.is_joker:
        raise BadNotation(f"{shown(text)}: swap names the natural card that you put down, without the *")
    meld = _meld_at(text, number, melds)
    if end and not (meld.is_run and card.card in (meld.card_at(ACE_LOW), meld.card_at(ACE_HIGH))):
        raise BadNotation(f"{shown(text)}: only an ace of a run can be in two places; leave out {end!r}")
    place = {"": None, "low": ACE_LOW, "high": ACE_HIGH}[end]
    jokers = _joker_cells(meld)
    fits = [at for at, cell in enumerate(jokers) if meld.card_at(cell) == card.card and place in (None, cell)]
    if not fits:
        raise IllegalMove(text, _jokers_text(number, meld))
    _refuse_second_ace(text, number, meld, jokers[fits[0]])
    return slot_action(number - 1, SWAP + fits[0])


_ENDS = ("low", "high")


def _parse_on_meld(text: str, words: Sequence[str]) -> tuple[TableCard, int, str]:
    """Card, meld number and end ("" if not said) of ``attach CARD NUMBER [low|high]``, or of ``swap``."""
    verb, rest = words[0].lower(), [word.lower() for word in words[2:]]
    ends = [word for word in rest if word in _ENDS]
    numbers = [word for word in rest if word not in _ENDS]
    if len(words) < 3 or len(ends) > 1 or len(numbers) != 1:
        form = f"{verb} CARD NUMBER, then low or high for an end of a run, as {verb} As 2 high"
        raise BadNotation(f"{shown(text)} is not a move; write {form}")
    return parse_table_card(words[1]), _parse_number(text, numbers[0]), "".join(ends)


def _parse_number(text: str, word: str) -> int:
    """A meld number from 1. Raises `BadNotation`."""
    number = int(word) if word.isascii() and word.isdigit() and len(word) <= 4 else 0  # Python refuses huge ones
    if number < 1:
        raise BadNotation(f"{shown(text)}: {shown(word)} is not the number of a meld; they are numbered from 1")
    return number


_PARSERS: dict[str, Callable[[str, Sequence[str], Sequence[Meld]], int]] = {
    "stock": _parse_bare,
    "pozzo": _parse_bare,
    "meld": _parse_meld_move,
    "attach": _parse_attach,
    "swap": _parse_swap,
    "discard": _parse_discard,
    "buy": _parse_bare,
    "pass": _parse_bare,
}
_FORMS = "stock, pozzo, meld 5s *6s 7s, attach 8s 2 high, swap 6s 2, discard Kd, buy, pass"


def split_turn(text: str) -> list[str]:
    """The moves of some turn text, which ``;`` separates; empty ones are dropped. Raises `BadNotation`.

    >>> split_turn("stock; meld 9c Tc Jc Qc Kc; discard 4d;")
    ['stock', 'meld 9c Tc Jc Qc Kc', 'discard 4d']
    """
    moves = (" ".join(part.split()) for part in words_of(text, "a turn").split(";"))
    return [move for move in moves if move]


def expand_meld(text: str, rules: Rules, next_number: int) -> list[str]:
    """The small moves that lay a meld of any length, which becomes number `next_number` on the table.

    Three cards come first, the lowest that may be laid by the rules for jokers and naturals; then the cards below
    them downwards, then those above them upwards. Of a set, the fourth card follows.

    Raises `BadNotation` for text that is no `meld` move, or a meld that breaks the rules of melds.

    >>> expand_meld("meld 9c Tc Jc Qc", Rules(), 3)
    ['meld 9c Tc Jc', 'attach Qc 3 high']
    """
    verb, _, cards = words_of(text, "a move").strip().partition(" ")
    if verb.lower() != "meld":
        raise BadNotation(f"{shown(text)} lays no meld; write meld and its cards, as meld 9c Tc Jc Qc")
    meld = parse_meld(cards, rules)
    base = _base_of(meld, rules)
    return [f"meld {base}", *_attaches_after(base, meld, next_number)]


def _base_of(meld: Meld, rules: Rules) -> Meld:
    """The lowest three cards of a meld that may be laid. Raises `BadNotation` where none may."""
    for three in _threes_of(meld):
        base = Meld(meld.kind, meld.key, three, meld.jokers & three)
        if can_lay(base, rules):
            return base
    raise BadNotation(
        f"{meld} can't be laid: no three of its cards have {rules.min_naturals_per_meld} natural ones or more "
        f"(min_naturals_per_meld)"
    )


def _threes_of(meld: Meld) -> list[int]:
    """The masks of three cells of a meld that make a meld, lowest first."""
    if meld.is_run:
        return [0b111 << low for low in range(meld.low, meld.high - 1)]
    threes = (sum(1 << suit for suit in triple) for triple in TRIPLES)
    return [three for three in threes if three & ~meld.cells == 0]


def _attaches_after(base: Meld, meld: Meld, number: int) -> list[str]:
    """The attaches that make `meld` of `base`: downwards from it, then upwards."""
    lower = [cell for cell in reversed(meld.filled()) if cell < base.low]
    rest = [cell for cell in meld.filled() if cell > base.low and not base.cells >> cell & 1]
    ends = (" low", " high") if meld.is_run else ("", "")
    return [
        f"attach {TableCard(meld.card_at(cell), meld.has_joker_at(cell))} {number}{end}"
        for cells, end in zip((lower, rest), ends, strict=True)
        for cell in cells
    ]
