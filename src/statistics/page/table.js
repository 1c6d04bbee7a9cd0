/* The table of features: its heads, which sort; its rows, a screenful at once and the others while
   nobody waits; details below a row; arrow keys through the rows. */

const table = document.getElementById("features");
const rowsOfTable = table.tBodies[0];
const FIRST_ROWS = 60; // drawn at once
const LATER_ROWS = 150; // and then at once, each time
const MOST_ROWS = 2000; // drawn without being asked
let numShown = MOST_ROWS;
let shown = []; // the entries that are chosen, in order
let pending = 0; // of the rows that are still to be drawn

/* ---- heads ---- */

function makeHeads() {
  const row = make("tr", { role: "row" });
  for (const column of [...COLUMNS, { name: "", label: "Values" }]) {
    const arrow = make("span", { className: "arrow", ariaHidden: "true" });
    const label = column.isText ? [column.label, arrow] : [arrow, column.label];
    row.append(make("th", { scope: "col", role: "columnheader", className: column.name || "values" },
      column.name ? make("button", { type: "button", value: column.name }, ...label) : column.label));
  }
  table.tHead.replaceChildren(row);
}

function markHeads() {
  for (const head of table.tHead.querySelectorAll("th")) {
    if (!head.firstElementChild) {
      continue; // nothing sorts by charts
    }
    const isSorted = state.sort !== "" && head.className === state.sort;
    head.setAttribute("aria-sort", isSorted ? (state.down ? "descending" : "ascending") : "none");
  }
}

/* ---- rows ---- */

/* A histogram, or the frequent values where there is none or they say more. */
function valuesCell(entry, width) {
  const isDrawn = entry.type !== "BOOL" && entry.of.some((feature) => histogram(feature)?.total > 0);
  if (isDrawn) {
    return drawHistogram(entry, width, isPair ? 44 : 28, "spark");
  }
  const lists = names.map((_, i) => topValues(entry.of[i]));
  if (lists.every((list) => list.length === 0)) {
    return make("span", { className: "nothing" }, NOTHING);
  }
  const words = (list) =>
    list.slice(0, 3).flatMap(({ value, share: part }, i) => [i ? ", " : "", showValue(value), ` ${showShare(part)}`]);
  const text = lists.map((list, i) => make("span", { className: isPair ? `set set${i}` : "set" }, ...words(list)));
  return make("div", { className: "frequent" }, drawStack(entry, width, isPair ? 12 : 7), ...text);
}

function driftCell(entry) {
  const score = driftOf(entry.drift);
  if (score == null) {
    return [NOTHING];
  }
  return [showNumber(Number(score.toPrecision(2))), make("small", {}, entry.drift.anomalies?.length ? "beyond threshold" : "")];
}

function makeRow(entry, i) {
  const isOpen = state.open.has(entry.path);
  const button = make("button",
    { type: "button", className: "name", value: entry.path, ariaExpanded: String(isOpen), tabIndex: i === 0 ? 0 : -1 },
    make("bdi", {}, entry.path));
  const row = make("tr", { role: "row", className: isOpen ? "open" : "", ariaRowIndex: String(i + 2) },
    make("th", { scope: "row", role: "rowheader", className: "path" }, button));
  for (const column of COLUMNS.slice(1)) {
    const cell = make("td", { role: "cell", className: column.name });
    cell.dataset.label = column.label;
    if (column.name === "type") {
      cell.append(entry.type.toLowerCase());
    } else if (column.name === "drift") {
      cell.append(...driftCell(entry));
    } else {
      cell.append(...pair(entry, (feature) => column.show(column.of(feature), feature)));
    }
    if (cell.textContent === NOTHING) {
      cell.classList.add("nothing");
    }
    row.append(cell);
  }
  row.append(make("td", { role: "cell", className: "values" }, valuesCell(entry, 170)));
  return row;
}

function makeDetails(entry) {
  const cell = make("td", { role: "cell", colSpan: COLUMNS.length + 1 }, detailsOf(entry));
  return make("tr", { role: "row", className: "below" }, cell);
}

