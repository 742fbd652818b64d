// One figure on the page: Bokeh's drawing of its document, the frames that the player moves through, its words.
import { Player } from "./player.mjs";
import { columns, onTheme, paint, theme, themed } from "./theme.mjs";

const measure = document.createElement("canvas").getContext("2d");

const STAYS = 0.56; // of the window's height: a picture that is lower leaves room for the controls when it stays in view

export class FigureView {
  /** @param {HTMLElement} element  the <figure>  @param {(words: Record<string,string>) => void} said  told what it says */
  constructor(element, said) {
    this.element = element;
    this.id = element.dataset.figure;
    this.said = said;
    this.status = element.querySelector("[role=status]");
    this.holder = element.querySelector(".plots");
    this.picture = element.querySelector(".picture");
    this.words = {};
    this.player = new Player(element.querySelector(".player"), (index, part) => this.draw(index, part));
    this.player.root.addEventListener("click", ({ target }) => {
      if (this.player.playing && target.closest("[data-do=play], [data-do=restart]")) this.show();
    });
    this.player.root.addEventListener("playing", ({ detail }) => this.status.setAttribute("aria-live", detail ? "off" : "polite"));
    this.player.root.inert = true; // until there is something to play
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("click", () => this.player.pause()); // its buttons may be a screen away
  }

  /** Draws the document for the first time, beside the still picture and then instead of it.
   *  @param {object} json  the figure's document  @param {() => Promise} rest  waited for between two tasks */
  async open(json, rest) {
    const { require, logger } = globalThis.Bokeh;
    logger.set_level("warn");
    const { Document } = require("document");
    const document = Document.from_json(json);
    this.byName = new Map([...document.all_models].filter((m) => m.name).map((m) => [m.name, m]));
    paint(document.all_models);
    this.plots = document.roots().filter(({ type }) => type === "Figure");
    this.holder.hidden = false;
    await this.build(document, rest);
    this.document = document; // from here on it can be played and changed
    this.player.root.inert = false;
    this.element.classList.add("drawn");
    this.read(this.about().telling);
    onTheme(() => {
      paint(document.all_models);
      this.player.draw(0);
    });
    new ResizeObserver(() => {
      this.relabel();
      this.keepRoom();
      this.stay();
    }).observe(this.holder);
    addEventListener("resize", () => this.stay());
    new IntersectionObserver((entries) => this.player.glimpse(entries.at(-1).isIntersecting)).observe(this.picture);
  }

  // What Bokeh's embed.add_document_standalone does in one go, in small tasks: between two of them the page may scroll.
  async build(document, rest) {
    const { require, index } = globalThis.Bokeh;
    const { ViewManager } = require("core/view_manager");
    const views = new ViewManager([], index);
    document.views_manager = views;
    for (const plot of this.plots) {
      await rest();
      const place = this.holder.appendChild(globalThis.document.createElement("div"));
      place.style.height = `${plot.height}px`;
      const view = await views.build_view(plot);
      await rest();
      plot.hold_render = true; // its place first, its picture in a task of its own
      view.build(place);
      await rest();
      plot.hold_render = false;
      index.add(view);
    }
    await rest();
  }

  /** Brings the picture into view if most of it is elsewhere: whoever presses Play wants to see it. */
  show() {
    if (!this.player.seen) this.picture.scrollIntoView({ block: "nearest" });
  }

  about() {
    return JSON.parse(this.byName.get("about").data.json[0]);
  }

  /** Takes an answer: a Bokeh patch that replaces sources, frames and ranges. */
  apply({ json, buffers }) {
    const patch = typeof json === "string" ? JSON.parse(json) : json;
    this.document.apply_json_patch(patch, buffers instanceof Map ? buffers : new Map(buffers ?? []));
    if (theme() === "dark") paint(this.document.all_models); // an answer comes in light colours
    this.read(this.about().telling);
  }

  /** Reads frames and words of the present setting, and shows one frame. */
  read(index) {
    const frames = columns(this.byName.get("frames"));
    const about = this.about();
    this.moving = new Map();
    this.spoken = [];
    for (const [key, rows] of Object.entries(frames)) {
      const dot = key.indexOf(".");
      if (dot < 0) continue;
      const [source, column] = [key.slice(0, dot), key.slice(dot + 1)];
      if (source === "say") this.spoken.push([column, rows]);
      else {
        if (!this.moving.has(source)) this.moving.set(source, { columns: [], index: -1, smooth: false });
        const smooth = about.smooth.includes(key);
        const entry = this.moving.get(source);
        entry.columns.push({ column, rows, smooth, width: rows.shape ? rows.shape[1] : 0 });
        entry.smooth ||= smooth;
      }
    }
    this.table = about.table;
    this.facts = about.facts;
    this.say(about.facts);
    this.player.load({ clock: frames.clock_ms, names: frames.frame_name, seconds: about.play_s }, index);
    this.relabel();
    this.keepRoom();
    this.element.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
  }

