import assert from "node:assert/strict";
import { CallId, Digest, type Gate, Pid } from "../../contracts/authority/mod.ts";
import type { ProcessRow } from "../../contracts/task/mod.ts";
import type { ToolResult } from "../../contracts/tool/mod.ts";
import { makeReview, watchDenials } from "./review.ts";

const FIRST = Digest.parse("1".repeat(64));
const SECOND = Digest.parse("2".repeat(64));

function gateSaying(outcome: ToolResult["outcome"]): Gate {
  const nobody = (): never => {
    throw new Error("not asked for here");
  };
  return {
    advertise: nobody,
    decide: nobody,
    withhold: nobody,
    call: (_pid, call) =>
      Promise.resolve({ callId: call.id, outcome, content: "", colour: "BLUE", label: "public" }),
  };
}

async function denies(
  outcome: ToolResult["outcome"],
  call: { readonly name: string; readonly arguments: string },
): Promise<boolean> {
  const watched = watchDenials(gateSaying(outcome), () => ({ id: FIRST }));
  const id = CallId.parse("call_1");
  await watched.gate.call(Pid.parse(1), { id, ...call }, "", new AbortController().signal);
  assert.equal(watched.has(SECOND), false, "another patch was not spoken of");
  return watched.has(FIRST);
}

Deno.test("carol's no to a whole patch is remembered, and nothing less than that is", async () => {
  const whole = { name: "patch_apply", arguments: "{}" };
  assert.equal(await denies("deniedByUser", whole), true);
  assert.equal(await denies("ok", whole), false);
  assert.equal(await denies("cancelled", whole), false, "Ctrl-C is no answer");
  assert.equal(await denies("refusedByPolicy", whole), false);
  const part = { name: "patch_apply", arguments: '{"paths":["desk/a.txt"]}' };
  assert.equal(await denies("deniedByUser", part), false, "the rest was not spoken of");
  assert.equal(await denies("deniedByUser", { name: "file_read", arguments: "{}" }), false);
});

Deno.test("a patch that was allowed and failed is tried anew by the task that is resumed, and by nobody before", async () => {
  const outcomes: ToolResult["outcome"][] = ["executionError", "ok"];
  const ids: string[] = [];
  const gate: Gate = {
    ...gateSaying("ok"),
    advertise: () => ({ id: FIRST, tools: [] }),
    call(pid, call) {
      ids.push(call.id);
      return gateSaying(outcomes.shift() ?? "ok").call(pid, call, "", new AbortController().signal);
    },
  };
  const workspace = {
    patch: () => ({ id: FIRST, paths: [] }),
    stale: () => Promise.resolve(undefined),
  };
  const row = { pid: Pid.parse(1), calls: new Map() } as unknown as ProcessRow;
  const review = (past: readonly Pick<ToolResult, "callId" | "outcome">[]) => {
    const denied = watchDenials(gate, workspace.patch);
    return makeReview({
      ...{ gate: denied.gate, row, denied, past },
      workspace: workspace as unknown as Parameters<typeof makeReview>[0]["workspace"],
    });
  };
  const first = review([]);
  const begins = (): Promise<void> => Promise.resolve();
  assert.deepEqual(await first(begins), { kind: "kept", why: "executionError", failed: true });
  assert.equal((await first(begins)).kind, "kept");
  assert.equal(ids.length, 1, "not asked again as it was");
  const name = `review-${"1".repeat(32)}`;
  const past = [
    { callId: CallId.parse(name), outcome: "executionError" },
    { callId: CallId.parse(`review-${"2".repeat(32)}`), outcome: "executionError" },
  ] as const;
  assert.deepEqual(await review(past)(begins), { kind: "applied", patch: FIRST });
  await review([{ callId: CallId.parse(name), outcome: "ok" }])(begins);
  assert.deepEqual(ids, [name, `${name}#2`, name]);
});
