/** Whose turn it is where two issues declare the same part. */
import assert from "node:assert/strict";
import { Fault, type Json } from "../contracts/base/mod.ts";
import { ResourceRef } from "../contracts/task/resources.ts";
import { makeClaims } from "./claims.ts";
import { beginState, type IssueState, type SwarmState, takeEvent } from "./journal.ts";
import { planOf } from "./plan.ts";

const REPOSITORY = ResourceRef.parse("gitRepository:repo");
const FROM = "0".repeat(40);

function twoIssues(): { state: SwarmState; a: IssueState; b: IssueState } {
  const issues = ["a", "b"].map((id) => ({ id, title: id, paths: ["src/"] }));
  const plan = planOf({ version: 1, issues }, (why) => new Error(why));
  const state = beginState({
    ...{
      kind: "begun",
      id: "sw000000000001",
      at: 1,
      base: FROM,
      folder: "/x",
      mount: "repo",
      plan,
    },
  });
  const [a, b] = [state.issues.get("a"), state.issues.get("b")];
  assert(a !== undefined && b !== undefined);
  return { state, a, b };
}

Deno.test("two issues that declare one part are never free together, also where no claim can be made", async () => {
  const { state, a, b } = twoIssues();
  const claims = makeClaims({
    ...{ state, resource: REPOSITORY, record: () => Promise.resolve() },
    powers: { now: () => 1, rest: () => Promise.resolve() },
    // As of a worker at another kernel: its task is not known here.
    ask: (body: Json) =>
      (body as { readonly do?: unknown }).do === "list"
        ? Promise.resolve([])
        : Promise.reject(new Fault("notFound", "Cannot claim: no such task")),
  });
  takeEvent(state, {
    ...{ kind: "assigned", at: 1, attempt: 1, issue: "a", work: "author", role: "coder" },
    ...{ model: "", provider: "p", from: FROM, session: "s1" },
  });
  takeEvent(state, { kind: "started", at: 1, attempt: 1, task: "ta" });
  const [first] = a.attempts;
  assert(first !== undefined);
  assert.deepEqual(await claims.free([a, b]), [a]);
  await claims.take(a, first);
  assert.deepEqual(await claims.free([b]), []);
  await claims.release(a);
  assert.deepEqual(await claims.free([b]), [b]);
});
