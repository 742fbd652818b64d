// node snapshot.mjs JOB.json       (Node 22 or later: an older one's function table differs from a browser's)
//
// JOB is {task, pyodide, inside, ...} with absolute paths. Two tasks:
//   trace  {sources, out}: imports the app from `sources` (a zip for site-packages), asks it everything that a page may
//          ask, and writes out/site.zip and out/stdlib.zip (the modules that were used, compiled), out/trace.json,
//          out/figures/ID.json and out/answers/ID.json.
//   take   {site, stdlib, libraries, names, folder, out}: starts again from those very modules, and writes out/heap.bin
//          and out/snapshot.json. `folder` is the first task's `out`.
import fs from "node:fs";
import path from "node:path";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const SHORTEST = 256; // bytes worth a line in the list of stretches
const PAGE = 4096; // bytes

const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { ENV, SITE, withLibraries } = await import(pathToFileURL(job.preload).href);
globalThis.require ??= createRequire(import.meta.url); // else Pyodide asks for a package of npm
globalThis.XMLHttpRequest ??= class {}; // panel.io.pyodide imports it from js

const load = (name) => import(pathToFileURL(path.join(job.pyodide, name)).href);
const { loadPyodide } = await load("pyodide.mjs");
const { default: create } = await load("pyodide.asm.mjs");

async function start({ libraries = [], stdlib, makeSnapshot = false, report }) {
  const py = await loadPyodide({
    indexURL: job.pyodide + "/",
    ...(stdlib ? { stdLibURL: stdlib } : {}),
    env: ENV,
    _makeSnapshot: makeSnapshot,
    createPyodideModule: withLibraries(create, libraries, report),
  });
  return py;
}

const unpack = (py, zip) => py.unpackArchive(new Uint8Array(fs.readFileSync(zip)).buffer, "zip", { extractDir: SITE });

// The build's helpers live in a namespace of their own: the page's Python never sees them.
function helpers(py) {
  const space = py.runPython("dict(__name__='inside')");
  py.runPython(fs.readFileSync(job.inside, "utf8"), { globals: space });
  return { run: (code) => py.runPython(code, { globals: space }), space };
}

function writeTexts(kind, texts) {
  fs.mkdirSync(path.join(job.out, kind), { recursive: true });
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(path.join(job.out, kind, name + ".json"), text);
}

async function trace() {
  const py = await start({});
  unpack(py, job.sources);
  const { run } = helpers(py);
  run("watch(); sys.path.insert(0, SITE)"); // what stands in for a module of the standard library comes first
  run("exported = figures(); answers = rehearse()");
  const libraries = JSON.parse(run("json.dumps(libraries())"));
  const names = JSON.parse(run("found = sources(); json.dumps([name for name, _ in found.values()])"));
  run("pack(found, data_files(), '/tmp/site.zip', '/tmp/stdlib.zip')");
  writeTexts("figures", JSON.parse(run("json.dumps(exported)")));
  writeTexts("answers", JSON.parse(run("json.dumps(answers)")));
  for (const name of ["site.zip", "stdlib.zip"]) fs.writeFileSync(path.join(job.out, name), py.FS.readFile("/tmp/" + name));
  fs.writeFileSync(path.join(job.out, "trace.json"), JSON.stringify({ libraries, names, python: run("sys.version") }));
}

async function take() {
  const libraries = job.libraries.map((name) =>
    [name, new Uint8Array(fs.readFileSync(path.join(job.folder, path.basename(name))))]);
  const other = await freshMemory(libraries); // some of it is drawn by lot at each start: what two have alike is not
  let table, fresh;
  const py = await start({ libraries, stdlib: job.stdlib, makeSnapshot: true, report: (settings) => {
    table = settings.wasmTable.length;
    fresh = settings.HEAPU8.slice();
  } });
  unpack(py, job.site);
  const { run, space } = helpers(py);
  run("import importlib; importlib.invalidate_caches()");
  run(`load(${JSON.stringify(job.names)})`);
  for (const [name, text] of Object.entries(JSON.parse(run("json.dumps(figures())")))) {
    // The answers made by the other run speak of its models.
    if (text !== fs.readFileSync(path.join(job.folder, "figures", name + ".json"), "utf8")) {
      throw new Error(`DocumentError: ${name} is not the same document when Python starts again`);
    }
  }
  run("forget()");
  wipeSmall(py, run);
  space.clear();
  space.destroy();
  py.runPython("import gc; gc.collect()");
  wipeLarge(py._module);
  freeOfUndefined(py);
  const snapshot = py.makeMemorySnapshot({ serializer });
  const head = new Uint32Array(snapshot.buffer, snapshot.byteOffset, 4)[1];
  const memory = snapshot.subarray(head);
  const same = alike(fresh, other, memory);
  const digest = createHash("sha256");
  for (const [from, to] of same) digest.update(fresh.subarray(from, to));
  const { write, clear } = stretches(memory, fresh.length, same);
  fs.writeFileSync(path.join(job.out, "heap.bin"), Buffer.concat(write.map(([from, to]) => memory.subarray(from, to))));
  fs.writeFileSync(path.join(job.out, "snapshot.json"), JSON.stringify(
    { table, libraries: job.libraries, head: Buffer.from(snapshot.subarray(0, head)).toString("base64"), bytes: memory.length,
      write, clear, same, sha256: digest.digest("hex") }));
}

