import assert from "node:assert/strict";
import { attack, HONEST } from "../_beside.ts";

Deno.test("mallory's __proto__ would have given every object of the kernel a property", async () => {
  await attack(
    `const evil = JSON.parse('{"__proto__":{"mode":"auto","allowed":true},"constructor":{"prototype":{"mode":"auto"}}}');
     const told = [];
     const snapshot = (await ports.advertise()).id;
     for (const op of [
       () => ports.infer(evil),
       () => ports.spawn(evil),
       () => ports.call(snapshot, { id: "c1", name: "file_read", arguments: JSON.stringify({ path: "desk/notes/plan.md" }).replace("}", ',"__proto__":{"path":"desk"}}') }),
       () => ports.call(snapshot, { id: "c2", name: "__proto__", arguments: "{}" }),
       () => ports.call(snapshot, { id: "c3", name: "constructor", arguments: "{}" }),
       () => ports.call("__proto__", { id: "c4", name: "file_list", arguments: "{}" }),
     ]) told.push(await op().then((r) => r.outcome ?? "ok", (e) => e.code));
     return { stop: "answered", text: told.join() };`,
    async ({ siege, mallory }) => {
      assert.equal((await mallory.end).status, "done");
      assert.equal(
        (await mallory.task())["answer"],
        "badFrame,badFrame,invalidArguments,unknownTool,unknownTool,unknownTool",
      );
      // A task that comes later is decided by the rules that stood before.
      const bob = await siege.run({ turns: HONEST });
      assert.equal((await bob.end).exit, 0);
      const kinds = mallory.events.map(({ event }) => event);
      assert.equal(kinds.includes("intent"), false);
    },
  );
});
