/* What the page holds: nodes, edges, and what is up and down of what. */

const page = JSON.parse(document.getElementById("data").textContent);
const { nodes, edges } = page;
const [WIDTH, HEIGHT] = page.box;

const state = { search: "", off: new Set(), at: -1, only: false, table: false };

const keyOf = (node) => `${node.kind}:${node.id}`;
const typeOf = (node) => `${node.kind}:${node.type}`;
const byKey = new Map(nodes.map((node, i) => [keyOf(node), i]));

/* Of each node: its edges, by number. */
const into = nodes.map(() => []);
const from = nodes.map(() => []);
for (const [e, [source, target]] of edges.entries()) {
  from[source].push(e);
  into[target].push(e);
}

/* All that can be come to from a node by edges in one direction: nodes and edges. */
function reach(start, lists, end) {
  const found = { nodes: new Set(), edges: new Set() };
  const left = [start];
  while (left.length) {
    for (const e of lists[left.pop()]) {
      const next = edges[e][end];
      found.edges.add(e);
      if (next !== start && !found.nodes.has(next)) {
        found.nodes.add(next);
        left.push(next);
      }
    }
  }
  return found;
}

const upOf = (i) => reach(i, into, 0);
const downOf = (i) => reach(i, from, 1);

/* ---- types ---- */

const LOOKS = ["examples", "view", "schema", "statistics", "model", "other", "execution"];
const MOST_TYPES = 12;
const OTHERS = "others:";

/* Each with its look and how many there are; those beyond the first as one. */
const types = (() => {
  const found = new Map();
  for (const node of nodes) {
    const key = typeOf(node);
    const type = found.get(key) ?? { key, look: node.look, label: node.type, count: 0 };
    type.count++;
    found.set(key, type);
  }
  const common = [...found.values()].sort((a, b) => b.count - a.count);
  const rest = common.splice(common.length > MOST_TYPES ? MOST_TYPES - 1 : MOST_TYPES);
  common.sort((a, b) => LOOKS.indexOf(a.look) - LOOKS.indexOf(b.look) || (a.label < b.label ? -1 : 1));
  if (rest.length) {
    const count = rest.reduce((sum, type) => sum + type.count, 0);
    common.push({ key: OTHERS, look: "other", label: `${rest.length} other types`, count });
  }
  return common;
})();
const namedTypes = new Set(types.map(({ key }) => key));
const chipOf = (node) => (namedTypes.has(typeOf(node)) ? typeOf(node) : OTHERS);

/* ---- what is shown, and what was searched for ---- */

const texts = nodes.map((node) =>
  [node.label, node.type, node.state, node.uri, node.digest, ...(node.files ?? []).flat(),
    ...(node.properties ?? []).map(([name, , value]) => `${name}=${value}`), ...(node.fields ?? []).flat()]
    .filter((text) => text != null).join("\n").toLowerCase());

/* Numbers of the nodes that are shown, and of those of them that have all words of the search. */
function findShown() {
  const near = state.only && state.at >= 0 ? new Set([state.at, ...upOf(state.at).nodes, ...downOf(state.at).nodes]) : null;
  return nodes.flatMap((node, i) => (state.off.has(chipOf(node)) || (near && !near.has(i)) ? [] : [i]));
}

function findHits(shown) {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length ? shown.filter((i) => words.every((word) => texts[i].includes(word))) : [];
}

/* ---- as text ---- */

function showTime(microseconds) {
  const date = new Date(microseconds / 1000);
  return Number.isNaN(date.valueOf()) ? String(microseconds) : date.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

function showSize(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  for (; bytes >= 1000 && unit < units.length - 1; unit++) {
    bytes /= 1000;
  }
  return `${unit && bytes < 100 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
