/* What stands below a feature's row when it is opened: all that is known of it. */

function section(title, ...children) {
  return make("section", {}, make("h2", {}, title), ...children);
}

/* A small table; the first column heads its rows. Cells are texts or elements. */
function smallTable(caption, heads, rows, className = "") {
  const body = rows.map(([head, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, head), ...cells.map((cell) => make("td", {}, cell))));
  return make("table", { className: `small ${className}` },
    make("caption", { className: "hidden" }, caption),
    make("thead", { className: heads[1] === "Value" ? "hidden" : "" }, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...body));
}

/* Heads of the columns that each data set has. */
const nameHead = (i) => make("span", { className: `set${i}` }, names[i]);
const ofEach = (first) => [first, ...(isPair ? [nameHead(0), nameHead(1)] : ["Value"])];

/* ---- numbers ---- */

const FACTS = [
  ["Rows", (f) => showExactly(f.rows)],
  ["Rows' weight", (f) => (f.rows_weight == null ? null : showExactly(f.rows_weight))],
  ["Present", (f) => `${showExactly(f.present)} (${showShare(share(f.present, f.rows))})`],
  ["Present, by weight", (f) => (f.present_weight == null ? null : showShare(share(f.present_weight, f.rows_weight)))],
  ["Values", (f) => showExactly(f.values)],
  ["Different values", distinctFact],
  ["Mean", (f) => numberFact(pick(f, "mean"))],
  ["Standard deviation", (f) => numberFact(pick(f, "std_dev"))],
  ["Least", (f) => (f.min == null ? null : showExactly(f.min, f.exact_min))],
  ["Greatest", (f) => (f.max == null ? null : showExactly(f.max, f.exact_max))],
  ["Zeros", (f) => (f.zeros === 0 ? "0" : partFact(f.zeros, f))],
  ["Negative", (f) => partFact(f.negatives, f)],
  ["NaN", (f) => partFact(f.nan, f)],
  ["Infinite", (f) => (f.plus_infinity == null ? null : partFact(f.plus_infinity + (f.minus_infinity ?? 0), f))],
  ["Mean length", (f) => lengthFact(pick(f, "mean_length"))],
  ["Lengths", (f) => (f.min_length == null ? null : `${showExactly(f.min_length)} to ${showExactly(f.max_length)} bytes`)],
  ["Words in a value", (f) => numberFact(f.mean_tokens)],
  ["Not UTF-8", (f) => partFact(f.not_utf8, f)],
];

function numberFact(number) {
  return number == null ? null : showExactly(number);
}

function lengthFact(number) {
  return number == null ? null : `${showExactly(number)} bytes`;
}

/* Nothing is told of what there is none of. */
function partFact(count, feature) {
  return count > 0 ? `${showExactly(count)} (${showShare(share(count, feature.values))})` : null;
}

function distinctFact(f) {
  if (f.distinct == null) {
    return null;
  }
  const isExact = f.distinct_low == null || f.distinct_low === f.distinct_high;
  const number = showExactly(Math.round(f.distinct));
  return isExact
    ? number
    : `~${number} (${showExactly(Math.floor(f.distinct_low))} to ${showExactly(Math.ceil(f.distinct_high))})`;
}

function factsPart(entry) {
  const rows = [];
  for (const [label, tell] of FACTS) {
    const told = entry.of.map((feature) => (feature ? tell(feature) : null));
    if (told.some((text) => text != null)) {
      rows.push([label, ...names.map((_, i) => told[i] ?? NOTHING)]);
    }
  }
  return section("Numbers", smallTable(`Numbers of ${entry.path}`, ofEach("Number"), rows, "facts"));
}

/* ---- how they are distributed ---- */

const WIDTH = 380;

function bucketsTable(entry) {
  const parts = names.flatMap((name, i) => {
    const found = histogram(entry.of[i]);
    if (!found) {
      return [];
    }
    const rows = found.weights.map((weight, k) => [
      `${showNumber(found.bounds[k])} to ${showNumber(found.bounds[k + 1])}`,
      showNumber(weight), showShare(weight / found.total),
    ]);
    const caption = `Histogram of ${entry.path}${isPair ? `, ${name}` : ""}`;
    return [...(isPair ? [make("h3", {}, name)] : []), smallTable(caption, ["Values", "Count", "Share"], rows)];
  });
  return make("details", {}, make("summary", {}, "The histogram as a table"), ...parts);
}

