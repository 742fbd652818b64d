// BokehJS, fetched once; what its coming tells of the reader's line and of the host; and when the page has time for it.
import { remembered } from "./keeping.mjs";
import { lean } from "./lean.mjs";

export const idle = globalThis.requestIdleCallback ?? ((callback) => setTimeout(callback, 1));
export const whenIdle = () => new Promise((resolve) => idle(resolve));
export const soon = () => new Promise((resolve) => setTimeout(resolve));

const base = new URL(".", import.meta.url);
let bokeh;

/** BokehJS, fetched once; a failure is forgotten, so that a later try may succeed. */
export function drawing() {
  bokeh ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("bokeh.min.js", base);
    script.onload = () => {
      remembered(compressed()); // for the embeds beside this one, which find the script in a cache
      resolve(lean(globalThis.Bokeh, soon));
    };
    script.onerror = () => {
      script.remove();
      bokeh = null;
      reject(new Error("the drawing library could not be loaded"));
    };
    document.head.append(script);
  });
  return bokeh;
}

/** How BokehJS came, if over the line: what came from a cache says nothing about the line, or the host. */
function measured() {
  const [script] = performance.getEntriesByName(new URL("bokeh.min.js", base).href);
  return script?.encodedBodySize && script.transferSize >= script.encodedBodySize ? script : null;
}

/** Whether the reader's line is slow or metered: then nothing large is fetched unasked. */
export function thrifty() {
  const line = navigator.connection;
  if (line?.saveData || /2g|3g/.test(line?.effectiveType ?? "")) return true; // its downlink is a guess until it has seen traffic
  const script = measured();
  return Boolean(script) && script.transferSize / (script.responseEnd - script.responseStart) < 400; // bytes a millisecond: 3.2 Mbit/s
}

/** Whether the host compresses what it serves, so that Python's files need not be unpacked in the page; null if unknown. */
export function compressed() {
  const script = measured();
  return script && script.encodedBodySize < script.decodedBodySize * 0.25;
}
