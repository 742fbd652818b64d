// Settings in the address: read once, kept up to date as they change, never piled up in the history.
import { parse, spell } from "./controls.mjs";

export const LONGEST = 4000; // characters of an address that are looked at
// Parameters of the page itself, not of a figure.
const OWN = new Set(["teach", "boot", "theme", "figure", "predict"]);

/** @param {Record<string, object[]>} figures  parameters by figure  @param {string|null} only  the figure of an embed
 *  @returns {{values: Record<string, Record<string, any>>, positions: Record<string, number>, problems: string[]}} */
export function readAddress(search, figures, only) {
  const found = { values: {}, positions: {}, problems: [] };
  if (search.length > LONGEST) {
    found.problems.push(`The address is ${search.length.toLocaleString("en")} characters long; nothing of it was used.`);
    return found;
  }
  for (const [key, given] of new URLSearchParams(search)) {
    if (OWN.has(key)) {
      const wrong = ownProblem(key, given, figures);
      if (wrong) found.problems.push(wrong);
      continue;
    }
    const dot = key.indexOf(".");
    const figure = dot < 0 ? only : key.slice(0, dot);
    const name = key.slice(dot + 1);
    const shown = key.slice(0, 40);
    if (!figure) {
      found.problems.push(`The address says “${shown}”, which names no figure (as in kv-memory.users=10).`);
    } else if (!Object.hasOwn(figures, figure)) {
      found.problems.push(`There is no figure “${figure.slice(0, 40)}”.`);
    } else if (name === "position") {
      if (/^\d{1,6}$/.test(given)) found.positions[figure] = Number(given);
      else found.problems.push(`Position is a whole number, not “${given.slice(0, 40)}”.`);
    } else {
      const parameter = figures[figure].find((p) => p.name === name);
      if (!parameter) {
        found.problems.push(`${figure} has no setting “${name.slice(0, 40)}”.`);
        continue;
      }
      try {
        (found.values[figure] ??= {})[name] = parse(parameter, given);
      } catch (error) {
        found.problems.push(`${error.message}. ${spell(parameter, parameter.default)} is used instead.`);
      }
    }
  }
  return found;
}

function ownProblem(key, given, figures) {
  const quoted = given.slice(0, 40);
  if (key === "figure") return Object.hasOwn(figures, given) ? "" : `There is no figure “${quoted}”.`;
  const possible = { teach: ["0", "1"], predict: ["0", "1"], theme: ["light", "dark"], boot: ["modules", "snapshot"] }[key];
  return possible.includes(given) ? "" : `${key} is ${possible.join(" or ")}, not “${quoted}”.`;
}

/** The query string for these settings: only what differs from the defaults; the page's own parameters stay. */
export function writeAddress(search, figures, values, positions, only) {
  const query = new URLSearchParams();
  for (const [key, given] of new URLSearchParams(search.slice(0, LONGEST))) if (OWN.has(key) && !ownProblem(key, given, figures)) query.set(key, given);
  for (const [figure, parameters] of Object.entries(figures)) {
    const prefix = figure === only ? "" : `${figure}.`;
    for (const { name, default: usual, kind, unwritten } of parameters) {
      const value = values[figure]?.[name];
      if (!unwritten && value !== undefined && value !== usual) query.set(prefix + name, kind === "bool" ? Number(value) : value);
    }
    if (positions[figure] !== undefined) query.set(`${prefix}position`, positions[figure]);
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}