const TOLD = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1];

function quantilesTable(entry) {
  const rows = TOLD.map((part) => [
    part === 0 ? "least" : part === 1 ? "greatest" : part === 0.5 ? "median" : `${Math.round(100 * part)}%`,
    ...names.map((_, i) => entry.of[i] && quantile(entry.of[i], part)),
  ])
    .filter((row) => row.slice(1).some((value) => value != null))
    .map(([head, ...values]) => [head, ...values.map((value) => showNumber(value))]);
  return smallTable(`Quantiles of ${entry.path}`, ofEach("Below"), rows, "facts");
}

/* [the histogram, the quantiles], null where there is none. */
function distributionOf(entry) {
  const parts = [null, null];
  if (entry.type === "BOOL") {
    return parts; // frequent values say all
  }
  const histograms = names.map((_, i) => histogram(entry.of[i]));
  if (histograms.some((found) => found?.total > 0)) {
    const { low, high } = rangeOf(histograms);
    parts[0] = section("Histogram",
      drawLargeHistogram(entry, WIDTH, isPair ? 180 : 130),
      drawStrips(entry, low, high, WIDTH), drawAxis(low, high, WIDTH), bucketsTable(entry));
  }
  if (entry.of.some((feature) => quantiles(feature))) {
    parts[1] = section("Quantiles", quantilesTable(entry));
  }
  return parts;
}

/* ---- frequent values ---- */

function bar(part, i) {
  const element = make("span", { className: `bar fill${i}`, ariaHidden: "true" });
  element.style.width = `${Math.max(100 * Math.min(part ?? 0, 1), part > 0 ? 0.5 : 0)}%`;
  return element;
}

/* The lower bound too, where it is not the upper one. */
function countText({ lower, upper }) {
  return lower === upper ? showExactly(lower) : `${showNumber(lower)} to ${showNumber(upper)}`;
}

function frequentPart(entry) {
  const lists = names.map((_, i) => topValues(entry.of[i]));
  const values = new Map();
  lists.forEach((list, i) => {
    for (const top of list) {
      values.set(top.value, Object.assign(values.get(top.value) ?? [], { [i]: top }));
    }
  });
  if (values.size === 0) {
    return null;
  }
  const most = Math.max(...lists.flat().map((top) => top.share ?? 0));
  const rows = [...values].map(([value, tops]) => [
    showValue(value),
    make("div", { className: "bars" }, ...names.map((_, i) => bar(tops[i] ? tops[i].share / most : 0, i))),
    ...names.flatMap((_, i) => (tops[i] ? [showShare(tops[i].share), countText(tops[i])] : [NOTHING, NOTHING])),
  ]);
  const heads = isPair ? names.flatMap((_, i) => [nameHead(i), "Count"]) : ["Share", "Count"];
  const part = section("Frequent values",
    smallTable(`Frequent values of ${entry.path}`, ["Value", "", ...heads], rows, "frequent"));
  part.className = "two";
  return part;
}

/* ---- lists ---- */

function listsPart(entry) {
  const parts = [];
  names.forEach((name, i) => {
    const feature = entry.of[i];
    if (!feature?.levels?.length) {
      return;
    }
    const rows = feature.levels.map(([nulls, lists, empty, items, least, most], level) => [
      level === 0 ? "of a row" : `in these, ${level}`,
      ...[lists, nulls, empty, items].map((number) => showExactly(number)),
      showNumber(share(items, lists)), least == null ? NOTHING : `${showExactly(least)} to ${showExactly(most)}`,
    ]);
    const heads = ["Lists", "Number", "Missing", "Empty", "Items", "Items each", "From, to"];
    parts.push(...(isPair ? [make("h3", {}, name)] : []), smallTable(`Lists of ${entry.path}, ${name}`, heads, rows));
    if (feature.lengths?.length > 1) {
      const last = feature.lengths.length - 1;
      const lengths = feature.lengths.map((length, k) => [`${Math.round((100 * k) / last)}%`, showNumber(length)]);
      const heads2 = ["Below", ...lengths.map(([part]) => part)];
      parts.push(smallTable(`Items of the outer lists of ${entry.path}`, heads2, [["Items", ...lengths.map(([, length]) => length)]]));
    }
  });
  return parts.length > 0 ? section("Lists", ...parts) : null;
}

