import assert from "node:assert/strict";
import { Fault, type FaultCode } from "../../contracts/base/mod.ts";
import { cancelAt } from "./kernel_tasks.ts";

/** Cancels a task that answers with these faults, and then well. Gives how often it was asked. */
async function asked(faults: readonly FaultCode[], anywhere = true): Promise<number> {
  let asked = 0;
  await cancelAt(() => {
    const code = faults[asked++];
    return code === undefined ? Promise.resolve() : Promise.reject(new Fault(code, "Cannot"));
  }, { anywhere, rest: () => Promise.resolve() });
  return asked;
}

Deno.test("a task between the queue and its first event is cancelled once its kernel has it", async () => {
  assert.equal(await asked(["notFound", "notFound"]), 3);
});

Deno.test("a task that is gone is not waited for without end, and at one kernel not at all", async () => {
  const gone = Array<FaultCode>(1_000).fill("notFound");
  assert.equal(await asked(gone), 20);
  assert.equal(await asked(gone, false), 1);
});

Deno.test("a task that ended, or whose kernel is silent, is let be; another refusal is told", async () => {
  assert.equal(await asked(["conflict"]), 1);
  assert.equal(await asked(["notFound", "timedOut"]), 2);
  await assert.rejects(asked(["refused"]), Fault);
});
