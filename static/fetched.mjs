// Fetches Python's files, whole and right or not at all: a file cut off, altered, or answered by an error page is
// noticed by its length and SHA-256, asked for once more past every cache, and then given up in words.
import { unpacked } from "./packed.mjs";

const get = globalThis.fetch.bind(globalThis); // the worker lends Pyodide another one while it starts
export const PART_BYTES = 8 << 20; // each part has its own SHA-256, computed while the next one arrives
const SILENCE_MS = 30_000; // a download without a byte for so long is asked for again

export class Files {
  /** @param {URL} base  folder of the files, ending in /
   *  @param {Record<string, {bytes: number, sha256: string[], br: number, gz: number}>} list  what each must be: SHA-256 of
   *    its parts; br and gz are the lengths of its compressed forms
   *  @param {boolean} compressed  the host compresses by itself; else the .gz forms are fetched and unpacked here
   *  @param {string} version  of the build, part of each address
   *  @param {(loaded: number, total: number) => void} progress  bytes on the wire, of all files asked for so far */
  constructor(base, list, { compressed, version, progress }) {
    Object.assign(this, { base, list, compressed, version, progress });
    this.loaded = new Map();
  }

  /** Contents of a file, checked. */
  async bytes(name) {
    return this.twice(name, async (fresh) => this.read(name, (await this.open(name, fresh)).body));
  }

  /** A WebAssembly file, compiled while it streams in. */
  async wasm(name) {
    return this.twice(name, async (fresh) => {
      const response = await this.open(name, fresh);
      const copy = response.clone();
      const bytes = this.read(name, copy.body);
      // A host may give the file another media type: then it is compiled once it is whole.
      const module = WebAssembly.compileStreaming(response).catch(async () => WebAssembly.compile(await bytes));
      return (await Promise.all([module, bytes]))[0];
    });
  }

  /** A JavaScript module. It cannot be checked on its way to the engine: the same address is fetched and checked beside it. */
  async script(name) {
    return this.twice(name, async (fresh) => {
      const address = this.address(name);
      if (fresh) address.searchParams.set("again", Date.now());
      const [module] = await Promise.all([import(address), get(address).then((r) => this.read(name, this.sound(name, r).body, 0))]);
      return module;
    });
  }

  async twice(name, get) {
    this.count(name, 0);
    try {
      return await get(false);
    } catch {
      this.count(name, 0);
      return get(true);
    }
  }

  address(name, ending = "") {
    const address = new URL(name + ending, this.base);
    if (this.version) address.searchParams.set("v", this.version);
    return address;
  }

  async open(name, fresh) {
    const response = await patient(get(this.address(name, this.compressed ? "" : ".gz"), { cache: fresh ? "reload" : "default" }), name);
    this.sound(name, response);
    if (this.compressed) return response;
    return new Response(await unpacked(response.body), { headers: { "content-type": "application/wasm" } });
  }

  sound(name, response) {
    if (!response.ok) throw new Error(`${name} was answered with ${response.status}`);
    return response;
  }

  /** Reads a stream to its end and checks what came. */
  async read(name, stream) {
    const { bytes, sha256 } = this.list[name];
    const whole = new Uint8Array(bytes);
    const reader = stream.getReader();
    let length = 0;
    const digests = [];
    for (;;) {
      const { done, value } = await patient(reader.read(), name);
      if (done) break;
      if (length + value.length > bytes) {
        await reader.cancel();
        throw new Error(`${name} is longer than it should be`);
      }
      whole.set(value, length);
      length += value.length;
      this.count(name, length / bytes);
      while (globalThis.crypto?.subtle && digests.length < sha256.length && length >= Math.min(bytes, (digests.length + 1) * PART_BYTES)) {
        digests.push(digest(whole.subarray(digests.length * PART_BYTES, (digests.length + 1) * PART_BYTES)));
      }
    }
    if (length !== bytes) throw new Error(`${name} was cut off`);
    if ((await Promise.all(digests)).some((found, i) => found !== sha256[i])) {
      throw new Error(`${name} is not what this page was built with`);
    }
    return whole;
  }

  count(name, share) {
    this.loaded.set(name, share);
    let loaded = 0;
    let total = 0;
    for (const [file, part] of this.loaded) {
      const wire = this.list[file][this.compressed ? "br" : "gz"];
      loaded += part * wire;
      total += wire;
    }
    this.progress(Math.round(loaded), total);
  }
}

function patient(promise, name) {
  let timer;
  const silence = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${name} did not arrive`)), SILENCE_MS);
  });
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}

/** SHA-256 in hexadecimal digits; only where the page came over https or from this machine. */
export async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
