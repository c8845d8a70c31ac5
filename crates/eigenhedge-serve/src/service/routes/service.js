// Toolbar of the pages: tokens, links to streams, dropped files, new references.
(function () {
  "use strict";
  const tools = document.getElementById("tools"), stream = tools.dataset.stream;
  const told = document.createElement("output");
  told.setAttribute("aria-live", "polite");

  function tell(text) { told.textContent = text; }

  function add(name, attributes, text) {
    const element = document.createElement(name);
    Object.assign(element, attributes);
    if (text) element.textContent = text;
    tools.append(element);
    return element;
  }

  async function send(path, options) {
    const answer = await fetch(path, { credentials: "same-origin", ...options });
    if (answer.status === 401) { askForToken(); throw new Error("A token is needed."); }
    if (!answer.ok) {
      const problem = await answer.json().catch(() => ({}));
      throw new Error(problem.detail || answer.statusText);
    }
    return answer;
  }

  function askForToken() {
    if (document.getElementById("token")) return;
    const field = add("input", { id: "token", type: "password", autocomplete: "off", placeholder: "token" });
    field.setAttribute("aria-label", "Token");
    const enter = add("button", { type: "button", id: "enter" }, "Enter");
    enter.addEventListener("click", async () => {
      await fetch("/login", { method: "POST", body: field.value, credentials: "same-origin" });
      location.reload();
    });
    field.addEventListener("keydown", event => { if (event.key === "Enter") enter.click(); });
    tools.append(told);
    field.focus();
  }

  // Splits a table at line ends outside quotes.
  function records(text) {
    const all = [];
    let open = "";
    for (const line of text.split(/\r?\n/)) {
      const record = open === "" ? line : `${open}\n${line}`;
      const quotes = record.split('"').length - 1;
      open = quotes % 2 ? record : "";
      if (!open && record !== "") all.push(record);
    }
    if (open) all.push(open);
    return all;
  }

  // Offers the answers to the rows of a file for download.
  function offer(name, answers) {
    const link = document.getElementById("answers") || add("a", { id: "answers" });
    if (link.href) URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob(answers, { type: "application/x-ndjson" }));
    link.download = name.replace(/\.[^.]*$/, "") + "-answers.jsonl";
    link.textContent = "Answers";
  }

  // Sends a table in pieces, each with the header, so that the page can show the progress.
  async function upload(file) {
    const lines = records(await file.text()), answers = [];
    const head = lines[0], step = Math.max(200, Math.ceil(lines.length / 50));
    const has_head = head.split(/[,;\t]/).some(cell => cell.trim() !== "" && Number.isNaN(Number(cell)));
    const first = has_head ? 1 : 0, key = crypto.getRandomValues(new Uint32Array(2)).join("-");
    for (let at = first; at < lines.length; at += step) {
      const part = lines.slice(at, at + step), body = (has_head ? [head, ...part] : part).join("\n") + "\n";
      const answer = await send(`/v1/streams/${stream}/rows`, {
        method: "POST", body, headers: { "Content-Type": "text/csv", "Idempotency-Key": `${key}-${at}` },
      });
      answers.push(await answer.text());
      tell(`${file.name}: ${Math.min(at + step, lines.length) - first} of ${lines.length - first} rows`);
    }
    offer(file.name, answers);
  }

  function guard(action) {
    return (...values) => Promise.resolve(action(...values)).catch(error => tell(error.message));
  }

  async function streamTools() {
    add("a", { href: "/" }, "All streams");
    const file = add("input", { type: "file", accept: ".csv,text/csv", id: "file" });
    file.setAttribute("aria-label", "CSV file to learn");
    file.addEventListener("change", guard(() => upload(file.files[0])));
    const accept = add("button", { type: "button", id: "accept", hidden: true }, "Accept new reference");
    accept.addEventListener("click", guard(async () => {
      await send(`/v1/streams/${stream}/accept`, { method: "POST" });
      tell("The last rows are the new reference.");
    }));
    add("a", { href: `/v1/streams/${stream}/model`, download: `${stream}.eh` }, "Model");
    add("a", { href: `/v1/streams/${stream}/summary` }, "Summary");
    document.addEventListener("dragover", event => { event.preventDefault(); document.body.classList.add("drop"); });
    document.addEventListener("dragleave", () => document.body.classList.remove("drop"));
    document.addEventListener("drop", guard(event => {
      event.preventDefault();
      document.body.classList.remove("drop");
      return upload(event.dataTransfer.files[0]);
    }));
    const about = await (await send(`/v1/streams/${stream}`)).json();
    accept.hidden = about.kind !== "monitor" || "by" in about.options;
  }

  async function firstTools() {
    const { streams } = await (await send("/v1/streams")).json();
    for (const { name } of streams.slice(0, 100)) add("a", { href: `/streams/${name}` }, name);
    if (!streams.length) tell("No stream yet: PUT /v1/streams/NAME makes one.");
  }

  guard(stream ? streamTools : firstTools)().then(() => tools.append(told));
  tools.append(told);
})();
