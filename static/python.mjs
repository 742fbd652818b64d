// The page's side of Python: starts the worker, asks it, notices when it is gone. Newest setting wins.

const SLOW_MS = 2_000; // an answer that takes longer is spoken of
const PATIENCE_MS = 8_000; // a worker that does not even begin an answer this long is taken for dead and started again,
const LONGEST_MS = 60_000; // one that has begun, after this: some settings take a slow machine long

export class Python extends EventTarget {
  /** @param {URL} base  address of the site's root
   *  @param {{boot?: string, compressed: boolean, shared: boolean}} options  shared: one Python for all embeds of a page */
  constructor(base, options) {
    super();
    this.base = base;
    this.options = options;
    this.state = "waiting";
    this.asked = new Map(); // figure -> {values, since, ask}: under way, one a figure
    this.next = new Map(); // figure -> {values, since}: to be asked when that is answered
    this.count = 0;
    this.revived = false; // started again, and not heard of since
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

  /** Asks for a figure with these settings, all of them; the answer comes as an "answer" or "wrong" event, unless newer
   *  settings were asked for meanwhile. */
  ask(figure, values, since = performance.now()) {
    this.next.set(figure, { values, since });
    if (this.state === "live") this.send(figure);
    else if (this.state === "waiting") this.start();
  }

  /** Leaves out what waits to be asked of a figure. */
  forget(figure) {
    this.next.delete(figure);
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
    } else if (data.what === "busy") this.watch(LONGEST_MS);
    else if (data.what === "patch" || data.what === "wrong") {
      const asked = this.asked.get(data.figure);
      if (!asked || asked.ask !== data.ask) return;
      this.asked.delete(data.figure);
      this.revived = false;
      this.watch();
      if (this.next.has(data.figure)) this.send(data.figure);
      else this.tell(data.what === "patch" ? "answer" : "wrong", { ...data, since: asked.since });
    }
  }

  /** Waits for an answer to what is under way; starts a new worker if none comes. */
  watch(patience_ms = PATIENCE_MS) {
    clearTimeout(this.timer);
    if (!this.asked.size) return;
    this.timer = setTimeout(() => {
      this.tell("slow", {});
      this.timer = setTimeout(() => this.revive(), patience_ms - SLOW_MS);
    }, SLOW_MS);
  }

  /** Starts a new worker in place of one that is gone, and asks it what has no answer yet; once, then the reader is told. */
  revive() {
    if (this.revived) {
      this.fail("it was started again once already", "does not answer");
      return;
    }
    this.revived = true;
    this.lose();
    this.say("waiting");
    this.start();
  }

  fail(error, trouble = "could not be loaded") {
    this.lose();
    this.revived = false;
    Object.assign(this, { error, trouble });
    this.say("failed");
  }

  /** Lets go of the worker. What it was asked is to be asked again. */
  lose() {
    clearTimeout(this.timer);
    this.leave();
    this.next = new Map([...this.asked, ...this.next]);
    this.asked.clear();
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
