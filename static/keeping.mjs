// The page's side of the service worker: registers it, and tells it which of Python's files this browser uses.

/** Whether the host compresses, as was found last: files that come from a cache or from the service worker do not tell.
 *  @param {boolean | null} found  null where this page's files do not tell either */
export function remembered(found) {
  try {
    if (found !== null && !navigator.serviceWorker?.controller) localStorage.setItem("host-compresses", found ? "1" : "0");
    return localStorage.getItem("host-compresses") === "1";
  } catch {
    return Boolean(found); // storage may be forbidden
  }
}

/** Registers the service worker of the site; where that is not possible the page works without. */
export async function keep(base, version) {
  try {
    await navigator.serviceWorker.register(new URL("sw.js", base));
    const { active } = await navigator.serviceWorker.ready;
    active.postMessage({ what: "here", version });
  } catch (error) {
    console.info(`This page is not kept for later: ${error.message}`);
  }
}

/** Keeps the files that Python was started from, for a visit without a network. */
export async function keepPython(base, version, compressed, boot) {
  if (!navigator.serviceWorker) return;
  const [{ active }, { FILES }] = await Promise.all([navigator.serviceWorker.ready, import(new URL("python/files.mjs", base))]);
  const other = boot === "snapshot" ? ["site.zip", "stdlib.zip"] : ["heap.bin"];
  const files = Object.keys(FILES).filter((name) => !other.includes(name))
    .map((name) => `python/${name}${compressed || name.endsWith(".mjs") ? "" : ".gz"}`);
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (data.what === "kept") document.documentElement.dataset.kept = "1";
  }, { once: true });
  active.postMessage({ what: "keep", version, files });
}
