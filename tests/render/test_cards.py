"""The faces of the cards."""

from __future__ import annotations

from xml.etree import ElementTree

from scala40_env.render.cards import BACK, FOUR_COLOURS, HEIGHT, JOKER_FACE, TWO_COLOURS, WIDTH, symbol_id, symbols
from scala40_env.rules.cards import NUM_CARD_TYPES, format_card

NATURALS = [format_card(card) for card in range(NUM_CARD_TYPES - 1)]
FACES = [*NATURALS, JOKER_FACE, BACK, *(f"*{card}" for card in NATURALS)]
Elements = dict[str, ElementTree.Element]


def defined(text: str) -> Elements:
    """The elements that have an id, by it."""
    root = ElementTree.fromstring(f"<defs>{text}</defs>")
    found = [(element.get("id"), element) for element in root.iter() if element.get("id")]
    assert len(dict(found)) == len(found), "an id occurs twice"
    return {str(name): element for name, element in found}


def uses(element: ElementTree.Element) -> set[str]:
    return {use.get("href", "").removeprefix("#") for use in element.iter("use")}


def test_every_face_has_a_symbol_and_all_that_it_uses() -> None:
    elements = defined(symbols(FACES))
    for face in FACES:
        symbol = elements[symbol_id(face)]
        assert symbol.tag == "symbol" and symbol.get("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
        assert uses(symbol) <= set(elements)


def test_no_two_faces_look_the_same() -> None:
    elements = defined(symbols(FACES))
    drawn = {"".join(ElementTree.tostring(part, "unicode") for part in elements[symbol_id(face)]) for face in FACES}
    assert len(drawn) == len(FACES)


def test_a_natural_card_has_its_pips() -> None:
    elements = defined(symbols(NATURALS))
    for rank, pips in {"2": 2, "3": 3, "7": 7, "8": 8, "T": 10}.items():
        pictures = ElementTree.tostring(elements[f"s40-{rank}s"], "unicode").count('href="#s40-s"')
        assert pictures == pips + 2, rank  # one in each corner


def test_only_what_is_asked_for_is_defined_in_any_order() -> None:
    text = symbols(["Kd", "2s"])
    assert text == symbols(["2s", "Kd", "2s"])
    assert set(defined(text)) == {f"s40-{name}" for name in ("paper", "star", "s", "d", "2", "K", "2s", "Kd")}


def test_two_and_four_colours() -> None:
    two, four = (defined(symbols(FACES, palette)) for palette in (TWO_COLOURS, FOUR_COLOURS))
    assert not set(two) & set(four)  # they can be in one page
    for palette, elements, different in ((TWO_COLOURS, two, 2), (FOUR_COLOURS, four, 4)):
        colours = {elements[symbol_id(f"5{suit}", palette)].findall("g")[0].get("fill") for suit in "shdc"}
        assert len(colours) == different
    assert {symbol_id(face) for face in ("*", "?", "*7d")} == {"s40-joker", "s40-back", "s40-for-7d"}
