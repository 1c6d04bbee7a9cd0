/* The picture: zoom, pan, and which nodes are marked. */

const canvas = byId("canvas");
const picture = byId("picture");
const view = byId("view");
const nodeOf = (i) => byId(`n${i}`);

const NEAREST = 3;
const READABLE = 0.45; /* texts are left out where they are smaller than this */
const at = { x: 0, y: 0, scale: 1 };
let moves = 0; /* between two times that the screen is drawn, one is enough */

function drawView() {
  moves = 0;
  view.setAttribute("transform", `translate(${at.x.toFixed(1)} ${at.y.toFixed(1)}) scale(${at.scale.toFixed(4)})`);
  picture.classList.toggle("far", at.scale < READABLE * 0.75);
}

function moveView(changes) {
  Object.assign(at, changes);
  moves = moves || requestAnimationFrame(drawView);
}

function boundsOf(list) {
  const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const i of list) {
    box.left = Math.min(box.left, nodes[i].x);
    box.top = Math.min(box.top, nodes[i].y);
    box.right = Math.max(box.right, nodes[i].x + WIDTH);
    box.bottom = Math.max(box.bottom, nodes[i].y + HEIGHT);
  }
  return box;
}

/* How near all of these fit; how far one may go. */
function scaleOf(box) {
  const wide = canvas.clientWidth / (box.right - box.left + 60);
  const high = canvas.clientHeight / (box.bottom - box.top + 60);
  return Math.min(wide, high, 1.2);
}

const farthest = () => Math.min(0.2, scaleOf(boundsOf(nodes.keys())));

function centre(x, y, scale) {
  moveView({ scale, x: canvas.clientWidth / 2 - x * scale, y: canvas.clientHeight / 2 - y * scale });
}

/* Shows all of these nodes, or, if they are read no more, the part of them around one. */
function showNodes(list, least, around) {
  if (list.length === 0) {
    return;
  }
  const box = boundsOf(list);
  const scale = scaleOf(box);
  if (scale >= least) {
    centre((box.left + box.right) / 2, (box.top + box.bottom) / 2, scale);
  } else {
    centre(within(nodes[around].x + WIDTH / 2, box.left, box.right, canvas.clientWidth / least),
      within(nodes[around].y + HEIGHT / 2, box.top, box.bottom, canvas.clientHeight / least), least);
  }
}

/* The middle of a window of this size that is filled from edge to edge, as near as may be to a
   place; of one that is larger than all, the middle of all. */
function within(place, low, high, size) {
  const room = size / 2 - 30;
  return high - low < 2 * room ? (low + high) / 2 : Math.min(Math.max(place, low + room), high - room);
}

/* A node that is not seen is moved into the picture. */
function revealNode(i) {
  const margin = 30;
  const left = at.x + nodes[i].x * at.scale, top = at.y + nodes[i].y * at.scale;
  const isSeen = left >= margin && top >= margin && left + WIDTH * at.scale <= canvas.clientWidth - margin &&
    top + HEIGHT * at.scale <= canvas.clientHeight - margin;
  if (!isSeen || at.scale < READABLE) {
    centre(nodes[i].x + WIDTH / 2, nodes[i].y + HEIGHT / 2, Math.max(at.scale, 0.8));
  }
}

/* By a factor, around a point of the canvas. */
function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const scale = Math.min(NEAREST, Math.max(farthest(), at.scale * factor));
  const by = scale / at.scale;
  moveView({ scale, x: x - (x - at.x) * by, y: y - (y - at.y) * by });
}

/* ---- marks ---- */

/* Classes of all nodes and edges, of those only that change. */
const classes = { nodes: nodes.map(() => ""), edges: edges.map(() => "") };

function setMarks(id, known, i, wanted) {
  if (known[i] !== wanted) {
    for (const element of [byId(`${id}${i}`), id === "e" ? byId(`r${i}`) : null].filter(Boolean)) {
      element.classList.remove("away", "up", "down", "at", "hit");
      element.classList.add(...wanted.split(" ").filter(Boolean));
    }
    known[i] = wanted;
  }
}

function drawMarks(shown, hits) {
  const isShown = new Set(shown), isHit = new Set(hits);
  const up = state.at >= 0 ? upOf(state.at) : { nodes: new Set(), edges: new Set() };
  const down = state.at >= 0 ? downOf(state.at) : up;
  const markOf = (item, kind) => (up[kind].has(item) ? " up" : down[kind].has(item) ? " down" : "");
  for (const i of nodes.keys()) {
    const marks = (isShown.has(i) ? "" : " away") + (isHit.has(i) ? " hit" : "") + (i === state.at ? " at" : "");
    setMarks("n", classes.nodes, i, marks + markOf(i, "nodes"));
  }
  for (const [e, [source, target]] of edges.entries()) {
    setMarks("e", classes.edges, e, (isShown.has(source) && isShown.has(target) ? "" : " away") + markOf(e, "edges"));
  }
  picture.classList.toggle("chosen", state.at >= 0);
  picture.classList.toggle("searching", hits.length > 0);
}