  draw(index, part) {
    for (const [name, entry] of this.moving) {
      if (entry.index === index && !entry.smooth) continue;
      const source = this.byName.get(name);
      const data = { ...columns(source) };
      for (const column of entry.columns) data[column.column] = row(column, index, entry.smooth && column.smooth ? part : 0);
      if (data.color) data.color = themed(data.color);
      if (data.text) data.shown = this.fitting(source, data);
      source.data = data;
      entry.index = index;
    }
    this.say(Object.fromEntries(this.spoken.map(([word, rows]) => [word, rows[index]])));
  }

  /** Writes words wherever the page asks for them: only those that changed. */
  say(words) {
    const fresh = {};
    for (const [word, text] of Object.entries(words)) {
      if (this.words[word] === text) continue;
      this.words[word] = fresh[word] = text;
    }
    if (Object.keys(fresh).length) this.said(fresh);
  }

  // Labels that would not fit their room are left out: measured here, where the font and the width are known.
  relabel() {
    for (const entry of this.moving?.values() ?? []) entry.index = -1;
    for (const model of this.byName?.values() ?? []) {
      if (model.type === "ColumnDataSource" && columns(model).text) {
        const data = columns(model);
        model.data = { ...data, shown: this.fitting(model, data) };
      }
    }
    if (this.moving && this.player.film.clock.length > 1) this.draw(this.player.index, 0);
  }

  /** Lets a picture that is low enough stay in view while the reader is at its controls. */
  stay() {
    const { offsetHeight } = this.picture;
    this.picture.classList.toggle("stays", offsetHeight < STAYS * innerHeight);
    this.element.style.setProperty("--stays", `${offsetHeight}px`);
  }

  // Room for the longest text of any frame, so that nothing below it moves while the film plays. At one width it only grows.
  keepRoom() {
    const width = this.element.clientWidth;
    if (!width || !this.spoken) return;
    if (this.roomAt !== width) this.rooms = new Map();
    this.roomAt = width;
    for (const [word, texts] of this.spoken) {
      const place = this.element.querySelector(`p[data-say="${word}"]`);
      if (!place?.offsetWidth) continue; // covered in a lesson: measured when it is uncovered
      const probe = place.cloneNode(false);
      for (const name of ["id", "role", "data-say", "style"]) probe.removeAttribute(name);
      probe.className += " probe";
      probe.style.width = `${place.offsetWidth}px`;
      probe.textContent = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
      place.after(probe);
      this.rooms.set(word, Math.max(this.rooms.get(word) ?? 0, probe.offsetHeight));
      probe.remove();
      place.style.minHeight = `${this.rooms.get(word)}px`;
    }
  }

  fitting(source, { text, room }) {
    if (!room) return Array.from(text);
    for (const plot of this.plots ?? []) {
      const renderer = plot.renderers.find((r) => r.data_source === source && r.glyph.type === "Text");
      if (!renderer) continue;
      const { glyph } = renderer;
      const get = (spec) => spec?.value ?? spec;
      measure.font = `${get(glyph.text_font_style) === "bold" ? "bold " : ""}${get(glyph.text_font_size)} ${get(glyph.text_font)}`;
      const inner = plot.inner_width || this.holder.clientWidth;
      const pixels = inner / Math.abs(plot.x_range.end - plot.x_range.start);
      return Array.from(text, (word, i) => (word && measure.measureText(word).width > room[i] * pixels + 1 ? "" : word));
    }
    return Array.from(text);
  }

  /** Lights up one part of the picture (or none): the others go pale. */
  light(part) {
    for (const plot of this.plots ?? []) {
      const hit = part && plot.renderers.some((r) => r.name === `part:${part}`);
      for (const renderer of plot.renderers) renderer.muted = Boolean(hit) && renderer.name !== `part:${part}`;
    }
  }

  key(event) {
    if (!this.document || event.target !== this.picture || event.altKey || event.ctrlKey || event.metaKey) return;
    const { player } = this;
    const end = { ArrowLeft: 0, ArrowRight: player.last_index }[event.key];
    if (end === player.index && document.documentElement.dataset.teach) return; // the lesson goes on to the next figure
    const act = { " ": () => player.toggle(), ArrowLeft: () => player.step(-1), ArrowRight: () => player.step(1),
      Home: () => player.go(0), End: () => player.go(player.last_index) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

function row({ rows, width }, index, part) {
  if (!rows.shape) return rows[index];
  const Plain = Object.getPrototypeOf(rows.constructor); // BokehJS's typed arrays with a shape are subclasses
  const at = (i) => new Plain(rows.buffer, rows.byteOffset + i * width * rows.BYTES_PER_ELEMENT, width);
  const now = at(index);
  if (!part || (index + 2) * width > rows.length) return now;
  const next = at(index + 1);
  return Float32Array.from(now, (value, i) => value + part * (next[i] - value));
}
