"""The rules as data: `Rules`, its fields with their values, and the presets.

Every number of the game that a house rule may change is a field here, and nowhere else. The default of each field is
the federation's rule. Sources, as in each field's metadata: F the federation's regulation; 000 to 004 the rule
documents that the project was written from; D a decision of this project where they are silent.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

from scala40_env.rules.errors import BadRules, shown, suggestion

Value = int | str | bool | None

MAX_NUMBER = 1_000_000
"""Upper end of the ranges that the rules leave open ("1 and more"): sums of such numbers still fit 32 bits."""

HIGHEST_CARD = {"ten": 11, "ascending": 14}
"""What the ace is worth in a set, by `court_values`: no natural card is worth more."""

_JOKER_IN_HAND = {"ten": 25, "ascending": 14}
"""`joker_in_hand` where it is not given, by `court_values`."""


BETWEEN_HANDS = ("match", "limit", "num_hands", "reentries")
"""Fields that say how hands make up a match. Within a hand they change nothing."""


def _choice(*choices: str, source: str, text: str) -> Any:
    """A field that is one of some words; the first is the federation's."""
    return field(default=choices[0], metadata={"choices": choices, "none": False, "source": source, "help": text})


def _flag(default: bool, source: str, text: str) -> Any:
    """A field that is True or False."""
    metadata = {"choices": (default, not default), "none": False, "source": source, "help": text}
    return field(default=default, metadata=metadata)


def _number(default: int | None, low: int, high: int, source: str, text: str, *, none: bool = False) -> Any:
    """A field that is an integer from `low` to `high`, or also None."""
    return field(default=default, metadata={"range": (low, high), "none": none, "source": source, "help": text})


