import assert from "node:assert/strict";
import fc from "fast-check";
import type { ToolCall } from "../contracts/model/chat.ts";
import { FAULT_CODES, type FaultCode } from "../contracts/base/fault.ts";
import { CallId } from "../contracts/authority/ids.ts";
import { Signal } from "../contracts/task/signal.ts";
import { Outcome } from "../contracts/tool/tool.ts";
import { type Act, IDLE, type LoopInput, type LoopState, step, type Stop } from "./loop.ts";

const bounds = { iterations: 3, retries: 2 };
const call = (id: string): ToolCall => ({
  id: CallId.parse(id),
  name: "file_read",
  arguments: "{}",
});
const a = call("a");
const b = call("b");

const assembling = { kind: "assemblingRequest", iteration: 1, squeezed: false } as const;
const inferring = { kind: "inferring", iteration: 1, squeezed: false, failures: 0 } as const;
const executing = { kind: "executingCalls", iteration: 1, call: a, interrupted: false } as const;

const states = {
  idle: IDLE,
  assembling: { ...assembling, stop: undefined },
  squeezed: { ...assembling, squeezed: true, stop: undefined },
  concludingAssembly: { ...assembling, stop: "terminated" },
  inferring: { ...inferring, stop: undefined },
  triedTwice: { ...inferring, failures: 2, stop: undefined },
  inferringSqueezed: { ...inferring, squeezed: true, stop: undefined },
  concludingInference: { ...inferring, stop: "brake" },
  interruptedInference: { ...inferring, stop: "cancelled" },
  executing: { ...executing, rest: [], stop: undefined },
  executingTwo: { ...executing, rest: [b], stop: undefined },
  interrupted: { ...executing, rest: [b], stop: undefined, interrupted: true },
  concludingCall: { ...executing, rest: [b], stop: "budget" },
  lastIteration: { ...executing, iteration: 3, rest: [], stop: undefined },
} as const satisfies Record<string, LoopState>;

const failed = (code: FaultCode): LoopInput => ({ kind: "failed", code });
const inferred = (
  calls: readonly ToolCall[],
  finish: (LoopInput & { kind: "inferred" })["finish"] = "stop",
): LoopInput => ({ kind: "inferred", calls, finish });
const answered = (outcome: Outcome): LoopInput => ({ kind: "answered", outcome });
const turn = (calls: readonly ToolCall[] = [], complete = false): LoopInput => ({
  kind: "turn",
  calls,
  complete,
});

/** One word for where a step led and what it asks for. */
function said(state: LoopState, act: Act): string {
  const to = state.kind;
  switch (act.kind) {
    case "assemble":
      return `${to}: assemble${act.squeeze ? " squeezed" : ""} skip ${names(act.skipped)}`;
    case "call":
      return `${to}: call ${act.call.id}`;
    case "end":
      return `${to}: end ${act.stop} skip ${names(act.skipped)}`;
    default:
      return `${to}: ${act.kind}`;
  }
}
const names = (calls: readonly ToolCall[]): string => calls.map((each) => each.id).join("") || "-";

