// The native controls of one figure: what a reader moves, as values of the declared parameters.

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Checks one value as an address or a reader gave it. Returns the value, or throws with words for the reader. */
export function parse(parameter, given) {
  const { kind, label, low, high } = parameter;
  const quoted = String(given).slice(0, 40);
  if (kind === "bool") {
    if (["1", "true", "on", "yes"].includes(String(given))) return true;
    if (["0", "false", "off", "no"].includes(String(given))) return false;
    throw new Error(`${label} is on or off (1 or 0), not “${quoted}”`);
  }
  if (kind === "choice") {
    if (parameter.choices.some(([value]) => value === given)) return given;
    throw new Error(`${label} cannot be “${quoted}”`);
  }
  if (kind === "text") {
    if (given.length <= parameter.longest) return given;
    throw new Error(`${label} has ${given.length} characters, at most ${parameter.longest} are possible`);
  }
  const value = NUMBER.test(String(given).trim()) ? Number(given) : NaN;
  const range = `${low.toLocaleString("en")} to ${high.toLocaleString("en")}`;
  if (!Number.isFinite(value)) throw new Error(`${label} is a number from ${range}, not “${quoted}”`);
  if (value < low || value > high) throw new Error(`${label} goes from ${range}; ${quoted} is outside`);
  if (kind === "int" && !Number.isInteger(value)) throw new Error(`${label} is a whole number, not ${quoted}`);
  return value;
}

/** The value as a reader reads it. */
export function spell(parameter, value) {
  if (parameter.kind === "bool") return value ? "on" : "off";
  if (parameter.kind === "choice") return parameter.choices.find(([name]) => name === value)[1];
  if (parameter.zero && value === 0) return parameter.zero;
  if (parameter.percent) return `${Math.round(value * 100)}%`;
  if (typeof value !== "number") return String(value);
  const unit = value === 1 && parameter.unit === "people" ? "person" : value === 1 ? parameter.unit?.replace(/s$/, "") : parameter.unit;
  return value.toLocaleString("en", { maximumFractionDigits: 3 }) + (unit ? ` ${unit}` : "");
}

const FORMATS = { weights: "weights", kv: "KV cache" }; // settings whose values say nothing without their label

/** A folded setting in a line: `RTX 4090`, but `weights 16 bits`. app/site.py says the same. */
function machinePart({ name, selectedOptions: [chosen] }) {
  return name in FORMATS ? `${FORMATS[name]} ${chosen.text.split(" (")[0]}` : chosen.text;
}

function nearest(positions, value) {
  let best = 0;
  positions.forEach((p, i) => {
    if (Math.abs(Math.log((p + 1) / (value + 1))) < Math.abs(Math.log((positions[best] + 1) / (value + 1)))) best = i;
  });
  return best;
}

export class Controls {
  /** @param {HTMLFormElement} form  @param {object[]} parameters  @param {(name: string, value: any) => void} changed */
  constructor(form, parameters, changed) {
    this.form = form;
    this.changed = changed;
    this.parameters = new Map(parameters.map((p) => [p.name, p]));
    this.values = Object.fromEntries(parameters.map((p) => [p.name, p.default]));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", ({ target }) => {
      const parameter = this.parameters.get(target.name);
      if (!parameter || (parameter.kind === "text" && !target.checkValidity())) return;
      this.take(target.name, this.read(parameter, target));
    });
    form.addEventListener("click", ({ target }) => {
      if ("preset" in target.dataset) this.take(target.name, parse(this.parameters.get(target.name), target.value));
    });
    for (const input of form.querySelectorAll("input[type=range]")) guardSwipe(input);
    this.inputs = new Map([...form.querySelectorAll("input, select, textarea")].map((input) => [input.name, input]));
    this.machine = form.querySelector(".machine-now");
    for (const name of this.parameters.keys()) this.write(name);
  }

  /** Takes a value that the reader chose. */
  take(name, value) {
    if (value === this.values[name]) return;
    this.set(name, value);
    this.changed(name, value);
  }

  read({ kind, positions }, input) {
    if (kind === "bool") return input.checked;
    if (kind === "choice" || kind === "text") return input.value;
    return positions ? positions[input.valueAsNumber] : input.valueAsNumber;
  }

  /** Sets a value without telling anybody. */
  set(name, value) {
    this.values[name] = value;
    this.write(name);
  }

  write(name) {
    const parameter = this.parameters.get(name);
    const input = this.inputs.get(name);
    const value = this.values[name];
    if (parameter.kind === "bool") input.checked = value;
    else if (parameter.positions) {
      const at = nearest(parameter.positions, value);
      if (input.valueAsNumber !== at) input.value = at;
    } else if (input.value !== String(value)) input.value = value;
    if (input.type === "range") {
      input.setAttribute("aria-valuetext", spell(parameter, value));
      this.form.querySelector(`[data-for="${input.id}"]`).textContent = spell(parameter, value);
    }
    if (this.machine) {
      const folded = [...this.form.querySelectorAll(".machine select")];
      this.machine.textContent = folded.map((select) => machinePart(select)).join(", ");
    }
  }
}

// A swipe up or down that begins on a slider is meant for the page: the value that the first touch set is taken back.
function guardSwipe(input) {
  let start = null;
  input.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") start = input.value;
  }, { capture: true });
  input.addEventListener("pointercancel", () => {
    if (start !== null && input.value !== start) {
      input.value = start;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    start = null;
  });
}
