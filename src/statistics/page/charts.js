/* Charts, as SVG. Of two data sets the first is drawn upwards and the second downwards from one
   line, on one scale: so they are told apart without colours, and need not have the same buckets. */

/* Where a value lies between two others, from 0 to 1; also where their difference is no double. */
function partOf(value, low, high) {
  const range = high - low;
  return Number.isFinite(range) ? (value - low) / range : (value / 2 - low / 2) / (high / 2 - low / 2);
}

/* A scale from [low, high] to [from, to]; what is all one value lies in the middle. */
function scale(low, high, from, to) {
  return high > low ? (value) => from + partOf(value, low, high) * (to - from) : () => (from + to) / 2;
}

/* How high a bucket is, of 1: its share by its width, so that buckets of all widths compare. */
function heights(histograms) {
  const range = rangeOf(histograms);
  const densities = histograms.map((histogram) =>
    histogram?.weights.map((weight, i) => {
      const { low, high } = range;
      const width = partOf(histogram.bounds[i + 1], low, high) - partOf(histogram.bounds[i], low, high);
      return weight / histogram.total / (width > 0 ? width : 1);
    }));
  const some = densities.flatMap((list) => list ?? []).filter((density) => density > 0);
  const most = Math.max(...some);
  const least = Math.min(...some);
  const height = (density) =>
    !(density > 0)
      ? 0
      : state.log
        ? Math.log1p(density / least) / Math.log1p(most / least)
        : density / most;
  return densities.map((list) => list?.map(height));
}

function rangeOf(histograms) {
  const found = histograms.filter(Boolean);
  return {
    low: Math.min(...found.map(({ bounds }) => bounds[0])),
    high: Math.max(...found.map(({ bounds }) => bounds.at(-1))),
  };
}

/* The bars of one data set as one path; `up` is how high the highest is, negative for downwards. */
function barsPath(histogram, heightsOf, x, base, up) {
  const gap = 0.5;
  return histogram.weights
    .map((_, i) => {
      if (!(heightsOf[i] > 0)) {
        return "";
      }
      const isPoint = !(histogram.bounds[i + 1] > histogram.bounds[i]);
      const from = x(histogram.bounds[i]) + (isPoint ? -4 : gap);
      const to = x(histogram.bounds[i + 1]) + (isPoint ? 4 : -gap);
      const high = Math.sign(up) * Math.max(1, Math.abs(up) * heightsOf[i]);
      return `M${from.toFixed(1)} ${base}v${(-high).toFixed(1)}H${Math.max(to, from + 1).toFixed(1)}V${base}z`;
    })
    .join("");
}

/* The histogram of one feature or of two, and what it says to who does not see it. */
function drawHistogram(entry, width, height, className) {
  const histograms = names.map((_, i) => histogram(entry.of[i]));
  const { low, high } = rangeOf(histograms);
  const x = scale(low, high, 1, width - 1);
  const tall = heights(histograms);
  const base = isPair ? height / 2 : height - 1;
  const up = isPair ? height / 2 - 1 : height - 2;
  const svg = draw("svg", {
    class: className, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": histogramText(entry, histograms), preserveAspectRatio: "none",
  });
  histograms.forEach((histogram, i) => {
    if (histogram?.total > 0) {
      svg.append(draw("path", { class: `fill${i}`, d: barsPath(histogram, tall[i], x, base, i ? -up : up) }));
    }
  });
  svg.append(draw("path", { class: "axis", d: `M0 ${base}H${width}` }));
  return svg;
}

/* The same, whose buckets tell what they hold to who points at them. */
function drawLargeHistogram(entry, width, height) {
  const svg = drawHistogram(entry, width, height, "large");
  const histograms = names.map((_, i) => histogram(entry.of[i]));
  const { low, high } = rangeOf(histograms);
  const x = scale(low, high, 1, width - 1);
  histograms.forEach((histogram, i) => {
    histogram?.weights.forEach((weight, k) => {
      const [from, to] = [histogram.bounds[k], histogram.bounds[k + 1]];
      const told = `${showNumber(from)} to ${showNumber(to)}: ${showNumber(weight)} (${showShare(weight / histogram.total)})`;
      svg.append(draw("rect", {
        class: "hover", x: x(from), y: i * (height / names.length), width: Math.max(x(to) - x(from), 1),
        height: height / names.length,
      }, draw("title", {}, isPair ? `${names[i]}, ${told}` : told)));
    });
  });
  return svg;
}

