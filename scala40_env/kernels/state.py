"""The game record: everything about one match, in one fixed-size NumPy structured dtype.

Cards are numbered 0..51 (suit * 13 + rank; suits s h d c, ranks ace to king) and 52 for a joker. A set of cards is one
64-bit word of four 16-bit *lanes*, a lane for each suit, with the bit of a card at ``suit * 16 + rank``; bit 13 of a
lane is the ace above the king, bits 14 and 15 stay empty, so that words are never negative and shifts along the ranks
do not spill into the next suit after masking. A hand is two such words: the cards held at least once (``one``) and
those held twice (``two``), and a number of jokers. Where one word has to hold a joker too, it is ``JOKER_BIT``.

The stock lies at the low end of ``pile`` (its last card is drawn next), the pozzo at the high end, growing downwards
(card k from the bottom at index 107 - k): together they never hold more than 108 cards.

A meld is a slot of ``meld_kind``, ``meld_key``, ``meld_cells``, ``meld_jokers``. Run: key is the suit, cells the
positions taken (bit 0 the ace below the 2 ... bit 13 the ace above the king). Set: key is the rank, cells the suits.
``meld_jokers`` are the cells held by jokers.
"""

from typing import Any

import numpy as np

from scala40_env.rules.cards import JOKER as JOKER
from scala40_env.rules.config import CHOICES, FIELDS

__all__ = ["GAME", "JOKER", "JOKER_BIT", "MAX_MELDS", "MAX_SEATS", "PACK", "RULE_NAMES"]

MAX_SEATS = 6
#: Cards in two packs with four jokers.
PACK = 108
#: 108 cards make at most 36 melds of three.
MAX_MELDS = 36
#: Stands for a joker in a set of cards: no card has it.
JOKER_BIT = 1 << 15

# Phases
DRAW, PLAY, BUY, HAND_OVER, MATCH_OVER = range(5)
PHASES = ("draw", "play", "buy", "hand_over", "match_over")
# How a hand ended
CLOSED_NONE, CLOSED_NORMAL, CLOSED_IN_HAND = range(3)
CLOSINGS = ("none", "normal", "in_hand")
# Kinds of meld
RUN, SET = 1, 2
#: No card, no seat.
NONE = -1

# Values of the options, as `Rules.encode` numbers them
TEAM_WORST = CHOICES["team_score"].index("worst")
UPCARD_KEEP = CHOICES["upcard_joker"].index("keep")
ACE_ONE = CHOICES["ace_in_hand"].index("one")
ACE_ONE_IF_ALONE = CHOICES["ace_in_hand"].index("one_if_alone")
AFTER_THRESHOLD = CHOICES["opening_jokers"].index("after_threshold")
POZZO_KEEP = CHOICES["pozzo_card"].index("keep")
RECOVERED_OTHER = CHOICES["recovered_joker"].index("new_or_other_meld")
RECOVERED_ANY = CHOICES["recovered_joker"].index("new_or_any_meld")
RECOVERED_NEW = CHOICES["recovered_joker"].index("new_meld")
RECOVERED_KEEP = CHOICES["recovered_joker"].index("keep")
FEDERAL = CHOICES["attaching_discard"].index("federal")
FORBIDDEN = CHOICES["attaching_discard"].index("forbidden")
UNOPENED_FORBIDDEN = CHOICES["attaching_discard"].index("unopened_forbidden")
TURN_OVER = CHOICES["stock_end"].index("turn_over")
VOID = CHOICES["abandoned_hand"].index("void")
CLOSING_OPTIONAL = CHOICES["closing_discard"].index("optional")
ELIMINATION = CHOICES["match"].index("elimination")
TOTAL = CHOICES["match"].index("total")
HANDS = CHOICES["match"].index("hands")
SINGLE_HAND = CHOICES["match"].index("single_hand")

#: Options whose numbers do not fit eight bits.
_WIDE = {
    "joker_in_hand",
    "opening_points",
    "dead_hand_reshuffles",
    "max_laps",
    "in_hand_multiplier",
    "in_hand_full_hand",
    "in_hand_bonus",
    "closing_bonus",
    "unopened_points",
    "limit",
    "num_hands",
    "reentries",
}
RULE_NAMES: tuple[str, ...] = tuple(FIELDS)


def _rule_fields(wide: bool) -> list[tuple[Any, ...]]:
    return [(name, "<i4" if wide else "i1") for name in RULE_NAMES if (name in _WIDE) == wide]


GAME = np.dtype(
    [
        # the generator: its key; streams are told apart by hand_no and shuffles (see `random`)
        ("seed", "<u8"),
        # cards of the seats, and of them those that everybody has seen go into the hand
        ("one", "<i8", (MAX_SEATS,)),
        ("two", "<i8", (MAX_SEATS,)),
        ("known_one", "<i8", (MAX_SEATS,)),
        ("known_two", "<i8", (MAX_SEATS,)),
        # the cards (with JOKER_BIT) that the seats threw on the pozzo and took from it in this hand
        ("threw", "<i8", (MAX_SEATS,)),
        ("took", "<i8", (MAX_SEATS,)),
        # bit sets over the melds: laid in this turn; those that jokers still owed came from
        ("new_melds", "<i8"),
        ("swapped_melds", "<i8"),
        *_rule_fields(wide=True),
        # the match
        ("scores", "<i4", (MAX_SEATS,)),
        ("hand_points", "<i4", (MAX_SEATS,)),
        ("hands_won", "<i4", (MAX_SEATS,)),
        ("unopened_hands", "<i4", (MAX_SEATS,)),
        ("reentries_used", "<i4", (MAX_SEATS,)),
        ("hand_no", "<i4"),
        ("turns_played", "<i4"),
        ("shuffles", "<i2"),
        # this turn
        ("laid_points", "<i2"),  # of a player who had not opened before this turn
        ("laid_natural_points", "<i2"),
        ("meld_cells", "<i2", (MAX_MELDS,)),
        ("meld_jokers", "<i2", (MAX_MELDS,)),
        *_rule_fields(wide=False),
        ("meld_kind", "i1", (MAX_MELDS,)),
        ("meld_key", "i1", (MAX_MELDS,)),
        ("meld_n", "i1"),
        ("jokers", "i1", (MAX_SEATS,)),
        ("known_jokers", "i1", (MAX_SEATS,)),
        ("hand_n", "i1", (MAX_SEATS,)),
        ("opened", "i1", (MAX_SEATS,)),
        ("out", "i1", (MAX_SEATS,)),
        ("champion", "i1", (MAX_SEATS,)),
        ("dealer", "i1"),
        ("turn", "i1"),  # the seat that decides
        ("mover", "i1"),  # the seat whose turn it is: another one only while buying
        ("phase", "i1"),
        ("seats_in", "i1"),  # seats that play this hand
        ("winner", "i1"),
        ("closing", "i1"),
        ("touched_table", "i1"),
        ("owed_card", "i1"),  # taken from the pozzo, still to be used
        ("barred_card", "i1"),
        ("recovered_jokers", "i1"),
        ("stock_n", "i1"),
        ("pozzo_n", "i1"),
        ("pile", "i1", (PACK,)),
        ("discarded_by", "i1", (PACK,)),  # of each pozzo card, at its index in `pile`; NONE for the upcard
        ("spare", "i1", (5,)),  # fills the record up: NumPy leaves garbage in padding, and equal games are equal bytes
    ],
    align=True,
)
