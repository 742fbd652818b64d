// The page's side of Python: starts the worker, asks it, notices when it is gone. Newest setting wins.

const SLOW_MS = 2_000; // an answer that takes longer is spoken of
const PATIENCE_MS = 8_000; // a worker that does not answer this long is taken for dead and started again

export class Python extends EventTarget {
  /** @param {URL} base  address of the site's root
   *  @param {{boot?: string, compressed: boolean, shared: boolean}} options  shared: one Python for all embeds of a page */
  constructor(base, options) {
    super();
    this.base = base;
    this.options = options;
    this.state = "waiting";
    this.asked = new Map(); // figure -> {values, since}: under way, one a figure
    this.next = new Map(); // figure -> {values, since}: to be asked when that is answered
    this.settings = new Map(); // figure -> every value that was ever asked: a new worker is told them again
    this.count = 0;
  }

  start() {
    if (this.state === "loading" || this.state === "live") return;
    this.say("loading");
    const address = new URL("worker.mjs", this.base);
    if (this.options.boot) address.searchParams.set("boot", this.options.boot);
    if (this.options.compressed) address.searchParams.set("compressed", "1");
    try {
      this.worker = (this.options.shared && shared(address)) || alone(address);
    } catch (error) {
      this.fail(String(error));
      return;
    }
    this.worker.port.onmessage = ({ data }) => this.hear(data);
    this.worker.source.onerror = (event) => {
      event.preventDefault?.();
      if (this.worker.shared) this.startAlone(); // some browsers let another site's frame ask for one, and refuse it then
      else this.fail(event.message || "its files could not be loaded");
    };
  }

  startAlone() {
    this.leave();
    this.state = "waiting";
    this.start();
  }

  /** Asks for a figure with these settings changed; the answer comes as an "answer" event. */
  ask(figure, values, since = performance.now()) {
    this.settings.set(figure, { ...this.settings.get(figure), ...values });
    const next = this.next.get(figure);
    this.next.set(figure, { values: { ...next?.values, ...values }, since });
    if (this.state === "live") this.send(figure);
    else if (this.state === "waiting") this.start();
  }

  /** True while a figure's newest setting has no answer yet. */
  owes(figure) {
    return this.next.has(figure) || this.asked.has(figure);
  }

  send(figure) {
    if (this.asked.has(figure) || !this.next.has(figure)) return;
    const { values, since } = this.next.get(figure);
    this.next.delete(figure);
    this.asked.set(figure, { values, since, ask: ++this.count });
    this.worker.port.postMessage({ what: "ask", ask: this.count, figure, values: JSON.stringify(values) });
    this.watch();
  }

  hear(data) {
    if (data.what === "progress") this.tell("progress", data);
    else if (data.what === "failed") this.fail(data.error);
    else if (data.what === "live") {
      document.documentElement.dataset.boot = data.boot;
      this.say("live");
      for (const figure of this.next.keys()) this.send(figure);
    } else if (data.what === "patch" || data.what === "wrong") {
      const asked = this.asked.get(data.figure);
      if (!asked || asked.ask !== data.ask) return;
      this.asked.delete(data.figure);
      this.watch();
      this.tell(data.what === "patch" ? "answer" : "wrong", { ...data, since: asked.since });
      this.send(data.figure);
    }
  }

  watch() {
    clearTimeout(this.timer);
    if (!this.asked.size) return;
    this.timer = setTimeout(() => {
      this.tell("slow", {});
      this.timer = setTimeout(() => this.revive(), PATIENCE_MS - SLOW_MS);
    }, SLOW_MS);
  }

  /** Starts a new worker in place of one that is gone, and asks again for everything that was set. */
  revive() {
    this.leave();
    this.asked.clear();
    this.next = new Map([...this.settings].map(([figure, values]) => [figure, { values, since: performance.now() }]));
    this.say("waiting");
    this.tell("revived", {});
    this.start();
  }

  fail(error) {
    clearTimeout(this.timer);
    this.leave();
    this.asked.clear();
    this.next = new Map([...this.settings].map(([figure, values]) => [figure, { values, since: performance.now() }]));
    this.error = error;
    this.say("failed");
  }

  // A shared Python that fell silent is left to the others; this page goes on with one of its own.
  leave() {
    this.worker?.leave();
    this.worker = null;
    this.options.shared = false;
  }

  say(state) {
    this.state = state;
    document.documentElement.dataset.python = state;
    if (state === "live") performance.mark("python-live");
    this.tell("state", { state, error: this.error });
  }

  tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** A Python for this page alone. A sandboxed frame may not name another origin's worker: there a script imports it. */
function alone(address) {
  let worker;
  try {
    worker = new Worker(address, { type: "module" });
  } catch (error) {
    if (error.name !== "SecurityError") throw error;
    const text = `import(${JSON.stringify(address.href)}).catch((error) => postMessage({ what: "failed", error: String(error) }));`;
    worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  }
  return { port: worker, source: worker, leave: () => worker.terminate() };
}

/** The Python that all embeds of a page share, or null where the browser or the frame does not allow one. */
function shared(address) {
  if (!globalThis.SharedWorker) return null;
  try {
    const worker = new SharedWorker(address, { type: "module" });
    worker.port.start();
    return { port: worker.port, source: worker, shared: true, leave: () => worker.port.postMessage({ what: "leave" }) };
  } catch (error) {
    if (error.name !== "SecurityError") throw error;
    return null;
  }
}
