// Python's side: boots it (from its memory snapshot, else from modules), then answers each page that asks.
//
// A module worker, dedicated or shared. Its address may say `boot=modules` (no snapshot) and `compressed=1` (the host
// compresses by itself). A page says {what: "ask", ask, figure, values} with ALL values of the figure as JSON, or
// {what: "ping"}. It hears {what: "progress", loaded, total} in bytes, {what: "live", boot, version}, {what: "failed",
// error}, {what: "busy"} when an answer is begun, then {what: "patch", figure, ask, json, buffers: [[id, ArrayBuffer]...]}
// or {what: "wrong", figure, ask, error}.
import { Files, digest } from "./fetched.mjs";
import { ENV, SITE, withLibraries } from "./preload.mjs";
import { FILES, LOCK, SNAPSHOT, VERSION } from "./python/files.mjs";

const query = new URL(import.meta.url).searchParams;
const folder = new URL("python/", import.meta.url);
const ports = new Set();
const asks = new Map(); // one of each page and figure: the newest
const turn = new MessageChannel(); // its message comes after those that pages have sent already
const OFTEN_MS = 100; // a page is told of progress no more often
let told = -OFTEN_MS;
let said = { what: "progress", loaded: 0, total: 0 };
let answer = null; // (figure, values) => [patch, [[id, bytes]...]] or a string that says what is wrong
let python = null;
let bare = false; // restored from its heap, without the files below it
let adding = null; // a promise, while those files are on their way

const files = new Files(folder, FILES, {
  compressed: query.has("compressed"),
  version: VERSION,
  progress: (loaded, total) => {
    if (said.what !== "progress" || (loaded < total && performance.now() - told < OFTEN_MS)) return;
    told = performance.now();
    tell({ what: "progress", loaded, total });
  },
});

function tell(message) {
  said = message;
  for (const port of ports) port.postMessage(message);
}

function hear(port, { data }) {
  if (data.what === "ping") port.postMessage({ what: "pong", memory_bytes: python?._module.HEAP8.length ?? 0 });
  if (data.what === "leave") ports.delete(port);
  if (data.what !== "ask") return;
  if (!asks.size) turn.port2.postMessage(null);
  let mine = asks.get(port);
  if (!mine) asks.set(port, (mine = new Map()));
  mine.set(data.figure, data);
}

// One answer a turn: whatever pages have asked meanwhile is heard first, and only the newest of it is computed.
turn.port1.onmessage = () => {
  if (!answer) return; // asked again when Python is there
  for (const [port, mine] of asks) {
    for (const [figure, { ask, values }] of mine) {
      mine.delete(figure);
      if (!mine.size) asks.delete(port);
      reply(port, figure, ask, values);
      if (asks.size) turn.port2.postMessage(null);
      return;
    }
  }
};

function reply(port, figure, ask, values) {
  let made;
  port.postMessage({ what: "busy" }); // it may take long: who waits knows that somebody is at work
  try {
    made = answer(figure, values);
  } catch (error) {
    if (bare) {
      adding ??= addFiles().finally(() => (adding = null));
      adding.then(() => reply(port, figure, ask, values), (fault) => wrong(port, figure, ask, fault));
      return;
    }
    wrong(port, figure, ask, error);
    return;
  }
  if (typeof made === "string") {
    port.postMessage({ what: "wrong", figure, ask, error: made });
    return;
  }
  const buffers = made[1].map(([id, bytes]) => [id, bytes.buffer]);
  port.postMessage({ what: "patch", figure, ask, json: made[0], buffers }, buffers.map(([, buffer]) => buffer));
}

const wrong = (port, figure, ask, error) =>
  port.postMessage({ what: "wrong", figure, ask, error: `Python could not answer: ${lastLine(error)}` });

/** Gives a restored Python the files that it was started without: what no rehearsal opened or imported is not in its heap. */
async function addFiles() {
  const [stdlib, site] = await Promise.all([files.bytes("stdlib.zip"), files.bytes("site.zip")]);
  python.FS.writeFile("/lib/python314.zip", stdlib);
  python.unpackArchive(site.buffer, "zip", { extractDir: SITE });
  python.runPython("import importlib; importlib.invalidate_caches()");
  bare = false;
}

const lastLine = (error) => String(error?.message ?? error).trim().split("\n").at(-1).slice(0, 300);

const once = (make) => { let made; return () => (made ??= make()); };
const runtime = once(() => Promise.all([files.script("pyodide.mjs"), files.script("pyodide.asm.mjs")]));
const machine = once(() => files.wasm("pyodide.asm.wasm"));
const libraries = once(() => Promise.all(SNAPSHOT.libraries.map(async (name) => [name, await files.bytes(name.split("/").pop())])));
const compiled = once(async () => new Map(await Promise.all( // by length, which no two of them share
  (await libraries()).map(async ([, bytes]) => [bytes.length, await WebAssembly.compile(bytes)]))));

