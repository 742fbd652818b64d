// The page: text first, figures when they come near, Python after that. Essay and embeds run the same code.
import { Answers } from "./answers.mjs";
import { readAddress, writeAddress } from "./address.mjs";
import { Controls } from "./controls.mjs";
import { FigureView } from "./figure.mjs";
import { keep, keepPython, remembered } from "./keeping.mjs";
import { lean } from "./lean.mjs";
import { Numbers } from "./numbers.mjs";
import { json } from "./packed.mjs";
import { Python } from "./python.mjs";
import { Share } from "./share.mjs";
import { setTheme } from "./theme.mjs";

const root = document.documentElement;
const base = new URL(".", import.meta.url);
const figures = JSON.parse(document.getElementById("parameters").textContent);
const embedded = root.dataset.embed || null;
const framed = Boolean(embedded) && parent !== window; // in somebody else's page: nothing large is fetched unasked
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const address = readAddress(location.search, figures, embedded);
const query = new URLSearchParams(location.search.slice(0, 4000));
const idle = globalThis.requestIdleCallback ?? ((callback) => setTimeout(callback, 1));

const whenIdle = () => new Promise((resolve) => idle(resolve));
const soon = () => new Promise((resolve) => setTimeout(resolve));
const started = () => performance.getEntriesByName("first-figure").length > 0;

let python;
let bokeh;
let line = Promise.resolve(); // of figures that are drawn one after the other
const views = new Map(); // figure -> Exhibit

performance.mark("text");
root.dataset.python = "waiting";
if (["light", "dark"].includes(query.get("theme"))) setTheme(query.get("theme"));
if (framed) import("./frame.mjs").then(({ Frame }) => new Frame(embedded));

