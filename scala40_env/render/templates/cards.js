// Cards for a page that has the symbols of scala40_env/render/cards.py in it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

let WORDS = null; // of scala40_env/render/words and, at a table, of experiments/play/words

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

const say = (key, values = {}) => filled(WORDS.page[key] ?? key, values);

// Puts words on the page: what data-word names is read, what data-label names is heard.
function useWords(words, language) {
  WORDS = words;
  document.documentElement.lang = language;
  for (const part of document.querySelectorAll("[data-word]")) part.textContent = say(part.dataset.word);
  for (const part of document.querySelectorAll("[data-label]")) {
    part.setAttribute("aria-label", say(part.dataset.label));
    if (part.matches("button")) part.title = say(part.dataset.label);
  }
}

function nameOf(face) {
  const { hidden, joker, jokerAs, card: form, ranks, suits } = WORDS.cards;
  if (face === "?") return hidden;
  if (face === "*") return joker;
  const [rank, suit] = face.replace("*", "");
  const name = filled(form, { rank: ranks[rank] ?? rank, suit: suits[suit] });
  return face.length > 2 ? filled(jokerAs, { card: name }) : name;
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

const SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };

// A text with its cards as people write them: Kd as K♦, * as a star.
function pretty(text) {
  return text.split(/(\*?\b[A2-9TJQK][shdc]\b|\*)/).filter(Boolean).map((part) => {
    const found = /^(\*?)([A2-9TJQK])([shdc])$/.exec(part);
    if (!found) return part === "*" ? "★" : part;
    const [, joker, rank, suit] = found;
    return element("b", `suit-${suit}`, `${joker && "★"}${rank === "T" ? "10" : rank}${SIGNS[suit]}`);
  });
}

// Moves in notation as a sentence has them.
function movesInWords(moves) {
  return moves.map((move) => move.split(" ").map((word) => WORDS.verbs[word] ?? word).join(" ")).join("; ");
}

