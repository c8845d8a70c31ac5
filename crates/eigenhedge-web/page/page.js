// Files, choices, progress and results of the page. All computation happens in the worker.

const $ = (id) => document.getElementById(id);
const module = $("module").textContent;
const workerText = $("worker").textContent;
let worker, files, results, table;
/** Functions that receive the replies of the worker, in order. */
let pending = [];

function startWorker() {
  worker?.terminate();
  pending = [];
  const address = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
  worker = new Worker(address);
  worker.onmessage = ({ data }) => {
    if (data.reading !== undefined) show("reading", data.reading, "reading the files");
    else if (data.progress) {
      show("running", data.progress.share, data.progress.words);
    } else pending.shift()?.(data);
  };
  worker.onerror = (event) => pending.shift()?.({ error: event.message });
  worker.postMessage({ packed: module });
}

function ask(task, more = {}) {
  return new Promise((resolve, reject) => {
    pending.push((data) => (data.error ? reject(new Error(data.error)) : resolve(data)));
    worker.postMessage({ task, ...more });
  });
}

/** Shows one state of the page: start, reading, chosen, running or done. */
function show(state, share, words = "") {
  document.body.dataset.state = state;
  if (share !== undefined) $("bar").value = share;
  $("progress").textContent = words;
}

function complain(error) {
  $("error").textContent = error.message;
}

/** Parses options in the syntax of the command line. Returns them by name. */
function typed(text) {
  const words = text.match(/"[^"]*"|'[^']*'|[^\s=]+/g) ?? [];
  const options = {};
  let name = null;
  for (const word of words) {
    if (/^--?[a-z]/.test(word)) options[(name = word.replace(/^--?/, ""))] = true;
    else if (name) options[name] = word.replace(/^["']|["']$/g, "");
    else throw new Error(`an option begins with --, got ${word}`);
  }
  return options;
}

/** Ids of choices that are options of the same name, by task. */
const FIELDS = { monitor: ["warm-up"], run: ["k", "learner", "standardize", "missing"], compare: ["k", "standardize", "missing"] };

function options(of) {
  const chosen = typed($("more").value);
  const left = [...$("exclude").querySelectorAll("input:not(:checked)")].map((box) => box.value);
  if (left.length) chosen.exclude = left.join(",");
  if ($("time").value) chosen.time = $("time").value;
  if (of === "monitor" && $("group").value) chosen["group-by"] = $("group").value;
  for (const id of FIELDS[of]) if ($(id).value.trim()) chosen[id] = $(id).value.trim();
  if ($("skip").checked) chosen["on-bad-row"] = "skip";
  return chosen;
}

const option = (value, text = value) => Object.assign(document.createElement("option"), { value, textContent: text });

function column(name, checked) {
  const [label, box] = [document.createElement("label"), document.createElement("input")];
  Object.assign(box, { type: "checkbox", value: name, checked });
  label.append(box, ` ${name}`);
  return label;
}

/** Shows how the table was read, and fills in empty lists of choices. */
function describe(found) {
  table = found;
  const { source, readAs, names, columns, time, sentence, learners } = found;
  const detected = readAs ?? `${columns.length} columns of numbers${time ? `, time = ${time}` : ""}`;
  $("read-as").textContent = `${source} is read as: ${detected}. ${sentence ?? ""}`;
  if (learners && !$("learner").length) $("learner").replaceChildren(option("", "auto"), ...learners.slice(1).map((name) => option(name)));
  if ($("time").length) return;
  const all = names ?? columns;
  $("time").replaceChildren(option("", time ? `${time} (found)` : "none found"), ...all.map((name) => option(name)));
  $("group").replaceChildren(option("", "nothing: one monitor"), ...all.map((name) => option(name)));
  $("exclude").replaceChildren(...columns.map((name) => column(name, true)));
}

/** Opens the files with the current choices. Returns true if the table can be read. */
async function open(isLoaded = true, of = document.body.dataset.task) {
  $("error").textContent = "";
  try {
    describe((await ask("open", { files: isLoaded ? null : files, of, options: options(of) })).table);
    show("chosen");
    return true;
  } catch (error) {
    complain(error);
    show(files.length ? "chosen" : "start");
    return false;
  }
}

/** Opens other files and resets the choices. */
function choose(chosen) {
  files = [...chosen].filter((file) => !file.name.startsWith("."));
  for (const id of ["time", "group", "exclude", "read-as"]) $(id).replaceChildren();
  for (const id of ["more", ...FIELDS.monitor, ...FIELDS.run]) $(id).value = "";
  $("skip").checked = false;
  startWorker();
  return open(false);
}

async function run(of = document.body.dataset.task) {
  if (!(await open(true, of))) return;
  show("running", 0, "starting");
  try {
    results = await ask("run");
    $("summary").textContent = new TextDecoder().decode(results.summary);
    for (const name in SAVED) $(`save-${name}`).hidden = !results[name];
    show("done");
    // A new frame, because a hidden frame may not be redrawn when its page changes.
    const frame = document.createElement("iframe");
    frame.title = "Report";
    frame.sandbox = "allow-scripts";
    frame.srcdoc = new TextDecoder().decode(results.page);
    $("report").replaceChildren(frame);
  } catch (error) {
    complain(error);
    show("chosen");
  }
}

function cancel() {
  startWorker();
  show("reading", 0, "cancelled");
  return open(false);
}

function save(name, bytes, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Returns the dropped files, including those in dropped folders. */
async function dropped(items) {
  const all = [];
  const visit = async (entry) => {
    if (entry.isFile) return all.push(await new Promise((found, failed) => entry.file(found, failed)));
    const reader = entry.createReader();
    for (;;) {
      const entries = await new Promise((found, failed) => reader.readEntries(found, failed));
      if (!entries.length) return;
      for (const inner of entries) await visit(inner);
    }
  };
  const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  for (const entry of entries) await visit(entry);
  return all;
}

/** End of the file name, and media type, of each result. */
const SAVED = {
  page: [".html", "text/html"],
  events: ["-incidents.csv", "text/csv"],
  coordinates: ["-coordinates.csv", "text/csv"],
  filled: ["-filled.csv", "text/csv"],
  model: [".eh", "application/octet-stream"],
};
const stem = () => table.source.replace(/ and \d+ more files?$/, "").replace(/\.[^.]*$/, "");
for (const id of ["files", "folder"]) {
  $(id).onchange = ({ target }) => {
    choose(target.files);
    // Allow choosing the same file again.
    target.value = "";
  };
}
$("monitor").onclick = $("learn").onclick = () => run();
$("compare").onclick = () => run("compare");
$("cancel").onclick = cancel;
$("back").onclick = () => show("chosen");
$("again").onclick = () => show("start");
for (const [name, [ending, type]] of Object.entries(SAVED)) {
  $(`save-${name}`).onclick = () => save(stem() + ending, results[name], type);
}
for (const id of ["time", "group", "exclude", "skip", "more", ...FIELDS.monitor, ...FIELDS.run]) $(id).onchange = () => open();
for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.onclick = () => {
    document.body.dataset.task = tab.dataset.task;
    for (const other of document.querySelectorAll("[role=tab]")) other.ariaSelected = String(other === tab);
    if (document.body.dataset.state === "chosen") open();
  };
}
document.ondragover = (event) => event.preventDefault();
document.ondrop = async (event) => {
  event.preventDefault();
  choose(await dropped(event.dataTransfer.items));
};
show("start");
