import assert from "node:assert/strict";
import { attack } from "../_beside.ts";

Deno.test("mallory's guessed capability numbers would have named what was never handed over", async () => {
  await attack(
    `const told = {}; let hits = 0;
     const note = (code) => { told[code] = (told[code] ?? 0) + 1; };
     for (let from = 0; from < 10_000; from += 500) {
       await Promise.all(Array.from({ length: 500 }, (_, i) => from + i).flatMap((cap) => [
         ports.spawn({ cap, persona: "", request: "x", tools: ["no_such_tool"], limits: {} }).then(() => note("spawned"), (e) => note(e.code)),
       ]));
     }
     for (const cap of [-1, 1.5, 1e9, "1", null, [1], {}, true, 2 ** 53]) {
       await ports.spawn({ cap, persona: "", request: "x", tools: [], limits: {} }).then(() => note("spawned"), (e) => note(e.code));
     }
     return { stop: "answered", text: JSON.stringify(told) };`,
    async ({ mallory }) => {
      assert.equal((await mallory.end).status, "done");
      const told = JSON.parse(String((await mallory.task())["answer"]));
      assert.equal(told["spawned"], undefined);
      assert.equal(told["badFrame"], 9);
      // One number in a million is its own; with that one it is refused for the tool.
      assert.ok((told["refused"] ?? 0) <= 1);
      assert.equal(told["unknownCapability"] + (told["refused"] ?? 0), 10_000);
      assert.equal(mallory.events.some(({ event }) => event === "processStarted"), false);
    },
  );
});