function appendRows(from, to) {
  const made = document.createDocumentFragment();
  for (let i = from; i < Math.min(to, shown.length, numShown); i++) {
    made.append(makeRow(shown[i], i));
    if (state.open.has(shown[i].path)) {
      made.append(makeDetails(shown[i]));
    }
  }
  rowsOfTable.append(made);
}

/* The rest, some rows at a time, unless something else was chosen meanwhile. */
function appendLater(from) {
  const later = window.requestIdleCallback ?? ((call) => setTimeout(call, 10));
  pending = later(() => {
    pending = 0;
    appendRows(from, from + LATER_ROWS);
    if (from + LATER_ROWS < Math.min(shown.length, numShown)) {
      appendLater(from + LATER_ROWS);
    }
  }, { timeout: 50 });
}

function stopPending() {
  (window.cancelIdleCallback ?? clearTimeout)(pending);
  pending = 0;
}

/* All rows at once: for the printer. */
function drawAll() {
  if (pending) {
    stopPending();
    appendRows(rowsOfTable.querySelectorAll(":scope > tr:not(.below)").length, Infinity);
  }
}

function drawTable() {
  stopPending();
  shown = chosenEntries();
  rowsOfTable.replaceChildren();
  appendRows(0, FIRST_ROWS);
  if (Math.min(shown.length, numShown) > FIRST_ROWS) {
    appendLater(FIRST_ROWS);
  }
  table.setAttribute("aria-rowcount", String(shown.length + 1));
  markHeads();
  const isEmpty = entriesOf(state.slice).length === 0;
  document.getElementById("none").hidden = shown.length > 0 || isEmpty;
  document.getElementById("empty").hidden = !isEmpty;
  table.hidden = shown.length === 0;
  document.getElementById("rest").hidden = shown.length <= numShown;
  document.getElementById("more").textContent = `Show all ${WHOLE.format(shown.length)} features`;
}

/* ---- details ---- */

function rowButton(path) {
  return [...rowsOfTable.querySelectorAll("button.name")].find((button) => button.value === path);
}

function setOpen(button, isOpen) {
  const row = button.closest("tr");
  const entry = shown.find(({ path }) => path === button.value);
  if (isOpen === state.open.has(entry.path)) {
    return;
  }
  state.open[isOpen ? "add" : "delete"](entry.path);
  button.ariaExpanded = String(isOpen);
  row.classList.toggle("open", isOpen);
  if (isOpen) {
    row.after(makeDetails(entry));
  } else {
    row.nextElementSibling.remove();
  }
  writeAddress();
}

/* ---- keys ---- */

function moveTo(button) {
  if (button) {
    for (const other of rowsOfTable.querySelectorAll("button.name[tabindex='0']")) {
      other.tabIndex = -1;
    }
    button.tabIndex = 0;
    button.focus();
  }
}

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

rowsOfTable.addEventListener("keydown", (event) => {
  const button = event.target.closest("button.name");
  if (!button || event.ctrlKey || event.altKey || event.metaKey) {
    return;
  }
  if (event.key in STEPS) {
    drawAll();
    const all = [...rowsOfTable.querySelectorAll("button.name")];
    const at = all.indexOf(button) + STEPS[event.key];
    moveTo(all[Math.max(0, Math.min(all.length - 1, at))]);
    event.preventDefault();
  } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    setOpen(button, event.key === "ArrowRight");
    event.preventDefault();
  }
});

rowsOfTable.addEventListener("click", (event) => {
  const chosen = event.target.closest("button.link");
  if (chosen) {
    chooseSlice(chosen.value, chosen.closest("tr.below").previousElementSibling.querySelector("button.name").value);
    return;
  }
  const row = event.target.closest("tr");
  const button = row?.parentElement === rowsOfTable ? row.querySelector("button.name") : null;
  if (button && getSelection().isCollapsed) {
    moveTo(button);
    setOpen(button, !state.open.has(button.value));
  }
});
