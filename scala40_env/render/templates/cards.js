// Cards for a page that has the symbols of scala40_env/render/cards.py in it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

// What a card is called; a page in another language puts its own words here.
const CARD_WORDS = {
  hidden: "hidden card", joker: "joker", jokerAs: "joker as {card}", card: "{rank} of {suit}",
  ranks: { A: "ace", J: "jack", Q: "queen", K: "king", T: "10" },
  suits: { s: "spades", h: "hearts", d: "diamonds", c: "clubs" },
};

const $ = (id) => document.getElementById(id);

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children); // strings become text, never markup
  return made;
}

// A text with its {names} filled in.
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

function nameOf(face) {
  if (face === "?") return CARD_WORDS.hidden;
  if (face === "*") return CARD_WORDS.joker;
  const [rank, suit] = face.replace("*", "");
  const name = filled(CARD_WORDS.card, { rank: CARD_WORDS.ranks[rank] ?? rank, suit: CARD_WORDS.suits[suit] });
  return face.length > 2 ? filled(CARD_WORDS.jokerAs, { card: name }) : name;
}

function card(face) {
  const id = { "?": "back", "*": "joker" }[face] ?? face.replace("*", "for-");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 60 84");
  svg.setAttribute("class", "card");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", nameOf(face));
  svg.append(document.createElementNS(SVG, "use"));
  svg.firstChild.setAttribute("href", `#s40-${id}`);
  return svg;
}

