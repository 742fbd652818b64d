// Numbers in the prose that a reader may change: dragged, typed, or moved by arrow keys. They and the figure's control are one.
import { parse, spell } from "./controls.mjs";

const STEP_PX = 8; // a drag this long is one step

export class Numbers {
  /** @param {(figure: string, name: string, value: number) => void} changed
   *  @param {(figure: string, problem: string) => void} wrong  told of what was typed and is no such number */
  constructor(root, figures, changed, wrong) {
    this.figures = figures;
    this.changed = changed;
    this.wrong = wrong;
    this.places = [...root.querySelectorAll(".setting")];
    for (const place of this.places) this.listen(place);
  }

  parameter({ dataset }) {
    return this.figures[dataset.figure].find(({ name }) => name === dataset.setting);
  }

  /** Shows a figure's present values. */
  follow(figure, values) {
    for (const place of this.places) {
      if (place.dataset.figure !== figure || place.isContentEditable) continue;
      const value = values[place.dataset.setting];
      if (value === undefined) continue;
      const parameter = this.parameter(place);
      place.dataset.value = value;
      place.setAttribute("aria-valuenow", value);
      place.setAttribute("aria-valuetext", spell(parameter, value));
      place.textContent = shown(parameter, value);
    }
  }

  listen(place) {
    let drag = null;
    place.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || place.isContentEditable) return;
      drag = { x: event.clientX, from: this.index(place), moved: false };
      place.setPointerCapture(event.pointerId);
    });
    place.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const by = Math.trunc((event.clientX - drag.x) / STEP_PX);
      if (by) drag.moved = true;
      if (drag.moved) this.move(place, drag.from + by);
    });
    place.addEventListener("pointerup", () => {
      if (drag && !drag.moved) this.edit(place);
      drag = null;
    });
    place.addEventListener("pointercancel", () => (drag = null));
    place.addEventListener("keydown", (event) => this.key(place, event));
    place.addEventListener("blur", () => this.commit(place));
  }

  steps(place) {
    const { positions, low, high, step } = this.parameter(place);
    return positions ?? { length: Math.round((high - low) / step) + 1, at: (i) => Number((low + i * step).toFixed(6)) };
  }

  index(place) {
    const value = Number(place.dataset.value);
    const { positions, low, step } = this.parameter(place);
    if (!positions) return Math.round((value - low) / step);
    return Math.max(0, positions.findLastIndex((p) => p <= value));
  }

  move(place, index) {
    const steps = this.steps(place);
    const value = steps.at(Math.max(0, Math.min(steps.length - 1, index)));
    if (value !== Number(place.dataset.value)) this.changed(place.dataset.figure, place.dataset.setting, value);
  }

  key(place, event) {
    if (place.isContentEditable) {
      if (event.key === "Enter") event.preventDefault();
      if (event.key === "Enter") this.commit(place);
      if (event.key === "Escape") this.commit(place, "");
      return;
    }
    const steps = this.steps(place);
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (by) this.move(place, this.index(place) + by);
    else if (event.key === "Home") this.move(place, 0);
    else if (event.key === "End") this.move(place, steps.length - 1);
    else if (event.key === "Enter") this.edit(place);
    else if (/^\d$/.test(event.key)) this.edit(place, event.key);
    else return;
    event.preventDefault();
  }

  edit(place, begun = "") {
    place.contentEditable = "plaintext-only";
    const parameter = this.parameter(place);
    place.textContent = begun || (parameter.percent ? shown(parameter, Number(place.dataset.value)) : place.dataset.value);
    place.focus();
    const selection = getSelection();
    selection.selectAllChildren(place);
    if (begun) selection.collapseToEnd();
  }

  commit(place, text = place.textContent) {
    if (!place.isContentEditable) return;
    place.contentEditable = "false";
    const { figure, setting, value } = place.dataset;
    const parameter = this.parameter(place);
    try {
      const wanted = parse(parameter, parameter.percent ? percent(text, parameter) : text.replace(/[,\s]/g, ""));
      if (wanted !== Number(value)) this.changed(figure, setting, wanted);
    } catch (error) {
      if (text) this.wrong(figure, `${error.message}. ${shown(parameter, Number(value))} stays.`);
    }
    this.follow(figure, { [setting]: Number(place.dataset.value) });
  }
}

/** A value as the prose shows it: a share in percent, which is also how it is typed. */
const shown = (parameter, value) => (parameter.percent ? `${Math.round(value * 100)}%` : value.toLocaleString("en"));

/** What was typed for a share, as that share: `80`, `80%` and `0.8` alike. Throws with words for the reader. */
function percent(text, { label, low, high }) {
  const typed = Number(text.replace(/[,\s%]/g, "") || NaN);
  const share = typed < 1 && !text.includes("%") ? typed : typed / 100;
  if (share >= low && share <= high) return share;
  throw new Error(`${label} goes from ${100 * low}% to ${100 * high}%`);
}
