/* The page itself: what is chosen above the table, the address that keeps it, keys, colours. */

/* ---- what is chosen, kept in the address, so that it can be bookmarked and sent ---- */

const DEFAULT_SORT = page.drift ? "drift" : "";

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  state.search = asked.get("search") ?? "";
  state.type = asked.get("type") ?? "";
  state.slice = slices.has(asked.get("slice")) ? asked.get("slice") : slices.has(ALL_ROWS) ? ALL_ROWS : [...slices.keys()][0];
  const [sort, direction] = (asked.get("sort") ?? DEFAULT_SORT).split(" ");
  state.sort = COLUMNS.some(({ name }) => name === sort) ? sort : "";
  state.down = direction ? direction === "down" : state.sort === "drift";
  state.log = asked.has("log");
  state.middle = asked.has("middle");
  state.weighted = hasWeights && !asked.has("unweighted");
  state.open = new Set(asked.getAll("open"));
  if (asked.has("theme")) {
    document.documentElement.dataset.theme = asked.get("theme") === "dark" ? "dark" : "light";
  }
}

function writeAddress() {
  const asked = new URLSearchParams();
  const set = (name, value, usual) => value !== usual && asked.set(name, value);
  set("search", state.search, "");
  set("type", state.type, "");
  set("slice", state.slice, ALL_ROWS);
  set("sort", state.sort && `${state.sort} ${state.down ? "down" : "up"}`, DEFAULT_SORT && `${DEFAULT_SORT} down`);
  set("log", state.log ? "1" : "", "");
  set("middle", state.middle ? "1" : "", "");
  set("unweighted", hasWeights && !state.weighted ? "1" : "", "");
  for (const path of state.open) {
    asked.append("open", path);
  }
  const hash = asked.toString();
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // A page without an address of its own (a frame of a notebook): what is chosen is not kept.
  }
}

/* ---- above the table ---- */

const option = (value, label) => make("option", { value }, label);

function makeNames() {
  for (const [i, data] of page.data.entries()) {
    const told = [["num_rows", "row"], ["num_slices", "slice"]]
      .filter(([total]) => data.totals[total] > 0 || (total === "num_rows" && data.totals[total] === 0))
      .map(([total, word]) => `${WHOLE.format(data.totals[total])} ${word}${data.totals[total] === 1 ? "" : "s"}`);
    if (data.totals.num_slices_left_out > 0) {
      told.push(`${WHOLE.format(data.totals.num_slices_left_out)} slices left out, of ${WHOLE.format(data.totals.num_rows_left_out)} rows`);
    }
    byId("names").append(make("li", {},
      isPair ? make("span", { className: `mark fill${i}`, ariaHidden: "true" }) : null,
      make("b", {}, make("bdi", {}, data.name)), make("span", { className: "told" }, ` ${told.join(" · ")}`)));
  }
  document.title = `${names.join(" and ")} – statistics`;
}

/* What a comparison says of the data as a whole. */
function makeWhole() {
  const told = drift.get(ALL_ROWS)?.get("")?.anomalies ?? [];
  byId("whole").append(...told.map((text) => make("li", {}, text)));
  byId("whole").hidden = told.length === 0;
}

function fillTypes() {
  const counts = new Map();
  for (const { type } of entriesOf(state.slice)) {
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  if (state.type && !counts.has(state.type)) {
    counts.set(state.type, 0);
  }
  const types = [...counts].sort().map(([type, count]) => option(type, `${type.toLowerCase()} (${count})`));
  byId("type").replaceChildren(option("", "all types"), ...types);
}

function makeTools() {
  byId("slice").append(...[...slices].map(([key, { label }]) => option(key, label.length > 60 ? `${label.slice(0, 59)}…` : label)));
  byId("slices").hidden = slices.size < 2;
  byId("weights").hidden = !hasWeights;
  byId("sort").append(option("", "as given"), ...COLUMNS.map(({ name, label }) => option(name, label)));
}

/* Shows what is chosen, everywhere. */
function drawPage() {
  fillTypes();
  byId("search").value = state.search;
  byId("type").value = state.type;
  byId("slice").value = state.slice;
  byId("sort").value = state.sort;
  byId("direction").textContent = state.down ? "↓" : "↑";
  byId("log").checked = state.log;
  byId("middle").checked = state.middle;
  byId("weighted").checked = state.weighted;
  drawTable();
  const all = entriesOf(state.slice).length;
  byId("count").value =
    shown.length === all
      ? `${WHOLE.format(all)} feature${all === 1 ? "" : "s"}`
      : `${WHOLE.format(shown.length)} of ${WHOLE.format(all)} features`;
}

function choose(changes) {
  Object.assign(state, changes);
  numShown = MOST_ROWS;
  drawPage();
  writeAddress();
}

/* Another slice; the row of the feature keeps the focus. */
function chooseSlice(key, path) {
  choose({ slice: key });
  drawAll();
  moveTo(rowButton(path));
}

/* Numbers begin with the largest, texts with the first. */
function sortBy(name) {
  const isText = COLUMNS.find((column) => column.name === name)?.isText;
  choose(name === state.sort ? { down: !state.down } : { sort: name, down: !isText });
}

byId("search").addEventListener("input", (event) => choose({ search: event.target.value }));
byId("type").addEventListener("change", (event) => choose({ type: event.target.value }));
byId("slice").addEventListener("change", (event) => choose({ slice: event.target.value }));
byId("sort").addEventListener("change", (event) => choose({ sort: event.target.value }));
byId("direction").addEventListener("click", () => choose({ down: !state.down }));
byId("log").addEventListener("change", (event) => choose({ log: event.target.checked }));
byId("middle").addEventListener("change", (event) => choose({ middle: event.target.checked }));
byId("weighted").addEventListener("change", (event) => choose({ weighted: event.target.checked }));
byId("clear").addEventListener("click", () => {
  choose({ search: "", type: "" });
  byId("search").focus();
});
byId("more").addEventListener("click", () => {
  numShown = Infinity;
  drawTable();
});
table.tHead.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) {
    sortBy(button.value);
  }
});

/* ---- keys ---- */

function escape() {
  const focused = document.activeElement;
  if (focused === byId("search")) {
    if (state.search) {
      choose({ search: "" });
    } else {
      moveTo(rowsOfTable.querySelector("button.name"));
    }
    return;
  }
  const below = focused?.closest("tr.below");
  const button = (below ? below.previousElementSibling : focused?.closest("tr"))?.querySelector("button.name");
  if (button) {
    setOpen(button, false);
    moveTo(button);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return;
  }
  if (event.key === "/" && !event.target.closest("input, select")) {
    byId("search").focus();
    byId("search").select();
    event.preventDefault();
  } else if (event.key === "Escape") {
    escape();
    event.preventDefault();
  } else if (event.key === "ArrowDown" && event.target === byId("search")) {
    moveTo(rowsOfTable.querySelector("button.name"));
    event.preventDefault();
  }
});

/* ---- the beginning ---- */

readAddress();
markTheme();
makeNames();
makeWhole();
makeTools();
makeHeads();
drawPage();
window.addEventListener("beforeprint", drawAll);
window.addEventListener("hashchange", () => {
  readAddress();
  markTheme();
  drawPage();
});
