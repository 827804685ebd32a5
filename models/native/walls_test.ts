import assert from "node:assert/strict";
import type { Gpu } from "../../contracts/model/mod.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { bundleProgram, commandOf, provideWorkshop } from "./_fixture/native_process.ts";

for (const gpu of [undefined, "vulkan", "cuda"] as const) {
  const beside = gpu === undefined ? "" : `, with the nodes of a card for ${gpu} too`;
  Deno.test(`native code in the engine's place reads its weights and addon, and reaches nothing else${beside}`, () =>
    intrude(gpu));
}

async function intrude(gpu: Gpu | undefined): Promise<void> {
  const shop = await provideWorkshop();
  const bundle = `${shop.folder}/intruder.js`;
  await bundleProgram(new URL("./_fixture/intruder.ts", import.meta.url).pathname, bundle);
  const weights = `${shop.folder}/walls.gguf`;
  const bytes = makeTinyGguf({ seed: 7 });
  await Deno.writeFile(weights, bytes, { mode: 0o600 });
  // Open to every process of this machine, if it had the network.
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const folder = shop.addon.slice(0, shop.addon.lastIndexOf("/"));
  const child = commandOf(shop, {
    ...{ bundle, weights, bytes: bytes.length },
    ...(gpu === undefined ? {} : { gpu }),
    args: [folder, weights, `${port}`, `${Deno.pid}`],
  }).spawn();
  await child.stdin.close();
  const { code, stdout, stderr } = await child.output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const { works, done, denied, environment } = JSON.parse(new TextDecoder().decode(stdout));
  assert.deepEqual(works, { weightsRead: true, addonRead: true });
  for (const [what, succeeded] of Object.entries(done)) assert.equal(succeeded, false, what);
  for (const [what, refused] of Object.entries(denied)) assert.equal(refused, true, what);
  assert.equal(environment, 0);
  assert.deepEqual(await Deno.readFile(weights), bytes);
}
