/* What is known of the node that is chosen. */

const panel = byId("panel");

function link(i) {
  const button = make("button", { type: "button", className: "link" }, make("bdi", {}, nodes[i].label));
  button.addEventListener("click", () => {
    chooseNode(i);
    revealNode(i);
    panel.querySelector("h2")?.focus();
  });
  return button;
}

const muted = (text) => make("small", {}, ` ${text}`);

/* A list with its head; none of an empty one. `more` are those that the page does not hold. */
function list(head, items, more) {
  if (items.length === 0) {
    return [];
  }
  return [
    make("h3", {}, `${head} (${(items.length + (more ?? 0)).toLocaleString("en")})`),
    make("ul", {}, ...items, more ? make("li", { className: "more" }, `and ${more.toLocaleString("en")} more`) : null),
  ];
}

function table(head, rows, more) {
  if (rows.length === 0) {
    return [];
  }
  const cells = rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, name)), make("td", {}, value)));
  return [
    make("h3", {}, head),
    make("table", {}, make("tbody", {}, ...cells)),
    more ? make("p", { className: "more" }, `and ${more.toLocaleString("en")} more`) : null,
  ];
}

/* "input: examples", "as its view" */
function howOf([, , how, path, isReference]) {
  return isReference ? `as its ${how}` : path ? `${how}: ${path}` : how;
}

function neighbours(i, lists, end, away, className) {
  const drawn = lists[i].map((e) => make("li", { className }, link(edges[e][end]), muted(howOf(edges[e]))));
  const others = (away ?? []).map(([how, label]) =>
    make("li", { className }, make("bdi", {}, label ?? "?"), muted(`${how}, not drawn`)));
  return [...drawn, ...others];
}

function whenOf(node) {
  const [first, second] = node.times;
  if (node.kind === "artifact") {
    return [["created", showTime(first)], ...(second > first ? [["changed", showTime(second)]] : [])];
  }
  return [["started", showTime(first)], ["ended", second == null ? "it runs" : showTime(second)]];
}

const filesOf = (node) => (node.files ?? []).map(([path, split, role, size]) =>
  make("li", {}, make("bdi", {}, path), muted([split, role, size == null ? null : showSize(size)].filter(Boolean).join(", "))));

function fieldsOf(node) {
  const outputs = new Map();
  for (const [output, path] of node.fields ?? []) {
    outputs.set(output, [...(outputs.get(output) ?? []), path]);
  }
  return [...outputs].map(([output, paths]) => [output, make("bdi", {}, paths.join("\n"))]);
}

function drawPanel() {
  const i = state.at;
  panel.hidden = i < 0;
  panel.replaceChildren();
  if (i < 0) {
    return;
  }
  const node = nodes[i];
  const close = make("button", { type: "button", className: "close", ariaLabel: "Close" }, "✕");
  close.addEventListener("click", () => leaveNode());
  const facts = [["id", String(node.id)], ...whenOf(node)];
  if (node.digest) {
    facts.push(["digest", node.digest]);
  }
  if (node.external) {
    facts.push(["external", "its files are never deleted"]);
  }
  const [up, down] = [upOf(i).nodes.size, downOf(i).nodes.size];
  panel.append(...[
    close,
    make("h2", { tabIndex: -1 }, make("bdi", {}, node.label)),
    make("p", { className: "muted" }, make("bdi", {}, node.type), `, ${node.state}`),
    make("p", {}, `${up.toLocaleString("en")} up of it, ${down.toLocaleString("en")} down`),
    ...table("Facts", facts.map(([name, value]) => [name, make("bdi", {}, value)])),
    ...list("Came from", neighbours(i, into, 0, node.away, "up")),
    ...list(node.kind === "execution" ? "Made" : "Went into", neighbours(i, from, 1, node.gone, "down")),
    ...table("Properties", (node.properties ?? []).map(([name, kind, value]) => [name, value == null ? make("em", {}, kind) : showValue(value)]), node.more?.properties),
    ...list("Files", filesOf(node), node.more?.files),
    ...table("Outputs, and what they are made of", fieldsOf(node), node.more?.fields),
  ].filter((child) => child != null));
}
