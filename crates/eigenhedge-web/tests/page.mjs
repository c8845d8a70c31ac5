// Compares results of the page in Chromium with those of the command line. Usage: node page.mjs
// PAGE PROGRAM

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [page, program] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "eigenhedge-page-"));

/** Chromium, controlled over a pipe. New pages, workers and frames are attached automatically. */
class Browser {
  #next = 1;
  #waiting = new Map();
  /** URLs requested by pages, workers and frames. */
  requests = [];
  constructor() {
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"];
    const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"];
    this.process = spawn("chromium", [...flags, `--user-data-dir=${folder}/profile`, "about:blank"], { stdio });
    let text = "";
    this.process.stdio[4].on("data", (piece) => {
      text += piece;
      for (let end; (end = text.indexOf("\0")) >= 0; text = text.slice(end + 1)) this.#read(JSON.parse(text.slice(0, end)));
    });
  }
  #read({ id, result, error, method, params, sessionId }) {
    if (id) {
      const [resolve, reject] = this.#waiting.get(id);
      this.#waiting.delete(id);
      error ? reject(new Error(error.message)) : resolve(result);
    }
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Target.attachedToTarget") {
      const inner = params.sessionId;
      for (const name of ["Network.enable", "Runtime.runIfWaitingForDebugger"]) this.send(name, {}, inner).catch(() => {});
      this.#attach(inner).catch(() => {});
    }
  }
  #attach(session) {
    return this.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, session);
  }
  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.#waiting.set(id, [resolve, reject]));
  }
  async open(address) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    this.session = sessionId;
    for (const name of ["Network.enable", "Page.enable", "Runtime.enable", "DOM.enable"]) await this.send(name, {}, sessionId);
    await this.#attach(sessionId);
    await this.send("Page.navigate", { url: address }, sessionId);
    await this.until("document.readyState === 'complete' && typeof show === 'function'");
  }
  async run(expression) {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", options, this.session);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  async until(expression, seconds = 120) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; ) {
      if (await this.run(expression)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`never true: ${expression}; the page shows ${await this.run("document.body.innerText")}`);
  }
  async choose(paths) {
    await this.run("show('start')");
    const { root } = await this.send("DOM.getDocument", {}, this.session);
    const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#files" }, this.session);
    await this.send("DOM.setFileInputFiles", { nodeId, files: paths }, this.session);
    await this.until("document.body.dataset.state === 'chosen'");
  }
  /** Emulates a color scheme: light or dark. */
  scheme(value) {
    const features = [{ name: "prefers-color-scheme", value }];
    return this.send("Emulation.setEmulatedMedia", { features }, this.session);
  }
  async picture(path, width) {
    const size = { width, height: 900, deviceScaleFactor: 1, mobile: false };
    await this.send("Emulation.setDeviceMetricsOverride", size, this.session);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const { data } = await this.send("Page.captureScreenshot", {}, this.session);
    writeFileSync(path, Buffer.from(data, "base64"));
  }
}

function check(what, holds, detail = "") {
  console.log(`${holds ? "  ok  " : "FAILED"} ${what}${holds ? "" : `: ${detail}`}`);
  if (!holds) process.exitCode = 1;
}

/** Describes the first difference of two texts. */
function difference(one, other) {
  const at = [...one].findIndex((sign, i) => sign !== other[i]);
  return `at ${at}: ${one.slice(Math.max(0, at - 60), at + 60)} / ${other.slice(Math.max(0, at - 60), at + 60)}`;
}

/** Compares two CSV tables. Tolerates rounding, which depends on the vector instructions. */
function same(one, other) {
  const cells = (text) => text.split("\n").map((line) => line.split(line.includes(";") ? ";" : ","));
  const number = (cell) => Number(cell.replace(",", "."));
  const near = (a, b) => a === b || Math.abs(number(a) - number(b)) <= 1e-9 * Math.abs(number(b));
  const [a, b] = [cells(one), cells(other)];
  return a.length === b.length && a.every((row, i) => row.length === b[i].length && row.every((cell, j) => near(cell, b[i][j])));
}

/** Writes a table of times and eight sensors, with a fault from row 2400 on. Returns its path. */
function table(name, { german = false, keys = 0, broken = false, holes = false } = {}) {
  let seed = 7;
  const uniform = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const text = (x) => (german ? x.toFixed(4).replace(".", ",") : x.toFixed(4));
  const two = (n) => String(n).padStart(2, "0");
  const lines = [["Zeit", ...(keys ? ["machine"] : []), ...Array.from({ length: 8 }, (_, j) => `T${j}`)]];
  for (let t = 0; t < 3000; t++) {
    const date = new Date(Date.UTC(2026, 0, 1) + 300_000 * t);
    const [day, clock] = [`${two(date.getUTCDate())}.${two(date.getUTCMonth() + 1)}.2026`, date.toISOString().slice(11, 19)];
    const [a, b] = [normal(), normal()];
    const cells = Array.from({ length: 8 }, (_, j) => 50 + 3 * a * Math.cos(j) + 2 * b * Math.sin(j) + 0.2 * normal());
    if (t >= 2400) cells[3] += 6;
    const time = german ? `${day} ${clock}` : date.toISOString().slice(0, 19);
    const row = [time, ...(keys ? [`m${t % keys}`] : []), ...cells.map(text)];
    if (broken && t === 1000) row[2] = "defekt";
    if (holes && t % 7 === 3) row[1 + (t % 8)] = "";
    lines.push(row);
  }
  const path = join(folder, name);
  const bytes = lines.map((cells) => cells.join(german ? ";" : ",")).join("\n") + "\n";
  writeFileSync(path, name.endsWith(".gz") ? gzipSync(bytes) : bytes);
  return path;
}