/** BokehJS, fetched once. */
function drawing() {
  bokeh ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("bokeh.min.js", base);
    script.onload = () => {
      remembered(compressed()); // for the embeds beside this one, which find the script in a cache
      resolve(lean(globalThis.Bokeh, soon));
    };
    script.onerror = () => reject(new Error("the drawing library could not be loaded"));
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
function thrifty() {
  const line = navigator.connection;
  if (line?.saveData || /2g|3g/.test(line?.effectiveType ?? "")) return true; // its downlink is a guess until it has seen traffic
  const script = measured();
  return Boolean(script) && script.transferSize / (script.responseEnd - script.responseStart) < 400; // bytes a millisecond: 3.2 Mbit/s
}

/** Whether the host compresses what it serves, so that Python's files need not be unpacked in the page; null if unknown. */
function compressed() {
  const script = measured();
  return script && script.encodedBodySize < script.decodedBodySize * 0.25;
}

function startPython() {
  if (!python) {
    const options = { boot: query.get("boot"), compressed: remembered(compressed()), shared: Boolean(embedded) };
    python = new Python(base, options);
    python.addEventListener("state", ({ detail }) => {
      if (embedded || !["live", "failed"].includes(detail.state)) return;
      idle(() => afterPython(detail.state === "live" && options));
    });
    python.addEventListener("answer", ({ detail }) => views.get(detail.figure)?.answer(detail));
    python.addEventListener("wrong", ({ detail }) => views.get(detail.figure)?.refuse(detail.error));
    python.addEventListener("state", () => views.forEach((view) => view.report()));
    python.addEventListener("slow", () => views.forEach((view) => view.pending() && view.note("Python has not answered yet. If it stays silent, it is started again.")));
    python.addEventListener("progress", ({ detail }) => views.forEach((view) => view.progress(detail)));
  }
  python.start();
  return python;
}

let after;
/** What would only be in Python's way: keeping the site for later. */
function afterPython(options) {
  if (!after && navigator.serviceWorker) keep(base, root.dataset.version);
  after = true;
  if (options) keepPython(base, root.dataset.version, options.compressed, root.dataset.boot);
}

/** One figure with its controls, its address and its answers. */
class Exhibit {
  constructor(element) {
    this.element = element;
    this.id = element.dataset.figure;
    this.parameters = figures[this.id];
    this.defaults = Object.fromEntries(this.parameters.map((p) => [p.name, p.default]));
    this.message = element.querySelector(".note");
    this.retry = element.querySelector(".retry");
    this.view = new FigureView(element, (words) => this.say(words));
    this.controls = new Controls(element.querySelector(".controls"), this.parameters, () => this.changed());
    this.answers = new Answers(base, this.id);
    this.shown = JSON.stringify(this.controls.values);
    this.played = false;
    this.asked = false; // whether the reader touched anything
    this.place = address.positions[this.id]; // the frame that the address asks for, until it is shown
    for (const [name, value] of Object.entries(address.values[this.id] ?? {})) this.controls.set(name, value);
    this.retry.addEventListener("click", () => this.touched() || startPython());
    for (const touch of ["pointerdown", "keydown"]) element.addEventListener(touch, () => this.touched());
    for (const move of ["click", "input", "keyup", "playing"]) this.view.player.root.addEventListener(move, remember);
    this.view.picture.addEventListener("keyup", remember);
    this.share = new Share(this, base);
    // Whoever has touched a figure is past its first showing.
    for (const name of ["pointerdown", "keydown"]) element.addEventListener(name, () => (this.played = true));
    element.querySelector("[data-do=send]")?.addEventListener("click", () => this.view.player.restart());
    this.table = element.querySelector(".data tbody");
    element.querySelector(".data")?.addEventListener("toggle", () => this.tabulate());
    element.addEventListener("answered", () => this.tabulate());
  }

  /** Draws the figure; once, and after those that were asked for earlier: two at a time would both be late. */
  draw() {
    this.drawn ??= line = line.then(() => this.open()).catch((error) => {
      this.drawn = null;
      this.note(`This picture stands still: ${error.message}.`);
    });
    return this.drawn;
  }

  async open() {
    const frames = json(new URL(`figures/${this.id}.json.gz`, base)).catch(() => {
      throw new Error("its frames could not be loaded");
    });
    const [figure] = await Promise.all([frames, drawing()]);
    await this.view.open(root.dataset.teach ? enlarged(figure) : figure, this.inView || !started() ? soon : whenIdle);
    if (!started()) {
      performance.mark("first-figure");
      root.dispatchEvent(new Event("first-figure"));
    }
    const settle = () => this.pending() && this.resolve(this.moved ?? performance.now());
    this.answers.load().then(settle, settle);
    if (python) settle();
    this.arrive();
    if (this.inView) this.premiere();
  }

  /** Shows the frame that the address asks for, once the picture has its settings. */
  arrive() {
    if (this.place === undefined || this.pending()) return;
    const { player } = this.view;
    if (this.place > player.last_index) {
      tell([`${this.id} has no frame ${this.place.toLocaleString("en")} at these settings; the last one is ${player.last_index}.`]);
    }
    this.played = true;
    player.go(this.place);
    this.place = undefined;
  }

  /** The first touch: what the address asks for, and only Python can answer, is now computed. */
  touched() {
    if (this.asked) return false;
    this.asked = true;
    if (this.view.document && this.pending() && !python) this.resolve(performance.now());
    return Boolean(python);
  }

  /** True while the picture shows other settings than the controls. */
  pending() {
    return JSON.stringify(this.controls.values) !== this.shown;
  }

  changed() {
    this.played = true; // a reader who moves a control is past the first showing
    this.asked = this.changedByHand = true;
    this.refused = "";
    this.place = undefined;
    this.view.player.pause();
    numbers.follow(this.id, this.controls.values);
    remember();
    this.moved = performance.now();
    this.resolve(this.moved);
  }

  /** Gets the picture to the present settings: from what was computed at build time, or from Python. */
  resolve(since) {
    const values = { ...this.controls.values };
    if (!this.view.document) {
      this.report();
      this.draw();
      return;
    }
    if (python?.state !== "live") {
      const patch = this.answers.find(values, this.defaults);
      if (patch) {
        // Python, when it comes, must know: it is told, and its answer is the same.
        if (python) python.ask(this.id, values, since);
        else early.set(this.id, values);
        this.take({ json: patch }, values, since);
        return;
      }
    }
    if (!python && this.answers.coming) { // `open` looks again when they are here
      this.report();
      return;
    }
    if (!python && !this.asked && (framed || thrifty())) {
      this.report();
      return;
    }
    startPython().ask(this.id, values, since);
    this.report();
  }

  answer({ json, buffers, since }) {
    if (python.next.has(this.id)) return; // a newer setting is on its way
    this.take({ json, buffers }, { ...this.controls.values }, since);
  }

  take(patch, values, since) {
    const shown = JSON.stringify(values);
    if (shown !== this.shown) this.view.apply(patch);
    this.shown = shown;
    this.report();
    this.arrive();
    this.element.dispatchEvent(new Event("settled"));
    performance.measure("setting", { start: since, end: performance.now(), detail: this.id });
  }

  /** What the model would not compute: the reader is told; settings that came with the address make room for the usual. */
  refuse(error) {
    if (!this.changedByHand) {
      tell([`${ended(error)} The usual settings are shown instead.`]);
      for (const [name, value] of Object.entries(this.defaults)) this.controls.set(name, value);
      numbers.follow(this.id, this.controls.values);
      this.resolve(performance.now());
    } else {
      this.refused = error;
      this.report();
    }
  }

  /** Writes words into the places that ask for them, in the figure and in the prose. */
  say(words) {
    this.places ??= Map.groupBy(
      [...document.querySelectorAll("[data-say]")].filter((place) => place.closest("[data-figure]")?.dataset.figure === this.id),
      (place) => place.dataset.say);
    for (const [word, text] of Object.entries(words)) {
      for (const place of this.places.get(word) ?? []) place.textContent = text;
    }
  }

  /** The frame that a reader chose to look at; undefined while playing and at the frame that is shown at rest. */
  moment() {
    if (!this.view.document || this.place !== undefined) return this.place;
    const { player } = this.view;
    return !this.asked || player.playing || player.index === this.view.about().telling ? undefined : player.index;
  }

  note(text) {
    this.message.textContent = text;
  }

  /** Says in words what the reader waits for, or what is missing. */
  report() {
    const waiting = this.pending();
    this.element.classList.toggle("waiting", waiting);
    const failed = python?.state === "failed";
    const unasked = waiting && !python && !this.asked && this.view.document;
    this.retry.hidden = !failed && !unasked;
    this.retry.textContent = failed ? "Try again" : "Show these settings";
    if (failed) this.note(`Python could not be loaded (${python.error}). ${waiting ? "The picture shows the settings before." : "The figure plays its first settings."}`);
    else if (this.refused) this.note(`${ended(this.refused)} The picture shows the settings before.`);
    else if (unasked) this.note("The picture shows the usual settings; the ones in the address take Python, which loads when you ask.");
    else if (waiting && python?.state !== "live") this.note("Waiting for Python to answer this setting.");
    else this.note("");
  }

  progress({ loaded, total }) {
    if (!this.pending()) return;
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    this.note(`Waiting for Python to answer this setting: ${megabytes(total - loaded)} of ${megabytes(total)} MB left.`);
  }

  look(seen) {
    this.inView = seen;
    this.view.player.look(seen);
    if (seen && this.view.document) this.premiere();
  }

  /** Plays once when it comes into view, never again unasked; not at all where motion is unwanted. */
  premiere() {
    if (this.played || calm.matches || root.dataset.teach) return;
    this.played = true;
    this.view.player.restart();
  }

  tabulate() {
    const { table } = this.view;
    if (!table || !this.table || !this.element.querySelector(".data").open) return;
    this.table.replaceChildren(...table.rows.map((cells) => {
      const line = document.createElement("tr");
      line.append(...cells.map((cell) => {
        const box = document.createElement("td");
        box.textContent = typeof cell === "number" ? cell.toLocaleString("en", { maximumFractionDigits: 3 }) : cell;
        return box;
      }));
      return line;
    }));
  }
}

/** An error as a sentence: another follows. */
const ended = (words) => (/[.!?]$/.test(words) ? words : `${words}.`);

const ENLARGED = 1.5; // in a classroom

/** A figure's document with larger letters, and higher by as much. Bokeh measures in pixels: zooming its place would not do. */
function enlarged(figure) {
  const larger = (key, value) => {
    if (/_font_size$/.test(key) && typeof (value?.value ?? value) === "string") {
      const size = `${Math.round(parseFloat(value.value ?? value) * ENLARGED)}px`;
      return value.value ? { ...value, value: size } : size;
    }
    if (/^(height|min_border_\w+)$/.test(key) && typeof value === "number") return Math.round(value * ENLARGED);
    return value;
  };
  return JSON.parse(JSON.stringify(figure, larger));
}

const early = new Map(); // settings answered before Python was asked for
const numbers = new Numbers(document, figures, (figure, name, value) => {
  const exhibit = views.get(figure);
  exhibit.controls.set(name, value);
  exhibit.changed();
});

let remembering;
/** Writes the settings into the address, after the reader's hand has come to rest. */
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const values = Object.fromEntries([...views].map(([id, view]) => [id, view.controls.values]));
    const positions = Object.fromEntries([...views].map(([id, view]) => [id, view.moment()]));
    readdress(writeAddress(location.search, figures, values, positions, embedded));
    const home = document.querySelector(".home a");
    if (home) home.href = views.get(embedded).share.place();
  }, 300);
}

