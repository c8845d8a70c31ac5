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
  const write = (data) => {
    const given = typeof data === "string" ? new TextEncoder().encode(data) : data;
    memory(exports.input(given.length), given.length).set(given);
  };
  const call = (name, object = 0, data = "") => {
    if (failure) throw failure;
    let failed;
    try {
      write(data);
      failed = exports[name](object);
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
