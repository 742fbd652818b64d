// A figure at a time for a classroom: keys and buttons go from one to the next, and the answer waits for the class's guess.
const questions = JSON.parse(document.getElementById("questions").textContent);
// Keys that go from figure to figure: a clicker sends the page keys.
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 };

export class Lesson {
  /** @param {Map<string, object>} exhibits  the figures in order
   *  @param {{first: string|null, predict: boolean, moved: (figure: string) => void}} options  moved: told where it is */
  constructor(exhibits, { first, predict, moved }) {
    this.exhibits = [...exhibits.values()];
    this.moved = moved;
    this.bar = this.build();
    document.querySelector("main").append(this.bar);
    if (predict) for (const exhibit of this.exhibits) new Guess(exhibit, questions[exhibit.id]);
    document.addEventListener("keydown", (event) => this.key(event));
    this.show(Math.max(0, this.exhibits.findIndex(({ id }) => id === first)));
  }

  build() {
    const bar = document.createElement("nav");
    bar.className = "lesson-bar";
    bar.setAttribute("aria-label", "Figures");
    const button = (text, by) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      made.addEventListener("click", () => this.show(this.at + by));
      return made;
    };
    this.back = button("Previous figure", -1);
    this.next = button("Next figure", 1);
    this.where = document.createElement("span");
    this.where.setAttribute("role", "status");
    bar.append(this.back, this.where, this.next);
    return bar;
  }

  show(index) {
    if (index < 0 || index >= this.exhibits.length) return;
    const moved = this.at !== undefined;
    this.exhibits[this.at]?.view.player.pause();
    this.at = index;
    this.exhibits.forEach(({ element }, i) => element.classList.toggle("shown", i === index));
    const exhibit = this.exhibits[index];
    this.where.textContent = `Figure ${index + 1} of ${this.exhibits.length}`;
    // Not disabled: a button that loses the keyboard's focus takes the reader's place with it.
    this.back.setAttribute("aria-disabled", String(index === 0));
    this.next.setAttribute("aria-disabled", String(index === this.exhibits.length - 1));
    exhibit.draw();
    this.moved(exhibit.id);
    scrollTo(0, 0);
    if (moved && !this.bar.contains(document.activeElement)) {
      const title = exhibit.element.querySelector(".question");
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
    }
  }

  // A slider, a field, a picture or a table keeps the keys that it uses itself.
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    const { target } = event;
    if (event.key === " " && !target.matches("a, button, input, select, textarea, summary, [role=spinbutton], .scroll, .picture")) {
      event.preventDefault();
      this.play();
    }
    const by = MOVES[event.key];
    if (!by) return;
    if (target.matches("input:not([type=checkbox]), select, textarea, [role=spinbutton], .scroll")) return;
    event.preventDefault();
    this.show(this.at + by);
  }

  /** Plays or pauses the figure that is shown, once its answer is. */
  play() {
    const { element, view } = this.exhibits[this.at];
    if (view.document && !element.classList.contains("covered")) view.player.toggle();
  }
}

/** Asks first: the figure's answer is covered until a number is committed, and stands beside it afterwards. */
class Guess {
  constructor(exhibit, { ask, fact, unit }) {
    this.exhibit = exhibit;
    this.fact = fact;
    this.unit = unit;
    const { id, element } = exhibit;
    this.form = document.createElement("form");
    this.form.className = "guess";
    this.form.innerHTML = `<label for="${id}-guess"></label>
      <input id="${id}-guess" type="text" inputmode="decimal" autocomplete="off"> <span></span>
      <button type="submit">That is our guess</button> <button type="button">Show without a guess</button><p aria-live="polite"></p>`;
    this.form.querySelector("label").textContent = ask;
    this.form.querySelector("span").textContent = unit;
    this.input = this.form.querySelector("input");
    this.said = this.form.querySelector("p");
    element.querySelector(".question").after(this.form);
    element.classList.add("covered");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.commit();
    });
    this.form.querySelector("[type=button]").addEventListener("click", () => this.reveal(""));
    element.addEventListener("settled", () => this.compare());
  }

  commit() {
    const text = this.input.value.trim().replaceAll(",", "").replace(/%$/, "");
    if (!text || !Number.isFinite(Number(text))) {
      this.said.textContent = "A guess is a number.";
      this.input.focus();
      return;
    }
    this.reveal(Number(text).toLocaleString("en", { maximumFractionDigits: 3 }));
  }

  async reveal(guess) {
    this.guess = guess;
    this.open = true;
    this.input.readOnly = true;
    this.form.classList.add("answered");
    this.exhibit.element.classList.remove("covered");
    await this.exhibit.draw();
    this.exhibit.view.keepRoom();
    this.compare();
    this.exhibit.view.picture.focus({ preventScroll: true });
  }

  /** The guess and the answer side by side; the answer follows the settings. */
  compare() {
    if (!this.open || this.exhibit.pending()) return;
    const answer = `${this.exhibit.view.facts[this.fact]} ${this.unit}`.trim();
    this.said.textContent = this.guess ? `Your guess: ${this.guess}. The answer: ${answer}.` : `The answer: ${answer}.`;
  }
}
