/* What the page shows: the JSON that stands in it, read feature by feature, slice by slice, and the
   numbers that columns show and sort by. Nothing here knows of the document but where the JSON is. */

const page = JSON.parse(document.getElementById("data").textContent);
const names = page.data.map((data) => data.name);
const isPair = names.length === 2;
const ALL_ROWS = "[]"; // the key of the slice that is all rows

/* What is chosen; page.js reads it of the address and writes it there. */
const state = {
  search: "", type: "", slice: ALL_ROWS, sort: "", down: false, log: false, weighted: false,
  middle: false, // charts leave out the least and the greatest values, 1% each
  open: new Set(), // paths of the features whose details are open
};

/* A row as an object: each begins with the number of its columns. */
function readFeature(row) {
  const feature = { isNumber: row[0] === 0 };
  page.columns[row[0]].forEach((column, i) => {
    feature[column] = row[i + 1] ?? null;
  });
  return feature;
}

function sliceLabel(slice) {
  return slice.map(([path, value]) => `${path} = ${value.trim() === "" ? "(empty)" : value}`).join(", ") || "All rows";
}

/* Slices of all data sets: key -> {label, of: [rows or undefined for each data set]}. */
const slices = new Map();
page.data.forEach((data, i) => {
  for (const { slice, features } of data.slices) {
    const key = JSON.stringify(slice);
    if (!slices.has(key)) {
      slices.set(key, { label: sliceLabel(slice), of: [] });
    }
    slices.get(key).of[i] = features;
  }
});

/* Differences: key of the slice -> path -> {column: value}. */
const drift = new Map();
for (const [slice, ...cells] of page.drift?.rows ?? []) {
  const key = JSON.stringify(slice);
  const row = Object.fromEntries(page.drift.columns.slice(1).map((name, i) => [name, cells[i]]));
  if (!drift.has(key)) {
    drift.set(key, new Map());
  }
  drift.get(key).set(row.path, row);
}

const hasWeights = page.columns.some((columns) => columns.includes("rows_weight"));

/* The features of a slice: [{path, type, of: [feature or undefined for each data set], drift}]. */
const entriesOf = (() => {
  const known = new Map();
  return (key) => {
    if (!known.has(key)) {
      const found = new Map();
      slices.get(key)?.of.forEach((rows, i) => {
        for (const row of rows) {
          const feature = readFeature(row);
          if (!found.has(feature.path)) {
            found.set(feature.path, { path: feature.path, type: feature.type, of: [] });
          }
          found.get(feature.path).of[i] = feature;
        }
      });
      for (const entry of found.values()) {
        entry.drift = drift.get(key)?.get(entry.path);
        const types = new Set(entry.of.filter(Boolean).map((feature) => feature.type));
        entry.type = [...types].join(" → ");
      }
      known.set(key, [...found.values()]);
    }
    return known.get(key);
  };
})();

/* The same feature in every slice that has it: [{key, label, of}]. */
function slicesOf(path) {
  const found = [];
  for (const [key, { label, of }] of slices) {
    if (key !== ALL_ROWS) {
      const rows = names.map((_, i) => of[i]?.find((row) => row[1] === path));
      if (rows.some(Boolean)) {
        found.push({ key, label, of: rows.map((row) => row && readFeature(row)) });
      }
    }
  }
  return found;
}

/* ---- numbers of a feature ---- */

/* What is called `name`, or its weighted twin where that is wanted and there. */
function pick(feature, name) {
  const weighted = state.weighted ? feature[`weighted_${name}`] : null;
  return weighted != null && weighted.length !== 0 ? weighted : feature[name];
}

function isWeighted(feature) {
  return state.weighted && feature.rows_weight != null;
}

const share = (part, all) => (part == null || !(all > 0) ? null : part / all);

function missing(feature) {
  const present = isWeighted(feature)
    ? share(feature.present_weight, feature.rows_weight)
    : share(feature.present, feature.rows);
  return present == null ? null : 1 - present;
}

/* How much all values weigh. */
function weightOfValues(feature) {
  return isWeighted(feature) ? (feature.values_weight ?? feature.present_weight) : feature.values;
}

/* {at: [parts of 1], values}, or null. */
function quantiles(feature) {
  const values = feature && pick(feature, "quantiles");
  return values?.length > 1 ? { at: values.map((_, i) => i / (values.length - 1)), values } : null;
}

/* The value below which this part of all lies; null where the quantiles do not tell it. */
function quantile(feature, part) {
  const all = quantiles(feature);
  const i = all ? part * (all.values.length - 1) : NaN;
  return Math.abs(i - Math.round(i)) < 1e-6 ? all.values[Math.round(i)] : null;
}

