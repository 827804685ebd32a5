/** llama.cpp's addon where the command line looks for it, fetched once for a clone. */
import { nativeAddon } from "../../models/weights/mod.ts";
import { provideAddon } from "../../models/native/_fixture/native_process.ts";
import { cache } from "./siege.ts";

/** Puts a missing addon into the cache of test runs. */
export async function provideEngine(): Promise<void> {
  const from = await provideAddon();
  const addon = nativeAddon(cache());
  const to = addon.slice(0, addon.lastIndexOf("/"));
  try {
    await Deno.stat(to);
    return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const parent = to.slice(0, to.lastIndexOf("/"));
  await Deno.mkdir(parent, { recursive: true, mode: 0o700 });
  const draft = await Deno.makeTempDir({ dir: parent, prefix: ".draft-" });
  for await (const { name } of Deno.readDir(from)) {
    await Deno.copyFile(`${from}/${name}`, `${draft}/${name}`);
  }
  try {
    await Deno.rename(draft, to);
  } catch (error) {
    // Another test was faster.
    await Deno.remove(draft, { recursive: true });
    if (!/not empty|exists/i.test(String(error))) throw error;
  }
}