class SettingRow(NamedTuple):
    """One field of some rules beside the federation's value; a row of `Rules.describe`."""

    field: str
    value: Value
    federation: Value
    differs: bool
    help: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Rules:
    """The rules of a match: immutable, hashable, equal when all fields are (`preset` is only where they came from).

    Start from a preset and override what differs: ``Rules.casa(num_players=3, limit=201)``. A bare ``Rules()`` is the
    federation's. Every value is checked when the object is made; `BadRules` names the field, the value and what is
    allowed, or the two fields that exclude each other. Change a copy with `replace`, not with `dataclasses.replace`,
    which forgets `preset`.
    """

    num_players: int = _number(4, 2, 6, "F", "Seats at the table.")
    team_size: int = _number(1, 1, 3, "D", "Seats in each team, seated alternately; a hand ends when any one closes.")
    team_score: str = _choice(
        "sum", "worst", source="D", text="A team is charged the sum of its members' hands, or the worst one only."
    )
    num_jokers: int = _number(4, 0, 4, "F; 2 in 002", "Jokers in the pack.")
    hand_size: int = _number(13, 3, 13, "F; fewer D", "Cards dealt to each player.")
    upcard_joker: str = _choice(
        "redraw",
        "keep",
        source="002; keep 004",
        text="A joker turned up at the deal goes back into the stock and another card is turned, or it stays.",
    )
    first_player_free_upcard: bool = _flag(
        False, "004", "In the hand's first turn the upcard may be taken and kept, opened or not; it can't be discarded."
    )
    court_values: str = _choice(
        "ten",
        "ascending",
        source="F; ascending 000",
        text="Jack, queen, king and high ace count 10 10 10 11, or 11 12 13 14.",
    )
    ace_in_hand: str = _choice(
        "high",
        "one",
        "one_if_alone",
        source="F; one 002; one_if_alone 004",
        text="An ace left in hand costs as much as a high one, or 1, or 1 if it is the only card left.",
    )
    joker_in_hand: int = _number(
        None, 0, MAX_NUMBER, "F", "What a joker left in hand costs (if not given: 25, or 14 with ascending courts)."
    )
    max_jokers_per_meld: int = _number(1, 1, 4, "F; more 000", "Most jokers that one meld may hold.")
    min_naturals_per_meld: int = _number(2, 1, 2, "F; 1 D", "Fewest natural cards among the three first laid.")
    max_run_length: int = _number(14, 5, 14, "F; 5 in old books", "Most cards of a run.")
    opening_points: int = _number(40, 0, MAX_NUMBER, "F; 30 and 50 000", "Points a player needs to open.")
    opening_jokers: str = _choice(
        "count",
        "after_threshold",
        source="F; after_threshold 002 and an official variant",
        text="Jokers count towards the opening, or none goes down until joker-free melds reach the points.",
    )
    opening_from_pozzo: bool = _flag(
        False,
        "official variant; 000, 004",
        "Who has not opened may take the pozzo card if it opens in this turn with that card in a new meld.",
    )
    pozzo_card: str = _choice(
        "use",
        "keep",
        source="F; keep 002",
        text="A card taken from the pozzo goes to the table in the same turn, or may be kept but not thrown back.",
    )
    recovered_joker: str = _choice(
        "new_or_other_meld",
        "new_or_any_meld",
        "new_meld",
        "keep",
        source="F; new_or_any_meld 003; new_meld 002; keep 000 and 004",
        text="Where a joker taken from the table has to go in the same turn; keep: it may stay in hand.",
    )
    unopened_joker_discard: bool = _flag(False, "000; yes 002 to 004", "Who has not opened may discard a joker.")
    closing_joker_discard: bool = _flag(True, "D", "The discard that closes may be a joker.")
    attaching_discard: str = _choice(
        "federal",
        "forbidden",
        "unopened_forbidden",
        "allowed",
        source="F; unopened_forbidden 000; allowed 002 to 004",
        text="Who may not discard a card that attaches: all, who has not opened, nobody; federal: all, but with two "
        "players only who has not opened.",
    )
    replacing_attaches: bool = _flag(True, "D", "A card that could take a joker's place on the table attaches too.")
    stock_end: str = _choice(
        "reshuffle",
        "turn_over",
        source="F; turn_over 004",
        text="The new stock is the pozzo shuffled, without its top card, or turned over as it lies.",
    )
    dead_hand_reshuffles: int | None = _number(
        None, 1, MAX_NUMBER, "D", "Abandon the hand when the stock runs out for this many times.", none=True
    )
    max_laps: int = _number(100, 1, MAX_NUMBER, "D", "Abandon the hand after this many turns of every player.")
    abandoned_hand: str = _choice(
        "count", "void", source="D", text="An abandoned hand charges everyone its cards, or nobody anything."
    )
    closing_discard: str = _choice(
        "required", "optional", source="F; optional 000", text="Closing takes a last discard, or it may be left out."
    )
    first_lap_closing: bool = _flag(
        False, "F; yes 002, 003", "A player may close before everyone has had its first turn."
    )
    in_hand_needs_opening_points: bool = _flag(
        False, "F; yes D", "Closing in hand needs the points of an opening as well."
    )
    in_hand_multiplier: int = _number(
        1, 1, 2, "F; 2 in 003, 004 and an official variant", "Closing in hand multiplies what the others are charged."
    )
    in_hand_full_hand: int | None = _number(
        None,
        0,
        MAX_NUMBER,
        "official variant",
        "Flat charge, when another closes in hand, for who still holds all its cards.",
        none=True,
    )
    in_hand_bonus: int = _number(0, 0, MAX_NUMBER, "002", "Points taken off the total of who closes in hand.")
    closing_bonus: int = _number(0, 0, MAX_NUMBER, "002", "Points taken off the total of who closes.")
    unopened_points: int | None = _number(
        None, 0, MAX_NUMBER, "000, 003", "Flat charge for who has not opened when the hand ends.", none=True
    )
    match: str = _choice(
        "elimination",
        "total",
        "hands",
        "single_hand",
        source="F; others D",
        text="A match lasts until one is left, until a total reaches the limit, for some hands, or for one.",
    )
    limit: int = _number(101, 1, MAX_NUMBER, "F; 151, 201 000", "Total at which a player is out, or the match over.")
    num_hands: int | None = _number(None, 1, MAX_NUMBER, "D", "Hands of a match of match='hands'.", none=True)
    reentries: int | None = _number(
        0, 0, MAX_NUMBER, "F; 1 in 000", "How often who is out may come back in (None: always).", none=True
    )
    buying: bool = _flag(False, "002", "Others may buy the top of the pozzo when the player to move draws the stock.")
    preset: str = field(default="fisca", init=False, compare=False)

    def __post_init__(self) -> None:
        # Kept beside the fields, so that `replace` derives the joker's cost anew where nobody asked for a certain one.
        self.__dict__["_joker_in_hand_given"] = self.joker_in_hand is not None
        if not self._joker_in_hand_given:
            courts = _checked("court_values", self.court_values)
            self._set("joker_in_hand", _JOKER_IN_HAND[str(courts)])
        for name in FIELDS:
            self._set(name, _checked(name, getattr(self, name)))
        for check in _COMBINATIONS:
            check(self)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def _joker_in_hand_given(self) -> bool:
        return bool(self.__dict__["_joker_in_hand_given"])

    def __repr__(self) -> str:
        settings = self.to_dict()
        name = settings.pop("preset")
        return f"Rules.{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})"

    @classmethod
    def fisca(cls, **overrides: Any) -> Self:
        """The federation's rules; keyword arguments override single fields. Raises `BadRules`."""
        return cls.from_preset("fisca", **overrides)

    @classmethod
    def casa(cls, **overrides: Any) -> Self:
        """What many tables at home play (000); keyword arguments override single fields. Raises `BadRules`."""
        return cls.from_preset("casa", **overrides)

    @classmethod
    def scala_quaranta(cls, **overrides: Any) -> Self:
        """The rules of document 002; keyword arguments override single fields. Raises `BadRules`."""
        return cls.from_preset("scala_quaranta", **overrides)

    @classmethod
    def tavolo(cls, **overrides: Any) -> Self:
        """The rules of document 003; keyword arguments override single fields. Raises `BadRules`."""
        return cls.from_preset("tavolo", **overrides)

    @classmethod
    def megajogos(cls, **overrides: Any) -> Self:
        """The rules of document 004, for 2 to 5 players; arguments override single fields. Raises `BadRules`."""
        return cls.from_preset("megajogos", **overrides)

    @classmethod
    def from_preset(cls, name: str, **overrides: Any) -> Self:
        """The rules of the preset `name`, with single fields overridden. Raises `BadRules`."""
        return cls._made(_known_preset(name), {**PRESETS[name], **_known_fields(overrides)})

    @classmethod
    def _made(cls, preset: str, values: Mapping[str, Any]) -> Self:
        rules = cls(**values)
        rules._set("preset", preset)
        _check_preset_players(rules)
        return rules

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], /) -> Self:
        """The rules that `to_dict` gave: ``{"preset": name, field: value, ...}``, fisca without a preset.

        Raises `BadRules` for an unknown preset or field, and for every value that the constructor refuses.
        """
        if not isinstance(settings, Mapping):
            raise BadRules(f"rules are an object of fields and values, not {shown(settings)}")
        preset = _known_preset(settings.get("preset", "fisca"))
        overrides = {name: value for name, value in settings.items() if name != "preset"}
        return cls._made(preset, {**PRESETS[preset], **_known_fields(overrides)})

    def to_dict(self) -> dict[str, Value]:
        """The shortest object that `from_dict` reads back: preset, `num_players`, and what differs from that preset.

        The number of players is always there: a preset is one for any number of them.
        """
        start: dict[str, Value] = {"preset": self.preset, "num_players": self.num_players}
        return start | {name: getattr(self, name) for name in self.differences(self._plain_preset())}

    def _plain_preset(self) -> Rules:
        """The preset as it would be with these players; the joker's cost follows the courts, so they are kept too."""
        return Rules.from_preset(
            self.preset, num_players=self.num_players, joker_in_hand=_JOKER_IN_HAND[self.court_values]
        )

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, of the same preset. Raises `BadRules`."""
        values = {name: getattr(self, name) for name in FIELDS}
        if not self._joker_in_hand_given:
            values["joker_in_hand"] = None
        return self._made(self.preset, values | _known_fields(changes))

    def differences(self, other: Rules) -> dict[str, tuple[Value, Value]]:
        """The fields in which `other` differs: ``{field: (value here, value there)}``."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in FIELDS}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def describe(self) -> list[SettingRow]:
        """Every field beside the federation's value for as many players, for people to read."""
        federation = Rules(num_players=self.num_players)
        differing = self.differences(federation)
        pairs = [(name, getattr(self, name), getattr(federation, name)) for name in FIELDS]
        return [SettingRow(*pair, pair[0] in differing, SPECS[pair[0]]["help"]) for pair in pairs]

    def encode(self) -> dict[str, int]:
        """Every field as a plain number: a word as its index in `CHOICES`, None as -1, False and True as 0 and 1."""
        return {name: _encoded(name, getattr(self, name)) for name in FIELDS}


