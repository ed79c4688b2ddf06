"""`Rules`: fields, values, presets, and what is refused."""

import ast
import copy
import dataclasses
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import scala40_env.rules.config as config_module
from scala40_env.rules.config import (
    CHOICES,
    FIELDS,
    MAX_NUMBER,
    PRESETS,
    SPECS,
    Rules,
    allowed_values,
    parse_setting,
)
from scala40_env.rules.errors import BadRules

# The table of rules.md: field, federation's value, other values (the ends of the open ranges among them).
TABLE = {
    "num_players": (4, [2, 3, 5, 6]),
    "team_size": (1, [2, 3]),
    "team_score": ("sum", ["worst"]),
    "num_jokers": (4, [0, 1, 2, 3]),
    "hand_size": (13, list(range(3, 13))),
    "upcard_joker": ("redraw", ["keep"]),
    "first_player_free_upcard": (False, [True]),
    "court_values": ("ten", ["ascending"]),
    "ace_in_hand": ("high", ["one", "one_if_alone"]),
    "joker_in_hand": (25, [0, 1, 14, 20, 30, 50]),
    "max_jokers_per_meld": (1, [2, 3, 4]),
    "min_naturals_per_meld": (2, [1]),
    "max_run_length": (14, list(range(5, 14))),
    "opening_points": (40, [0, 1, 30, 50, 1000]),
    "opening_jokers": ("count", ["after_threshold"]),
    "opening_from_pozzo": (False, [True]),
    "pozzo_card": ("use", ["keep"]),
    "recovered_joker": ("new_or_other_meld", ["new_or_any_meld", "new_meld", "keep"]),
    "unopened_joker_discard": (False, [True]),
    "closing_joker_discard": (True, [False]),
    "attaching_discard": ("federal", ["forbidden", "unopened_forbidden", "allowed"]),
    "replacing_attaches": (True, [False]),
    "stock_end": ("reshuffle", ["turn_over"]),
    "dead_hand_reshuffles": (None, [1, 2, 1000]),
    "max_laps": (100, [1, 2, 1000]),
    "abandoned_hand": ("count", ["void"]),
    "closing_discard": ("required", ["optional"]),
    "first_lap_closing": (False, [True]),
    "in_hand_needs_opening_points": (False, [True]),
    "in_hand_multiplier": (1, [2]),
    "in_hand_full_hand": (None, [100]),
    "in_hand_bonus": (0, [100]),
    "closing_bonus": (0, [100]),
    "unopened_points": (None, [100]),
    "match": ("elimination", ["total", "hands", "single_hand"]),
    "limit": (101, [1, 151, 201, 1000]),
    "num_hands": (None, [1, 2, 1000]),
    "reentries": (0, [1, 2, None]),
    "buying": (False, [True]),
}
# Values that work only beside another.
COMPANIONS = {
    ("team_size", 3): {"num_players": 6},
    ("min_naturals_per_meld", 1): {"max_jokers_per_meld": 2},
    ("match", "hands"): {"num_hands": 5},
    ("num_hands", 1): {"match": "hands"},
    ("num_hands", 2): {"match": "hands"},
    ("num_hands", 1000): {"match": "hands"},
}
ALL_VALUES = [(name, value) for name, (_, others) in TABLE.items() for value in others]
INT_FIELDS = [name for name in FIELDS if "range" in SPECS[name]]
FLAGS = [name for name in FIELDS if SPECS[name].get("choices", (None,))[0] in (True, False)]

# The columns of the presets' table in rules.md, row by row.
PRESET_TABLE = """
upcard_joker             | redraw            | redraw             | redraw          | redraw          | keep
first_player_free_upcard | false             | false              | false           | false           | true
opening_jokers           | count             | count              | after_threshold | count           | count
opening_from_pozzo       | false             | true               | false           | false           | true
pozzo_card               | use               | use                | keep            | use             | use
recovered_joker          | new_or_other_meld | keep               | new_meld        | new_or_any_meld | keep
max_jokers_per_meld      | 1                 | 2                  | 1               | 1               | 1
unopened_joker_discard   | false             | false              | true            | true            | true
attaching_discard        | federal           | unopened_forbidden | allowed         | allowed         | allowed
closing_discard          | required          | optional           | required        | required        | required
first_lap_closing        | false             | false              | true            | true            | false
in_hand_bonus            | 0                 | 0                  | 100             | 0               | 0
in_hand_multiplier       | 1                 | 1                  | 1               | 2               | 2
unopened_points          | none              | 100                | none            | 100             | none
ace_in_hand              | high              | high               | one             | high            | one_if_alone
stock_end                | reshuffle         | reshuffle          | reshuffle       | reshuffle       | turn_over
limit                    | 101               | 101                | 101             | 101             | 101
reentries                | 0                 | 1                  | 0               | 0               | 0
"""
PRESET_NAMES = ["fisca", "casa", "scala_quaranta", "tavolo", "megajogos"]
PRESET_ROWS = [[cell.strip() for cell in line.split("|")] for line in PRESET_TABLE.strip().splitlines()]