/** Pyodide, with our files: by itself it would fetch two of them, and wait for ever for one that is damaged. */
async function load(stdlib, options) {
  const [[{ loadPyodide }, { default: create }], known] = await Promise.all([runtime(), compiled()]);
  const native = { fetch: globalThis.fetch, instantiate: WebAssembly.instantiateStreaming, Module: WebAssembly.Module };
  globalThis.fetch = async (address) => new Response(String(address).endsWith(".wasm") ? null : stdlib);
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await machine();
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  // Emscripten compiles each library while everything waits: it gets those that were compiled meanwhile.
  WebAssembly.Module = new Proxy(native.Module, { construct: (made, [bytes]) => known.get(bytes.byteLength) ?? new made(bytes) });
  try {
    const started = loadPyodide({ indexURL: folder.href, lockFileContents: LOCK, packageBaseUrl: folder.href, env: ENV, ...options(create) });
    // Where the machine fails, Pyodide says so on the console and never ends.
    return await Promise.race([started, machine().then(() => started)]);
  } finally {
    globalThis.fetch = native.fetch;
    WebAssembly.instantiateStreaming = native.instantiate;
    WebAssembly.Module = native.Module;
  }
}

class OtherEngine extends Error {}
// It also stops the machine that was made in vain, where nobody can catch it: `restore` has told of it already.
addEventListener("unhandledrejection", (event) => event.reason instanceof OtherEngine && event.preventDefault());

/** Python as the build left it, documents and all. Throws where this engine cannot take it. */
async function restore() {
  const heap = files.bytes("heap.bin"); // the machine is made ready meanwhile
  for (const early of [heap, machine(), compiled()]) early.catch(() => {});
  const loaded = await libraries();
  let known;
  const py = await load(new Uint8Array(), (create) => ({
    _loadSnapshot: Uint8Array.from(atob(SNAPSHOT.head), (letter) => letter.charCodeAt(0)),
    _snapshotDeserializer: () => toObject,
    createPyodideModule: async (settings) => {
      settings.INITIAL_MEMORY = SNAPSHOT.bytes;
      // Another engine may hold another number of table entries (WebKitGTK 2.50 does): the heap's pointers would be off.
      const module = await withLibraries(create, loaded, ({ wasmTable: { length }, HEAPU8 }) => {
        if (length !== SNAPSHOT.table) throw new OtherEngine(`this engine's table has ${length} entries, the snapshot's ${SNAPSHOT.table}`);
        known = constants(HEAPU8);
      })(settings);
      fill(new Uint8Array(module.HEAP8.buffer), await heap);
      return module;
    },
  }));
  if ((await known) !== SNAPSHOT.sha256) throw new Error("this engine's memory starts out differently");
  return py;
}

// The one JavaScript function that Panel holds (panel.io.pyodide): how a dict becomes an object.
const toObject = (entries) => Object.fromEntries(Array.from(entries, ([key, value]) => [key, value === undefined ? null : value]));

/** SHA-256 of what a fresh machine's memory holds already and the heap's file leaves out: the runtime's constants. (The
 *  expected one where the browser computes none.) */
function constants(memory) {
  const parts = SNAPSHOT.same.map(([from, to]) => memory.slice(from, to));
  return globalThis.crypto?.subtle ? new Blob(parts).arrayBuffer().then(digest) : Promise.resolve(SNAPSHOT.sha256);
}

/** Writes the heap over a fresh machine's memory. Its file leaves out the empty pages. */
function fill(memory, heap) {
  for (const [from, to] of SNAPSHOT.clear) memory.fill(0, from, to);
  let at = 0;
  for (const [from, to] of SNAPSHOT.write) {
    memory.set(heap.subarray(at, at + to - from), from);
    at += to - from;
  }
}

/** Python from its modules, as slow as starting is. */
async function fromModules() {
  const wanted = [files.bytes("stdlib.zip"), files.bytes("site.zip"), libraries(), machine(), compiled()];
  const [stdlib, site, loaded] = await Promise.all(wanted);
  const py = await load(stdlib, (create) => ({ createPyodideModule: withLibraries(create, loaded) }));
  py.unpackArchive(site.buffer, "zip", { extractDir: SITE });
  // Panel makes that function from its text, which a page's security policy forbids: it gets ours.
  const code = py.pyimport("pyodide.code");
  code.run_js = (text) => {
    if (!text.includes("Object.fromEntries")) throw new Error("no text is run as JavaScript here");
    return toObject;
  };
  code.destroy();
  py.runPython("import importlib; importlib.invalidate_caches(); import app.live");
  return py;
}

const ANSWER = `
from app import live
from pyodide.ffi import to_js

def answer(figure, values):
    try:
        patch, buffers = live.change(figure, values)
    except ValueError as error:
        return str(error)
    return to_js([patch, [[name, data] for name, data in buffers]])

answer
`;

/** Boots one way or the other, and says which. */
async function boot() {
  let way = "snapshot";
  if (query.get("boot") !== "modules") {
    python = await restore().catch((error) => console.info(`Python starts without its snapshot: ${lastLine(error)}`));
  }
  bare = Boolean(python);
  if (!python) {
    way = "modules";
    python = await fromModules();
  }
  const space = python.runPython("dict(__name__='page')");
  const call = python.runPython(ANSWER, { globals: space });
  answer = (figure, values) => call(figure, values);
  tell({ what: "live", boot: way, version: VERSION });
  turn.port2.postMessage(null);
}

function join(port) {
  ports.add(port);
  port.onmessage = (event) => hear(port, event);
  if (said.what !== "progress" || said.total) port.postMessage(said);
}

if (globalThis.SharedWorkerGlobalScope) globalThis.onconnect = ({ ports: [port] }) => join(port);
else join(globalThis);

boot().catch((error) => {
  tell({ what: "failed", error: lastLine(error) });
  globalThis.close(); // a page that tries again gets a new worker, shared ones too
});
