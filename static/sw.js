// Keeps one whole build of the site: second visits start from it, and it works without a network.
//
// A build is adopted only when every file of it is here and is what the manifest says; each page stays with the build that
// it was opened with, and so do its workers. A manifest that is gone (404) ends all this: see `leave`.
const scope = new URL("./", self.location);
const NAME = `ten-people ${scope.pathname} `; // caches belong to an origin, which may hold other sites
const STATE = `${NAME}state`;
const build = (version) => `${NAME}build ${version}`;
const MANIFEST_MS = 1500; // how long a visit waits to hear whether there is a new build
const ADOPT_MS = 6000; // and how long for all of it, before it starts with the one that is here
const AT_ONCE = 6; // downloads

let state; // {current: version | "", pages: {client id: version}}
const arriving = new Set(); // pages that were answered and may not be there yet: nobody lists them among the open ones
let looking; // {news, done} while a new build is looked for

const at = (path) => new URL(path, scope).href;
const within = (ms, promise) => Promise.race([promise, new Promise((done) => setTimeout(done, ms))]);

async function known() {
  if (!state) {
    const kept = await (await caches.open(STATE)).match(at("state"));
    state ??= kept ? await kept.json() : { current: "", pages: {} };
  }
  return state;
}

async function remember() {
  await (await caches.open(STATE)).put(at("state"), new Response(JSON.stringify(state)));
}

/** The manifest of the build that the host has now. Throws without a network; {gone: true} where the site was taken down. */
async function published() {
  const response = await fetch(at("manifest.json"), { cache: "no-store" });
  if (response.status === 404 || response.status === 410) return { gone: true };
  if (!response.ok) throw new Error(`the manifest was answered with ${response.status}`);
  const manifest = await response.json();
  if (typeof manifest.version !== "string" || typeof manifest.files !== "object") throw new Error("this is no manifest");
  return manifest;
}

async function manifestOf(version) {
  const kept = await (await caches.open(build(version))).match(at("manifest.json"));
  return kept ? kept.json() : null;
}