def refused(pattern=None, /, **values):
    with pytest.raises(BadRules, match=pattern) as error:
        Rules(**values)
    return str(error.value)


def field_values(name):
    """Any value that the field takes."""
    spec = SPECS[name]
    if "choices" in spec:
        return st.sampled_from(spec["choices"])
    low, high = spec["range"]
    values = st.integers(low, min(high, 200)) | st.integers(low, high)
    return values | st.none() if spec["none"] else values


@st.composite
def any_rules(draw):
    preset = draw(st.sampled_from(PRESET_NAMES))
    names = draw(st.sets(st.sampled_from(FIELDS), max_size=8))
    try:
        return Rules.from_preset(preset, **{name: draw(field_values(name)) for name in sorted(names)})
    except BadRules:
        reject()


def test_the_fields_are_those_of_the_table():
    assert list(FIELDS) == list(TABLE)
    assert [field.name for field in dataclasses.fields(Rules)] == [*TABLE, "preset"]


@pytest.mark.parametrize("name", TABLE)
def test_defaults_are_the_federations(name):
    value = getattr(Rules(), name)
    assert value == TABLE[name][0]
    assert type(value) is type(TABLE[name][0])


@pytest.mark.parametrize(("name", "value"), ALL_VALUES)
def test_every_value_constructs_in_every_preset_or_needs_a_companion(name, value):
    companions = COMPANIONS.get((name, value), {})
    assert getattr(Rules(**companions, **{name: value}), name) == value
    for preset in PRESET_NAMES:
        if preset == "megajogos" and 6 in (value, companions.get("num_players")):
            continue
        rules = Rules.from_preset(preset, **companions, **{name: value})
        assert getattr(rules, name) == value
        assert Rules.from_dict(rules.to_dict()) == rules


@pytest.mark.parametrize(("name", "value"), COMPANIONS)
def test_without_its_companion_the_error_names_both_fields(name, value):
    message = refused(**{name: value})
    (companion,) = COMPANIONS[name, value]
    assert name in message
    assert companion in message


@pytest.mark.parametrize("name", INT_FIELDS)
@pytest.mark.parametrize(
    "value", [True, False, "2", 2.0, 2.5, float("nan"), [], {}, b"2", np.float64(2), np.array([2, 3]), -1]
)
def test_numbers_are_strict(name, value):
    message = refused(**{name: value})
    assert message.startswith(f"{name} = ")
    assert "integer from" in message


@pytest.mark.parametrize("name", INT_FIELDS)
def test_numbers_end_where_they_say(name):
    low, high = SPECS[name]["range"]
    assert f"from {low} to {high}" in allowed_values(name)
    for value in (low - 1, high + 1, 10**5000):
        assert f"integer from {low} to {high}" in refused(**{name: value})


@pytest.mark.parametrize("name", [n for n in INT_FIELDS if not SPECS[n]["none"] and n != "joker_in_hand"])
def test_none_only_where_it_means_something(name):
    assert refused(**{name: None}).startswith(f"{name} = None")


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [0, 1, "true", None, np.int64(1), []])
def test_flags_are_strict(name, value):
    message = refused(**{name: value})
    assert message.startswith(f"{name} = ")
    assert "True" in message
    assert "False" in message


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("value", ["", "nonsense", "SUM", 0, True, None, [], ("sum",)])
def test_words_are_strict(name, value):
    message = refused(**{name: value})
    assert message.startswith(f"{name} = ")
    assert all(repr(choice) in message for choice in CHOICES[name])


def test_every_field_is_one_kind():
    assert set(INT_FIELDS) | set(FLAGS) | set(CHOICES) == set(FIELDS)
    assert len(INT_FIELDS) + len(FLAGS) + len(CHOICES) == len(FIELDS)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint8])
def test_numpy_integers_become_plain_ones(kind):
    rules = Rules(num_players=kind(3), limit=kind(99), reentries=kind(1))
    assert rules == Rules(num_players=3, limit=99, reentries=1)
    assert {type(rules.num_players), type(rules.limit), type(rules.reentries)} == {int}