type StateName = keyof typeof states;
const TABLE: readonly (readonly [StateName, string, LoopInput, string])[] = [
  ["idle", "a message", turn(), "assemblingRequest: assemble skip -"],
  ["idle", "a cut-off turn", turn([a, b]), "executingCalls: call a"],
  ["idle", "a turn that was complete", turn([], true), "idle: end answered skip -"],
  ["assembling", "assembled", { kind: "assembled" }, "inferring: infer"],
  ["assembling", "overflow", { kind: "overflowed" }, "idle: end contextOverflow skip -"],
  ["assembling", "a refusal", failed("refused"), "idle: fail"],
  ["assembling", "a cancel", failed("cancelled"), "idle: end cancelled skip -"],
  ["assembling", "no budget", failed("budgetExhausted"), "idle: end budget skip -"],
  ["concludingAssembly", "assembled", { kind: "assembled" }, "idle: end terminated skip -"],
  ["concludingAssembly", "overflow", { kind: "overflowed" }, "idle: end terminated skip -"],
  ["concludingAssembly", "a refusal", failed("refused"), "idle: end terminated skip -"],
  ["inferring", "an answer", inferred([]), "idle: end answered skip -"],
  ["inferring", "toolCalls without calls", inferred([], "toolCalls"), "idle: end answered skip -"],
  ["inferring", "one call", inferred([a], "toolCalls"), "executingCalls: call a"],
  ["inferring", "calls with a wrong finish", inferred([a, b]), "executingCalls: call a"],
  ["inferring", "a cut answer", inferred([], "length"), "idle: end length skip -"],
  ["inferring", "a paused answer", inferred([], "paused"), "assemblingRequest: assemble skip -"],
  ["inferring", "calls before the cut", inferred([a], "length"), "executingCalls: call a"],
  ["inferring", "filtered calls", inferred([a], "contentFilter"), "idle: end upstream skip a"],
  ["inferring", "cancelled calls", inferred([a, b], "cancelled"), "idle: end cancelled skip ab"],
  ["inferring", "upstream", failed("upstream"), "inferring: infer"],
  ["inferring", "rateLimited", failed("rateLimited"), "inferring: infer"],
  ["inferring", "timedOut", failed("timedOut"), "inferring: infer"],
  ["inferring", "refused", failed("refused"), "idle: fail"],
  ["inferring", "clearance", failed("clearance"), "idle: fail"],
  ["inferring", "needsApproval", failed("needsApproval"), "idle: fail"],
  ["inferring", "cancelled", failed("cancelled"), "idle: end cancelled skip -"],
  ["inferring", "no budget", failed("budgetExhausted"), "idle: end budget skip -"],
  [
    "inferring",
    "overflow",
    failed("contextOverflow"),
    "assemblingRequest: assemble squeezed skip -",
  ],
  ["inferring", "too large", failed("tooLarge"), "assemblingRequest: assemble squeezed skip -"],
  ["inferringSqueezed", "overflow", failed("contextOverflow"), "idle: end contextOverflow skip -"],
  ["inferringSqueezed", "too large", failed("tooLarge"), "idle: end contextOverflow skip -"],
  ["triedTwice", "upstream", failed("upstream"), "idle: end upstream skip -"],
  ["triedTwice", "timedOut", failed("timedOut"), "idle: end upstream skip -"],
  ["triedTwice", "rateLimited", failed("rateLimited"), "idle: fail"],
  ["concludingInference", "a whole answer", inferred([]), "idle: end answered skip -"],
  ["concludingInference", "a cut answer", inferred([], "length"), "idle: end brake skip -"],
  ["interruptedInference", "a whole answer", inferred([]), "idle: end cancelled skip -"],
  ["concludingInference", "calls", inferred([a, b]), "idle: end brake skip ab"],
  ["concludingInference", "upstream", failed("upstream"), "idle: end brake skip -"],
  ["executing", "ok", answered("ok"), "assemblingRequest: assemble skip -"],
  ["executingTwo", "ok", answered("ok"), "executingCalls: call b"],
  ["executingTwo", "cancelled", answered("cancelled"), "assemblingRequest: assemble skip b"],
  ["executingTwo", "a refusal", answered("refusedByPolicy"), "executingCalls: call b"],
  ["executingTwo", "needsApproval", failed("needsApproval"), "idle: fail"],
  ["executingTwo", "gone", failed("gone"), "idle: fail"],
  ["executingTwo", "no budget", failed("budgetExhausted"), "idle: end budget skip ab"],
  ["interrupted", "ok", answered("ok"), "assemblingRequest: assemble skip b"],
  ["concludingCall", "ok", answered("ok"), "idle: end budget skip b"],
  ["concludingCall", "gone", failed("gone"), "idle: end budget skip -"],
  ["lastIteration", "ok", answered("ok"), "idle: end iterations skip -"],
];

for (const [name, what, input, expected] of TABLE) {
  Deno.test(`the loop, ${name}, given ${what}: ${expected}`, () => {
    const next = step(states[name], input, bounds);
    assert.equal(said(next.state, next.act), expected);
  });
}

