// Loads compiled extension modules at the same table and memory addresses in every run.
//
// A memory snapshot holds Python's heap, and that heap holds function pointers into each extension module (numpy's,
// here). They stay valid only if the module sits at the same place when the snapshot is restored. So both sides load
// the same files, in the same order, at the same moment: after the runtime is initialised, before Python's main().
export const SITE = "/lib/python3.14/site-packages/";

// Emscripten stores these strings in the heap: a different length moves every later allocation. The hash seed is in the
// heap as well; a fixed one makes two builds of the same sources alike.
export const ENV = { HOME: "/home/pyodide", LANG: "en_US.UTF-8", PYTHONHASHSEED: "0", _: "./this.program" };

/** Pyodide's module factory, with the libraries loaded before Python starts.
 *  @param {(settings: object) => Promise<object>} create  default export of pyodide.asm.mjs
 *  @param {[string, Uint8Array][]} libraries  path under site-packages, bytes; order matters
 *  @param {(settings: object) => void} report  called once they are in, with wasmTable and HEAPU8; may throw */
export function withLibraries(create, libraries, report = () => {}) {
  return (settings) => new Promise((done, fail) => {
    settings.onRuntimeInitialized = () => {
      try {
        for (const [name, bytes] of libraries) {
          const path = SITE + name;
          settings.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
          settings.FS.writeFile(path, bytes);
          settings.loadDynamicLibrary(path, { global: false, nodelete: true, allowUndefined: true }, {});
        }
        report(settings);
      } catch (error) {
        fail(error); // thrown here, Emscripten would lose it
        throw error;
      }
    };
    create(settings).then((module) => {
      // Pyodide asks for INITIAL_MEMORY when it restores, but its wasm file owns its memory: grow it.
      const wanted = settings.INITIAL_MEMORY ?? 0;
      if (module.HEAP8.length < wanted) module._emscripten_resize_heap(wanted);
      done(module);
    }, fail);
  });
}