function histogramText(entry, histograms) {
  const told = histograms.map((histogram, i) => {
    if (!(histogram?.total > 0)) {
      return isPair ? `${names[i]}: no values` : "no values";
    }
    const most = histogram.weights.indexOf(Math.max(...histogram.weights));
    return (
      `${isPair ? `${names[i]}: ` : ""}from ${showNumber(histogram.bounds[0])} to ` +
      `${showNumber(histogram.bounds.at(-1))}, most (${showShare(histogram.weights[most] / histogram.total)}) between ` +
      `${showNumber(histogram.bounds[most])} and ${showNumber(histogram.bounds[most + 1])}`
    );
  });
  return `Histogram of ${entry.path}: ${told.join("; ")}`;
}

/* Round numbers within the range, some four of them. */
function ticks(low, high) {
  if (!(high > low) || !Number.isFinite(high - low)) {
    return [...new Set([low, high])];
  }
  const step0 = 10 ** Math.floor(Math.log10((high - low) / 3));
  const step = [5, 2, 1].map((n) => n * step0).find((n) => (high - low) / n >= 3) ?? step0;
  const found = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high && found.length < 12; tick += step) {
    found.push(Number(tick.toPrecision(12)));
  }
  return found;
}

function drawAxis(low, high, width) {
  const x = scale(low, high, 1, width - 1);
  const svg = draw("svg", { class: "ticks", viewBox: `0 0 ${width} 20`, "aria-hidden": "true" });
  for (const tick of ticks(low, high)) {
    const at = x(tick);
    const anchor = at < 20 ? "start" : at > width - 20 ? "end" : "middle";
    svg.append(
      draw("path", { class: "axis", d: `M${at.toFixed(1)} 0v4` }),
      draw("text", { x: at.toFixed(1), y: 16, "text-anchor": anchor }, showNumber(tick)),
    );
  }
  return svg;
}

/* A strip for each data set on the scale of the histogram: tenths of the values in two shades, the middle half as a
   box, the median as a line. */
function drawStrips(entry, low, high, width) {
  const x = scale(low, high, 1, width - 1);
  const rowHeight = 18;
  // What lies beyond the scale ends at its end, but a line has to lie on it.
  const within = (value, isLine) => (isLine ? value : Math.max(low, Math.min(high, value)));
  const svg = draw("svg", {
    class: "strip", viewBox: `0 0 ${width} ${rowHeight * names.length}`, role: "img",
    "aria-label": `Quantiles of ${entry.path}; the table of quantiles has them`,
  });
  names.forEach((_, i) => {
    const feature = entry.of[i];
    if (!quantiles(feature)) {
      return;
    }
    const top = i * rowHeight + 3;
    const part = (from, to, className, y, h) => {
      const [left, right] = [from, to].map((rank) => {
        const value = quantile(feature, rank);
        return value == null ? null : within(value, from === to);
      });
      if (left != null && right != null && right >= low && left <= high) {
        const width0 = Math.max(x(right) - x(left), 1);
        svg.append(draw("rect", { class: className, x: x(left).toFixed(1), y, width: width0.toFixed(1), height: h }));
      }
    };
    for (let tenth = 0; tenth < 10; tenth++) {
      part(tenth / 10, (tenth + 1) / 10, `fill${i} ${tenth % 2 ? "pale" : "paler"}`, top, 12);
    }
    part(0.25, 0.75, `line${i}`, top, 12);
    part(0.5, 0.5, `fill${i} median`, top - 2, 16);
  });
  return svg;
}

/* Shares of one whole, side by side: the frequent values of a feature in its row. */
function drawStack(entry, width, height) {
  const all = names.map((_, i) => topValues(entry.of[i]).slice(0, 8));
  const rowHeight = height / names.length;
  const svg = draw("svg", {
    class: "stack", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", preserveAspectRatio: "none",
  });
  all.forEach((values, i) => {
    let at = 0;
    values.forEach((value, k) => {
      const to = Math.min(1, at + (value.share ?? 0));
      if (to > at) {
        svg.append(draw("rect", {
          class: `fill${i} ${["", "pale", "paler"][Math.min(k, 2)]}`,
          x: (at * width).toFixed(1), y: i * rowHeight, height: rowHeight - 1,
          width: Math.max((to - at) * width - 1, 0.5).toFixed(1),
        }));
      }
      at = to;
    });
  });
  return svg;
}
