// Calls of the WebAssembly module. A call has one object and one input, and returns bytes.

/** Starts the module from its bytes. Returns functions that call its exports. */
export async function start(bytes) {
  const module = await WebAssembly.compile(bytes);
  const imports = {};
  // A dependency imports functions that are never called.
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
  imports.env.now = () => performance.now();
  let failure = null;
  const { exports } = await WebAssembly.instantiate(module, imports);
  const memory = (at, length) => new Uint8Array(exports.memory.buffer, at >>> 0, length >>> 0);
  const write = (...parts) => {
    const given = parts.map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part));
    const at = exports.input(given.reduce((sum, part) => sum + part.length, 0));
    given.reduce((place, part) => (memory(place, part.length).set(part), place + part.length), at >>> 0);
  };
  const call = (name, object = 0, data = "") => {
    if (failure) throw failure;
    let failed;
    try {
      write(name, "\0", data);
      failed = exports.call(object);
    } catch (error) {
      // The state of the module is unknown after a trap, for example for lack of memory.
      throw (failure = new Error(`the computation was aborted (${error.message}); the data may need more memory`));
    }
    const result = memory(exports.output(), exports.output_length()).slice();
    if (failed) throw new Error(new TextDecoder().decode(result));
    return result;
  };
  const text = (...words) => new TextDecoder().decode(call(...words));
  return {
    call,
    text,
    json: (name, object, data) => JSON.parse(text(name, object, data === undefined ? "" : data)),
    numbers: (...words) => new Float64Array(call(...words).buffer),
    /** Adds a file of `size` bytes. Returns a function that writes bytes at an offset. */
    addFile(name, size) {
      write(name);
      const at = exports.add_file(size);
      if (!at && size) throw new Error(`${name}: there is not enough memory for ${size} bytes`);
      return (offset, bytes) => memory(at + offset, bytes.length).set(bytes);
    },
    clearFiles: () => exports.clear_files(),
    remove: (object) => exports.remove(object),
  };
}