def test_numpy_strings_become_plain_ones():
    assert type(Rules(match=np.str_("total")).match) is str


def test_metadata_tells_what_a_field_is():
    for name in FIELDS:
        spec = SPECS[name]
        assert spec["help"].endswith(".")
        assert "\n" not in spec["help"]
        assert spec["source"]
        assert ("choices" in spec) != ("range" in spec)
        if "choices" in spec:
            assert spec["choices"][0] == TABLE[name][0]


def test_six_full_hands_fit_the_smallest_pack():
    # Why no rule asks whether the deal fits.
    most = max(SPECS["num_players"]["range"]) * max(SPECS["hand_size"]["range"]) + 1
    assert most <= 104 + min(SPECS["num_jokers"]["range"])


# Presets


@pytest.mark.parametrize("row", PRESET_ROWS, ids=lambda row: row[0])
def test_presets_are_the_table(row):
    name, *texts = row
    for preset, text in zip(PRESET_NAMES, texts, strict=True):
        assert getattr(Rules.from_preset(preset), name) == parse_setting(f"{name}={text}")[1]


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_what_a_column_does_not_name_is_as_in_fisca(preset):
    rules = Rules.from_preset(preset)
    assert set(Rules().differences(rules)) <= {row[0] for row in PRESET_ROWS}
    assert getattr(Rules, preset)() == rules
    assert rules.preset == preset
    assert list(PRESETS) == PRESET_NAMES


@pytest.mark.parametrize("preset", PRESET_NAMES)
@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_presets_take_their_numbers_of_players(preset, num_players):
    if (preset, num_players) == ("megajogos", 6):
        with pytest.raises(BadRules, match=r"megajogos.*num_players = 6.*2 to 5"):
            Rules.megajogos(num_players=6)
        with pytest.raises(BadRules, match="megajogos"):
            Rules.megajogos(num_players=5).replace(num_players=6)
        with pytest.raises(BadRules, match="megajogos"):
            Rules.from_dict({"preset": "megajogos", "num_players": 6})
        return
    assert getattr(Rules, preset)(num_players=num_players).num_players == num_players


def test_official_variants_are_one_call():
    assert Rules.fisca(opening_from_pozzo=True).opening_from_pozzo
    assert Rules.fisca(opening_jokers="after_threshold").opening_jokers == "after_threshold"
    double = Rules.fisca(in_hand_multiplier=2, in_hand_full_hand=100)
    assert (double.in_hand_multiplier, double.in_hand_full_hand) == (2, 100)


def test_the_preset_is_no_part_of_equality():
    assert Rules.tavolo() == Rules(**PRESETS["tavolo"])
    assert hash(Rules.tavolo()) == hash(Rules(**PRESETS["tavolo"]))
    assert Rules.tavolo() != Rules.fisca()


@pytest.mark.parametrize("name", ["fisco", "", "FISCA", None, 7, ["fisca"], {}])
def test_unknown_presets_are_refused(name):
    for make in (lambda: Rules.from_preset(name), lambda: Rules.from_dict({"preset": name})):
        with pytest.raises(BadRules) as error:
            make()
        assert str(error.value).startswith(f"preset = {name!r}")
        assert all(preset in str(error.value) for preset in PRESET_NAMES)


def test_close_names_are_suggested():
    with pytest.raises(BadRules, match="did you mean 'fisca'"):
        Rules.from_preset("fisco")
    with pytest.raises(BadRules, match=r"'num_player'.*did you mean 'num_players'"):
        Rules.fisca(num_player=3)


@pytest.mark.parametrize("key", ["tabel", 7, None, ""])
def test_unknown_fields_are_refused(key):
    with pytest.raises(BadRules) as error:
        Rules.from_dict({"preset": "fisca", key: 3})
    assert repr(key) in str(error.value)
    assert "num_players" in str(error.value)


def test_the_preset_can_not_be_overridden():
    for make in (lambda: Rules.fisca(preset="casa"), lambda: Rules().replace(preset="casa")):
        with pytest.raises(BadRules, match="preset"):
            make()


@pytest.mark.parametrize("value", [None, [], "fisca", 7])
def test_rules_are_read_from_objects_only(value):
    with pytest.raises(BadRules):
        Rules.from_dict(value)


def test_an_error_of_a_value_names_field_and_value():
    with pytest.raises(BadRules, match=r"num_players = 7: .* 2 to 6"):
        Rules.from_dict({"preset": "fisca", "num_players": 7})


