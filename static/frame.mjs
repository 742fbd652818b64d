// An embed and the frame that it stands in: it tells the host its height, hears of a theme, and settles into a frame
// that nobody resizes. Nothing of the host is read; what the host says is looked at only if it has the right form.
import { setTheme } from "./theme.mjs";

const PATIENCE_MS = 1200; // a host that follows heights has done so by then
const SMALLEST = 0.75; // how far a figure shrinks to fit into a frame that is too low for it
const THEMES = { light: "light", dark: "dark", auto: "" };

const root = document.documentElement;
const main = document.querySelector("main");

export class Frame {
  /** @param {string} figure  its id */
  constructor(figure) {
    this.figure = figure;
    this.told = 0; // the height that the host was last told, px
    root.dataset.framed = "follows";
    new ResizeObserver(() => this.look()).observe(main);
    // Off screen a browser may put observers off: what changes the height is listened to as well.
    for (const sign of ["answered", "settled", "toggle"]) document.addEventListener(sign, () => setTimeout(() => this.look()), true);
    addEventListener("resize", () => this.look());
    addEventListener("load", () => this.look());
    document.fonts?.ready.then(() => this.look());
    addEventListener("message", (event) => event.source === parent && this.hear(event.data));
    this.look();
  }

  /** What a host may say: {type: "llm-figure", theme: "light" | "dark" | "auto"} or {type: "llm-figure", ask: "height"}. */
  hear(data) {
    if (typeof data !== "object" || data?.type !== "llm-figure") return;
    if (Object.hasOwn(THEMES, data.theme)) setTheme(THEMES[data.theme]);
    if (data.ask === "height") this.tell(this.told);
  }

  /** Measures, tells the host if the height is another one, and sees whether the frame follows. */
  look() {
    if (!innerWidth || !main.offsetWidth) return; // in a closed fold-out or a hidden tab: measured when it is opened
    const height = this.natural();
    if (height !== this.told) this.tell(height);
    if (innerHeight === height) this.follow();
    else if (root.dataset.framed === "fixed") this.fit(height);
    else this.timer ??= setTimeout(() => this.doubt(), PATIENCE_MS);
  }

  /** The height of the content as it would like to stand, px. */
  natural() {
    const { zoom, minHeight } = main.style;
    const compact = root.classList.contains("compact");
    main.style.zoom = main.style.minHeight = "";
    root.classList.remove("compact");
    const height = Math.ceil(main.getBoundingClientRect().height);
    root.classList.toggle("compact", compact);
    Object.assign(main.style, { zoom, minHeight });
    return height;
  }

  // Every form that a host is known to listen for. A height is no secret, so that any host may hear it.
  tell(height) {
    this.told = height;
    if (!height) return;
    parent.postMessage({ type: "llm-figure", figure: this.figure, height }, "*");
    parent.postMessage({ sentinel: "amp", type: "embed-size", height }, "*");
    parent.postMessage(JSON.stringify({ src: location.href, context: "iframe.resize", height }), "*");
  }

  follow() {
    clearTimeout(this.timer);
    this.timer = undefined;
    root.dataset.framed = "follows";
    root.classList.remove("compact", "scrolls");
    main.style.zoom = main.style.minHeight = "";
  }

  doubt() {
    this.timer = undefined;
    const height = this.natural();
    if (innerHeight === height) return;
    root.dataset.framed = "fixed";
    this.fit(height);
  }

  /** Fills a frame that is too high, is compact and small in one that is too low, and scrolls only where that will not do. */
  fit(height) {
    main.style.zoom = main.style.minHeight = "";
    root.classList.toggle("compact", height > innerHeight);
    const compact = main.getBoundingClientRect().height;
    if (compact <= innerHeight) main.style.minHeight = `${innerHeight}px`;
    else main.style.zoom = Math.max(SMALLEST, this.shrink(compact));
    root.classList.toggle("scrolls", main.getBoundingClientRect().height > innerHeight + 1);
  }

  // Smaller letters break into fewer lines: a few rounds find how small is small enough.
  shrink(height) {
    let zoom = innerHeight / height;
    for (let round = 0; round < 4; round++) {
      main.style.zoom = zoom;
      const now = main.getBoundingClientRect().height;
      if (now <= innerHeight && now > innerHeight - 8) break;
      zoom = Math.min(1, zoom * (innerHeight / now));
    }
    return zoom;
  }
}
