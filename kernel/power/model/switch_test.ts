import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import { CallId, Pid } from "../../../contracts/authority/mod.ts";
import type { ToolCall } from "../../../contracts/model/mod.ts";
import { type Outcome, Outcome as Outcomes } from "../../../contracts/tool/mod.ts";
import { drawCaps, redrawModel } from "../../task/worker/worker_ops.ts";
import {
  makeEscalation,
  makeModelSwitch,
  modelChanged,
  type ModelSwitch,
  switchedTo,
} from "./switch.ts";

const SMALL = { ref: "ollama:small", config: "{}" };
const LARGE = { ref: "anthropic:large", config: '{"model":"large"}' };
const OTHER = { ref: "gguf:other", config: "{}" };

const call = (id: string, name = "file_read", text = "{}"): ToolCall => ({
  id: CallId.parse(id),
  name,
  arguments: text,
});

/** One call that the model proposed, and what came of it. */
function tried(
  process: Pick<ModelSwitch, "proposed" | "called">,
  outcome: Outcome,
  id = "c",
): void {
  process.proposed([call(id)]);
  process.called(call(id), outcome);
}

Deno.test("alice's rule `retry on large after 2 invalid calls` switches after two in a row, once", () => {
  const model = makeModelSwitch(SMALL, { after: 2, to: LARGE });
  for (const outcome of ["unknownTool", "ok", "invalidArguments", "executionError"] as const) {
    tried(model, outcome);
    equal(model.due(), undefined, outcome);
  }
  tried(model, "invalidArguments");
  tried(model, "unknownTool");
  const due = model.due();
  deepEqual(due, { to: LARGE, why: "escalated" });
  equal(model.current(), SMALL);
  if (due !== undefined) model.made(due);
  equal(model.current(), LARGE);
  for (let n = 0; n < 9; n++) tried(model, "unknownTool");
  equal(model.due(), undefined);
});

Deno.test("calls of one answer count one by one, and an answer of low confidence as one", () => {
  const count = makeEscalation({ after: 3 });
  count.proposed([call("a"), call("b")]);
  count.called(call("a"), "invalidArguments");
  count.called(call("b"), "unknownTool");
  count.failed("upstream");
  ok(!count.isDue());
  count.failed("lowConfidence");
  ok(count.isDue());
  const without = makeEscalation(undefined);
  for (let n = 0; n < 9; n++) without.failed("lowConfidence");
  ok(!without.isDue());
});

Deno.test("mallory's worker would have reached the dearer model by calls that no model proposed", () => {
  const count = makeEscalation({ after: 1 });
  count.called(call("c"), "unknownTool");
  count.proposed([call("c", "file_read", '{"path":"a"}'), call("d")]);
  count.called(call("c", "file_read", "{"), "invalidArguments");
  count.called(call("c", "nonsense", '{"path":"a"}'), "unknownTool");
  ok(!count.isDue());
  count.called(call("d"), "ok");
  count.called(call("d"), "invalidArguments");
  ok(!count.isDue(), "a call counts once");
  count.called(call("c", "file_read", '{"path":"a"}'), "invalidArguments");
  ok(count.isDue());
});

Deno.test("a switch that is refused is not tried again, and the process keeps its model", () => {
  const model = makeModelSwitch(SMALL, { after: 1, to: LARGE });
  tried(model, "unknownTool");
  const due = model.due();
  if (due !== undefined) model.kept(due);
  tried(model, "unknownTool");
  deepEqual([model.due(), model.current()], [undefined, SMALL]);
});

Deno.test("carol's /model comes before a rule, the newest counts, and ends the rule", () => {
  const model = makeModelSwitch(SMALL, { after: 1, to: LARGE });
  tried(model, "unknownTool");
  model.choose(LARGE);
  model.choose(OTHER);
  const due = model.due();
  deepEqual(due, { to: OTHER, why: "person" });
  if (due !== undefined) model.made(due);
  tried(model, "unknownTool");
  deepEqual([model.due(), model.current()], [undefined, OTHER]);
  model.choose(SMALL);
  const back = model.due();
  model.choose(LARGE);
  if (back !== undefined) model.made(back);
  equal(model.due()?.to, LARGE, "a choice that was made meanwhile is not lost");
});

Deno.test("a refused choice of a person leaves the rule as it was", () => {
  const model = makeModelSwitch(SMALL, { after: 1, to: LARGE });
  model.choose(OTHER);
  const due = model.due();
  if (due !== undefined) model.kept(due);
  tried(model, "invalidArguments");
  equal(model.due()?.to, LARGE);
});

Deno.test("the event of a switch names models in its body, and references in its private part only", () => {
  const due = { to: LARGE, why: "escalated" } as const;
  const made = modelChanged(Pid.parse(2), {
    due,
    from: { id: "ollama:small" },
    to: { id: "anthropic:large", backend: "anthropic" },
  });
  deepEqual(made.body, {
    pid: 2,
    from: "ollama:small",
    to: "anthropic:large",
    backend: "anthropic",
    why: "escalated",
    made: true,
  });
  deepEqual(switchedTo(made.body, made.private), LARGE);
  equal(switchedTo(made.body, undefined), undefined);
  const kept = modelChanged(Pid.parse(2), { due, from: { id: "ollama:small" }, refused: "a rule" });
  deepEqual([kept.body["made"], kept.private?.["refused"]], [false, "a rule"]);
  equal(switchedTo(kept.body, kept.private), undefined);
});

Deno.test("a handle drawn anew is none that the worker held, and the others stay", () => {
  let n = 0;
  // 00001, 00002, 00003, then 00001 again: drawn already.
  const draws = ["00001", "00002", "00003", "00001", "00003", "00004"];
  const powers = { token: () => draws[n++] ?? "00009" };
  const held = drawCaps(powers);
  const redrawn = redrawModel(powers, held);
  notEqual(redrawn.model, held.model);
  deepEqual(redrawn, { ...held, model: 4 });
});

Deno.test("whatever comes, a rule switches at most once, and only after its number in a row", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom<Outcome>(...Outcomes.options), { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      (outcomes, after) => {
        const model = makeModelSwitch(SMALL, { after, to: LARGE });
        let inRow = 0, switches = 0, expected = 0;
        for (const outcome of outcomes) {
          tried(model, outcome);
          inRow = outcome === "invalidArguments" || outcome === "unknownTool" ? inRow + 1 : 0;
          if (inRow >= after) expected = 1;
          const due = model.due();
          if (due === undefined) continue;
          model.made(due);
          switches += 1;
        }
        equal(switches, expected);
      },
    ),
  );
});