/** Writes into the address which figure the class is at. */
function at(figure) {
  const search = new URLSearchParams(location.search.slice(0, 4000));
  search.set("figure", figure);
  readdress(`?${search}`);
}

/** Puts another query into the address of this page. */
function readdress(search) {
  try {
    if (search !== location.search) history.replaceState(null, "", location.pathname + search + location.hash);
  } catch (error) {
    if (error.name !== "SecurityError") throw error; // a sandboxed frame may not change its address
  }
}

/** Tells the reader what is wrong with the address. */
function tell(found) {
  const problems = document.querySelector(".problems");
  for (const problem of found) {
    problems.hidden = false;
    problems.append(Object.assign(document.createElement("p"), { textContent: problem }));
  }
}

function observe() {
  const near = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) views.get(target.dataset.figure).draw();
  }, { rootMargin: "600px" });
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) views.get(target.closest("figure").dataset.figure).look(isIntersecting && !document.hidden);
  }, { threshold: 0.35 });
  for (const view of views.values()) {
    near.observe(view.element);
    seen.observe(view.view.picture);
  }
}

/** The rest of the figures, one at a time, whenever the page has nothing else to do. */
function drawRest() {
  const left = [...views.values()].find((view) => !view.drawn && view.element.offsetParent);
  if (left) idle(() => left.draw().then(drawRest));
}

