import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../contracts/task/mod.ts";
import { attack } from "../_beside.ts";

Deno.test("mallory's program that makes room for ever would have filled the operator's disk", async () => {
  await attack(
    `const told = {}; const note = (code) => { told[code] = (told[code] ?? 0) + 1; };
     const provenance = { origin: "operator", colour: "BLUE", label: "public" };
     const say = (role, content) => ({ role, content, provenance });
     const junk = [say("user", "x".repeat(200_000)), say("assistant", "y"), say("user", "z")];
     for (let n = 0; n < 500; n++) {
       await ports.context.checkpoint({ append: junk, preserve: [] }).then(() => note("archived"), (e) => note(e.code));
     }
     for (const bad of [{ base: 1e9 }, { base: -1 }, { important: [-1] }, { share: 9 }, { preserve: ["ALL"] }, { reserve: -5 }]) {
       await ports.makeRoom({ method: "evict", reserve: 0, ...bad }).then(() => note("taken"), (e) => note("bad " + e.code));
     }
     return { stop: "answered", text: JSON.stringify(told) };`,
    async ({ mallory }) => {
      await mallory.end;
      const archived = mallory.events.filter(({ event }) => event === "contextCompacted");
      assert.ok(archived.length > 0 && archived.length <= DEFAULT_LIMITS.iterations);
      const task = await mallory.task();
      const told = JSON.parse(String(task["answer"]));
      assert.equal(told["archived"], DEFAULT_LIMITS.iterations);
      assert.equal(told["budgetExhausted"], 500 - DEFAULT_LIMITS.iterations);
      assert.equal(told["taken"], undefined);
    },
  );
});
