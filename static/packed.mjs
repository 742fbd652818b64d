// Files that are served as they were packed (gzip), for hosts that compress nothing, and unpacked here.

/** The stream unpacked, if it is packed: some hosts say of a .gz file that it is encoded, and the browser has unpacked it. */
export async function unpacked(stream) {
  const [look, rest] = stream.tee();
  const reader = look.getReader();
  const { value } = await reader.read();
  reader.cancel();
  return value?.[0] === 0x1f && value[1] === 0x8b ? rest.pipeThrough(new DecompressionStream("gzip")) : rest;
}

/** What the JSON file at this address says. Throws where it is missing or is none. */
export async function json(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status}`);
  return new Response(await unpacked(response.body)).json();
}
