// Shows the states that the file holds (see scala40_env/render/html.py for their keys). No rule of the game is in here.
// It follows cards.js.

const DATA = JSON.parse(document.getElementById("data").textContent);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*";
const ALL = -1;

const at = { match: 0, hand: 0, move: 0, viewer: ALL };
let states = []; // of the hand on show: after the deal, and after every move
let timer = null;

const match = () => DATA.matches[at.match];
const hand = () => match().hands[at.hand];
const lastMove = () => hand().moves.length;

// -- elements ----------------------------------------------------------------------------------------------------

function row(faces, fresh = []) {
  const left = [...fresh];
  const slots = faces.map((face) => {
    const found = left.indexOf(face);
    if (found >= 0) left.splice(found, 1);
    return element("span", found >= 0 ? "slot fresh" : "slot", card(face));
  });
  return element("div", "cards", ...slots);
}

// -- states --------------------------------------------------------------------------------------------------------

const textOf = (letter) => DATA.cards[LETTERS.indexOf(letter)];
const handFaces = (coded) => [...coded].map(textOf);
const meldFaces = (coded) => coded.match(/\*?[A-Za-z]/g).map((c) => (c.length > 1 ? "*" : "") + textOf(c.at(-1)));

function statesOf({ start, moves }) {
  const all = [start];
  for (const [, changes] of moves) all.push({ ...all.at(-1), ...changes });
  return all;
}

