import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { digestSources } from "./source_digest_powers.ts";
import { modelPrograms, provideModelProgram } from "./model_programs_powers.ts";

const home = Deno.realPathSync(new URL("../..", import.meta.url));
const cache = Deno.makeTempDirSync({ prefix: "remit-programs-" });
const OLDER = "ab".repeat(32);
const harnessOf = (digest: string): string => `0.1.0-${digest.slice(0, 12)}-${"0".repeat(12)}`;
const onBuild = (): never => {
  throw new Error("it would be built");
};

/** Makes a program be there without building it. */
function pretend(digest: string): void {
  const { remote } = modelPrograms(cache, digest);
  Deno.mkdirSync(join(remote, ".."), { recursive: true });
  Deno.writeTextFileSync(remote, "");
}

Deno.test("an older kernel that never had a program for such models is a conflict that says what to do", async () => {
  const harness = harnessOf(OLDER);
  await assert.rejects(
    provideModelProgram("remote", { home, cache, harness, onBuild }),
    (error) => {
      assert.ok(error instanceof Fault && error.code === "conflict");
      assert.match(error.message, /another version.*remit ps.*remit stop/);
      return true;
    },
  );
});

Deno.test("an older kernel goes on with the program that it has, and a new one with its own", async () => {
  pretend(OLDER);
  await provideModelProgram("remote", { home, cache, harness: harnessOf(OLDER), onBuild });
  const own = digestSources(home);
  const parts = { home, cache, onBuild };
  for (const more of [{}, { harness: harnessOf(own) }, { harness: "fake" }]) {
    await assert.rejects(provideModelProgram("remote", { ...parts, ...more }), /would be built/);
  }
  pretend(own);
  for (const more of [{}, { harness: harnessOf(own) }]) {
    await provideModelProgram("remote", { ...parts, ...more });
  }
});
