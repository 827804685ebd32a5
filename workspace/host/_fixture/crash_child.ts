/** A toolhost that is killed at its n-th change of a mount. Run by crash_test.ts. @module */
import type { Json } from "../../../contracts/base/json.ts";
import type { Files } from "../files.ts";
import { breathe, denoFiles, webSha256 } from "../fs_powers.ts";
import { makeHost } from "../host.ts";

const [text = "{}"] = Deno.args;
const { setup, body, at, torn } = JSON.parse(text) as {
  setup: Json;
  body: Json;
  at: number;
  torn: boolean;
};
let left = at;

function die(): never {
  Deno.kill(Deno.pid, "SIGKILL");
  for (;;);
}

function mortal(real: Files): Files {
  const counts = (...paths: readonly string[]): boolean =>
    paths.some((path) => path.includes("/desk/")) && left-- === 0;
  return {
    ...real,
    create(path, bytes, mode): void {
      if (counts(path)) {
        if (torn) real.create(path, bytes.subarray(0, bytes.length / 2), mode);
        die();
      }
      real.create(path, bytes, mode);
    },
    rename(from, to): void {
      if (counts(from, to)) die();
      real.rename(from, to);
    },
    remove(path): void {
      if (counts(path)) die();
      real.remove(path);
    },
    makeFolder(path): void {
      if (counts(path)) die();
      real.makeFolder(path);
    },
  };
}

const host = makeHost({ files: mortal(denoFiles()), sha256: webSha256, breathe, now: Date.now });
await host.ask("setup", setup);
await host.ask("call", body);