SPECS: dict[str, Mapping[str, Any]] = {each.name: each.metadata for each in fields(Rules) if each.metadata}
"""The metadata of every field: `help`, `source`, whether it takes None (`none`), and `choices` or `range`."""

FIELDS: tuple[str, ...] = tuple(SPECS)
"""All fields in the order of rules.md, without `preset`, which is no rule."""

CHOICES: dict[str, tuple[str, ...]] = {
    name: spec["choices"] for name, spec in SPECS.items() if isinstance(spec.get("choices", (0,))[0], str)
}
"""The words that each field of words takes, the federation's first; kernels know a word by its index here."""

PRESETS: dict[str, dict[str, Value]] = {
    "fisca": {},
    "casa": {
        "opening_from_pozzo": True,
        "recovered_joker": "keep",
        "max_jokers_per_meld": 2,
        "attaching_discard": "unopened_forbidden",
        "closing_discard": "optional",
        "unopened_points": 100,
        "reentries": 1,
    },
    "scala_quaranta": {
        "opening_jokers": "after_threshold",
        "pozzo_card": "keep",
        "recovered_joker": "new_meld",
        "unopened_joker_discard": True,
        "attaching_discard": "allowed",
        "first_lap_closing": True,
        "in_hand_bonus": 100,
        "ace_in_hand": "one",
    },
    "tavolo": {
        "recovered_joker": "new_or_any_meld",
        "unopened_joker_discard": True,
        "attaching_discard": "allowed",
        "first_lap_closing": True,
        "in_hand_multiplier": 2,
        "unopened_points": 100,
    },
    "megajogos": {
        "upcard_joker": "keep",
        "first_player_free_upcard": True,
        "opening_from_pozzo": True,
        "recovered_joker": "keep",
        "unopened_joker_discard": True,
        "attaching_discard": "allowed",
        "in_hand_multiplier": 2,
        "ace_in_hand": "one_if_alone",
        "stock_end": "turn_over",
    },
}
"""What each preset changes from the federation's rules."""

