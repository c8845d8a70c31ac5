// Interactive charts. Text is never inserted by innerHTML. A live page passes new data to `eigenhedge.give`.
(function () {
  "use strict";
  const { arrange, shape, options, markLines } = window.eigenhedge;
  const file = document.getElementById("report-data"), main = document.querySelector("main");
  const data = file ? JSON.parse(file.textContent) : { colours: JSON.parse(main.dataset.colours), charts: [] };
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const entries = new Map();

  function size(figure) {
    const width = Math.max(240, Math.floor(figure.clientWidth));
    return { width, height: Math.round(Math.min(420, Math.max(240, width * 0.5))) };
  }

  // Collapsed content has no width, so it is drawn when it is opened.
  const folded = holder => holder.closest("details:not([open])");
  const holders = root => [...root.querySelectorAll("[data-chart]")];
  const theme = () => darkness.matches ? 1 : 0;

  // Plans a drawing in the current theme. Returns true if the existing drawing has the same shape.
  function plan(entry, width) {
    entry.plan = arrange(entry.chart, theme());
    entry.lines = markLines(entry.chart, ...entry.plan.widest, width - 80);
    const before = entry.shape;
    entry.shape = shape(entry.chart, entry.plan, theme(), entry.lines);
    return before === entry.shape;
  }

  function draw(holder) {
    const entry = entries.get(holder), figure = holder.closest("figure");
    if (entry) entry.stale = Boolean(folded(holder));
    if (!entry || entry.stale || !entry.chart.series.some(s => s.x.length > 0)) return;
    try {
      const place = size(figure);
      plan(entry, place.width);
      const settings = options(entry, data.colours, theme(), place);
      if (entry.u) entry.u.destroy();
      holder.replaceChildren();
      figure.classList.add("drawn");
      entry.zoomed = false;
      const u = entry.u = new uPlot(settings, entry.plan.values, holder);
      u.root.classList.add("idle");
      u.over.addEventListener("dblclick", () => { entry.zoomed = false; });
    } catch (error) {
      figure.classList.remove("drawn");
      console.error("chart " + holder.dataset.chart + " cannot be drawn: " + error);
    }
  }

  // Redraws a chart with new data and preserves its zoom and switches.
  function redraw(holder, chart) {
    const entry = entries.get(holder), { u } = entry;
    // Redrawing would cancel a drag, so new data waits until the drag ends.
    if (entry.held) { entry.next = chart; return; }
    if (entry.log !== undefined && chart.scale_switch) chart.log_y = entry.log;
    if (entry.axis !== undefined && chart.other_x && chart.other_x.label === entry.axis) flipAxis(chart);
    chart.whole = entry.chart.whole;
    entry.chart = chart;
    entry.name();
    if (!u || folded(holder)) { draw(holder); return; }
    if (plan(entry, u.width)) { u.setData(entry.plan.values, !entry.zoomed); return; }
    const { x, y } = u.scales, kept = entry.zoomed && [[x.min, x.max], [y.min, y.max]];
    draw(holder);
    if (!kept) return;
    kept.forEach(([min, max], i) => entry.u.setScale("xy"[i], { min, max }));
    entry.zoomed = true;
  }

  function flipAxis(chart) {
    const other = chart.other_x, x = chart.series[0].x, marks = chart.marks.map(([at]) => at);
    chart.other_x = { label: chart.x_label, dated: chart.dated_x, x, marks };
    [chart.x_label, chart.dated_x] = [other.label, other.dated];
    chart.series.forEach(s => { s.x = other.x; });
    chart.marks.forEach((mark, i) => { mark[0] = other.marks[i]; });
  }

  function addSwitches(holder, entry) {
    const tools = document.createElement("div"), buttons = [];
    const add = (kind, is, name, flip) => {
      const button = document.createElement("button");
      [button.type, button.className] = ["button", kind];
      button.addEventListener("click", () => { flip(entry.chart); entry.name(); draw(holder); });
      buttons.push([button, is, name]);
    };
    add("range", c => c.range_switch, c => c.whole ? "usual range" : "whole range", c => { c.whole = !c.whole; });
    add("axis", c => c.other_x, c => "by " + c.other_x.label, c => { flipAxis(c); entry.axis = c.x_label; });
    add("scale", c => c.scale_switch, c => c.log_y ? "plain scale" : "logarithmic scale",
      c => { c.log_y = !c.log_y; entry.log = c.log_y; });
    tools.className = "tools";
    entry.name = () => {
      const shown = buttons.filter(([, is]) => is(entry.chart));
      shown.forEach(([button, , name]) => { button.textContent = name(entry.chart); });
      if (shown.length !== tools.childElementCount) tools.replaceChildren(...shown.map(([button]) => button));
      if (!shown.length) tools.remove(); else if (tools.nextSibling !== holder) holder.before(tools);
    };
    entry.name();
  }

  // Resolves references to a shared horizontal axis, and sorts the marks from left to right.
  function prepare(chart) {
    for (const s of chart.series) if (typeof s.x === "number") s.x = chart.series[s.x].x;
    const order = chart.marks.map((mark, i) => i).sort((a, b) => chart.marks[a][0] - chart.marks[b][0]);
    chart.marks = order.map(i => chart.marks[i]);
    if (chart.other_x) chart.other_x.marks = order.map(i => chart.other_x.marks[i]);
    return chart;
  }

  function give(root, charts) {
    for (const holder of holders(root)) {
      const chart = prepare(charts[Number(holder.dataset.chart)]), entry = entries.get(holder);
      if (entry) { redraw(holder, chart); continue; }
      const fresh = { chart };
      entries.set(holder, fresh);
      addSwitches(holder, fresh);
      holder.addEventListener("mousedown", () => { fresh.held = true; });
      draw(holder);
    }
  }

  function forget(root) {
    for (const holder of holders(root)) {
      const entry = entries.get(holder);
      if (entry && entry.u) entry.u.destroy();
      entries.delete(holder);
    }
  }

  document.documentElement.classList.add("scripted");
  give(document, data.charts);
  darkness.addEventListener("change", () => holders(document).forEach(draw));
  document.addEventListener("mouseup", () => setTimeout(() => entries.forEach((entry, holder) => {
    const next = entry.next;
    entry.held = false;
    entry.next = undefined;
    if (next) redraw(holder, next);
  })));
  document.addEventListener("toggle", event => holders(event.target).forEach(holder => {
    const entry = entries.get(holder);
    if (entry && (!entry.u || entry.stale)) draw(holder);
  }), true);
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("details")) { target.closest("details").open = true; target.scrollIntoView(); }
  };
  window.addEventListener("hashchange", unfold);
  unfold();
  new ResizeObserver(() => entries.forEach(({ u }, holder) => {
    const next = u && !folded(holder) && size(holder.closest("figure"));
    if (next && u.width !== next.width) u.setSize(next);
  })).observe(main);
  let pointed = null;
  document.addEventListener("pointermove", event => {
    const svg = event.target.closest(".heat svg"), heat = svg && svg.closest(".heat");
    if (pointed && pointed !== heat) pointed.querySelector("output").textContent = "";
    pointed = heat;
    if (!heat) return;
    const { names, places, values, label, dated } = JSON.parse(heat.dataset.cells), told = heat.querySelector("output");
    const first = places[0], last = places[places.length - 1];
    const [left, top, width, line] = JSON.parse(svg.parentElement.dataset.box);
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const across = ((event.clientX - box.left) * scale - left) / width, i = Math.floor(((event.clientY - box.top) * scale - top) / line);
    const at = first + across * (last - first), j = places.findLastIndex(place => place <= at);
    const value = across <= 1 && j >= 0 ? (values[i] || [])[j] : undefined;
    const where = () => dated ? new Date(1e3 * places[j]).toISOString().slice(0, 19).replace("T", " ") : places[j];
    told.textContent = value == null ? "" : `${names[i]}, ${label || "row"} ${where()}: ${value}`;
  });
  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
  window.eigenhedge = {
    give, forget, unfold,
    get charts() {
      const all = [];
      holders(document).forEach((holder, i) => { const entry = entries.get(holder); if (entry && entry.u) all[i] = entry.u; });
      return all;
    },
  };
})();