# Combinations


@pytest.mark.parametrize(("players", "size"), [(5, 2), (4, 3), (3, 2), (2, 2), (3, 3), (2, 3)])
def test_teams_that_do_not_work(players, size):
    refused(rf"num_players = {players} with team_size = {size}: ", num_players=players, team_size=size)


@pytest.mark.parametrize(("players", "size"), [(4, 2), (6, 2), (6, 3), (2, 1), (5, 1)])
def test_teams_that_work(players, size):
    assert Rules(num_players=players, team_size=size).team_size == size


def test_num_hands_belongs_to_a_match_of_hands():
    assert Rules(match="hands", num_hands=10).num_hands == 10
    refused(r"match = 'hands' with num_hands = None", match="hands")
    for match in ("elimination", "total", "single_hand"):
        refused(rf"match = '{match}' with num_hands = 3", match=match, num_hands=3)


def test_one_natural_card_needs_two_jokers():
    refused(r"min_naturals_per_meld = 1 with max_jokers_per_meld = 1", min_naturals_per_meld=1)
    assert Rules(min_naturals_per_meld=1, max_jokers_per_meld=2).min_naturals_per_meld == 1


def test_more_jokers_in_a_meld_than_in_the_pack_are_fine():
    assert Rules(max_jokers_per_meld=4, num_jokers=1).max_jokers_per_meld == 4


def test_rules_under_which_nobody_could_close_are_refused():
    out_of_reach = {"hand_size": 3, "opening_points": 34, "in_hand_needs_opening_points": True}
    refused("opening_points = 34 with in_hand_needs_opening_points = True.*hand_size = 3", **out_of_reach)
    assert Rules(**out_of_reach | {"opening_points": 33})  # three aces
    assert Rules(**out_of_reach, court_values="ascending")
    assert Rules(**out_of_reach, closing_discard="optional")  # four cards go down
    assert Rules(**out_of_reach | {"in_hand_needs_opening_points": False})


# What follows from others


def test_the_jokers_cost_follows_the_courts_unless_given():
    assert Rules().joker_in_hand == 25
    assert Rules(court_values="ascending").joker_in_hand == 14
    assert Rules(court_values="ascending", joker_in_hand=25).joker_in_hand == 25
    assert Rules(joker_in_hand=None).joker_in_hand == 25


def test_replace_derives_the_jokers_cost_anew():
    ascending = Rules.casa().replace(court_values="ascending")
    assert ascending.joker_in_hand == 14
    assert ascending.replace(court_values="ten").joker_in_hand == 25
    assert Rules(joker_in_hand=25).replace(court_values="ascending").joker_in_hand == 25
    assert Rules(joker_in_hand=30).replace(joker_in_hand=None).joker_in_hand == 25
    assert copy.deepcopy(ascending).replace(court_values="ten").joker_in_hand == 25


def test_replace_keeps_the_rest_and_the_original():
    rules = Rules.casa(num_players=3)
    changed = rules.replace(limit=201)
    assert rules.limit == 101
    assert changed.differences(rules) == {"limit": (201, 101)}
    assert changed.preset == "casa"
    with pytest.raises(BadRules, match="there is no field 'limits'"):
        rules.replace(limits=201)


def test_rules_do_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Rules().limit = 201
    with pytest.raises(TypeError):
        Rules(3)


# To objects and back


@pytest.mark.parametrize("preset", PRESET_NAMES)
def test_a_plain_preset_is_its_name_and_the_players(preset):
    assert Rules.from_preset(preset, num_players=3).to_dict() == {"preset": preset, "num_players": 3}


def test_to_dict_holds_only_what_differs():
    rules = Rules.casa(num_players=2, limit=201, reentries=1)
    assert rules.to_dict() == {"preset": "casa", "num_players": 2, "limit": 201}
    assert Rules.casa(reentries=0).to_dict() == {"preset": "casa", "num_players": 4, "reentries": 0}
    ascending = {"preset": "fisca", "num_players": 4, "court_values": "ascending"}
    assert Rules(court_values="ascending").to_dict() == ascending
    assert Rules(court_values="ascending", joker_in_hand=25).to_dict() == ascending | {"joker_in_hand": 25}
    assert Rules.from_dict({}) == Rules()