PRESET_MAX_PLAYERS = {"megajogos": 5}
"""Presets for fewer players than the game has seats."""


def allowed_values(name: str) -> str:
    """What a field takes, in words: ``"'sum' or 'worst'"``, ``"an integer from 2 to 6"``. Raises `BadRules`."""
    spec = SPECS[_known_field(name)]
    text = _range_text(*spec["range"]) if "range" in spec else " or ".join(map(repr, spec["choices"]))
    return f"{text}, or None" if spec["none"] else text


def _range_text(low: int, high: int) -> str:
    return f"an integer from {low} to {high}"


def parse_setting(text: str) -> tuple[str, Value]:
    """Read ``field=value`` from a command line: none, true, false, an integer or a word; ``preset=name`` too.

    Raises `BadRules` for text of another form, an unknown field, and a value that the field does not take.

    >>> parse_setting("num_players=3"), parse_setting("reentries=none")
    (('num_players', 3), ('reentries', None))
    """
    name, equals, given = (part.strip() for part in str(text).partition("="))
    if not equals:
        raise BadRules(f"{shown(text)} is not a setting; write field=value, as num_players=3")
    if name == "preset":
        return name, _known_preset(given)
    value = _plain_value(given)
    # Not given, the joker's cost follows the courts: None says so here as in the constructor.
    return name, value if name == "joker_in_hand" and value is None else _checked(_known_field(name), value)


_WORD_VALUES: dict[str, Value] = {"none": None, "true": True, "false": False}


