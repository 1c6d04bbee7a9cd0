/* The page itself: what is chosen above the picture, the address that keeps it, keys. */

/* ---- what is chosen, kept in the address, so that it can be bookmarked and sent ---- */

function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  state.search = asked.get("search") ?? "";
  state.off = new Set(asked.getAll("off"));
  state.at = byKey.get(asked.get("at")) ?? -1;
  state.only = asked.has("only");
  state.table = asked.has("table");
}

function writeAddress() {
  const asked = new URLSearchParams();
  const set = (name, value) => value && asked.set(name, value);
  set("search", state.search);
  for (const type of state.off) {
    asked.append("off", type);
  }
  set("at", state.at >= 0 ? keyOf(nodes[state.at]) : "");
  set("only", state.only ? "1" : "");
  set("table", state.table ? "1" : "");
  const hash = asked.toString();
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch {
    // A page without an address of its own (a frame of a notebook): what is chosen is not kept.
  }
}

/* ---- above the picture ---- */

function makeTypes() {
  for (const type of types) {
    const icon = draw("svg", { class: type.look, viewBox: "0 0 18 18", "aria-hidden": "true" }, draw("use", { class: "icon", href: `#icon-${type.look}` }));
    const button = make("button", { type: "button", value: type.key }, icon, make("bdi", {}, type.label), make("small", {}, type.count.toLocaleString("en")));
    button.addEventListener("click", () => {
      const off = new Set(state.off);
      off.delete(type.key) || off.add(type.key);
      choose({ off });
    });
    byId("types").append(button);
  }
}

function makeHead() {
  document.title = `${page.store} – lineage`;
  byId("told").append(make("b", {}, make("bdi", {}, page.store)), ` ${page.title}`);
  byId("left").textContent = page.left;
  byId("left").hidden = page.left == null;
  byId("empty").hidden = nodes.length > 0;
}

function drawPage() {
  const shown = findShown();
  const hits = findHits(shown);
  byId("search").value = state.search;
  for (const button of byId("types").children) {
    button.ariaPressed = String(!state.off.has(button.value));
  }
  byId("only").hidden = state.at < 0;
  byId("only").ariaPressed = String(state.only);
  byId("tabular").ariaPressed = String(state.table);
  byId("canvas").hidden = state.table;
  byId("rows").hidden = !state.table;
  byId("none").hidden = shown.length > 0 || nodes.length === 0;
  drawMarks(shown, hits);
  drawPanel();
  drawTable(shown, hits);
  byId("count").value = state.search
    ? `${hits.length.toLocaleString("en")} found`
    : shown.length < nodes.length ? `${shown.length.toLocaleString("en")} of ${nodes.length.toLocaleString("en")}` : "";
}

function choose(changes) {
  Object.assign(state, changes);
  drawPage();
  writeAddress();
}

function chooseNode(i) {
  choose({ at: i, only: state.only && i >= 0 });
}

/* Closes the panel; the focus stays where it was chosen. */
function leaveNode() {
  const left = state.at;
  chooseNode(-1);
  if (left >= 0 && !state.table) {
    nodeOf(left).focus({ preventScroll: true });
  }
}

/* To the next node that was found, or the one before. */
function goToHit(step) {
  const hits = findHits(findShown());
  if (hits.length > 0) {
    const i = hits.indexOf(state.at);
    chooseNode(hits[i < 0 ? (step > 0 ? 0 : hits.length - 1) : (i + step + hits.length) % hits.length]);
    if (!state.table) {
      revealNode(state.at);
    }
  }
}

byId("search").addEventListener("input", (event) => choose({ search: event.target.value }));
byId("only").addEventListener("click", () => {
  choose({ only: !state.only });
  showNodes(findShown(), state.only ? READABLE : 2, state.at);
});
byId("tabular").addEventListener("click", () => {
  choose({ table: !state.table });
  if (!state.table) {
    showAtFirst();
  }
});
byId("skip").addEventListener("click", (event) => {
  choose({ table: true });
  byId("rows").focus();
  event.preventDefault();
});
byId("clear").addEventListener("click", () => {
  choose({ search: "", off: new Set(), only: false });
  byId("search").focus();
});
byId("in").addEventListener("click", () => zoom(1.4));
byId("out").addEventListener("click", () => zoom(1 / 1.4));
byId("fit").addEventListener("click", () => showNodes(findShown(), 0, 0));

/* ---- keys ---- */

const ZOOMS = new Map([["+", () => zoom(1.4)], ["=", () => zoom(1.4)], ["-", () => zoom(1 / 1.4)], ["0", () => showNodes(findShown(), 0, 0)]]);

function escape() {
  if (document.activeElement === byId("search")) {
    if (state.search) {
      choose({ search: "" });
    } else {
      canvas.focus();
    }
  } else {
    leaveNode();
  }
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input");
  if (event.ctrlKey || event.altKey || event.metaKey) {
    return;
  }
  if (event.key === "/" && !isTyping) {
    byId("search").focus();
    byId("search").select();
  } else if (event.key === "Escape") {
    escape();
  } else if (event.key === "Enter" && event.target === byId("search")) {
    goToHit(event.shiftKey ? -1 : 1);
  } else if (event.key === "ArrowDown" && event.target === byId("search")) {
    const hits = findHits(findShown());
    const next = hits.includes(state.at) || hits.length === 0 ? Math.max(state.at, 0) : hits[0];
    if (nodes.length > 0 && !state.table) {
      chooseNode(next);
      focusNode(next);
    }
  } else if (!isTyping && !state.table && ZOOMS.has(event.key)) {
    ZOOMS.get(event.key)();
  } else {
    return;
  }
  event.preventDefault();
});

/* ---- the beginning ---- */

/* All of it, or, where that were too small to be read, what is chosen, or the newest. */
function showAtFirst() {
  const shown = findShown();
  const last = nodes.findLastIndex((node) => node.kind === "artifact");
  showNodes(shown, canvas.clientWidth < 700 ? 0.7 : READABLE, state.at >= 0 ? state.at : last >= 0 ? last : nodes.length - 1);
}

readAddress();
markTheme();
makeHead();
makeTypes();
makeCanvas();
drawPage();
showAtFirst();
window.addEventListener("hashchange", () => {
  readAddress();
  drawPage();
});
