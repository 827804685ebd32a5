import assert from "node:assert/strict";
import { Fault } from "../../contracts/fault.ts";
import { makeMemoryStore, type MemoryStore } from "./_fixture/memory_store.ts";
import { fillSmallLog, TASKS } from "./_fixture/small_log.ts";
import { verifyChain } from "./mod.ts";

async function smallLog(): Promise<MemoryStore> {
  const store = makeMemoryStore();
  await fillSmallLog(store);
  return store;
}

Deno.test("verifyChain: an intact chain passes, and each change of it is named", async () => {
  const [task] = TASKS;
  const whole = await smallLog();
  await verifyChain(whole, task);
  const chain = whole.rows.filter((row) => row.task === task);
  assert.ok(chain.length > 2);
  for (const [n, row] of chain.entries()) {
    const at = whole.rows.indexOf(row);
    for (const change of [{ body: `${row.body} ` }, { at: row.at + 1 }, { kind: "undone" }]) {
      const store = await smallLog();
      store.rows[at] = { ...row, ...change };
      await assert.rejects(verifyChain(store, task), (error: unknown) => {
        assert.ok(error instanceof Fault && error.code === "storeCorrupt");
        assert.match(error.message, new RegExp(`event ${n} `));
        return true;
      });
    }
  }
});