Deno.test("every pair of state and input either steps or is a bug of the driver", () => {
  const possible: Record<LoopState["kind"], readonly LoopInput["kind"][]> = {
    idle: ["turn", "told"],
    assemblingRequest: ["assembled", "overflowed", "failed", "told"],
    inferring: ["inferred", "failed", "told"],
    executingCalls: ["answered", "failed", "told"],
  };
  const inputs: readonly LoopInput[] = [
    turn(),
    { kind: "assembled" },
    { kind: "overflowed" },
    inferred([a]),
    answered("ok"),
    failed("upstream"),
    { kind: "told", signal: "SIGTERM" },
  ];
  for (const state of Object.values(states)) {
    for (const input of inputs) {
      const run = (): unknown => step(state, input, bounds);
      if (possible[state.kind].includes(input.kind)) run();
      else assert.throws(run, TypeError, `${state.kind} took ${input.kind}`);
    }
  }
});

Deno.test("every outcome but cancelled lets the rest of the batch be made", () => {
  for (const outcome of Outcome.options) {
    const { act } = step(states.executingTwo, answered(outcome), bounds);
    assert.equal(act.kind, outcome === "cancelled" ? "assemble" : "call", outcome);
  }
});

Deno.test("every fault in an inference is retried, squeezed, ended or passed on, by its code", () => {
  const seen = FAULT_CODES.map((code) => {
    const { act } = step(states.inferring, failed(code), bounds);
    return act.kind === "end"
      ? `${code}: ${act.stop}`
      : act.kind === "fail"
      ? ""
      : `${code}: ${act.kind}`;
  });
  assert.deepEqual(seen.filter((each) => each !== ""), [
    "tooLarge: assemble",
    "budgetExhausted: budget",
    "rateLimited: infer",
    "contextOverflow: assemble",
    "cancelled: cancelled",
    "timedOut: infer",
    "upstream: infer",
  ]);
});

Deno.test("signals conclude a turn, each in its way, and the first one decides", () => {
  const stops: Partial<Record<Signal, Stop>> = {
    SIGTERM: "terminated",
    SIGPIPE: "terminated",
    SIGXCPU: "budget",
    SIGBRAKE: "brake",
    SIGINT: "cancelled",
  };
  for (const signal of Signal.options) {
    const told = step(states.inferring, { kind: "told", signal }, bounds);
    assert.equal(told.act.kind, "wait");
    assert.ok(told.state.kind === "inferring");
    assert.equal(told.state.stop, stops[signal], signal);
    const again = step(told.state, { kind: "told", signal: "SIGBRAKE" }, bounds).state;
    assert.ok(again.kind === "inferring");
    assert.equal(again.stop, stops[signal] ?? "brake");
    assert.equal(step(IDLE, { kind: "told", signal }, bounds).state, IDLE);
  }
});

Deno.test("SIGINT during a call drops the rest of the batch but not the turn", () => {
  const { state } = step(states.executingTwo, { kind: "told", signal: "SIGINT" }, bounds);
  const next = step(state, answered("ok"), bounds);
  assert.equal(said(next.state, next.act), "assemblingRequest: assemble skip b");
});

Deno.test("however a model behaves, a turn makes at most `iterations` inferences that count", () => {
  const reply = fc.oneof(
    fc.constant(inferred([a, b], "toolCalls")),
    fc.constant(inferred([a], "length")),
    fc.constantFrom<FaultCode>("upstream", "rateLimited", "contextOverflow").map(failed),
  );
  fc.assert(fc.property(fc.array(reply, { minLength: 40, maxLength: 40 }), (replies) => {
    let at = step(IDLE, turn(), bounds);
    let inferences = 0;
    let fed = 0;
    for (let i = 0; at.act.kind !== "end" && at.act.kind !== "fail"; i++) {
      assert.ok(i < 200, "the turn does not end");
      const { act } = at;
      if (act.kind === "infer") {
        const input = replies[fed++ % replies.length] ?? failed("gone");
        if (input.kind === "inferred") inferences += 1;
        at = step(at.state, input, bounds);
      } else {
        at = step(at.state, act.kind === "call" ? answered("ok") : { kind: "assembled" }, bounds);
      }
    }
    assert.ok(inferences <= bounds.iterations, `${inferences} inferences`);
    assert.equal(at.state.kind, "idle");
  }));
});
