// Worker: reads files into the module, opens a table, and reads the table in steps. The build
// prepends `start` from engine.js.

/** Number of rows between checks of the time. */
const ROWS = 64;
/** Minimum time between reports of progress in milliseconds. */
const PAUSE = 100;
let engine, table;

async function begin(packed) {
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  engine = await start(await new Response(stream).arrayBuffer());
}

async function readFiles(files) {
  engine.clearFiles();
  const all = files.reduce((sum, file) => sum + file.size, 0);
  let done = 0;
  for (const file of files) {
    const write = engine.addFile(file.name, file.size);
    const reader = file.stream().getReader();
    for (let at = 0, piece; !(piece = await reader.read()).done; at += piece.value.length) {
      write(at, piece.value);
      done += piece.value.length;
      postMessage({ reading: all ? done / all : 1 });
    }
  }
}

const tasks = {
  async open({ files, of, options }) {
    if (files) await readFiles(files);
    if (table !== undefined) engine.remove(table);
    const opened = engine.json("table", 0, JSON.stringify([of, options]));
    table = opened.object;
    return { table: opened.table };
  },
  run() {
    let shown = performance.now();
    for (;;) {
      const progress = engine.json("step", table, String(ROWS));
      if (progress.done) return Object.fromEntries(progress.results.map((name) => [name, engine.call("result", table, name)]));
      if (performance.now() - shown > PAUSE) {
        postMessage({ progress });
        shown = performance.now();
      }
    }
  },
};

async function work(data) {
  try {
    if (data.packed) await begin(data.packed);
    else {
      const answer = await tasks[data.task](data);
      // Results are transferred without a copy, which would block the page.
      postMessage(answer, Object.values(answer).flatMap((result) => result?.buffer ?? []));
    }
  } catch (error) {
    postMessage({ error: error.message });
  }
}

// Tasks run one at a time, in order.
let last = Promise.resolve();
onmessage = ({ data }) => (last = last.then(() => work(data)));
