// Answers of each figure's main control, computed at build time by the function that Python runs: used until Python is there.
import { json } from "./packed.mjs";

export class Answers {
  constructor(base, figure) {
    this.address = new URL(`answers/${figure}.json.gz`, base);
    this.known = null;
  }

  /** Fetches them, once; a failure is forgotten, so that a later try may succeed. */
  load() {
    this.loading ??= this.fetch().catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  /** True while they are on their way. */
  get coming() {
    return Boolean(this.loading) && !this.known;
  }

  async fetch() {
    const { setting, values, patches, pool } = await json(this.address);
    this.setting = setting;
    this.pool = pool;
    this.known = new Map(values.map((value, i) => [value, patches[i]]));
    return this;
  }

  /** The patch for these values if the main control is all that differs from the defaults, else undefined. */
  find(values, defaults) {
    if (!this.known) return undefined;
    const others = Object.keys(values).some((name) => name !== this.setting && values[name] !== defaults[name]);
    const patch = others ? undefined : this.known.get(values[this.setting]);
    return patch && { events: patch.events.map((event) => this.unpool(event)) };
  }

  /** An event with its columns, which the file keeps once for all positions. */
  unpool(event) {
    if (!event.data) return event;
    const entries = event.data.entries.map(([name, place]) => [name, this.pool[place]]);
    return { ...event, data: { ...event.data, entries } };
  }
}
