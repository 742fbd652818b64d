// The page's side of Panel's own conversion to a Pyodide worker (panel/_templates/pyodide_handler.js), with two marks.
const python = new Worker("worker.mjs", { type: "module" });
python.onerror = (event) => (document.title = `failed: ${event.message}`);
python.onmessage = async ({ data }) => {
  if (data.type === "failed") document.title = `failed: ${data.error}`;
  if (data.type === "live") performance.mark("python-live");
  if (data.type !== "render") return;
  const items = JSON.parse(data.render_items);
  const ids = JSON.parse(data.root_ids);
  const places = ids.map((id) => Object.assign(document.createElement("div"), { id: `root-${id}` }));
  document.body.append(...places);
  items[0].roots = Object.fromEntries(ids.map((id, i) => [id, places[i].id]));
  items[0].root_ids = ids;
  await Bokeh.embed.embed_items(JSON.parse(data.docs_json), items);
  performance.mark("first-figure");
  python.postMessage({ type: "rendered" });
};
