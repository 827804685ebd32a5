/**
 * `deno task build:lexical`: builds the lexicon of the built-in embedder where the command will look for it, or says
 * that it is there. With `--pin` it builds anew and prints what models/local/lexical/build/lexicon_digest.ts has to say.
 *
 * @module
 */
import { placesOf } from "../cli/disk/places.ts";
import { provideLexical, runBuild } from "../models/local/lexical/build/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import { print, ROOT } from "./process.ts";

async function pin(): Promise<void> {
  const draft = await Deno.makeTempFile({ prefix: "remit-lexical-" });
  try {
    await runBuild(ROOT, draft);
    const bytes = await Deno.readFile(draft);
    print(`LEXICON_SHA256 = "${sha256Hex(bytes)}"\nLEXICON_BYTES = ${bytes.length}\n`);
  } finally {
    await Deno.remove(draft);
  }
}

if (import.meta.main) {
  const started = performance.now();
  if (Deno.args.includes("--pin")) await pin();
  else {
    const places = placesOf({ cwd: ROOT, env: (name) => Deno.env.get(name), uid: 0 }, undefined);
    const { file, bytes } = await provideLexical({
      home: ROOT,
      cache: `${places.cache}/lexical`,
      onBuild: (text) => print(`${text}\n`),
    });
    print(`${file} ${bytes} bytes\n`);
  }
  print(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}
