// In a classroom letters are larger, and the figures higher by as much.
const ENLARGED = Math.min(1.5, Math.max(1, innerHeight / 640)); // a small screen would show half a picture

/** A figure's document, enlarged. Bokeh measures in pixels: zooming its place would not do. */
export function enlarged(figure) {
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
