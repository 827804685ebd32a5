/** Faults that tests expect. @module */
import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/mod.ts";

/** The fault that `work` rejects with. */
export async function faultOf(work: () => unknown): Promise<Fault> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  assert.fail("nothing was refused");
}