/** Returns the largest difference of two tables relative to row norms, or null if texts differ. */
function gap(one, other) {
  const rows = (text) => text.trim().split("\n").map((line) => line.split(line.includes(";") ? ";" : ","));
  const [a, b] = [rows(one), rows(other)];
  if (a.length !== b.length || a.some((row, i) => row.length !== b[i].length)) return null;
  const number = (cell) => (cell === "" ? NaN : Number(cell.replace(",", ".")));
  const norm = (row) => Math.hypot(...row.map(number).filter(Number.isFinite));
  let largest = 0;
  for (const [i, row] of a.entries()) {
    for (const [j, cell] of row.entries()) {
      if (cell === b[i][j]) continue;
      largest = Math.max(largest, Math.abs(number(cell) - number(b[i][j])) / norm(b[i]));
    }
  }
  return Number.isNaN(largest) ? null : largest;
}

/** Returns the largest relative difference of numbers in two texts, or null if words differ. */
function drift(one, other) {
  const parts = (text) => text.split(/([0-9]+\.[0-9]+(?:e-?[0-9]+)?)/);
  const [a, b] = [parts(one), parts(other)];
  if (a.length !== b.length) return null;
  let largest = 0;
  for (const [i, part] of a.entries()) {
    if (part === b[i]) continue;
    if (i % 2 === 0) return null;
    largest = Math.max(largest, Math.abs(part - b[i]) / Math.max(Math.abs(b[i]), 1e-6));
  }
  return largest;
}

const close = (one, other) => gap(one, other) !== null && gap(one, other) <= 1e-9;
const read = (name) => readFileSync(join(folder, name), "utf8");

const browser = new Browser();
/** Sets choices on a tab and runs the task. Returns texts, and the model as an array of bytes. */
async function compute(task, choices, of = task) {
  await browser.run(`document.querySelector('[role=tab][data-task=${task}]').click()`);
  await browser.until("document.body.dataset.state === 'chosen'");
  for (const [id, value] of Object.entries(choices)) await browser.run(`$(${JSON.stringify(id)}).value = ${JSON.stringify(value)}`);
  await browser.run(`run(${JSON.stringify(of)})`);
  const state = await browser.run("document.body.dataset.state");
  if (state !== "done") throw new Error(`${of}: the page is in the state ${state}: ${await browser.run("$('error').textContent")}`);
  const text = "([name, bytes]) => [name, name === 'model' ? [...bytes] : new TextDecoder().decode(bytes)]";
  return browser.run(`Object.fromEntries(Object.entries(results).map(${text}))`);
}