def _plain_value(text: str) -> Value:
    """The value that some text stands for; text that is none of the others is itself."""
    if text.lower() in _WORD_VALUES:
        return _WORD_VALUES[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text


def _known_preset(name: object) -> str:
    """`name` if there is such a preset; raises `BadRules` with what there is."""
    if isinstance(name, str) and name in PRESETS:
        return name
    names = tuple(PRESETS)
    raise BadRules(f"preset = {shown(name)}: allowed are {', '.join(names)}{suggestion(str(name), names)}")


def _known_field(name: object) -> str:
    """`name` if there is such a field; raises `BadRules` with what there is."""
    if isinstance(name, str) and name in SPECS:
        return name
    if name == "preset":
        raise BadRules("preset: it can't be overridden; start from another one with Rules.from_preset(name, ...)")
    raise BadRules(
        f"there is no field {shown(name)} in the rules{suggestion(str(name), FIELDS)}; fields are {', '.join(FIELDS)}"
    )


def _known_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {_known_field(name): value for name, value in values.items()}


def _checked(name: str, value: object) -> Value:
    """`value` as field `name` keeps it, a plain Python value. Raises `BadRules` naming both and what is allowed."""
    spec = SPECS[name]
    if value is None and spec["none"]:
        return None
    kept = _in_range(value, *spec["range"]) if "range" in spec else _in_choices(value, spec["choices"])
    if kept is None:
        raise BadRules(f"{name} = {shown(value)}: allowed is {allowed_values(name)}")
    return kept


def _in_range(value: object, low: int, high: int) -> int | None:
    """`value` as an int if it is an integer of any kind (numpy's too, but no bool) in the range, else None."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        number = operator.index(value)
    except TypeError:  # numpy gives the method to all its arrays and raises for most
        return None
    return number if low <= number <= high else None


def _in_choices(value: object, choices: tuple[Value, ...]) -> Value:
    """The one of `choices` that `value` is, of the same type, else None."""
    return next((choice for choice in choices if isinstance(value, type(choice)) and value == choice), None)


def _encoded(name: str, value: Value) -> int:
    """The plain number of one field's value; see `Rules.encode`."""
    if name in CHOICES:
        return CHOICES[name].index(str(value))
    return -1 if value is None else int(value)


def _check_teams(rules: Rules) -> None:
    """Teams are of one size and at least two."""
    if rules.num_players % rules.team_size:
        raise _clash(rules, "num_players", "team_size", "the seats have to divide into teams of that size")
    if rules.num_players == rules.team_size:
        raise _clash(rules, "num_players", "team_size", "there have to be at least two teams")


def _check_num_hands(rules: Rules) -> None:
    """A number of hands belongs to a match of hands, and only to it."""
    if rules.match == "hands" and rules.num_hands is None:
        raise _clash(rules, "match", "num_hands", "a match of hands needs their number, 1 or more")
    if rules.match != "hands" and rules.num_hands is not None:
        raise _clash(rules, "match", "num_hands", "only match='hands' has a number of hands; leave it None")


def _check_naturals(rules: Rules) -> None:
    """A meld of three with one natural card holds two jokers."""
    if rules.min_naturals_per_meld == 1 and rules.max_jokers_per_meld == 1:
        why = "one natural card in a meld of three leaves two jokers: min_naturals_per_meld=1 needs at least 2"
        raise _clash(rules, "min_naturals_per_meld", "max_jokers_per_meld", why)


def _check_opening(rules: Rules) -> None:
    """Where even closing in hand needs the opening points, a hand must be able to hold them, or nobody ever closes."""
    laid = rules.hand_size + (rules.closing_discard == "optional")
    most = laid * HIGHEST_CARD[rules.court_values]
    if rules.in_hand_needs_opening_points and rules.opening_points > most:
        why = f"no hand of hand_size = {rules.hand_size} is worth more than {most}, so nobody could ever close"
        raise _clash(rules, "opening_points", "in_hand_needs_opening_points", why)


def _check_preset_players(rules: Rules) -> None:
    """Some presets are for fewer players."""
    most = PRESET_MAX_PLAYERS.get(rules.preset, rules.num_players)
    if rules.num_players > most:
        raise _clash(rules, "preset", "num_players", f"this preset is for 2 to {most} players")


# That the deal fits the pack needs no check: six hands of 13 and the upcard are 79 of at least 104 cards.
_COMBINATIONS: tuple[Callable[[Rules], None], ...] = (_check_teams, _check_num_hands, _check_naturals, _check_opening)


def _clash(rules: Rules, first: str, second: str, why: str) -> BadRules:
    """The error for two fields that exclude each other."""
    given = " with ".join(f"{name} = {getattr(rules, name)!r}" for name in (first, second))
    return BadRules(f"{given}: {why}")