function lightParts() {
  for (const name of ["pointerenter", "focus", "pointerleave", "blur"]) {
    document.addEventListener(name, ({ target }) => {
      const word = target instanceof Element ? target.closest(".part") : null;
      if (word) views.get(word.dataset.figure)?.view.light(name === "pointerenter" || name === "focus" ? word.dataset.part : null);
    }, true);
  }
}

for (const element of document.querySelectorAll("figure[data-figure]")) views.set(element.dataset.figure, new Exhibit(element));
for (const [id, view] of views) numbers.follow(id, view.controls.values);
tell(address.problems);
if (query.get("teach") === "1" && !embedded) {
  root.dataset.teach = "1";
  import("./teach.mjs").then(({ Lesson }) => new Lesson(views, {
    first: query.get("figure"), predict: query.get("predict") !== "0", moved: at }));
}
observe();
lightParts();
if (!embedded) idle(() => views.values().next().value.draw()); // wherever it stands: Python waits for it
root.addEventListener("first-figure", () => {
  if (embedded || thrifty()) return;
  startPython();
  for (const [figure, values] of early) python.ask(figure, values);
  early.clear();
  drawRest(); // meanwhile: once Python is there, nothing of the page changes
}, { once: true });
addEventListener("beforeprint", () => views.forEach(({ view }) => view.document && view.player.go(view.about().telling)));