@settings(max_examples=150, deadline=None)
@given(any_rules())
def test_any_rules_round_trip(rules):
    again = Rules.from_dict(rules.to_dict())
    assert again == rules
    assert again.preset == rules.preset
    assert again.to_dict() == rules.to_dict()
    assert eval(repr(rules)) == rules
    assert pickle.loads(pickle.dumps(rules)) == rules
    assert rules.replace() == rules
    assert not rules.differences(again)


JUNK = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just([1])


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from([*FIELDS, "preset", "tabel"]), JUNK, max_size=3))
def test_any_object_is_read_or_refused_by_our_error(values):
    try:
        rules = Rules.from_dict(values)
    except BadRules:
        return
    assert Rules.from_dict(rules.to_dict()) == rules


# The command line


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("num_players=3", ("num_players", 3)),
        (" limit = 201 ", ("limit", 201)),
        ("reentries=none", ("reentries", None)),
        ("joker_in_hand=None", ("joker_in_hand", None)),
        ("buying=true", ("buying", True)),
        ("closing_joker_discard=False", ("closing_joker_discard", False)),
        ("match=total", ("match", "total")),
        ("preset=casa", ("preset", "casa")),
    ],
)
def test_settings_are_read(text, setting):
    name, value = parse_setting(text)
    assert (name, value) == setting
    assert type(value) is type(setting[1])
    assert Rules.from_dict({name: value})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("num_players", ["'num_players'", "field=value"]),
        ("", ["field=value"]),
        ("num_player=3", ["'num_player'", "num_players"]),
        ("num_players=7", ["num_players", "7", "2 to 6"]),
        ("num_players=three", ["num_players", "three"]),
        ("buying=1", ["buying", "1", "True"]),
        ("match=hand", ["match", "'hand'", "'hands'"]),
        ("limit=", ["limit", "''"]),
        ("limit=" + "9" * 5000, ["limit", "1000000"]),
        ("preset=fisco", ["preset", "fisco", "fisca"]),
        ("limit=none", ["limit", "None"]),
    ],
)
def test_bad_settings_are_refused(text, words):
    with pytest.raises(BadRules) as error:
        parse_setting(text)
    assert all(word in str(error.value) for word in words)
    assert len(str(error.value)) < 1500


@given(st.text(max_size=20) | st.tuples(st.sampled_from(FIELDS), st.text()).map("=".join))
def test_settings_raise_only_our_errors(text):
    try:
        name, _ = parse_setting(text)
    except BadRules:
        return
    assert name in (*FIELDS, "preset")


def test_describe_has_every_field_beside_the_federations_value():
    rows = Rules.casa(num_players=3).describe()
    assert [row.field for row in rows] == list(FIELDS)
    assert {row.field for row in rows if row.differs} == set(PRESETS["casa"])
    by_name = {row.field: row for row in rows}
    assert by_name["reentries"][:4] == ("reentries", 1, 0, True)
    assert by_name["num_players"][:4] == ("num_players", 3, 3, False)
    assert not any(row.differs for row in Rules(num_players=2).describe())


# Plain numbers for the kernels


def test_choices_are_in_the_agreed_order():
    words = {name: (default, *others) for name, (default, others) in TABLE.items() if isinstance(default, str)}
    assert words == CHOICES


def test_encode_of_the_federation():
    numbers = Rules().encode()
    assert list(numbers) == list(FIELDS)
    assert all(type(number) is int for number in numbers.values())
    assert all(numbers[name] == 0 for name in CHOICES)
    assert (numbers["num_players"], numbers["num_hands"], numbers["joker_in_hand"]) == (4, -1, 25)
    assert (numbers["closing_joker_discard"], numbers["buying"]) == (1, 0)


@settings(max_examples=100, deadline=None)
@given(any_rules())
def test_encode_loses_nothing(rules):
    numbers = rules.encode()
    for name in FIELDS:
        value, number = getattr(rules, name), numbers[name]
        assert value == (CHOICES[name][number] if name in CHOICES else None if number == -1 else number)


# What people read


def test_repr_is_short_and_reads_back():
    assert repr(Rules.casa(num_players=3)) == "Rules.casa(num_players=3)"
    assert repr(Rules(match="hands", num_hands=2)) == "Rules.fisca(num_players=4, match='hands', num_hands=2)"


def test_no_range_is_open():
    assert all(SPECS[name]["range"][1] <= MAX_NUMBER for name in INT_FIELDS)


@pytest.mark.parametrize("name", ["errors", "cards", "config", "melds", "moves"])
def test_these_modules_import_nothing_heavy(name):
    source = Path(config_module.__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    assert not re.search(r"\b(numba|numpy)\b", "\n".join(imported(ast.parse(source))))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
