/* The same as a table: all that is shown, or that was searched for. */

const MOST_LINKS = 12;

function links(i, lists, end) {
  const all = lists[i].map((e) => make("span", {}, link(edges[e][end]), muted(howOf(edges[e]))));
  const rest = all.length - MOST_LINKS;
  return make("td", { className: "links" }, ...all.slice(0, MOST_LINKS), rest > 0 ? make("span", {}, `and ${rest} more`) : null);
}

function row(i) {
  const node = nodes[i];
  return make("tr", { className: i === state.at ? "at" : "" },
    make("th", { scope: "row" }, link(i)),
    make("td", {}, make("bdi", {}, node.type)),
    make("td", {}, node.state),
    make("td", { className: "created" }, showTime(node.times[0])),
    links(i, into, 0),
    links(i, from, 1));
}

function drawTable(shown, hits) {
  if (!state.table) {
    byId("rows").replaceChildren();
    return;
  }
  const heads = [["Name", ""], ["Type", ""], ["State", ""], ["Created, started", "created"], ["Came from", "links"], ["Went into, made", "links"]];
  byId("rows").replaceChildren(make("table", {},
    make("caption", { className: "hidden" }, "Artifacts and executions"),
    make("thead", {}, make("tr", {}, ...heads.map(([text, className]) => make("th", { scope: "col", className }, text)))),
    make("tbody", {}, ...(state.search ? hits : shown).map(row))));
}
