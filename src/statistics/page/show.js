/* Numbers as text. */

const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const LONG = new Intl.NumberFormat("en", { maximumSignificantDigits: 7 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

const NOTHING = "–";

/* Four digits, or so. */
function showNumber(number) {
  if (number == null) {
    return NOTHING;
  }
  if (!Number.isFinite(number)) {
    return number > 0 ? "∞" : "−∞";
  }
  const size = Math.abs(number);
  if (size >= 1e7 || (size < 1e-4 && size > 0)) {
    return number.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e").replace(/-/g, "−");
  }
  return (size >= 1000 || Number.isInteger(number) ? WHOLE : SHORT).format(number).replace("-", "−");
}

/* All digits of whole numbers, seven of others. `exact` is the text of an integer that a double
   does not hold. */
function showExactly(number, exact) {
  if (exact != null) {
    return exact;
  }
  if (number == null || !Number.isFinite(number)) {
    return showNumber(number);
  }
  const size = Math.abs(number);
  if (size >= 1e15 || (size < 1e-4 && size > 0)) {
    return String(Number(number.toPrecision(7))).replace(/-/g, "−");
  }
  return (Number.isInteger(number) ? WHOLE : LONG).format(number).replace("-", "−");
}

/* In percent, of which neither 0 nor 100 is told where it is nearly so. */
function showShare(part) {
  if (part == null) {
    return NOTHING;
  }
  const percent = 100 * part;
  if (part === 0 || part === 1) {
    return `${percent}%`;
  }
  if (percent < 0.1 || (percent > 99.9 && percent < 100)) {
    return percent < 50 ? "<0.1%" : ">99.9%";
  }
  return `${percent.toFixed(percent < 10 ? 1 : 0)}%`;
}

/* An estimate has a tilde before it. */
function showDistinct(feature) {
  if (feature.distinct == null) {
    return NOTHING;
  }
  const isExact =
    feature.distinct_low == null || feature.distinct_low === feature.distinct_high;
  return (isExact ? "" : "~") + showNumber(Math.round(feature.distinct));
}

/* One part for each data set, with its mark and, for who hears the page, its name. */
function pair(entry, show) {
  if (!isPair) {
    return [show(entry.of[0])];
  }
  return names.map((name, i) =>
    make("span", { className: `set set${i}` },
      make("span", { className: "hidden" }, `${name}: `),
      entry.of[i] ? show(entry.of[i]) : NOTHING));
}