const MIDDLE = [0.01, 0.99];
const MIDDLE_BUCKETS = 20;

/* What part of the values is at most `value`, or below it. */
function rankOf(all, value, isBelow) {
  const { at, values } = all;
  const next = values.findIndex((bound) => (isBelow ? bound >= value : bound > value));
  if (next <= 0) {
    return next < 0 ? 1 : 0;
  }
  const width = values[next] - values[next - 1];
  return at[next - 1] + ((value - values[next - 1]) / width) * (at[next] - at[next - 1]);
}

/* A histogram of the middle values, of the quantiles, as exact as these are. */
function middleHistogram(feature) {
  const all = feature && quantiles(feature);
  const [low, high] = MIDDLE.map((part) => all && quantile(feature, part));
  if (low == null || !Number.isFinite(high - low)) {
    return null;
  }
  const count = high > low ? MIDDLE_BUCKETS : 1;
  const bounds = Array.from({ length: count + 1 }, (_, i) => low + (i / count) * (high - low));
  const ranks = bounds.map((bound, i) => rankOf(all, bound, i === 0));
  const of = weightOfValues(feature);
  const weights = ranks.slice(1).map((rank, i) => Math.round((rank - ranks[i]) * of));
  return { bounds, weights, total: weights.reduce((sum, weight) => sum + weight, 0) };
}

/* {bounds, weights, total}, or null; the JSON has all bounds, or the first and the last one. */
function histogram(feature) {
  if (state.middle) {
    return middleHistogram(feature);
  }
  const found = feature && pick(feature, "histogram");
  if (!found?.length) {
    return null;
  }
  const [ends, ...weights] = found;
  if (ends[0] === ends.at(-1)) {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return { bounds: [ends[0], ends[0]], weights: [total], total };
  }
  const between = (part) => ends[0] * (1 - part) + ends.at(-1) * part;
  const bounds =
    ends.length > 2 ? ends : [...weights.map((_, i) => between(i / weights.length)), ends.at(-1)];
  return { bounds, weights, total: weights.reduce((sum, weight) => sum + weight, 0) };
}

/* [{value, lower, upper, share}]. */
function topValues(feature) {
  const all = feature ? weightOfValues(feature) : 0;
  return (feature ? (pick(feature, "top") ?? []) : []).map(([value, lower, upper = lower]) => ({
    value, lower, upper, share: share(upper, all),
  }));
}

/* ---- columns, which the table shows and sorts by ---- */

const COLUMNS = [
  { name: "path", label: "Feature", isText: true },
  { name: "type", label: "Type", isText: true },
  { name: "missing", label: "Missing", of: missing, show: showShare },
  { name: "zeros", label: "Zeros", of: (f) => share(f.zeros, f.values), show: showShare },
  { name: "distinct", label: "Distinct", of: (f) => f.distinct, show: (_, f) => showDistinct(f) },
  { name: "mean", label: "Mean", of: (f) => pick(f, "mean"), show: showNumber },
  { name: "std_dev", label: "Std dev", of: (f) => pick(f, "std_dev"), show: showNumber },
  { name: "min", label: "Min", of: (f) => f.min, show: showNumber },
  { name: "median", label: "Median", of: (f) => quantile(f, 0.5), show: showNumber },
  { name: "max", label: "Max", of: (f) => f.max, show: showNumber },
];
if (page.drift) {
  COLUMNS.push({ name: "drift", label: "Drift" });
}

const collator = new Intl.Collator("en", { numeric: true });

/* What an entry is sorted by; null comes last in both directions. */
function sortValue(entry, column) {
  if (column.isText) {
    return entry[column.name];
  }
  if (column.name === "drift") {
    return driftOf(entry.drift);
  }
  const feature = entry.of.find((f) => f && column.of(f) != null);
  return feature ? column.of(feature) : null;
}

/* The entries of the slice that are wanted, in the order that is wanted. */
function chosenEntries() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entriesOf(state.slice).filter(
    (entry) =>
      (!state.type || entry.type === state.type) &&
      words.every((word) => entry.path.toLowerCase().includes(word)),
  );
  const column = COLUMNS.find(({ name }) => name === state.sort);
  if (!column) {
    return found;
  }
  const sign = state.down ? -1 : 1;
  const compare = column.isText ? collator.compare : (a, b) => a - b;
  return found
    .map((entry) => ({ entry, by: sortValue(entry, column) }))
    .sort((a, b) =>
      a.by == null || b.by == null ? (a.by == null) - (b.by == null) : sign * compare(a.by, b.by))
    .map(({ entry }) => entry);
}
