import assert from "node:assert/strict";
import { attack } from "../_beside.ts";

Deno.test("mallory's call against a tool table that was never advertised would have reached an old tool", async () => {
  await attack(
    `const good = (await ports.advertise()).id; const told = [];
     const call = (id, snapshot) => ({ id, name: "file_list", arguments: "{}" });
     for (const [i, snapshot] of ["", "0".repeat(64), good.slice(1) + "0", good.toUpperCase(), good.slice(0, 63)].entries()) {
       told.push(await ports.call(snapshot, call("c" + i)).then((r) => r.outcome, (e) => e.code));
     }
     told.push((await ports.call(good, call("good"))).outcome);
     return { stop: "answered", text: told.join() };`,
    async ({ mallory }) => {
      await mallory.end;
      assert.equal(
        (await mallory.task())["answer"],
        "unknownTool,unknownTool,unknownTool,unknownTool,unknownTool,ok",
      );
    },
  );
});