/* ---- slices ---- */

const MOST_SLICES = 60;

/* The same feature in each slice; names of slices choose them. */
function slicesPart(entry) {
  const found = slicesOf(entry.path);
  if (found.length === 0) {
    return null;
  }
  const rowsOf = ({ of }) => Math.max(...of.map((feature) => feature?.rows ?? 0));
  found.sort((a, b) => rowsOf(b) - rowsOf(a));
  const row = (one) => {
    const other = { path: entry.path, of: one.of };
    const isNumber = one.of.some((feature) => feature?.isNumber);
    return [
      make("button", { type: "button", className: "link", value: one.key }, one.label),
      ...[(f) => showNumber(f.rows), (f) => showShare(missing(f)),
        isNumber ? (f) => showNumber(pick(f, "mean")) : (f) => showNumber(pick(f, "mean_length")), showDistinct,
      ].map((show) => make("div", {}, ...pair(other, show))),
      ...(page.drift ? [make("div", {}, ...driftCell({ drift: drift.get(one.key)?.get(entry.path) }))] : []),
      valuesCell(other, 120),
    ];
  };
  const isNumber = entry.of.some((feature) => feature?.isNumber);
  const table = (list) =>
    smallTable(`${entry.path} in each slice`,
      ["Slice", "Rows", "Missing", isNumber ? "Mean" : "Mean length", "Distinct", ...(page.drift ? ["Drift"] : []), "Values"], list.map(row), "slices");
  const part = section(`Slices (${WHOLE.format(found.length)})`, table(found.slice(0, MOST_SLICES)));
  if (found.length > MOST_SLICES) {
    const more = make("button", { type: "button" }, `Show all ${WHOLE.format(found.length)}`);
    more.addEventListener("click", () => {
      part.querySelector("table").replaceWith(table(found));
      more.remove();
    });
    part.append(more);
  }
  part.className = "wide";
  return part;
}

/* ---- how they differ ---- */

/* The one number that a difference is sorted by. */
function driftOf(row) {
  return row?.score ?? null;
}

const MEASURES = [
  ["score", "Drift, of 1"], ["linf", "L∞ distance of shares"], ["jensen_shannon", "Jensen-Shannon divergence"],
  ["psi", "Population stability index"], ["ks", "Kolmogorov-Smirnov distance"],
  ["normalized_abs_difference", "Normalized absolute difference"], ["presence_change", "Change of presence"],
  ["resolution", "Resolution of these"],
];

function wordsList(title, words) {
  return words?.length
    ? make("div", {}, make("h3", {}, title), make("ul", {}, ...words.map((word) => make("li", {}, showValue(word)))))
    : null;
}

function driftPart(entry) {
  const row = entry.drift;
  if (!row) {
    return null;
  }
  const rows = MEASURES.filter(([name]) => row[name] != null).map(([name, label]) => [label, showNumber(row[name])]);
  return section("Drift",
    row.what ? make("p", {}, row.what) : null, wordsList("Beyond a threshold", row.anomalies),
    smallTable(`Drift of ${entry.path}`, ["Measure", "Value"], rows, "facts"),
    wordsList("New values", row.new_values), wordsList("Lost values", row.lost_values));
}

function detailsOf(entry) {
  // Below what is short: the histogram, or where there is none, the numbers.
  const [histogramPart, quantilesPart] = distributionOf(entry);
  const withDrift = (part) => make("div", {}, part, driftPart(entry));
  return make("div", { className: "details", role: "region", ariaLabel: `Details of ${entry.path}` },
    histogramPart ? withDrift(histogramPart) : null, quantilesPart, frequentPart(entry),
    histogramPart ? factsPart(entry) : withDrift(factsPart(entry)), listsPart(entry), slicesPart(entry));
}
