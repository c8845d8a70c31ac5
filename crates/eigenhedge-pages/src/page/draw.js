// Drawing of a chart with uPlot, and of elements that uPlot lacks. Text is drawn on the canvas.
window.eigenhedge = (function () {
  "use strict";
  // Formats of time ticks in UTC, by their distance in seconds. A second line shows a new date.
  const day = "{YYYY}-{MM}-{DD}", below = "\n" + day, none = [null, null, null, null, null, null, 1];
  const DATES = [[31536000, "{YYYY}", ...none], [2419200, "{YYYY}-{MM}", ...none], [86400, day, ...none],
    ...[[3600, "{HH}:{mm}"], [60, "{HH}:{mm}"], [1, "{HH}:{mm}:{ss}"]]
      .map(([step, time]) => [step, time, below, below, below, null, null, null, 1])];

  function significant(value, digits) {
    if (value == null) return "";
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(digits - 1).replace(/\.?0+e\+?/, "e");
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(digits)));
  }

  function short(value) {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-4 || size >= 1e13)) return significant(value, 4);
    for (const [unit, suffix] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
      if (size >= unit && size >= 1e4) return Number((value / unit).toPrecision(6)) + suffix;
    return String(Number(value.toPrecision(8)));
  }

  // Returns the labels of ticks, with a common unit and number of decimals if evenly spaced.
  function labels(values, log) {
    const known = values.filter(v => v != null), size = Math.max(0, ...known.map(Math.abs));
    const step = Math.min(...known.slice(1).map((v, i) => v - known[i]));
    if (log || size >= 1e13 || !(step >= 1e-5) || step === Infinity) return values.map(v => v == null ? "" : short(v));
    const units = [[1e9, "G"], [1e6, "M"], [1e4, "k"], [0, ""]];
    const [least, suffix] = units.find(([least]) => size >= least && step >= least / 1e3);
    const unit = suffix === "k" ? 1e3 : least || 1;
    let decimals = 0;
    while (decimals < 8 && Math.abs(step / unit * 10 ** decimals - Math.round(step / unit * 10 ** decimals)) > 1e-6) decimals++;
    return values.map(v => v == null ? "" : v === 0 ? "0" : (v / unit).toFixed(decimals) + suffix);
  }

  // Merges the horizontal positions of all series. A value that a series lacks is undefined, and does not break its line.
  // Series share positions only if those of every series increase.
  function columns(series) {
    const rises = s => s.x.every((x, i) => i === 0 || x > s.x[i - 1]);
    const shared = series.every(rises);
    const places = series.flatMap((s, i) => s.x.map((x, j) => [x, i, j])).sort((a, b) => a[0] - b[0]);
    const xs = [], rows = series.map(s => new Array(s.x.length));
    for (const [x, i, j] of places) {
      if (!shared || xs.length === 0 || xs[xs.length - 1] !== x) xs.push(x);
      rows[i][j] = xs.length - 1;
    }
    const column = (values, i) => {
      const all = new Array(xs.length).fill(undefined);
      values.forEach((value, j) => { all[rows[i][j]] = value; });
      return all;
    };
    return { xs, rows, column, rises };
  }

  // Finds the point nearest to the cursor, in a scatter plot within 30 pixels.
  function nearest(scattered) {
    return (u, index, hovered) => {
      const ys = u.data[index], xs = u.data[0];
      if (index === 0 || ys === undefined) return hovered;
      if (scattered) {
        let best = null, least = 30 * 30;
        for (let i = 0; i < xs.length; i++) {
          if (ys[i] == null) continue;
          const dx = u.valToPos(xs[i], "x") - u.cursor.left, dy = u.valToPos(ys[i], "y") - u.cursor.top;
          if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = i; }
        }
        return best;
      }
      let left = hovered, right = hovered;
      while (left >= 0 && ys[left] === undefined) left--;
      while (right < xs.length && ys[right] === undefined) right++;
      if (left < 0) return right < xs.length ? right : null;
      if (right >= xs.length) return left;
      return xs[hovered] - xs[left] <= xs[right] - xs[hovered] ? left : right;
    };
  }

  function overlap(a, b) { return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]; }

  // Assigns each label, given as [middle, half width], to a line with room, or to -1, and shifts its middle.
  function lineUp(labels, lines, left, right, gap) {
    const ends = new Array(lines).fill(-Infinity);
    return labels.map(([at, half]) => {
      const middle = Math.min(Math.max(at, left + half), right - half);
      const line = half === 0 || 2 * half > right - left ? -1 : ends.findIndex(end => middle - half >= end + gap);
      if (line >= 0) ends[line] = middle + half;
      return [line, middle];
    });
  }

  // Estimates the number of lines for the labels of the marks, at 7 pixels per character.
  function markLines(chart, low, high, width) {
    const scale = chart.log_x ? Math.log : x => x, span = scale(high) - scale(low) || 1;
    const labels = chart.marks.filter(([x]) => x >= low && x <= high)
      .map(([x, label]) => [(scale(x) - scale(low)) / span * width, 3.5 * label.length]);
    return 1 + Math.max(-1, ...lineUp(labels, 3, 0, width, 6).map(([line]) => line));
  }

  function drawMarks(u, chart, colours, ratio, lines) {
    const { ctx, bbox } = u, right = bbox.left + bbox.width;
    const seen = chart.marks.filter(([x]) => x >= u.scales.x.min && x <= u.scales.x.max);
    const places = seen.map(([x, label]) => [u.valToPos(x, "x", true), ctx.measureText(label).width / 2]);
    const lined = lineUp(places, lines, bbox.left, right, 6 * ratio);
    ctx.strokeStyle = ctx.fillStyle = colours.faint;
    ctx.lineWidth = ratio;
    ctx.textAlign = "center";
    ctx.textBaseline = "top";
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    seen.forEach(([, label], i) => {
      const [x] = places[i], [line, middle] = lined[i];
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      if (line >= 0) ctx.fillText(label, middle, bbox.top - (line + 1) * 14 * ratio);
    });
    ctx.setLineDash([]);
  }

  function drawAnnotations(u, chart, colours, ratio) {
    const { ctx, bbox } = u;
    // A point above the visible range is named at the edge.
    const { min, max } = u.scales.y;
    const seen = chart.annotations.filter(([x, y]) => x >= u.scales.x.min && x <= u.scales.x.max && y >= min);
    const places = seen.map(([x, y, label]) =>
      [u.valToPos(x, "x", true), y > max ? bbox.top : u.valToPos(y, "y", true), label, y > max]);
    const r = 4 * ratio, taken = places.map(([x, y]) => [x - r, y - r, x + r, y + r]);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const [x, y, label, beyond] of places) {
      ctx.strokeStyle = ctx.fillStyle = colours.ink;
      ctx.lineWidth = ratio;
      if (!beyond) { ctx.beginPath(); ctx.arc(x, y, r, 0, 2 * Math.PI); ctx.stroke(); }
      const w = ctx.measureText(label).width + 2 * ratio, h = 14 * ratio, g = 6 * ratio;
      const area = [[g, -h / 2], [-g - w, -h / 2], [-w / 2, -g - h], [-w / 2, g], [g, -g - h], [-g - w, -g - h], [g, g], [-g - w, g]]
        .map(([dx, dy]) => [x + dx, y + dy, x + dx + w, y + dy + h])
        .find(a => a[0] >= bbox.left && a[2] <= bbox.left + bbox.width && a[1] >= bbox.top && a[3] <= bbox.top + bbox.height
          && !taken.some(b => overlap(a, b)));
      if (!area) continue;
      taken.push(area);
      ctx.strokeStyle = colours.paper;
      ctx.lineWidth = 3 * ratio;
      ctx.strokeText(label, area[0], area[1] + h / 2);
      ctx.fillText(label, area[0], area[1] + h / 2);
    }
  }

  // Draws error bars, and lines whose positions do not increase, because uPlot does not support them.
  function drawOwn(u, own, ratio) {
    const { ctx } = u;
    for (const { series, column, colour, bars, line } of own) {
      if (!u.series[column].show) continue;
      const place = (x, y) => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
      ctx.strokeStyle = colour;
      ctx.lineWidth = (line ? 2 : 1.2) * ratio;
      ctx.beginPath();
      let down = false;
      series.x.forEach((x, i) => {
        if (line) {
          if (series.y[i] === null) { down = false; return; }
          const [px, py] = place(x, series.y[i]);
          if (down) ctx.lineTo(px, py); else ctx.moveTo(px, py);
          down = true;
        }
      });
      if (bars) series.x.forEach((x, i) => {
        if (series.low[i] === null || series.high[i] === null || series.low[i] === series.high[i]) return;
        const [px, low] = place(x, series.low[i]), [, high] = place(x, series.high[i]), r = 3 * ratio;
        ctx.moveTo(px - r, low); ctx.lineTo(px + r, low); ctx.moveTo(px, low); ctx.lineTo(px, high);
        ctx.moveTo(px - r, high); ctx.lineTo(px + r, high);
      });
      ctx.setLineDash(line ? series.dash.map(d => d * ratio) : []);
      ctx.stroke();
      ctx.setLineDash([]);
    }
  }

  function sample(kind, colour, dash) {
    const shape = kind === "points" ? `<circle cx="14" cy="7" r="4" fill="${colour}"/>`
      : kind === "band" ? `<path d="M0 2h28v10h-28z" fill="${colour}" fill-opacity=".25"/>`
      : `<path d="M0 7h28" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash.join(" ")}"/>`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="28" height="14">${shape}</svg>`;
    return `url("data:image/svg+xml,${encodeURIComponent(svg)}") center no-repeat`;
  }

  function drawBeyond(u, chart, theme, ratio) {
    const { ctx, bbox } = u, x = u.scales.x, y = u.scales.y, across = x.min, last = x.max;
    chart.series.forEach(s => {
      if (s.kind !== "points" || !u.series[s.column].show) return;
      ctx.fillStyle = s.colour[theme];
      ctx.beginPath();
      s.x.forEach((at, i) => {
        const v = s.y[i];
        if (v === null || at < across || at > last || (v >= y.min && v <= y.max)) return;
        const px = u.valToPos(at, "x", true), up = v > y.max, py = up ? bbox.top : bbox.top + bbox.height;
        const h = (up ? 7 : -7) * ratio;
        ctx.moveTo(px, py); ctx.lineTo(px + 4 * ratio, py + h); ctx.lineTo(px - 4 * ratio, py + h);
      });
      ctx.fill();
    });
  }

  function arrange(chart, theme) {
    const table = columns(chart.series), values = [table.xs], own = [], bands = [];
    chart.series.forEach((s, i) => {
      const colour = s.colour[theme], band = s.kind === "band", column = s.column = values.length;
      s.backwards = s.kind === "line" && !table.rises(s);
      s.single = s.y.filter(y => y !== null).length === 1;
      values.push(table.column(s.y, i));
      if (s.low) {
        values.push(table.column(s.low, i), table.column(s.high, i));
        if (band) bands.push({ series: [column + 2, column + 1], fill: colour + "40" });
      }
      if ((s.low && !band) || s.backwards) own.push({ series: s, column, colour, bars: s.low && !band, line: s.backwards });
    });
    const scattered = chart.series.length > 0 && chart.series.every(s => s.kind === "points");
    const xs = table.xs, widest = xs.length ? [xs[0], xs[xs.length - 1]] : [0, 1];
    return { values, own, bands, scattered, widest };
  }

  // Describes everything except the data. Charts with equal descriptions can share a drawing.
  function shape(chart, plan, theme, lines) {
    const series = chart.series.map(s => [s.name, s.kind, s.colour, s.dash, Boolean(s.low), s.backwards, s.single, s.x.length > 300]);
    return JSON.stringify([chart.x_label, chart.y_label, chart.log_x, chart.log_y, chart.dated_x, plan.scattered, series, theme, lines]);
  }

  function options(entry, palette, theme, size) {
    const { chart, plan } = entry, { scattered } = plan;
    const colours = Object.fromEntries(["paper", "ink", "faint", "grid"].map((name, i) => [name, palette[i][theme]]));
    const samples = [""];
    const when = v => v == null ? "" : new Date(1e3 * v).toISOString().slice(0, 19).replace("T", " ");
    const series = [{ label: chart.x_label || "x", value: (u, v) => chart.dated_x ? when(v) : significant(v, 7) }];
    const plain = { width: 0, class: "spread", points: { show: false } };
    chart.series.forEach((s, i) => {
      const colour = s.colour[theme], column = s.column, points = s.kind === "points", band = s.kind === "band";
      const text = (u, v, index, at) => v == null ? ""
        : scattered ? "(" + significant(u.data[0][at], 5) + ", " + significant(v, 5) + ")"
        : band && at != null ? significant(u.data[column + 1][at], 6) + " to " + significant(u.data[column + 2][at], 6)
        : significant(v, 7);
      series.push({
        label: s.name || "series " + (i + 1), stroke: colour, fill: band ? colour + "40" : undefined,
        width: band ? 0 : 2, dash: s.dash, value: text,
        paths: points || band || s.backwards ? () => null : undefined,
        points: points ? { show: true, size: s.x.length > 300 ? 4 : 7, fill: colour, stroke: colour }
          : { show: s.single, fill: colour },
      });
      samples.push(sample(s.kind, colour, s.dash));
      if (s.low) {
        series.push({ ...plain, label: "low" }, { ...plain, label: "high" });
        samples.push("", "");
      }
    });
    const horizontal = (u, low, high) => {
      const { chart, plan: { widest } } = entry;
      if (low == null) return chart.log_x ? [1, 10] : [0, 1];
      if (low === high) return chart.log_x ? [low / 2, high * 2] : [low - 1, high + 1];
      if (chart.focus_x && !chart.whole && low === widest[0] && high === widest[1]) return chart.focus_x;
      const margin = scattered && !chart.log_x && low === widest[0] && high === widest[1] ? 0.03 * (high - low) : 0;
      return [low - margin, high + margin];
    };
    // The initial range is the focus, or all data. A logarithmic axis cannot include zero.
    const log = chart.log_y;
    const vertical = (u, low, high) => {
      const { chart } = entry, range = !log && chart.focus_plain || chart.focus_y;
      const focus = chart.whole || (log && range && !(range[0] > 0)) ? null : range;
      if (focus && log) return uPlot.rangeLog(focus[0], focus[1], 10, false);
      if (focus && !chart.range_switch && !chart.focus_plain) return focus;
      if (focus) return uPlot.rangeNum(focus[0], focus[1], 0.1, true);
      if (low == null) return log ? [1, 10] : [0, 1];
      return log ? uPlot.rangeLog(low, high, 10, false) : uPlot.rangeNum(low, high, 0.1, true);
    };
    const font = "12px system-ui,sans-serif";
    const axis = (label, log) => ({
      label: label || undefined, labelSize: label ? 22 : 0, labelFont: font, font, stroke: colours.faint,
      grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid, width: 1, size: 5 },
      values: (u, splits) => labels(splits, log),
    });
    const room = (u, texts, index, cycle) => {
      if (cycle > 1) return u.axes[index]._size;
      u.ctx.save();
      u.ctx.font = font;
      const width = Math.max(0, ...(texts || []).map(text => u.ctx.measureText(text).width));
      u.ctx.restore();
      return Math.ceil(width) + 16;
    };
    const overlay = u => {
      const ratio = uPlot.pxRatio, { chart, plan, lines } = entry;
      u.ctx.save();
      u.ctx.font = 11 * ratio + "px system-ui,sans-serif";
      drawOwn(u, plan.own, ratio);
      drawBeyond(u, chart, theme, ratio);
      drawMarks(u, chart, colours, ratio, lines);
      drawAnnotations(u, chart, colours, ratio);
      u.ctx.restore();
    };
    const across = { ...axis(chart.x_label, chart.log_x), space: 75, size: 32 };
    // Time ticks can have a second line.
    if (chart.dated_x) { across.values = DATES; across.size = 46; }
    return {
      ...size, series, bands: plan.bands,
      tzDate: at => uPlot.tzDate(new Date(1e3 * at), "Etc/UTC"),
      padding: [10 + 14 * entry.lines, 14, 0, 4],
      scales: { x: { time: Boolean(chart.dated_x), distr: chart.log_x ? 3 : 1, range: horizontal }, y: { distr: log ? 3 : 1, range: vertical } },
      axes: [across, { ...axis(chart.y_label, chart.log_y), size: room }],
      cursor: { drag: { x: true, y: true, uni: 40 }, dataIdx: nearest(scattered) },
      legend: { markers: { width: 0, fill: (u, i) => samples[i] } },
      hooks: {
        draw: [overlay],
        setCursor: [u => u.root.classList.toggle("idle", u.cursor.left < 0)],
        setSelect: [() => { entry.zoomed = true; }],
      },
    };
  }

  return { arrange, shape, options, markLines };
})();
