// The start page: a new table, and those that there are. It follows cards.js and words.js.

const BASIC = ["num_players", "match", "limit", "num_hands", "opening_points"]; // shown above the others
let choices = null;

// -- the fields of the rules -------------------------------------------------------------------------------------------

const inputOf = (name) => $(`rule-${name}`);

// The value of a field as the rules take it.
function valueOf({ name, choices: words }) {
  const text = inputOf(name).value;
  if (words) return JSON.parse(text);
  return text.trim() === "" ? null : Number(text);
}

function drawnField(field) {
  const input = field.choices ? element("select") : element("input");
  input.id = `rule-${field.name}`;
  if (field.choices) input.append(...field.choices.map(({ value, says }) => new Option(says, JSON.stringify(value))));
  else Object.assign(input, { type: "number", min: field.low, max: field.high ?? "", placeholder: field.none ? say("none") : "" });
  input.onchange = () => changed(field);
  return element("label", "field", element("span"), input);
}

// What stands above a field: of a number the sentence that it makes; a choice is such a sentence itself, and has a name.
function titleOf(field) {
  if (field.choices) return WORDS.fields[field.name];
  const value = valueOf(field);
  const sentence = field.form[value === null ? "none" : `${value}`] ?? field.form["*"];
  return filled(sentence, { n: value ?? "…" });
}

function changed(field) {
  inputOf(field.name).previousSibling.textContent = titleOf(field);
  if (field.choices) inputOf(field.name).title = inputOf(field.name).selectedOptions[0].text; // it may be too long to show
  if (field.name === "num_players") drawSeats();
  if (field.name === "match") fitMatch();
}

function setRules(values) {
  for (const field of choices.fields) {
    const value = values[field.name];
    inputOf(field.name).value = field.choices ? JSON.stringify(value) : value ?? "";
  }
  choices.fields.forEach(changed);
}

// A number of hands belongs to a match of hands, and only to it.
function fitMatch() {
  const isHands = JSON.parse(inputOf("match").value) === "hands";
  const hands = inputOf("num_hands");
  hands.parentElement.hidden = !isHands;
  hands.value = isHands ? hands.value || "4" : "";
  changed(choices.fields.find(({ name }) => name === "num_hands"));
}

const rules = () => ({
  preset: $("preset").value, ...Object.fromEntries(choices.fields.map((field) => [field.name, valueOf(field)])),
});

// -- seats -------------------------------------------------------------------------------------------------------------

function drawSeats() {
  const wanted = Number(inputOf("num_players").value);
  const before = seats();
  const usual = choices.defaults.seats;
  $("seats").replaceChildren(...Array.from({ length: Math.min(Math.max(wanted, 2), 6) }, (_, at) => {
    const input = element("input");
    input.setAttribute("list", "agents");
    input.value = before[at] ?? usual[at] ?? usual.at(-1);
    return element("label", "", element("span", "", say("seat", { n: at + 1 })), input);
  }));
}

const seats = () => [...$("seats").querySelectorAll("input")].map((input) => input.value.trim());

// -- tables that there are -----------------------------------------------------------------------------------------------

function drawTables() {
  for (const [id, isOver] of [["unfinished", false], ["finished", true]]) {
    const rows = choices.tables.filter(({ over }) => over === isOver).map(drawnTable);
    $(id).replaceChildren(...(rows.length ? rows : [element("li", "dim", say("nothing_yet"))]));
  }
  $("broken-box").hidden = !choices.broken.length;
  $("broken").replaceChildren(...choices.broken.map((text) => element("li", "", text)));
}

function drawnTable({ id, names, rules: preset, made, hand, over, replay, seats: links }) {
  const when = made && new Date(made).toLocaleString(document.documentElement.lang);
  const about = [names.join(", "), preset, `${say("hand")} ${hand}`, when].filter(Boolean).join(" · ");
  const row = element("li", "", element("span", "", about));
  if (!over) row.append(...links.map(([name, url]) => link(links.length > 1 ? `${say("go_on")}: ${name}` : say("go_on"), url)));
  if (replay) row.append(link(say("watch"), `/replay/${document.documentElement.lang}/${id}`));
  return row;
}

function link(text, url) {
  const made = element("a", "button", text);
  made.href = url;
  return made;
}

// -- a new table -----------------------------------------------------------------------------------------------------------

const asked = () => ({
  rules: rules(), seats: seats(), clock: Number($("seconds").value), seed: $("seed").value.trim(),
  name: $("name").value, language: document.documentElement.lang,
});

async function make(event) {
  event.preventDefault();
  $("make").disabled = true; // a second click would make a second table
  try {
    const answer = await (await fetch("/tables", { method: "POST", body: JSON.stringify(asked()) })).json();
    $("wrong").textContent = answer.error ?? "";
    if (!answer.error) sitDown(answer.seats);
  } catch {
    lost();
  } finally {
    $("make").disabled = false;
  }
}

const lost = () => { $("wrong").textContent = say("no_server"); };

// One person goes to the table; several get a page each.
function sitDown(links) {
  if (links.length === 1) location.href = links[0][1];
  else showLinks(links);
}

function showLinks(links) {
  $("links").hidden = false;
  $("links").querySelector("ul").replaceChildren(...links.map(([name, url]) => element("li", "", link(name, url), ` ${location.origin}${url}`)));
  $("links").scrollIntoView({ block: "nearest" });
}

// -- beginning ---------------------------------------------------------------------------------------------------------------

async function changeLanguage(language) {
  await loadWords(language);
  const kept = choices && rules();
  choices = await (await fetch(`/choices/${language}`)).json();
  const fields = (isBasic) => choices.fields.filter(({ name }) => BASIC.includes(name) === isBasic).map(drawnField);
  $("basic").replaceChildren(...fields(true));
  $("all-rules").replaceChildren(...fields(false));
  $("preset").replaceChildren(...Object.keys(choices.presets).map((name) => new Option(say(`preset_${name}`), name)));
  $("agents").replaceChildren(...choices.agents.map((name) => new Option(name, name)));
  $("agents-known").textContent = say("agents_known", { names: choices.agents.join(", ") });
  drawTables();
  if (!kept) return;
  $("preset").value = kept.preset;
  setRules(kept);
}

// The field `rules` of the defaults holds the preset, the number of players and what differs from the preset.
function setDefaults() {
  const { rules: { preset, ...changes }, clock, seed, name } = choices.defaults;
  $("preset").value = preset;
  setRules({ ...choices.presets[preset], ...changes });
  Object.assign($("seconds"), { value: clock, max: choices.longest_clock });
  $("seed").value = seed;
  $("name").value = localStorage.name ?? name;
}

async function begin() {
  await changeLanguage(chosenLanguage());
  setDefaults();
  listenForLanguage(changeLanguage, lost);
  $("preset").onchange = () => setRules({ ...choices.presets[$("preset").value], num_players: Number(inputOf("num_players").value) });
  $("name").onchange = () => { localStorage.name = $("name").value; };
  $("new").onsubmit = make;
  // A number that can't be has to be seen, or the browser refuses without a word.
  $("new").addEventListener("invalid", ({ target }) => { if (target.closest("details")) target.closest("details").open = true; }, true);
}

begin();