// Which stretches of a fresh machine's memory are to be written from the file, and which cleared. Pages that it has
// already (`same`), and empty ones beyond its end, are neither.
function stretches(memory, end, same) {
  const kinds = { write: [], clear: [] };
  for (let from = 0; from < memory.length; from += PAGE) {
    const to = Math.min(from + PAGE, memory.length);
    if (same.some(([a, b]) => a <= from && to <= b)) continue;
    const kind = memory.subarray(from, to).some((byte) => byte) ? "write" : from < end ? "clear" : "";
    if (!kind) continue;
    const last = kinds[kind].at(-1);
    if (last?.[1] === from) last[1] = to;
    else kinds[kind].push([from, to]);
  }
  return kinds;
}

// The memory of a machine that has its libraries and nothing else.
async function freshMemory(libraries) {
  let memory;
  await start({ libraries, stdlib: job.stdlib, report: ({ HEAPU8 }) => (memory = HEAPU8.slice()) });
  return memory;
}

// A reference to `undefined` (pyodide.http leaves one) cannot be written: null can.
function freeOfUndefined(py) {
  for (let i = 0; ; i++) {
    let value;
    try { value = py._module.__hiwire_get(i); } catch { return; }
    if (value === undefined) py._module.__hiwire_set(i, null);
  }
}

// Objects reached from globalThis are written as their path. Panel's heap holds one function of its own
// (panel.io.pyodide's dict converter): the worker gives an equal one back. Any other stops the build.
function serializer(value) {
  if (typeof value !== "function" || !String(value).includes("Object.fromEntries")) throw new Error(`cannot keep ${value}`);
  return { kind: "dict converter" };
}

// Stretches [from, to) that a fresh machine's memory holds as well: its constants, which come with the runtime anyway.
function alike(fresh, other, memory) {
  const found = [];
  const end = Math.min(fresh.length, memory.length);
  for (let from = 0; from < end; from++) {
    let to = from;
    let filled = 0;
    while (to < end && fresh[to] === memory[to] && fresh[to] === other[to]) filled += fresh[to++] !== 0;
    if (filled >= SHORTEST) found.push([from, to]);
    from = to;
  }
  return found;
}

// What is freed keeps its bytes, which nobody reads and every reader would download. Python's own allocator says how
// many free blocks it has of each size; taking them all, zeroed, and giving them back leaves zeros.
function wipeSmall(py, run) {
  run("gc.collect()");
  let said = "";
  py.setStderr({ batched: (line) => { said += line + "\n"; } });
  run("sys._debugmallocstats()");
  py.setStderr();
  const classes = [];
  for (const line of said.split("\n")) {
    const row = line.trim().split(/\s+/).map(Number);
    if (row.length === 6 && row.every(Number.isFinite)) classes.push([row[1], row[5]]);
  }
  const pools = /([\d,]+) unused pools \* ([\d,]+) bytes/.exec(said)?.slice(1).map((n) => Number(n.replaceAll(",", ""))) ?? [0, 0];
  classes.push([512, Math.floor(pools[0] * Math.floor((pools[1] - 48) / 512))]);
  run(`fill(${JSON.stringify(classes.filter(([size, count]) => size >= 32 && count > 0))})`);
}

// The C allocator tells nothing: ask it for pieces below the highest byte ever written, from large to small, until it
// has none left there.
function wipeLarge(module) {
  let top = module.HEAPU8.length;
  while (top > 0 && module.HEAPU8[top - 1] === 0) top--;
  const held = [];
  for (let size = 1 << 20; size >= 16; size = size > 64 ? size >> 1 : size - 16) {
    for (;;) {
      if (module.HEAPU8.length - top < 2 * size) break; // it might grow the memory, for good
      const at = module._malloc(size);
      if (at + size > top) { module._free(at); break; }
      module.HEAPU8.fill(0, at, at + size);
      held.push(at);
    }
  }
  for (const at of held) module._free(at);
}

// Uncaught, Node would print the minified line of Pyodide that threw: the message alone says more.
await { trace, take }[job.task]().catch((error) => {
  console.error(String(error?.stack ?? error).split("\n").filter((line) => line.length < 400).join("\n"));
  process.exit(1);
});
process.exit(0); // Pyodide leaves handles open
