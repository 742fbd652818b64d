// The page: text first, figures when they come near, Python after that. Essay and embeds run the same code.
import { LONGEST, readAddress, writeAddress } from "./address.mjs";
import { compressed, idle, thrifty, whenIdle } from "./drawing.mjs";
import { Exhibit } from "./exhibit.mjs";
import { keep, keepPython, remembered } from "./keeping.mjs";
import { Numbers } from "./numbers.mjs";
import { Python } from "./python.mjs";
import { setTheme } from "./theme.mjs";

const root = document.documentElement;
const base = new URL(".", import.meta.url);
const figures = JSON.parse(document.getElementById("parameters").textContent);
const embedded = root.dataset.embed || null;
const framed = Boolean(embedded) && parent !== window; // in somebody else's page: nothing large is fetched unasked
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const address = readAddress(location.search, figures, embedded);
const query = new URLSearchParams(location.search.slice(0, LONGEST));
let python;
const views = new Map(); // figure -> Exhibit

performance.mark("text");
root.dataset.python = "waiting";
if (["light", "dark"].includes(query.get("theme"))) setTheme(query.get("theme"));
if (framed) import("./frame.mjs").then(({ Frame }) => new Frame(embedded));

/** Python, started if it is not yet. */
function startPython() {
  if (!python) {
    const options = { boot: query.get("boot"), compressed: remembered(compressed()), shared: Boolean(embedded) };
    python = new Python(base, options);
    python.addEventListener("state", ({ detail: { state } }) => {
      if (!embedded && ["live", "failed"].includes(state)) idle(() => afterPython(state === "live" && options));
      views.forEach((view) => view.report());
    });
    python.addEventListener("answer", ({ detail }) => views.get(detail.figure)?.answer(detail));
    python.addEventListener("wrong", ({ detail }) => views.get(detail.figure)?.refuse(detail.error));
    python.addEventListener("slow", () => views.forEach((view) => view.slow()));
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

const numbers = new Numbers(document, figures, (figure, name, value) => {
  const exhibit = views.get(figure);
  exhibit.controls.set(name, value);
  exhibit.changed();
}, (figure, problem) => views.get(figure).note(problem));

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
  const search = new URLSearchParams(location.search.slice(0, LONGEST));
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

/** The rest of the figures, one at a time, whenever the page has nothing else to do. Each is tried once. */
async function drawRest() {
  for (const view of views.values()) {
    if (view.drawn || !view.element.offsetParent) continue;
    await whenIdle();
    await view.draw();
  }
}

function lightParts() {
  for (const name of ["pointerenter", "focus", "pointerleave", "blur"]) {
    document.addEventListener(name, ({ target }) => {
      const word = target instanceof Element ? target.closest(".part") : null;
      if (word) views.get(word.dataset.figure)?.view.light(name === "pointerenter" || name === "focus" ? word.dataset.part : null);
    }, true);
  }
}

const page = { base, parameters: figures, address, framed, calm, numbers, remember, tell, startPython, get python() { return python } };
for (const element of document.querySelectorAll("figure[data-figure]")) views.set(element.dataset.figure, new Exhibit(element, page));
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
  drawRest(); // meanwhile: once Python is there, nothing of the page changes
}, { once: true });
// On paper every figure stands at the frame that answers its question, dark on light; afterwards again as it was.
let before;
addEventListener("beforeprint", () => {
  before = { theme: root.dataset.theme, frames: [] };
  setTheme("light");
  for (const { view } of views.values()) {
    if (!view.document) continue;
    before.frames.push([view.player, view.player.index]);
    view.player.go(view.about().telling);
  }
});
addEventListener("afterprint", () => {
  setTheme(before.theme);
  for (const [player, index] of before.frames) player.go(index);
});
