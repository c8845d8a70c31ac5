// The page: files, choices, progress and results. All computation is in the worker.

const $ = (id) => document.getElementById(id);
const module = $("module").textContent;
const workerText = $("worker").textContent;
let worker, files, pending, results, table;

function startWorker() {
  worker?.terminate();
  const address = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
  worker = new Worker(address);
  worker.onmessage = ({ data }) => {
    if (data.reading !== undefined) show("reading", data.reading, "reading the files");
    else if (data.progress) {
      const { rows, incidents, alarms, share } = data.progress;
      show("running", share, `${rows} rows, ${alarms} alarms, ${incidents} incidents`);
    } else pending?.(data);
  };
  worker.onerror = (event) => pending?.({ error: event.message });
  worker.postMessage({ packed: module });
}

function ask(task, more = {}) {
  return new Promise((resolve, reject) => {
    pending = (data) => (data.error ? reject(new Error(data.error)) : resolve(data));
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

/** Returns options as they are typed on the command line, by name. */
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

function options() {
  const chosen = typed($("more").value);
  const left = [...$("exclude").querySelectorAll("input:not(:checked)")].map((box) => box.value);
  if (left.length) chosen.exclude = left.join(",");
  if ($("time").value) chosen.time = $("time").value;
  if ($("group").value) chosen["group-by"] = $("group").value;
  if ($("warm-up").value.trim()) chosen["warm-up"] = $("warm-up").value.trim();
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

/** Describes how the table was read, and fills the choices if they are empty. */
function describe(found) {
  table = found;
  const { source, readAs, names, columns, time, warmUp, isReady } = found;
  const detected = readAs ?? `${columns.length} columns of numbers${time ? `, time = ${time}` : ""}`;
  const reference = isReady ? "The reference is that of the opened model." : `The first ${warmUp} rows are the reference.`;
  $("read-as").textContent = `${source} is read as: ${detected}. ${reference}`;
  if ($("time").length) return;
  const all = names ?? columns;
  $("time").replaceChildren(option("", time ? `${time} (found)` : "none found"), ...all.map((name) => option(name)));
  $("group").replaceChildren(option("", "nothing: one monitor"), ...all.map((name) => option(name)));
  $("exclude").replaceChildren(...columns.map((name) => column(name, true)));
}

/** Opens the files with the present choices. Returns true if the table can be read. */
async function open(isLoaded = true) {
  $("error").textContent = "";
  try {
    describe((await ask("open", { files: isLoaded ? null : files, options: options() })).table);
    show("chosen");
    return true;
  } catch (error) {
    complain(error);
    show(files.length ? "chosen" : "start");
    return false;
  }
}

/** Opens other files. */
function choose(chosen) {
  files = [...chosen].filter((file) => !file.name.startsWith("."));
  for (const id of ["time", "group", "exclude", "read-as"]) $(id).replaceChildren();
  $("warm-up").value = $("more").value = "";
  $("skip").checked = false;
  startWorker();
  return open(false);
}

async function run() {
  if (!(await open())) return;
  show("running", 0, "starting");
  try {
    results = await ask("run");
    $("summary").textContent = results.summary;
    show("done");
    // A new frame: a browser may not draw one again that was hidden when its page was replaced.
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
  pending = null;
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

/** Returns the files of what was dropped, also those in folders. */
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

const stem = () => table.source.replace(/ and \d+ more files?$/, "").replace(/\.[^.]*$/, "");
for (const id of ["files", "folder"]) {
  $(id).onchange = ({ target }) => {
    choose(target.files);
    // The same file can be chosen again.
    target.value = "";
  };
}
$("run").onclick = run;
$("cancel").onclick = cancel;
$("back").onclick = () => show("chosen");
$("again").onclick = () => show("start");
$("save-page").onclick = () => save(`${stem()}.html`, results.page, "text/html");
$("save-events").onclick = () => save(`${stem()}-incidents.csv`, results.events, "text/csv");
$("save-model").onclick = () => save(`${stem()}.eh`, results.model, "application/octet-stream");
for (const id of ["time", "group", "exclude", "warm-up", "skip", "more"]) $(id).onchange = () => open();
document.ondragover = (event) => event.preventDefault();
document.ondrop = async (event) => {
  event.preventDefault();
  choose(await dropped(event.dataTransfer.items));
};
show("start");
