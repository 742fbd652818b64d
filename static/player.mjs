// Moves a cursor through frames. It knows a clock and five buttons; what a frame looks like is the figure's business.

/** @typedef {{clock: ArrayLike<number>, names: string[], seconds: number}} Film */

export class Player {
  /** @param {HTMLElement} root    the player's controls: elements with data-do
   *  @param {(index: number, part: number) => void} show  draws frame `index`, moved on by `part` (0..1) to the next */
  constructor(root, show) {
    this.root = root;
    this.show = show;
    this.film = { clock: [0], names: [""], seconds: 1 };
    this.at = 0; // milliseconds of the model's clock
    this.index = 0;
    this.playing = false;
    this.seen = false; // most of the picture is on screen,
    this.glimpsed = false; // or any of it: only then is anything drawn
    this.last = 0;
    this.frame = 0; // the animation frame that is asked for: one at a time, however often a reader presses
    const find = (what) => root.querySelector(`[data-do="${what}"]`);
    this.play = find("play");
    this.position = find("position");
    this.name = root.querySelector(".frame-name");
    this.speed = find("speed");
    this.play.addEventListener("click", () => this.toggle());
    find("back").addEventListener("click", () => this.step(-1));
    find("forward").addEventListener("click", () => this.step(1));
    find("restart").addEventListener("click", () => this.restart());
    this.position.addEventListener("input", () => this.go(Number(this.position.value)));
  }

  get last_index() {
    return this.film.clock.length - 1;
  }

  /** Puts a new film in and shows one of its frames; a playing one stops: the answer is what a reader waits for. */
  load(film, index) {
    this.stop(); // before: the frame that it was at may not be in the new film
    this.film = film;
    this.position.max = this.last_index;
    this.go(index);
  }

  go(index) {
    this.stop();
    this.index = Math.max(0, Math.min(this.last_index, index));
    this.at = this.film.clock[this.index];
    this.draw(0);
  }

  step(by) {
    this.go(this.index + by);
  }

  restart() {
    this.go(0);
    this.start();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.start();
  }

  start() {
    if (this.playing || this.last_index === 0) return;
    if (this.index >= this.last_index) {
      this.index = 0;
      this.at = this.film.clock[0];
    }
    this.playing = true;
    this.last = 0;
    this.mark();
    this.wait();
  }

  pause() {
    if (!this.playing) return;
    this.stop();
    this.draw(0);
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.mark();
  }

  /** Called when most of the picture comes into view or no longer is. */
  look(seen) {
    this.seen = seen;
    this.resume();
  }

  /** Called when the first of the picture comes into view or the last leaves it: a film that nobody sees stands still. */
  glimpse(seen) {
    this.glimpsed = seen;
    this.resume();
  }

  resume() {
    this.last = 0;
    cancelAnimationFrame(this.frame);
    if (this.playing) this.wait();
  }

  wait() {
    if (this.seen || this.glimpsed) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const { clock, seconds } = this.film;
    const span = clock[this.last_index] - clock[0];
    // A tab that was away, or a page that was busy, does not leap ahead.
    if (this.last) this.at += (Math.min(100, now - this.last) / 1000) * Number(this.speed.value) * (span / seconds);
    this.last = now;
    while (this.index < this.last_index && clock[this.index + 1] <= this.at) this.index++;
    if (this.index >= this.last_index) {
      this.stop();
      this.at = clock[this.last_index];
      this.draw(0);
      return;
    }
    const begin = clock[this.index];
    this.draw((this.at - begin) / (clock[this.index + 1] - begin || 1));
    this.wait();
  }

  draw(part) {
    this.show(this.index, part);
    if (this.position.valueAsNumber !== this.index) this.position.value = this.index;
    const name = this.film.names[this.index];
    if (this.name.textContent !== name) {
      this.name.textContent = name;
      this.position.setAttribute("aria-valuetext", name);
    }
  }

  mark() {
    this.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    this.play.classList.toggle("playing", this.playing);
    this.root.dispatchEvent(new CustomEvent("playing", { detail: this.playing, bubbles: true }));
  }
}
