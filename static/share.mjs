// What a reader takes along of a figure: its address, the lines that embed it, its data, its picture.
import { writeAddress } from "./address.mjs";
import { theme } from "./theme.mjs";

const TOKENS = JSON.parse(document.getElementById("tokens").textContent);
const MARGIN = 20; // px around a saved picture
const LINE = 24; // px from one line of text to the next
const FONTS = { title: "600 17px", sentence: "16px", source: "13px" };
const FAMILY = 'system-ui, Inter, "DejaVu Sans", sans-serif';
const SVG = "http://www.w3.org/2000/svg";

export class Share {
  /** @param {object} exhibit  the figure on the page  @param {URL} base  the site's root */
  constructor(exhibit, base) {
    this.exhibit = exhibit;
    this.base = base;
    this.root = exhibit.element.querySelector(".share");
    this.said = this.root.querySelector("[aria-live]");
    this.root.addEventListener("toggle", () => this.write());
    exhibit.element.addEventListener("settled", () => this.write());
    for (const move of ["playing", "click", "input", "keyup"]) exhibit.view.player.root.addEventListener(move, () => this.write());
    this.root.addEventListener("click", ({ target }) => {
      if (target.dataset.copy) this.copy(target.dataset.copy);
      if (target.dataset.save) this.save(target.dataset.save);
    });
  }

  /** The query of the figure's present settings and frame; `prefixed` as the essay writes it. */
  query(prefixed) {
    const { id, parameters, controls } = this.exhibit;
    const only = prefixed ? null : id;
    return writeAddress("", { [id]: parameters }, { [id]: controls.values }, { [id]: this.exhibit.moment() }, only);
  }

  /** The figure's place in the essay, with its present settings and frame. */
  place() {
    return new URL(`index.html${this.query(true)}#${this.exhibit.id}`, this.base).href;
  }

  lines() {
    const { id } = this.exhibit;
    const page = new URL(`embed/${id}.html${this.query(false)}`, this.base).href;
    const attributes = [...new URLSearchParams(this.query(false))].map(([name, value]) => ` ${name}="${quote(value)}"`).join("");
    const title = this.exhibit.element.querySelector(".question").textContent;
    return {
      link: this.place(),
      element: `<script async src="${quote(new URL("embed.js", this.base).href)}"></script>\n<llm-figure name="${id}"${attributes}></llm-figure>`,
      iframe: `<iframe src="${quote(page)}" title="${quote(title)}" style="width:100%;height:${this.root.dataset.height};border:0" loading="lazy"></iframe>`,
    };
  }

  write() {
    if (!this.root.open) return;
    for (const [name, text] of Object.entries(this.lines())) this.root.querySelector(`[data-line="${name}"]`).value = text;
    this.said.textContent = "";
  }

  async copy(name) {
    this.write();
    const field = this.root.querySelector(`[data-line="${name}"]`);
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      this.said.textContent = "Copied.";
    } catch {
      // A frame may be forbidden the clipboard: what is selected can still be copied by hand.
      this.said.textContent = "Selected: copy it with your keyboard or your browser's menu.";
    }
  }

  async save(kind) {
    try {
      await this.exhibit.draw();
      const blob = await { csv: () => this.csv(), png: () => this.png(), svg: () => this.svg() }[kind]();
      const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: `${this.exhibit.id}.${kind}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      this.said.textContent = `Saved as ${link.download}.`;
    } catch (error) {
      this.said.textContent = `It could not be saved: ${error.message}.`;
    }
  }

  csv() {
    const { names, rows } = this.exhibit.view.table;
    const cell = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
    const text = [names, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
    return new Blob([`${text}\r\n`], { type: "text/csv" });
  }

  /** Where everything of a saved picture goes: plots with their tops, lines of text with their baselines. */
  layout(kind) {
    const { view, element } = this.exhibit;
    const colours = TOKENS[theme()];
    const width = view.holder.clientWidth;
    const measure = document.createElement("canvas").getContext("2d");
    const texts = [];
    let top = MARGIN;
    const write = (text, font, colour) => {
      measure.font = `${font} ${FAMILY}`;
      for (const line of wrap(text, width, (words) => measure.measureText(words).width)) {
        texts.push({ text: line, font, colour, y: top + 17 });
        top += LINE;
      }
    };
    write(element.querySelector(".question").textContent, FONTS.title, colours.ink);
    top += 8;
    const plots = view.plots.map((plot) => {
      const drawn = globalThis.Bokeh.index.get_by_id(plot.id);
      const placed = { layer: drawn.export(kind), y: top, height: drawn.bbox.height };
      top += drawn.bbox.height;
      return placed;
    });
    top += 8;
    write(view.words.sentence, FONTS.sentence, colours.ink);
    write(this.place(), FONTS.source, colours.muted);
    return { plots, texts, paper: colours.paper, width: width + 2 * MARGIN, height: top + MARGIN };
  }

  png() {
    const { plots, texts, paper, width, height } = this.layout("png");
    const canvas = document.createElement("canvas");
    const ratio = devicePixelRatio;
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = paper;
    pen.fillRect(0, 0, width, height);
    for (const { layer, y } of plots) {
      const picture = layer.canvas;
      pen.drawImage(picture, MARGIN, y, picture.width / layer.pixel_ratio, picture.height / layer.pixel_ratio);
    }
    for (const { text, font, colour, y } of texts) {
      pen.font = `${font} ${FAMILY}`;
      pen.fillStyle = colour;
      pen.fillText(text, MARGIN, y);
    }
    return new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
    });
  }

  svg() {
    const { plots, texts, paper, width, height } = this.layout("svg");
    const whole = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.exhibit.view.words.sentence });
    whole.append(make("rect", { width, height, fill: paper }));
    for (const { layer, y } of plots) {
      const plot = new DOMParser().parseFromString(layer.ctx.get_serialized_svg(true), "image/svg+xml").documentElement;
      plot.setAttribute("x", MARGIN);
      plot.setAttribute("y", y);
      whole.append(plot);
    }
    for (const { text, font, colour, y } of texts) {
      const line = make("text", { x: MARGIN, y, fill: colour, style: `font: ${font} ${FAMILY}` });
      line.textContent = text;
      whole.append(line);
    }
    return new Blob([new XMLSerializer().serializeToString(whole)], { type: "image/svg+xml" });
  }
}

function make(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** Lines of at most `width` pixels; a word longer than that is broken. */
function wrap(text, width, measure) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (measure(longer) <= width) lines[lines.length - 1] = longer;
    else if (measure(word) <= width) lines.push(word);
    else {
      lines.push("");
      for (const letter of word) {
        if (measure(lines.at(-1) + letter) > width) lines.push("");
        lines[lines.length - 1] += letter;
      }
    }
  }
  return lines.filter(Boolean);
}

const quote = (text) => String(text).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
