// Updates a page by server-sent events with the parts that have changed. Names in the markup are already escaped.
(function () {
  "use strict";
  const main = document.querySelector("main"), told = document.getElementById("live");
  const parts = new Map();
  let source = null, waiting = null, since = null, shown = null;

  function parse(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content.firstElementChild;
  }

  // Updates an element to match another. Charts and open sections are preserved with their content.
  function morph(from, to) {
    for (const { name, value } of to.attributes)
      if (name !== "open" && from.getAttribute(name) !== value) from.setAttribute(name, value);
    for (const { name } of [...from.attributes])
      if (!to.hasAttribute(name) && name !== "open" && !(name === "class" && from.nodeName === "FIGURE")) from.removeAttribute(name);
    if (from.matches("[data-chart],[data-within],output")) return;
    const own = node => !(node.nodeType === Node.ELEMENT_NODE && node.classList.contains("tools"));
    const old = [...from.childNodes].filter(own);
    [...to.childNodes].forEach((next, i) => {
      const node = old[i];
      if (!node) from.append(next);
      else if (node.nodeName !== next.nodeName || node.id !== next.id) replace(node, next);
      else if (node.nodeType !== Node.ELEMENT_NODE) { if (node.data !== next.data) node.data = next.data; }
      else if (!node.isEqualNode(next)) morph(node, next);
    });
    old.slice(to.childNodes.length).forEach(remove);
  }

  function remove(node) {
    if (node.nodeType === Node.ELEMENT_NODE) eigenhedge.forget(node);
    node.remove();
  }

  function replace(node, next) {
    if (node.nodeType === Node.ELEMENT_NODE) eigenhedge.forget(node);
    node.replaceWith(next);
  }

  function show({ title, order, state, note, parts: changed }) {
    document.title = title;
    const places = new Map();
    for (const [key, within] of order) {
      const part = changed[key], parent = within ? document.getElementById(within) : main;
      if (!parent) continue;
      let element = parts.get(key);
      if (part) {
        const next = parse(part.html);
        next.dataset.part = key;
        if (!element || element.nodeName !== next.nodeName) {
          if (element) replace(element, next);
          parts.set(key, element = next);
        } else morph(element, next);
      }
      if (!element) continue;
      const before = places.has(parent) ? places.get(parent).nextElementSibling : parent === main ? told.nextElementSibling : parent.firstElementChild;
      if (element !== before) parent.insertBefore(element, before);
      places.set(parent, element);
      if (part) eigenhedge.give(element, part.charts);
    }
    const kept = new Set(order.map(([key]) => key));
    for (const [key, element] of parts) if (!kept.has(key)) { parts.delete(key); remove(element); }
    if (!shown) eigenhedge.unfold();
    shown = state;
    tell(state, note);
  }

  function tell(state, note) {
    told.className = state;
    if (told.textContent !== note) told.textContent = note;
  }

  // If events arrive faster than frames, draws only the newest version of each part.
  function take(event) {
    const next = JSON.parse(event.data), first = !waiting;
    since = event.lastEventId;
    waiting = first ? next : { ...next, parts: { ...waiting.parts, ...next.parts } };
    if (first) requestAnimationFrame(() => { const state = waiting; waiting = null; show(state); });
  }

  const opened = () => [...document.querySelectorAll("details[open]>[data-within]")].map(e => e.id);

  // After an interruption, the browser reconnects. After a refusal, this script reconnects.
  function connect() {
    if (source) source.close();
    const query = new URLSearchParams(opened().map(place => ["open", place]));
    source = new EventSource(main.dataset.feed + (query.size ? "?" + query : ""));
    source.addEventListener("page", take);
    source.addEventListener("error", () => {
      tell("lost", shown === "ended" ? "The program has stopped. This is its last page." : "No connection. Trying again.");
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1000);
    });
  }

  document.addEventListener("toggle", event => {
    if (event.target.querySelector(":scope>[data-within]")) connect();
  }, true);
  window.eigenhedge.live = { get since() { return since; } };
  connect();
})();