try {
  await browser.open(pathToFileURL(page).href);
  const cases = [
    ["german.csv", { german: true }, {}],
    ["plain.csv.gz", {}, { "warm-up": "3d" }],
    ["fleet.csv", { keys: 3 }, { group: "machine" }],
  ];
  for (const [name, how, choices] of cases) {
    const path = table(name, how);
    await browser.choose([path]);
    const sentence = await browser.run("$('read-as').textContent");
    check(sentence, sentence.includes("8 columns of numbers"));
    for (const [id, value] of Object.entries(choices)) await browser.run(`$(${JSON.stringify(id)}).value = ${JSON.stringify(value)}`);
    const began = Date.now();
    await browser.run("run()");
    check(`${name}: done in ${Date.now() - began} ms`, (await browser.run("document.body.dataset.state")) === "done", await browser.run("$('error').textContent"));
    const got = await browser.run("({ page: new TextDecoder().decode(results.page), events: new TextDecoder().decode(results.events), model: [...results.model] })");
    const options = Object.entries(choices).flatMap(([id, value]) => [id === "group" ? "--group-by" : `--${id}`, value]);
    execFileSync(program, ["monitor", name, ...options, "--report", "r.html", "--events", "e.csv", "--quiet"], { cwd: folder });
    const wanted = { page: readFileSync(join(folder, "r.html"), "utf8"), events: readFileSync(join(folder, "e.csv"), "utf8") };
    check(`${name}: the incidents are those of the program`, same(got.events, wanted.events), difference(got.events, wanted.events));
    check(`${name}: the page is that of the program, ${got.page.length} signs`, got.page === wanted.page, difference(got.page, wanted.page));
    // The saved model continues on the command line and on the page.
    writeFileSync(join(folder, "web.eh"), Buffer.from(got.model));
    const on = ["monitor", name, "--start-from", "web.eh", ...options.slice(0, choices.group ? 2 : 0)];
    execFileSync(program, [...on, "--events", "on.csv", "--quiet"], { cwd: folder });
    await browser.choose([path, join(folder, "web.eh")]);
    if (choices.group) await browser.run(`$("more").value = "--group-by machine"`);
    await browser.run("run()");
    const again = await browser.run("new TextDecoder().decode(results.events)");
    const onward = readFileSync(join(folder, "on.csv"), "utf8");
    check(`${name}: the saved model goes on as in the program`, same(again, onward), difference(again, onward));
  }
  const runs = [
    ["holes.csv", { german: true, holes: true }, { missing: "fill" }, ["--missing", "fill", "--filled", "f.csv"]],
    ["units.csv.gz", {}, { k: "3", standardize: "running", learner: "tracking" }, ["-k", "3", "--standardize", "running", "--learner", "tracking"]],
  ];
  for (const [name, how, choices, options] of runs) {
    const path = table(name, how);
    await browser.choose([path]);
    const got = await compute("run", choices);
    execFileSync(program, ["run", name, ...options, "--report", "r.html", "--out", "o.csv", "--quiet"], { cwd: folder });
    // Exact values are in the titles of numbers. Their last digits depend on the vector width.
    const apart = drift(got.page, read("r.html"));
    check(`${name}: the page of the run is that of the program, ${got.page.length} signs, largest difference ${apart}`, apart !== null && apart < 1e-9, difference(got.page, read("r.html")));
    for (const [result, file] of [["coordinates", "o.csv"], ["filled", "f.csv"]]) {
      if (!options.includes(file) && result === "filled") continue;
      check(`${name}: ${result} as from the program, largest difference ${gap(got[result], read(file))}`, close(got[result], read(file)), difference(got[result], read(file)));
    }
    // The model saved by the page, and then the one saved by the command line, continues in both.
    writeFileSync(join(folder, "web.eh"), Buffer.from(got.model));
    for (const saved of ["web.eh", "program.eh"]) {
      const save = saved === "web.eh" ? ["--snapshot", "program.eh"] : [];
      execFileSync(program, ["run", name, "--start-from", saved, "--out", "on.csv", ...save, "--quiet"], { cwd: folder });
      await browser.choose([path, join(folder, saved)]);
      const { coordinates } = await compute("run", {});
      check(`${name}: ${saved} goes on as in the program, largest difference ${gap(coordinates, read("on.csv"))}`, close(coordinates, read("on.csv")), difference(coordinates, read("on.csv")));
    }
  }
  await browser.choose([table("plain.csv.gz")]);
  const untimed = (text) => text.split("\n").map((line) => line.slice(0, line.startsWith("charged") ? undefined : 73)).join("\n");
  const compared = untimed((await compute("run", { k: "2" }, "compare")).summary);
  const wanted = untimed(execFileSync(program, ["compare", "plain.csv.gz", "-k", "2"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  check("learners are compared as by the program", compared === wanted, difference(compared, wanted));
  await browser.choose([table("broken.csv", { broken: true })]);
  await browser.run("document.querySelector('[role=tab]').click()");
  await browser.until("document.body.dataset.state === 'chosen'");
  await browser.run("run()");
  const error = await browser.run("$('error').textContent");
  check(`a broken file: ${error}`, error.includes('broken.csv, line 1002, column "T1"') || error.includes("defekt"));
  await browser.run("$('skip').checked = true");
  await browser.run("run()");
  check("the broken row is passed over", (await browser.run("document.body.dataset.state")) === "done", await browser.run("$('error').textContent"));
  browser.run("show('chosen'); run(); 0").catch(() => {});
  await browser.until("document.body.dataset.state === 'running'");
  await browser.run("cancel()");
  await browser.until("document.body.dataset.state === 'chosen'");
  check("a run is cancelled", true);
  const outside = await browser.run("fetch('https://example.com').then(() => 'reached', () => 'refused')");
  check("the page cannot reach a network", outside === "refused", outside);
  const left = browser.requests.filter((url) => !/^(file|data|blob|about):/.test(url) && url !== "https://example.com/");
  check(`no request leaves the machine (${browser.requests.length} seen)`, left.length === 0, left.join(" "));
  if (process.env.EIGENHEDGE_PICTURES) {
    for (const scheme of ["light", "dark"]) {
      await browser.scheme(scheme);
      await browser.choose([table("plant.csv")]);
      for (const task of ["monitor", "run", "compare"]) {
        for (const state of ["chosen", "done"]) {
          if (state === "done") await compute(task === "compare" ? "run" : task, {}, task);
          else await browser.run(`show('chosen'); document.querySelector('[role=tab][data-task=${task === "compare" ? "run" : task}]').click()`);
          for (const width of [1300, 400]) {
            await browser.picture(join(process.env.EIGENHEDGE_PICTURES, `${task}-${state}-${width}-${scheme}.png`), width);
          }
        }
        await browser.run("show('chosen')");
      }
    }
  }
} finally {
  browser.process.kill();
  await new Promise((resolve) => browser.process.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