async function digest(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a file must be: compressed forms of Python's files are held against what is in them. */
const expected = ({ files }, path) => files[path] ?? files[path.replace(/\.gz$/, "")];

/** Puts one file of a build into its cache: a copy from the build before where it is the same, else from the host, checked. */
async function keep(cache, manifest, path, before) {
  if (await cache.match(at(path))) return;
  const { sha256 } = expected(manifest, path);
  if (before && expected(before.manifest, path)?.sha256 === sha256) {
    const same = await before.cache.match(at(path));
    if (same) return cache.put(at(path), same);
  }
  const lazily = path.startsWith("python/") && !path.endsWith("files.mjs"); // at the address where Python's worker fetched it
  const response = await fetch(lazily ? `${at(path)}?v=${manifest.version}` : at(path), { cache: lazily ? "default" : "no-cache" });
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
  const bytes = await response.clone().arrayBuffer();
  const packed = path.endsWith(".gz") && !manifest.files[path];
  const plain = packed ? await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer() : bytes;
  if ((await digest(plain)) !== sha256) throw new Error(`${path} is not of build ${manifest.version}`);
  const type = response.headers.get("content-type") ?? "application/octet-stream";
  const headers = { "content-type": type };
  for (const name of ["content-security-policy", "access-control-allow-origin"]) {
    if (response.headers.has(name)) headers[name] = response.headers.get(name);
  }
  await cache.put(at(path), new Response(bytes, { headers }));
}

async function keepAll(version, manifest, paths, before) {
  const cache = await caches.open(build(version));
  const left = [...paths];
  const work = async () => {
    while (left.length) await keep(cache, manifest, left.pop(), before);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return cache;
}

/** Adopts the published build if it is another one: all of it, or nothing. */
async function adopt(manifest) {
  const { current } = await known();
  const { version } = manifest;
  if (version === current) return;
  const old = current && (await manifestOf(current));
  const before = old ? { manifest: old, cache: await caches.open(build(current)) } : null;
  const paths = Object.keys(manifest.files).filter((path) => !path.startsWith("python/") || path === "python/files.mjs");
  try {
    const cache = await keepAll(version, manifest, paths, before);
    await cache.put(at("manifest.json"), new Response(JSON.stringify(manifest)));
  } catch (error) {
    await caches.delete(build(version));
    throw error;
  }
  state.current = version;
  await remember();
  if (before) {
    const python = (await before.cache.keys()).map(({ url }) => url.slice(scope.href.length)).filter((path) => path.startsWith("python/"));
    await keepAll(version, manifest, python.filter((path) => expected(manifest, path)), before).catch(() => {}); // else when Python runs
  }
}

/** Looks for a new build, once at a time: `news` is its manifest, `done` comes when it is adopted. */
function update() {
  if (!looking) {
    const news = published();
    const done = news.then((manifest) => (manifest.gone ? leave() : adopt(manifest))).finally(() => (looking = null));
    looking = { news, done };
  }
  return looking;
}

/** The site was taken down: nothing of it is kept, and pages come from the network again. */
async function leave() {
  state = { current: "", pages: {} };
  for (const name of await caches.keys()) if (name.startsWith(NAME)) await caches.delete(name);
  await self.registration.unregister();
}

async function bind(client, version) {
  if (!client || !version || state.pages[client] === version) return;
  state.pages[client] = version;
  arriving.add(client);
  await remember();
}

/** Forgets pages that are closed, and builds that nobody uses. */
async function tidy() {
  const open = new Set((await self.clients.matchAll({ type: "all", includeUncontrolled: true })).map(({ id }) => id));
  for (const client of open) arriving.delete(client);
  for (const client of Object.keys(state.pages)) if (!open.has(client) && !arriving.has(client)) delete state.pages[client];
  const used = new Set([state.current, ...Object.values(state.pages)].map(build));
  for (const name of await caches.keys()) if (name.startsWith(build("")) && !used.has(name)) await caches.delete(name);
  await remember();
}

async function visit(event, path) {
  await known();
  if (!state.current) return fetch(event.request);
  const { news, done } = update();
  const over = done.catch(() => {}); // adopted, or not: then the build that is here serves
  event.waitUntil(over.then(() => state.current && tidy()));
  const manifest = await within(MANIFEST_MS, news.catch(() => null));
  if (manifest && manifest.version !== state.current) await within(ADOPT_MS, over);
  const { current } = state;
  const kept = current && (await (await caches.open(build(current))).match(at(path)));
  if (!kept) return fetch(event.request);
  await bind(event.resultingClientId, current);
  return kept;
}

async function answer(event, path) {
  const version = (await known()).pages[event.clientId];
  if (!version) return fetch(event.request);
  if (event.resultingClientId) await bind(event.resultingClientId, version);
  const kept = await (await caches.open(build(version))).match(at(path));
  return kept ?? fetch(event.request);
}

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(update().done);
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method !== "GET" || !address.href.startsWith(scope.href)) return;
  const path = address.pathname.slice(scope.pathname.length).replace(/(^|\/)$/, "$1index.html");
  if (path === "manifest.json" || path === "sw.js") return;
  event.respondWith(request.mode === "navigate" ? visit(event, path) : answer(event, path));
});

// A page of the first visit says which build it is of; and, once Python is there, which of its files to keep.
self.addEventListener("message", (event) => {
  const { what, version, files } = event.data ?? {};
  event.waitUntil((async () => {
    const manifest = (await known()) && typeof version === "string" && (await manifestOf(version));
    if (!manifest) return;
    if (what === "here") await bind(event.source.id, version);
    if (what === "keep") {
      await keepAll(version, manifest, files.filter((path) => expected(manifest, path)), null);
      event.source.postMessage({ what: "kept" });
    }
  })());
});