// The faces in `after` that were not in `before`: of a hand or a meld, those that just came.
function added(before, after) {
  const left = [...before];
  return after.filter((face) => {
    const found = left.indexOf(face);
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
}

function facesSeen(state, seat) {
  const cards = handFaces(state[`h${seat}`]);
  if (at.viewer === ALL || at.viewer === seat) return cards;
  const known = handFaces(state[`k${seat}`]);
  return [...known, ...Array(cards.length - known.length).fill("?")];
}

// -- drawing -------------------------------------------------------------------------------------------------------

function draw() {
  const state = states[at.move];
  const before = states[at.move - 1] ?? state;
  $("seats").replaceChildren(...match().players.map((name, seat) => drawnSeat(state, before, seat, name)));
  $("piles").replaceChildren(...drawnPiles(state, before));
  $("melds").replaceChildren(...drawnMelds(state, before));
  drawControls(state, before);
  document.querySelector("#melds .fresh")?.scrollIntoView({ block: "nearest" }); // a full table is higher than a phone
}

function drawnSeat(state, before, seat, name) {
  const standing = state.x.includes(seat) ? "out" : state.o[seat] === "1" ? "opened" : "not_opened";
  const dealer = hand().dealer === seat ? ` (${say("dealer")})` : "";
  const how = `${say("points", { n: state.c[seat] })}, ${say(standing)}`;
  const title = element("h2", "", element("span", "", name + dealer), element("span", "", how));
  const faces = facesSeen(state, seat);
  const box = element("article", state.t === seat ? "seat on-move" : "seat", title);
  box.append(row(faces, added(facesSeen(before, seat), faces).filter((face) => face !== "?")));
  box.setAttribute("aria-label", `${name}, ${how}, ${say("cards", { n: faces.length })}`);
  return box;
}

function drawnPiles(state, before) {
  const none = () => element("div", "card none");
  const by = state.b < 0 ? "" : say("thrown_by", { name: match().players[state.b] });
  const stock = element("div", "pile", state.s ? card("?") : none(), `${say("stock")} ${state.s}`);
  const top = state.p ? card(textOf(state.p)) : none();
  const size = `${say("pozzo")} ${state.q}`;
  const pozzo = element("div", state.q > before.q ? "pile fresh" : "pile", top, size, element("span", "", by));
  return [stock, pozzo];
}

function drawnMelds(state, before) {
  const melds = [];
  for (let number = 1; state[`m${number}`]; number++) {
    const faces = meldFaces(state[`m${number}`]);
    const was = before[`m${number}`] ? meldFaces(before[`m${number}`]) : [];
    const isNew = state.w.includes(number);
    const label = element("b", "", isNew ? `${number} ${say("new")}` : `${number}`);
    melds.push(element("div", isNew ? "meld new" : "meld", label, row(faces, added(was, faces))));
  }
  return melds.length ? melds : [element("p", "empty", say("no_melds"))];
}

function drawControls(state, before) {
  const notation = at.move ? hand().moves[at.move - 1][0] : "";
  const move = notation ? movesInWords([notation]) : say("dealt");
  const who = at.move ? `${match().players[before.t]}:` : "";
  const where = say("hand_move", { hand: at.hand + 1, move: at.move, moves: lastMove() });
  $("move").replaceChildren(element("span", "", where), element("span", "who", who), element("b", "", ...pretty(move)));
  $("move").title = notation; // for those who compare it with the record
  $("note").replaceChildren(...pretty(state.n));
  $("slider").max = lastMove();
  $("slider").value = at.move;
  $("slider").setAttribute("aria-valuetext", `${where}: ${who} ${move}`);
  const isFirst = at.hand === 0 && at.move === 0;
  $("first").disabled = $("back").disabled = isFirst;
  $("on").disabled = isAtEnd();
}

function drawScores() {
  const head = element("tr", "", element("th", "", say("hand")), ...match().players.map(scoreHead));
  $("scores").replaceChildren(element("caption", "", say("points_total")), head, ...match().hands.map(scoreRow));
}

function scoreHead(name) {
  const head = element("th", "", element("span", "", name));
  head.title = name;
  return head;
}

function scoreRow({ points, winner, moves, start }, number) {
  const jump = element("button", "", `${number + 1}`);
  jump.setAttribute("aria-label", say("go_to_hand", { n: number + 1 }));
  jump.onclick = () => go(number, 0);
  const totals = moves.reduce((last, [, changes]) => changes.c ?? last, start.c);
  const cells = totals.map((total, seat) =>
    element("td", winner === seat ? "closer" : "", points ? `${points[seat]} ` : "… ", element("small", "", `${total}`)));
  return element("tr", number === at.hand ? "now" : "", element("td", "", jump), ...cells);
}

// -- going about ---------------------------------------------------------------------------------------------------

const isAtEnd = () => at.hand === match().hands.length - 1 && at.move === lastMove();

function go(toHand, toMove) {
  const isOther = toHand !== at.hand || !states.length;
  at.hand = toHand;
  if (isOther) {
    states = statesOf(hand());
    $("hand").value = toHand;
    for (const [n, line] of [...$("scores").rows].entries()) line.className = n === toHand + 1 ? "now" : "";
  }
  at.move = Math.min(Math.max(toMove, 0), lastMove());
  draw();
}

function step(by) {
  if (at.move + by >= 0 && at.move + by <= lastMove()) go(at.hand, at.move + by);
  else if (by < 0 && at.hand > 0) go(at.hand - 1, Infinity);
  else if (by > 0 && !isAtEnd()) go(at.hand + 1, 0);
}

// To the next or last change of the seat on move.
function stepTurn(by) {
  const seat = states[at.move].t;
  const from = at.hand;
  do step(by); while (at.hand === from && at.move > 0 && at.move < lastMove() && states[at.move].t === seat);
}

function goToHand(to) {
  if (to >= 0 && to < match().hands.length) go(to, 0);
}

function setRunning(running) {
  clearInterval(timer);
  timer = running ? setInterval(() => (isAtEnd() ? setRunning(false) : step(1)), Number($("speed").value)) : null;
  $("run-word").textContent = say(running ? "pause" : "run");
  $("run-icon").setAttribute("d", running ? "M6 5h4v14H6zM14 5h4v14h-4z" : "M7 5v14l12-7z");
}

function openMatch(number) {
  at.match = number;
  states = [];
  const { players, hands, rules, seed } = match();
  $("title").textContent = players.join(", ");
  $("about").textContent = seed ? `${rules}, ${say("seed_of", { seed })}` : rules;
  $("hand").replaceChildren(...hands.map((_, n) => new Option(say("n_of", { n: n + 1, of: hands.length }), n)));
  $("viewer").replaceChildren(new Option(say("all_seats"), ALL), ...players.map((name, seat) => new Option(name, seat)));
  at.viewer = ALL;
  document.body.classList.toggle("many", players.length > 4);
  drawScores();
  go(0, 0);
}

const KEYS = {
  ArrowRight: () => step(1),
  ArrowLeft: () => step(-1),
  ArrowDown: () => stepTurn(1),
  ArrowUp: () => stepTurn(-1),
  PageDown: () => goToHand(at.hand + 1),
  PageUp: () => goToHand(at.hand - 1),
  Home: () => go(at.hand, 0),
  End: () => go(at.hand, Infinity),
  " ": () => setRunning(!timer),
};

document.addEventListener("keydown", (event) => {
  const isTaken = event.target.matches("select") || (event.key === " " && event.target.matches("button, input[type=checkbox]"));
  if (!KEYS[event.key] || isTaken || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  KEYS[event.key]();
});

useWords(DATA.words, DATA.language);
setRunning(false);
$("first").onclick = () => go(at.hand, 0);
$("back").onclick = () => step(-1);
$("on").onclick = () => step(1);
$("last").onclick = () => go(at.hand, Infinity);
$("run").onclick = () => setRunning(!timer);
$("speed").onchange = () => timer && setRunning(true);
$("slider").oninput = (event) => go(at.hand, Number(event.target.value));
$("hand").onchange = (event) => go(Number(event.target.value), 0);
$("match").onchange = (event) => openMatch(Number(event.target.value));
$("viewer").onchange = (event) => { at.viewer = Number(event.target.value); draw(); };
$("colours").onchange = (event) => document.documentElement.classList.toggle("four", event.target.checked);

$("match").append(...DATA.matches.map(({ players }, n) => new Option(`${n + 1}: ${players.join(", ")}`, n)));
$("match-choice").hidden = DATA.matches.length === 1;
openMatch(0);