/* ---- hands: a mouse, a finger, two ---- */

const fingers = new Map();
let pressed = null; /* where it began, until it moves */

const placeOf = (event) => {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

/* The middle of what touches, and how far it is spread. */
function grip() {
  const points = [...fingers.values()];
  const x = points.reduce((sum, point) => sum + point.x, 0) / points.length;
  const y = points.reduce((sum, point) => sum + point.y, 0) / points.length;
  return { x, y, spread: points.length > 1 ? Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y) : 0 };
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.target.closest("#zoom, #none") || (event.pointerType === "mouse" && event.button !== 0)) {
    return;
  }
  fingers.set(event.pointerId, placeOf(event));
  pressed = fingers.size === 1 ? placeOf(event) : null;
});

canvas.addEventListener("pointermove", (event) => {
  if (!fingers.has(event.pointerId)) {
    return;
  }
  const before = grip();
  const here = placeOf(event);
  if (pressed && Math.hypot(here.x - pressed.x, here.y - pressed.y) < 5) {
    return;
  }
  if (pressed || !canvas.classList.contains("held")) {
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add("held");
    pressed = null;
  }
  fingers.set(event.pointerId, here);
  const after = grip();
  moveView({ x: at.x + after.x - before.x, y: at.y + after.y - before.y });
  if (before.spread > 0 && after.spread > 0) {
    zoom(after.spread / before.spread, after.x, after.y);
  }
});

for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    const isClick = name === "pointerup" && pressed && fingers.has(event.pointerId);
    fingers.delete(event.pointerId);
    if (fingers.size === 0) {
      canvas.classList.remove("held");
      pressed = null;
    }
    if (isClick) {
      const node = event.target.closest(".n");
      chooseNode(node ? Number(node.id.slice(1)) : -1);
    }
  });
}

canvas.addEventListener("wheel", (event) => {
  const { x, y } = placeOf(event);
  const step = event.deltaY * (event.deltaMode === 1 ? 30 : 1);
  zoom(Math.exp(-Math.max(-200, Math.min(200, step)) * (event.ctrlKey ? 0.01 : 0.002)), x, y);
  event.preventDefault();
}, { passive: false });

/* ---- keys: from node to node ---- */

/* The nearest node that is shown, in the direction of an arrow: along edges to the left and to the
   right, and up and down in the same layer, or the nearest above or below. */
function neighbour(i, key) {
  const isSeen = (other) => !nodeOf(other).classList.contains("away");
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const list = key === "ArrowLeft" ? into[i].map((e) => edges[e][0]) : from[i].map((e) => edges[e][1]);
    const near = (other) => Math.abs(nodes[other].y - nodes[i].y);
    return list.filter((other) => other !== i && isSeen(other)).sort((a, b) => near(a) - near(b))[0];
  }
  const sign = key === "ArrowDown" ? 1 : -1;
  const far = (other) => (nodes[other].y - nodes[i].y) * sign + (nodes[other].x === nodes[i].x ? 0 : 1e6);
  let best;
  for (const other of nodes.keys()) {
    if ((nodes[other].y - nodes[i].y) * sign > 0 && isSeen(other) && (best === undefined || far(other) < far(best))) {
      best = other;
    }
  }
  return best;
}

function focusNode(i) {
  nodeOf(i).focus({ preventScroll: true });
  revealNode(i);
}

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("button")) {
    return;
  }
  if (event.key.startsWith("Arrow")) {
    const shown = findShown();
    const next = state.at >= 0 ? neighbour(state.at, event.key) : shown[0];
    if (next !== undefined) {
      chooseNode(next);
      focusNode(next);
    }
    event.preventDefault();
  } else if (event.key === "Enter" && state.at >= 0) {
    byId("panel").querySelector("h2").focus();
    event.preventDefault();
  }
});

/* ---- the beginning ---- */

function makeCanvas() {
  picture.removeAttribute("viewBox"); // so it is all of it where no script runs
  for (const [i, node] of nodes.entries()) {
    const element = nodeOf(i);
    element.setAttribute("tabindex", "-1");
    element.setAttribute("role", "button");
    element.setAttribute("aria-label", `${node.label}, ${node.type}, ${node.state}`);
  }
}

/* On paper all that is shown is on one sheet. */
window.addEventListener("beforeprint", () => {
  const box = boundsOf(findShown());
  if (box.right > box.left) {
    view.removeAttribute("transform");
    picture.setAttribute("viewBox", `${box.left - 20} ${box.top - 20} ${box.right - box.left + 40} ${box.bottom - box.top + 40}`);
    picture.classList.remove("far");
  }
});
window.addEventListener("afterprint", () => {
  picture.removeAttribute("viewBox");
  drawView();
});
