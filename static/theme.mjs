// Light and dark on what Bokeh draws: every colour that is a token is exchanged for the same token of the other theme.
const { light, dark } = JSON.parse(document.getElementById("tokens").textContent);
const query = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

/** "light" or "dark": what the page is told (data-theme on <html>), else what the reader's system prefers. */
export const theme = () => document.documentElement.dataset.theme || (query.matches ? "dark" : "light");

/** Calls back whenever the theme changes. */
export const onTheme = (callback) => listeners.add(callback);

export function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  listeners.forEach((callback) => callback());
}

query.addEventListener("change", () => listeners.forEach((callback) => callback()));

function exchange() {
  const [from, to] = theme() === "dark" ? [light, dark] : [dark, light];
  return new Map(Object.keys(light).map((token) => [from[token], to[token]]));
}

const swap = (map, color) => (typeof color === "string" && map.get(color)) || color;

/** Recolours every model of a Bokeh document. */
export function paint(models) {
  const map = exchange();
  for (const model of models) {
    for (const name of Object.keys(model.attributes)) {
      if (!name.endsWith("_color")) continue;
      const value = model[name];
      if (typeof value === "string" && map.has(value)) model[name] = map.get(value);
      else if (value && typeof value === "object" && map.has(value.value)) model[name] = { ...value, value: map.get(value.value) };
    }
    if (model.data?.color ?? model.data?.get?.("color")) recolour(model, map);
  }
}

function recolour(source, map) {
  const data = columns(source);
  source.data = { ...data, color: Array.from(data.color, (color) => swap(map, color)) };
}

/** A column of colours in the present theme. */
export const themed = (colors) => {
  const map = exchange();
  return Array.from(colors, (color) => swap(map, color));
};

/** The columns of a Bokeh source as a plain object. */
export const columns = (source) => (source.data instanceof Map ? Object.fromEntries(source.data) : source.data);
