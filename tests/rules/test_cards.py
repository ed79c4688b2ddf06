"""Cards as numbers and text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scala40_env.rules.cards import (
    JOKER,
    NUM_CARD_TYPES,
    RANKS,
    SUITS,
    TableCard,
    card_id,
    format_card,
    format_cards,
    parse_card,
    parse_cards,
    parse_table_card,
    rank_of,
    suit_of,
)
from scala40_env.rules.errors import BadNotation, Scala40Error

CARD_LIKE = st.text(alphabet="AatT10jJqQkK2359shdcSHDC♠♥♦♣*️ 7x", max_size=5)


def test_ids_are_suit_times_13_plus_rank():
    texts = [rank + suit for suit in "shdc" for rank in "A23456789TJQK"]
    assert [parse_card(text) for text in texts] == list(range(52))
    assert parse_card("*") == JOKER == 52 == NUM_CARD_TYPES - 1


@pytest.mark.parametrize("card", range(NUM_CARD_TYPES))
def test_every_card_round_trips(card):
    assert parse_card(format_card(card)) == card


@pytest.mark.parametrize("card", range(52))
def test_suit_and_rank_make_the_card_again(card):
    suit, rank = suit_of(card), rank_of(card)
    assert card_id(suit, rank) == card
    assert format_card(card) == RANKS[rank] + SUITS[suit]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("10h", "Th"),
        ("7♠", "7s"),
        ("10♦", "Td"),
        ("k♣", "Kc"),
        ("K♥️", "Kh"),
        ("AS", "As"),
        ("td", "Td"),
        (" 2c ", "2c"),
    ],
)
def test_other_spellings_are_read_and_never_written(text, written):
    assert format_card(parse_card(text)) == written


@pytest.mark.parametrize(
    "text", ["", "Xx", "1s", "11s", "7", "s", "7ss", "s7", "**", "*7d", "7 s", "10", "100h", "?13"]
)
def test_what_is_no_card_is_refused_with_what_was_given(text):
    with pytest.raises(BadNotation) as error:
        parse_card(text)
    assert repr(text) in str(error.value)
    assert "rank" in str(error.value)


@pytest.mark.parametrize("value", [None, 7, ["7s"], b"7s"])
def test_what_is_no_text_is_refused(value):
    for parser in (parse_card, parse_cards, parse_table_card):
        with pytest.raises(BadNotation, match="string"):
            parser(value)


@pytest.mark.parametrize("card", [-1, 53, 10**6])
def test_other_numbers_are_no_cards(card):
    with pytest.raises(BadNotation, match=str(card)):
        format_card(card)


def test_lists_keep_their_order():
    assert parse_cards("  Ks  * 10h ") == [12, 52, 22]
    assert format_cards([12, 52, 22]) == "Ks * Th"
    assert parse_cards("") == []
    assert format_cards([]) == ""


def test_a_bad_card_in_a_list_is_named():
    with pytest.raises(BadNotation, match="'Xx'"):
        parse_cards("Ks Xx 2c")


@pytest.mark.parametrize("card", range(52))
@pytest.mark.parametrize("is_joker", [False, True])
def test_table_cards_round_trip(card, is_joker):
    table_card = TableCard(card, is_joker)
    assert parse_table_card(str(table_card)) == table_card
    assert str(table_card) == "*" * is_joker + format_card(card)


@pytest.mark.parametrize("text", ["*", "", "**7d", "*Xx", "7*d"])
def test_bad_table_cards_are_refused(text):
    with pytest.raises(BadNotation):
        parse_table_card(text)


def test_a_joker_on_the_table_has_to_say_what_it_is():
    with pytest.raises(BadNotation, match=r"stands for.*\*7d"):
        parse_table_card("*")


@given(st.one_of(st.text(max_size=8), CARD_LIKE))
def test_parsers_raise_only_our_errors_and_what_they_read_round_trips(text):
    for parser, written in ((parse_card, format_card), (parse_cards, format_cards), (parse_table_card, str)):
        try:
            value = parser(text)
        except Scala40Error:
            continue
        assert parser(written(value)) == value


def test_a_huge_text_does_not_become_the_message():
    with pytest.raises(BadNotation) as error:
        parse_card("x" * 100_000)
    assert len(str(error.value)) < 500
