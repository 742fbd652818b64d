// One figure with its controls, its address and its answers: from the build, or from Python.
import { Answers } from "./answers.mjs";
import { Controls } from "./controls.mjs";
import { drawing, soon, thrifty, whenIdle } from "./drawing.mjs";
import { FigureView } from "./figure.mjs";
import { enlarged } from "./larger.mjs";
import { json } from "./packed.mjs";
import { Share } from "./share.mjs";

const root = document.documentElement;
const started = () => performance.getEntriesByName("first-figure").length > 0;
let line = Promise.resolve(); // of figures that are drawn one after the other

/** One figure with its controls, its address and its answers. */
export class Exhibit {
  /** @param {HTMLElement} element  the <figure>
   *  @param {{base: URL, parameters: object, address: object, framed: boolean, calm: MediaQueryList, numbers: object,
   *    python: object|undefined, startPython: () => object, remember: () => void, tell: (problems: string[]) => void}} page
   *    what all figures have in common */
  constructor(element, page) {
    this.element = element;
    this.page = page;
    this.id = element.dataset.figure;
    this.parameters = page.parameters[this.id];
    this.defaults = Object.fromEntries(this.parameters.map((p) => [p.name, p.default]));
    this.message = element.querySelector(".note");
    this.retry = element.querySelector(".retry");
    this.view = new FigureView(element, (words) => this.say(words));
    this.controls = new Controls(element.querySelector(".controls"), this.parameters, () => this.changed());
    this.answers = new Answers(page.base, this.id);
    this.shown = JSON.stringify(this.controls.values);
    this.broken = ""; // why it cannot be drawn
    this.played = false;
    this.asked = false; // whether the reader touched anything
    this.place = page.address.positions[this.id]; // the frame that the address asks for, until it is shown
    for (const [name, value] of Object.entries(page.address.values[this.id] ?? {})) this.controls.set(name, value);
    this.retry.addEventListener("click", () => this.touched() || page.startPython());
    for (const touch of ["pointerdown", "keydown"]) element.addEventListener(touch, () => this.touched());
    for (const move of ["click", "input", "keyup", "playing"]) this.view.player.root.addEventListener(move, page.remember);
    this.view.picture.addEventListener("keyup", page.remember);
    this.share = new Share(this, page.base);
    // Whoever has touched a figure is past its first showing.
    for (const name of ["pointerdown", "keydown"]) element.addEventListener(name, () => (this.played = true));
    element.querySelector("[data-do=send]")?.addEventListener("click", () => this.send());
    this.table = element.querySelector(".data tbody");
    element.querySelector(".data")?.addEventListener("toggle", () => this.tabulate());
    element.addEventListener("answered", () => this.tabulate());
  }

  /** Draws the figure; once, and after those that were asked for earlier: two at a time would both be late. */
  draw() {
    this.drawn ??= line = line.then(() => this.open()).catch((error) => {
      this.drawn = null;
      this.broken = `This picture stands still: ${error.message}.`;
      this.report();
    });
    return this.drawn;
  }

  async open() {
    const frames = json(new URL(`figures/${this.id}.json.gz`, this.page.base)).catch(() => {
      throw new Error("its frames could not be loaded");
    });
    const [figure] = await Promise.all([frames, drawing()]);
    await this.view.open(root.dataset.teach ? enlarged(figure) : figure, this.inView || !started() ? soon : whenIdle);
    this.broken = "";
    if (!started()) {
      performance.mark("first-figure");
      root.dispatchEvent(new Event("first-figure"));
    }
    const settle = () => this.pending() && this.resolve(this.moved ?? performance.now());
    this.answers.load().then(settle, settle);
    if (this.page.python) settle();
    this.arrive();
    if (this.inView) this.premiere();
  }

  /** Shows the frame that the address asks for, once the picture has its settings. */
  arrive() {
    if (this.place === undefined || this.pending()) return;
    const { player } = this.view;
    if (this.place > player.last_index) {
      this.page.tell([`${this.id} has no frame ${this.place.toLocaleString("en")} at these settings; the last one is ${player.last_index}.`]);
    }
    this.played = true;
    player.go(this.place);
    this.place = undefined;
  }

  /** The first touch: what the address asks for, and only Python can answer, is now computed. */
  touched() {
    if (this.asked) return false;
    this.asked = true;
    if (this.view.document && this.pending() && !this.page.python) this.resolve(performance.now());
    return Boolean(this.page.python);
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
    this.page.numbers.follow(this.id, this.controls.values);
    this.page.remember();
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
    const { python, framed } = this.page;
    if (python?.state !== "live") {
      const patch = this.answers.find(values, this.defaults);
      if (patch) {
        python?.forget(this.id); // what was to be asked before
        this.take({ json: patch }, values, since);
        return;
      }
    }
    const coming = this.answers.coming; // then `open` looks again when they are here
    if (!python && (coming || (!this.asked && (framed || thrifty())))) {
      this.report();
      return;
    }
    this.page.startPython().ask(this.id, values, since);
    this.report();
  }

  answer({ json, buffers, since }) {
    this.take({ json, buffers }, { ...this.controls.values }, since);
  }

  take(patch, values, since) {
    const shown = JSON.stringify(values);
    if (shown !== this.shown) this.view.apply(patch);
    this.shown = shown;
    this.refused = "";
    this.report();
    this.arrive();
    this.element.dispatchEvent(new Event("settled"));
    performance.measure("setting", { start: since, end: performance.now(), detail: this.id });
  }

  /** What the model would not compute: the reader is told; settings that came with the address make room for the usual. */
  refuse(error) {
    if (!this.changedByHand) {
      this.page.tell([`${ended(error)} The usual settings are shown instead.`]);
      for (const [name, value] of Object.entries(this.defaults)) this.controls.set(name, value);
      this.page.numbers.follow(this.id, this.controls.values);
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
    const { python } = this.page;
    const waiting = this.pending();
    this.element.classList.toggle("waiting", waiting);
    const failed = python?.state === "failed";
    const unasked = waiting && !python && !this.asked && this.view.document;
    this.retry.hidden = !failed && !unasked;
    this.retry.textContent = failed ? "Try again" : "Show these settings";
    if (failed) this.note(`Python ${python.trouble} (${python.error}). ${waiting ? "The picture shows the settings before." : "The figure plays its first settings."}`);
    else if (this.refused) this.note(`${ended(this.refused)} The picture shows the settings before.`);
    else if (unasked) this.note("The picture shows the usual settings; the ones in the address take Python, which loads when you ask.");
    else if (waiting && python?.state !== "live") this.note("Waiting for Python to answer this setting.");
    else this.note(this.broken);
  }

  slow() {
    if (this.pending()) this.note("Python has not answered yet. If it stays silent, it is started again.");
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
    if (this.played || this.page.calm.matches || root.dataset.teach) return;
    this.played = true;
    this.view.player.restart();
  }

  /** Plays from the beginning, as soon as there is something to play. */
  async send() {
    await this.draw();
    if (!this.view.document) return;
    this.view.player.restart();
    this.view.show();
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
