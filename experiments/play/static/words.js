// The words of the pages, in the language that was chosen. It follows cards.js.
const LANGUAGES = { en: "English", it: "Italiano", es: "Español" };
let WORDS = null;

const say = (key, values = {}) => filled(WORDS.page[key] ?? key, values);

// The language that was last chosen in this browser, or else the one that the page came with.
function chosenLanguage() {
  return LANGUAGES[localStorage.language] ? localStorage.language : document.documentElement.lang;
}

async function loadWords(language) {
  WORDS = await (await fetch(`/words/${language}.json`)).json();
  Object.assign(CARD_WORDS, WORDS.cards);
  document.documentElement.lang = language;
  for (const part of document.querySelectorAll("[data-word]")) part.textContent = say(part.dataset.word);
}

function fillLanguages(select, language) {
  select.replaceChildren(...Object.entries(LANGUAGES).map(([code, name]) => new Option(name, code)));
  select.value = language;
  select.setAttribute("aria-label", say("language"));
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
