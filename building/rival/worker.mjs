// The worker's side of Panel's own conversion (panel/_templates/pyodide_worker.js), as a module: this Pyodide runs in no other.
import { loadPyodide } from "./pyodide.mjs";

const CODE = `
from panel.io.pyodide import init_doc, write_doc
init_doc()
from app.notebook import page
page().servable()
await write_doc()
`;

async function start() {
  const wheels = await (await fetch("wheels.json")).json();
  const address = (name) => new URL(name, self.location.href).href;
  self.pyodide = await loadPyodide({ indexURL: address("./") });
  self.pyodide.globals.set("sendPatch", (patch, buffers) => self.postMessage({ type: "patch", patch, buffers }));
  await self.pyodide.loadPackage(wheels.filter((name) => name.startsWith("micropip")).map(address));
  self.pyodide.globals.set("wheels", self.pyodide.toPy(wheels.filter((name) => !name.startsWith("micropip")).map(address)));
  await self.pyodide.runPythonAsync("import micropip\nawait micropip.install(wheels, deps=False)");
  const [docs_json, render_items, root_ids] = await self.pyodide.runPythonAsync(CODE);
  self.postMessage({ type: "render", docs_json, render_items, root_ids });
}

self.onmessage = async () => {
  await self.pyodide.runPythonAsync(`
from panel.io.state import state
from panel.io.pyodide import _link_docs_worker
_link_docs_worker(state.curdoc, sendPatch, setter='js')
`);
  self.postMessage({ type: "live" });
};

start().catch((error) => self.postMessage({ type: "failed", error: String(error).trim().split("\n").slice(-4).join(" ") }));
