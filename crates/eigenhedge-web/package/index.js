// Monitors and models, with the names of the Python package in camel case.

import { start } from "./engine.js";

const place = new URL("eigenhedge.wasm", import.meta.url);
const isNode = typeof process === "object" && !!process.versions?.node;
const engine = await start(
  isNode ? await (await import("node:fs/promises")).readFile(place) : await (await fetch(place)).arrayBuffer(),
);
const unused = new FinalizationRegistry((object) => engine.remove(object));
const created = Symbol("created");

/** Converts rows to bytes. `rows` is an array of numbers or an array of rows. */
function bytesOf(rows) {
  const flat = Array.isArray(rows) && rows.length && typeof rows[0] !== "number" ? rows.flatMap((row) => [...row]) : rows;
  const numbers = flat instanceof Float64Array ? flat : Float64Array.from(flat);
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}

/** Converts the numbers that monitors return, column after column, to one array per column. */
function alarms(all) {
  const count = all.length / 4;
  const column = (i) => all.slice(i * count, (i + 1) * count);
  return {
    score: column(0),
    limit: column(1),
    alarm: Uint8Array.from(column(2)),
    inIncident: Uint8Array.from(column(3), (number) => (Number.isNaN(number) ? 0 : 1)),
  };
}

class Learner {
  #object;
  constructor(kind, options) {
    this.#object = options[created] ?? engine.json(kind, 0, JSON.stringify(options)).object;
    unused.register(this, this.#object);
  }
  _call(name, data, how = "call") {
    return engine[how](name, this.#object, data);
  }
  _state(name) {
    return this._call("state", "", "json")[name];
  }
  get dim() { return this._state("dim"); }
  get rows() { return this._state("rows"); }
  get featureNames() { return this._state("featureNames"); }
  /** Returns the bytes of a file for the command line, Python and the service. */
  toBytes() { return this._call("save"); }
}

export class Monitor extends Learner {
  constructor(options) { super("monitor", options); }
  fit(rows) {
    this._call("fit", bytesOf(rows));
    return this;
  }
  update(rows) {
    return alarms(this._call("update", bytesOf(rows), "numbers"));
  }
  /** Returns a self-contained HTML page with this title. */
  report(title = "Monitor") { return this._call("report", title, "text"); }
  get isReady() { return this._state("isReady"); }
  get limit() { return this._state("limit"); }
  get directions() { return this._state("directions"); }
  get lags() { return this._state("lags"); }
  get incidents() { return this._state("incidents"); }
  get openIncidents() { return this._state("openIncidents"); }
}

export class Model extends Learner {
  constructor(options) { super("model", options); }
  update(rows) {
    const all = this._call("update", bytesOf(rows), "numbers");
    return { expectedLoss: all.slice(0, all.length / 2), loss: all.slice(all.length / 2) };
  }
  /** Returns the coordinates of rows, k numbers per row. */
  transform(rows) { return this._call("transform", bytesOf(rows), "numbers"); }
  /** Directions, `dim` numbers per direction. */
  get components() { return this._call("components", "", "numbers"); }
  get k() { return this._state("k"); }
  get learner() { return this._state("learner"); }
}

/** A model or a monitor for each key. */
export class Fleet extends Learner {
  /** `start` is the monitor with which every key starts, or the options of a model. */
  constructor(start) {
    const member = start instanceof Monitor || start[created] !== undefined ? start : new Model(start);
    super("fleet", member instanceof Learner ? { [created]: member._call("fleet", "", "json").object } : start);
  }
  /** Learns each row with the member of its key. */
  update(keys, rows) {
    const missing = Array.from(keys).findIndex((key) => key == null || key !== key);
    if (missing >= 0) throw new Error(`row ${missing}: the key is missing; fill it in, or leave out the row`);
    const [texts, cells] = [new TextEncoder().encode(JSON.stringify(Array.from(keys, String))), bytesOf(rows)];
    const data = new Uint8Array(4 + texts.length + cells.length);
    new DataView(data.buffer).setUint32(0, texts.length, true);
    data.set(texts, 4);
    data.set(cells, 4 + texts.length);
    const all = this._call("update", data, "numbers");
    if (this.incidents) return { key: Array.from(keys, String), ...alarms(all) };
    const count = keys.length;
    return { expectedLoss: all.slice(0, count), loss: all.slice(count, 2 * count), coordinates: all.slice(2 * count) };
  }
  keys() { return this._state("keys"); }
  /** Returns a copy of the member of a key, or undefined for an unknown key. */
  get(key) {
    const found = this._call("get", String(key), "json");
    return found ? opened(found) : undefined;
  }
  has(key) { return this.keys().includes(String(key)); }
  get size() { return this.keys().length; }
  [Symbol.iterator]() { return this.keys()[Symbol.iterator](); }
  /** Returns a self-contained HTML page. Only for monitors. `by` names the keys. */
  report(title = "Monitors", by = "key") { return this._call("report", JSON.stringify([title, by]), "text"); }
  get incidents() { return this._state("incidents"); }
  get openIncidents() { return this._state("openIncidents"); }
}

const opened = ({ kind, object }) => new { model: Model, monitor: Monitor, fleet: Fleet }[kind]({ [created]: object });

/** Reads a saved model, monitor or fleet from its bytes. */
export function load(bytes) {
  return opened(engine.json("load", 0, bytes));
}

function read(task, files, options) {
  try {
    for (const [name, bytes] of Object.entries(files)) engine.addFile(name, bytes.length)(0, bytes);
    const { object, table } = engine.json("table", 0, JSON.stringify([task, options]));
    unused.register(table, object);
    let progress;
    do progress = engine.json("step", object, "1000"); while (!progress.done);
    const result = (name) => [name, engine[name === "model" ? "call" : "text"]("result", object, name)];
    return { table, ...Object.fromEntries(progress.results.map(result)) };
  } finally {
    engine.clearFiles();
  }
}

/** Monitors tables in memory, like `eigenhedge monitor`. Options are those of the command line. */
export const monitorTable = (files, options = {}) => read("monitor", files, options);
/** Learns a model of tables in memory, like `eigenhedge run`. */
export const runTable = (files, options = {}) => read("run", files, options);
/** Compares learners on tables in memory, like `eigenhedge compare`. */
export const compareTable = (files, options = {}) => read("compare", files, options);
