// Animation of points in the plane and a line that follows them. Text is inserted by textContent.
(function () {
  "use strict";
  const SEEN = 40, UNIT = 100, NS = "http://www.w3.org/2000/svg";
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  function add(parent, name, attributes) {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
    parent.append(node);
    return node;
  }
  function element(parent, name, text) {
    const node = document.createElement(name);
    if (text) node.textContent = text;
    parent.append(node);
    return node;
  }
  for (const holder of document.querySelectorAll(".steps")) {
    const data = JSON.parse(holder.dataset.steps), count = data.points.length;
    if (!count) continue;
    const tools = element(holder, "div");
    tools.className = "stepping";
    const play = element(tools, "button", "play");
    play.type = "button";
    const slider = element(tools, "input");
    Object.assign(slider, { type: "range", min: 1, max: count, value: 1 });
    slider.setAttribute("aria-label", "row");
    const at = element(tools, "span");
    const svg = add(holder, "svg", { viewBox: "-130 -122 450 244", class: "eh", role: "img" });
    svg.setAttribute("aria-label", "A line that follows points in the plane");
    const dots = add(svg, "g", { style: "fill:var(--faint)" });
    const line = (colour, more) => add(svg, "line", { style: `stroke:var(--${colour});stroke-width:3;${more}` });
    const fixed = line("minus", "stroke-dasharray:6 4"), follows = line("plus", ""), gap = line("ink", "stroke-width:1.5");
    const now = add(svg, "circle", { style: "fill:var(--ink)", r: 4 });
    const most = Math.max(...data.lost[count - 1], 1e-9);
    const bar = (colour, y, name) => {
      const text = at => add(svg, "text", { style: "fill:var(--ink)", x: 140, y: at, "font-size": 12 });
      text(y - 8).textContent = name;
      return [add(svg, "rect", { style: `fill:var(--${colour})`, x: 140, y, height: 16 }), text(y + 32)];
    };
    const bars = [bar("plus", -50, "lost by the line that follows"), bar("minus", 40, "lost by the best fixed line")];
    const turn = (node, angle) => {
      const dx = 115 * Math.cos(angle), dy = 115 * Math.sin(angle);
      for (const [key, value] of [["x1", -dx], ["y1", dy], ["x2", dx], ["y2", -dy]]) node.setAttribute(key, value);
    };
    const show = step => {
      const i = Math.min(Math.max(step, 1), count) - 1, [x, y] = data.points[i], angle = data.angles[i];
      dots.replaceChildren();
      for (let j = Math.max(0, i - SEEN + 1); j < i; j++)
        add(dots, "circle", { cx: UNIT * data.points[j][0], cy: -UNIT * data.points[j][1], r: 3, "fill-opacity": 0.15 + 0.6 * (1 - (i - j) / SEEN) });
      turn(fixed, data.fixed);
      turn(follows, angle);
      now.setAttribute("cx", UNIT * x);
      now.setAttribute("cy", -UNIT * y);
      const along = x * Math.cos(angle) + y * Math.sin(angle);
      for (const [key, value] of [["x1", UNIT * x], ["y1", -UNIT * y], ["x2", UNIT * along * Math.cos(angle)], ["y2", -UNIT * along * Math.sin(angle)]])
        gap.setAttribute(key, value);
      bars.forEach(([rect, value], k) => {
        rect.setAttribute("width", 150 * data.lost[i][k] / most);
        value.textContent = data.lost[i][k].toFixed(1);
      });
      at.textContent = "row " + (i + 1) + " of " + count;
      slider.value = i + 1;
    };
    let timer = null;
    const stop = () => { clearInterval(timer); timer = null; play.textContent = "play"; };
    const start = () => {
      if (Number(slider.value) >= count) show(1);
      play.textContent = "stop";
      timer = setInterval(() => { if (Number(slider.value) >= count) stop(); else show(Number(slider.value) + 1); }, 60);
    };
    play.addEventListener("click", () => { if (timer) stop(); else start(); });
    slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
    show(calm ? count : Math.min(count, SEEN));
    document.documentElement.classList.add("stepped");
  }
})();
