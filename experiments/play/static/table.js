// The table of one seat. It draws what the server sends and sends what the player does; no rule of the game is in here:
// where cards may go, and why not, the server says. It follows cards.js and words.js.

const SUIT_ORDER = "shdc";
const RANK_ORDER = "A23456789TJQK";
const DRAG_FROM = 8; // pixels that a finger moves before a card goes with it

let state = null; // the one on show
let table = null; // what does not change: rules, id, where the record is
let chosen = new Set(); // places in `order()` of the cards chosen
let lit = { new: false, pozzo: false, melds: [] };
let socket = null;
let acting = false; // has something been sent that was not answered yet?
let deadline = null; // when the clock of the state on show runs out
const waiting = []; // states that have come and are not on show yet, so that the moves of others can be followed
let showing = null;

// -- the socket ----------------------------------------------------------------------------------------------------

function connect() {
  const token = location.pathname.split("/").pop();
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket/${token}`);
  socket.onopen = () => { acting = false; tell(""); hello(); };
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = () => { tell(say("lost")); setTimeout(connect, 1000); };
}

const send = (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

const hello = () => send({ type: "hello", language: document.documentElement.lang });

// Sends what a player does. A second click before the answer to the first one means nothing more.
function act(message) {
  showLatest();
  if (!state || acting) return;
  acting = true;
  forgetNote();
  send({ ...message, version: state.version });
}

function askWhatIsLit() {
  showLatest();
  send({ type: "select", cards: chosenCards(), version: state.version });
}

const RECEIVED = {
  table: (message) => { table = message; drawTable(); },
  state: (message) => arrive(message),
  lit: (message) => { if (sameCards(message.cards, chosenCards())) { lit = message; drawLit(); } },
  choose: (message) => choose(message.ways),
  refused: (message) => tell(message.why, "refused"),
  note: (message) => tell(message.text, "note"),
  hint: (message) => tell(message.text, "hint"),
  advisers: (message) => drawAdvisers(message.agents),
};

const ANSWERS = ["refused", "choose", "hint"]; // to the player, about the state that came last

function receive(message) {
  if (message.type !== "lit") acting = false;
  if (ANSWERS.includes(message.type)) showLatest(); // or it would be forgotten when that is shown
  RECEIVED[message.type](message);
}

function arrive(next) {
  next.deadline = next.clock === null ? null : Date.now() + 1000 * next.clock; // it runs while the state waits its turn
  waiting.push(next);
  if (showing === null) showNext();
}

// Shows the next state, and after a move of another seat waits a little before the one that follows.
function showNext() {
  showing = null;
  const next = waiting.shift();
  if (!next) return;
  const isOthers = state && next.log.length && next.log.at(-1)[0] !== next.seat && next.version !== state.version;
  show(next);
  showing = setTimeout(showNext, isOthers ? Number($("pace").value) : 0);
}

function showLatest() {
  if (!waiting.length) return;
  clearTimeout(showing);
  waiting.splice(0, waiting.length - 1);
  showNext();
}

function show(next) {
  const isNew = !state || state.version !== next.version;
  if (!state || !sameCards(state.hand, next.hand)) letGo();
  state = next;
  deadline = next.deadline;
  if (isNew) forgetOld();
  draw();
  if (isNew && chosen.size) chosenChanged(); // chosen while others played
}

// The cards in the hand are others now.
function letGo() {
  chosen.clear();
  drag?.ghost?.remove();
  drag = null;
}

// What was said and lit was so in another state; a note stays until the player does something.
function forgetOld() {
  lit = { new: false, pozzo: false, melds: [] };
  if ($("said").className !== "note") tell("");
  $("choice").close();
}

function forgetNote() {
  if ($("said").className === "note") tell("");
}

function tell(text, kind = "") {
  $("said").className = kind;
  $("said").replaceChildren(...pretty(text));
}

// -- cards of the hand -----------------------------------------------------------------------------------------------

const byRank = () => localStorage.sort === "rank";
const place = (face, order) => (face === "*" ? 99 : order.indexOf(face.at(order === SUIT_ORDER ? 1 : 0)));

// The hand in the order on show.
function order() {
  const keys = byRank() ? [RANK_ORDER, SUIT_ORDER] : [SUIT_ORDER, RANK_ORDER];
  return [...state.hand].sort((a, b) => place(a, keys[0]) - place(b, keys[0]) || place(a, keys[1]) - place(b, keys[1]));
}

const chosenCards = () => [...chosen].sort((a, b) => a - b).map((at) => order()[at]);
const sameCards = (some, others) => some.join() === others.join();
const isMine = () => state.turn === state.seat;

function toggle(at) {
  if (chosen.has(at)) chosen.delete(at); else chosen.add(at);
  chosenChanged();
}

function chosenChanged() {
  lit = { new: false, pozzo: false, melds: [] };
  drawChosen();
  drawLit();
  if (isMine()) askWhatIsLit();
}

function put(target) {
  if (!chosen.size && isMine()) return tell(state.standing[0], "refused");
  act({ type: "put", cards: chosenCards(), on: target });
}

// What a part of the page stands for that cards can be put on: a number is that of a meld.
const targetOf = ({ dataset: { target } }) => (/^\d+$/.test(target) ? Number(target) : target);

// A click on a target: cards that are chosen go there; a pile is drawn from when it is time to draw.
function hit(target) {
  if (target === "stock" || (target === "pozzo" && state.phase === "draw")) act({ type: "move", move: target });
  else put(target);
}

// -- drawing ---------------------------------------------------------------------------------------------------------

function draw() {
  const focused = focusNow();
  $("where").textContent = `${table.preset} · ` + say("hand_lap", { hand: state.hand_number, lap: state.lap });
  const inOrder = state.seats.map((_, n) => (state.seat + n) % state.seats.length).slice(1);
  $("others").replaceChildren(...inOrder.map(drawnSeat));
  $("stock").replaceChildren(...drawnPile("stock", state.stock ? "?" : null, state.stock));
  $("pozzo").replaceChildren(...drawnPile("pozzo", state.pozzo.top, state.pozzo.size));
  $("melds").replaceChildren(...drawnMelds());
  $("standing").replaceChildren(...pretty(state.standing.join(" ")));
  $("mine").textContent = about(state.seat);
  drawHand();
  drawLit();
  drawSheet();
  drawLog();
  drawButtons();
  drawEnding();
  document.body.classList.toggle("my-turn", isMine());
  focusAgain(focused);
}

// Parts that are drawn anew lose the focus of the keyboard: what has it, as a selector, and giving it back.
function focusNow() {
  const { at, target } = document.activeElement.dataset;
  if (at) return { part: ".in-hand", at: Number(at) };
  return target && { part: `[data-target="${target}"]`, at: 0 };
}

function focusAgain(focused) {
  if (!focused || document.activeElement.matches(focused.part)) return;
  const parts = document.querySelectorAll(focused.part);
  parts[Math.min(focused.at, parts.length - 1)]?.focus();
}

// How a seat stands: its total, and whether it has opened.
function about(number) {
  const { out, opened, score } = state.seats[number];
  return `${say("points", { n: score })}, ${out ? say("out") : say(opened ? "opened" : "not_opened")}`;
}

function drawnSeat(number) {
  const seat = state.seats[number];
  const box = element("article", state.turn === number ? "seat on-move" : "seat");
  const name = element("b", "", seat.name, seat.dealer ? ` (${say("dealer")})` : "");
  box.append(element("h2", "", name, element("span", "", say("cards", { n: seat.size }))));
  const hidden = row(Array(Math.max(seat.size - seat.known.length, 0)).fill("?"));
  for (const slot of hidden) slot.setAttribute("aria-hidden", "true"); // how many they are is said above
  box.append(element("div", "cards", ...hidden, ...row(seat.known)));
  box.append(element("p", "dim", about(number)));
  box.append(element("p", "last", ...pretty(lastTurn(number))));
  return box;
}

const row = (faces) => faces.map((face) => element("span", "slot", card(face)));

// What a seat did in its last turn, but for its draw from the stock.
function lastTurn(number) {
  const moves = [];
  for (const [seat, move] of [...state.log].reverse()) {
    if (seat === number && !moves.length || seat === number && !move.startsWith("discard")) moves.unshift(move);
    else if (moves.length) break;
  }
  return movesInWords(moves.filter((move) => move !== "stock"));
}

function drawnPile(name, face, size) {
  return [face ? card(face) : element("span", "card none"), element("span", "", `${say(name)} ${size}`)];
}

function drawnMelds() {
  const melds = state.melds.map(({ cards, new: isNew }, at) => {
    const meld = element("button", isNew ? "meld new" : "meld", element("i", "", `${at + 1}`));
    meld.append(element("span", "cards", ...row(cards)));
    meld.type = "button";
    meld.dataset.target = `${at + 1}`;
    return meld;
  });
  const space = element("button", "space", say("new_meld"));
  space.type = "button";
  space.id = "new";
  space.dataset.target = "new";
  return [...melds, space];
}

let drawnHand = ""; // what the hand on show was drawn from

// Drawn anew only where it has changed: a click that begins before a move of another seat ends after it.
function drawHand() {
  const wanted = JSON.stringify([order(), state.fresh, document.documentElement.lang]);
  if (wanted !== drawnHand) $("hand").replaceChildren(...drawnCards());
  drawnHand = wanted;
  drawChosen();
}

function drawnCards() {
  const fresh = [...state.fresh];
  return order().map((face, at) => {
    const found = fresh.indexOf(face);
    if (found >= 0) fresh.splice(found, 1);
    const button = element("button", found >= 0 ? "in-hand fresh" : "in-hand", card(face));
    button.type = "button";
    button.dataset.at = at;
    return button;
  });
}

function drawChosen() {
  for (const button of $("hand").children) button.setAttribute("aria-pressed", chosen.has(Number(button.dataset.at)));
}

function isLit(target) {
  if (!isMine()) return false;
  if (state.phase === "draw") return state.draws.includes(target);
  return target === "new" ? lit.new : target === "pozzo" ? lit.pozzo : lit.melds.includes(target);
}

function drawLit() {
  for (const part of document.querySelectorAll("[data-target]")) part.classList.toggle("lit", isLit(targetOf(part)));
}

function drawButtons() {
  const drawing = isMine() && state.phase === "draw";
  const buying = isMine() && state.phase === "buy" && state.draws.length > 0;
  const playing = isMine() && !drawing && !buying;
  for (const [id, shown] of [["draw-stock", drawing], ["draw-pozzo", drawing], ["buy", buying], ["pass", buying],
    ["lay", !drawing && !buying], ["throw", !drawing && !buying]]) $(id).hidden = !shown;
  $("lay").disabled = $("throw").disabled = !playing;
  $("undo").disabled = !state.can_undo;
  $("hint").disabled = !isMine() || !$("adviser").options.length;
  $("sort").textContent = say(byRank() ? "by_suit" : "by_rank");
}

function drawEnding() {
  const isEnd = $("ending").hidden && state.ending.length > 0;
  $("ending").hidden = !state.ending.length;
  $("ending-text").textContent = state.ending.join(" ");
  $("next").hidden = state.over;
  $("again").hidden = !state.over;
  if (isEnd) $("ending").scrollIntoView({ block: "nearest" }); // on a phone it may be below the melds
}

function drawSheet() {
  const head = element("tr", "", element("th"), ...state.seats.map((seat) => element("th", "", seat.name)));
  const rows = state.sheet.map(({ points, scores, winner }, at) => {
    const cells = points.map((n, seat) =>
      element("td", winner === seat ? "closer" : "", `${n} `, element("small", "", `${scores[seat]}`)));
    return element("tr", "", element("td", "", `${at + 1}`), ...cells);
  });
  $("sheet").replaceChildren(head, ...rows);
}

function drawLog() {
  const turns = [];
  for (const [seat, move] of state.log) {
    if (turns.at(-1)?.seat === seat && !turns.at(-1).moves.at(-1).startsWith("discard")) turns.at(-1).moves.push(move);
    else turns.push({ seat, moves: [move] });
  }
  $("log").replaceChildren(...turns.reverse().map(({ seat, moves }) =>
    element("li", seat === state.seat ? "mine" : "", `${state.seats[seat].name}: `, ...pretty(movesInWords(moves)))));
}

function drawTable() {
  $("rules-list").replaceChildren(...table.rules.map((rule) => element("li", "", rule)));
  $("saved").textContent = say("saved_in", { file: table.record });
  $("replay").href = `/replay/${document.documentElement.lang}/${table.id}`;
}

function drawAdvisers(agents) {
  const kept = $("adviser").value;
  $("adviser").replaceChildren(...agents.map((agent) => new Option(agent)));
  if (agents.includes(kept)) $("adviser").value = kept;
  $("adviser").hidden = agents.length < 2;
  if (state) drawButtons();
}

function choose(ways) {
  $("ways").replaceChildren(...ways.map(({ moves, cards }) => {
    const way = element("button", "way", element("span", "cards", ...row(cards)));
    way.type = "button";
    way.onclick = () => { $("choice").close(); act({ type: "move", move: moves }); };
    return way;
  }));
  $("choice").showModal();
}

// -- dragging --------------------------------------------------------------------------------------------------------

let drag = null; // the pointer that is down on a card: where it went down, and what is moving
let hasDragged = false; // since a pointer went down: the click that may follow is none

function startDrag(event) {
  const button = event.target.closest(".in-hand");
  if (!button || event.button !== 0 || drag) return;
  hasDragged = false;
  drag = { id: event.pointerId, at: Number(button.dataset.at), x: event.clientX, y: event.clientY, ghost: null };
}

function moveDrag(event) {
  if (drag?.id !== event.pointerId) return;
  if (!drag.ghost && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_FROM) return;
  if (!drag.ghost) liftCards();
  if (!drag) return; // the hand has changed meanwhile
  drag.ghost.style.left = `${event.clientX}px`;
  drag.ghost.style.top = `${event.clientY}px`;
}

// The cards chosen go along; one that was not chosen goes alone.
function liftCards() {
  hasDragged = true;
  drag.ghost = element("div", "ghost cards");
  document.body.append(drag.ghost);
  if (!chosen.has(drag.at)) { chosen = new Set([drag.at]); chosenChanged(); }
  drag?.ghost.append(...row(chosenCards()));
}

function endDrag(event) {
  if (drag?.id !== event.pointerId) return;
  const { ghost } = drag;
  drag = null;
  if (!ghost) return;
  ghost.remove();
  const target = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-target]");
  if (target && event.type === "pointerup") put(targetOf(target));
}

function clickCard(event) {
  const button = event.target.closest(".in-hand");
  const endsDrag = hasDragged && event.detail > 0; // a key clicks too, with no detail
  if (button && !endsDrag) toggle(Number(button.dataset.at));
}

// -- keys ------------------------------------------------------------------------------------------------------------

function focusBy(step) {
  const cards = [...$("hand").children];
  const from = cards.indexOf(document.activeElement);
  cards[from < 0 ? 0 : (from + step + cards.length) % cards.length]?.focus();
}

const KEYS = {
  ArrowRight: () => focusBy(1),
  ArrowLeft: () => focusBy(-1),
  s: () => act({ type: "move", move: "stock" }),
  p: () => hit("pozzo"),
  n: () => put("new"),
  d: () => put("pozzo"),
  b: () => act({ type: "move", move: "buy" }),
  x: () => act({ type: "move", move: "pass" }),
  u: () => act({ type: "undo" }),
  h: () => $("hint").click(),
  o: () => $("sort").click(),
  Escape: () => { chosen.clear(); chosenChanged(); },
  Enter: () => canDeal() && act({ type: "next" }),
  "?": () => $("keys-dialog").showModal(),
};

const canDeal = () => !$("ending").hidden && !$("next").hidden;

// Is a key one that the part with the focus takes itself? Enter on a card deals when a hand is over.
function isTaken({ target, key }) {
  if (target.matches("select, input") || document.querySelector("dialog[open]")) return true;
  const deals = key === "Enter" && target.matches(".in-hand") && canDeal();
  return target.matches("button, a") && ["Enter", " "].includes(key) && !deals;
}

function pressed(event) {
  if (!state || isTaken(event) || event.ctrlKey || event.altKey || event.metaKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key; // with Caps Lock too
  const does = /^[1-9]$/.test(key) ? () => put(Number(key)) : KEYS[key];
  if (!does) return;
  event.preventDefault();
  showLatest();
  does();
}

// -- beginning -------------------------------------------------------------------------------------------------------

function tick() {
  $("clock").hidden = deadline === null;
  if (deadline !== null) $("clock").textContent = `${Math.max(Math.ceil((deadline - Date.now()) / 1000), 0)} s`;
}

async function changeLanguage(language) {
  await loadWords(language);
  if (state) hello();
}

function listen() {
  document.addEventListener("keydown", pressed);
  $("hand").addEventListener("pointerdown", startDrag);
  document.addEventListener("pointermove", moveDrag);
  document.addEventListener("pointerup", endDrag);
  document.addEventListener("pointercancel", endDrag);
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-target]");
    if (target && state) hit(targetOf(target));
  });
  $("hand").addEventListener("click", clickCard);
  for (const [id, move] of [["draw-stock", "stock"], ["draw-pozzo", "pozzo"], ["buy", "buy"], ["pass", "pass"]])
    $(id).onclick = () => act({ type: "move", move });
  $("undo").onclick = () => act({ type: "undo" });
  $("next").onclick = () => act({ type: "next" });
  $("hint").onclick = () => { tell(say("thinking"), "hint"); send({ type: "hint", agent: $("adviser").value }); };
  $("sort").onclick = () => { localStorage.sort = byRank() ? "suit" : "rank"; chosen.clear(); draw(); chosenChanged(); };
  $("show-rules").onclick = () => $("rules-dialog").showModal();
  $("show-keys").onclick = () => $("keys-dialog").showModal();
  $("pace").onchange = (event) => { localStorage.pace = event.target.value; };
  $("colours").onchange = (event) => { localStorage.colours = event.target.checked ? "four" : "two"; showColours(); };
  listenForLanguage(changeLanguage, () => tell(say("lost")));
}

function showColours() {
  $("colours").checked = localStorage.colours === "four";
  document.documentElement.classList.toggle("four", $("colours").checked);
}

async function begin() {
  $("pace").value = localStorage.pace ?? "500";
  showColours();
  await changeLanguage(chosenLanguage());
  listen();
  setInterval(tick, 250);
  connect();
}

begin();
