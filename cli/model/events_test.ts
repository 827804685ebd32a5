import assert from "node:assert/strict";
import { fakeScreen } from "../_fixture/world.ts";
import type { SeenEvent } from "../audit/event_fields.ts";
import { makeLiveView } from "../run/live_view.ts";
import { logLine } from "../task/log_command.ts";

const event = (name: string, body: object, inner: object = {}): SeenEvent => ({
  ...{ n: 1, at: 0, event: name },
  body: { ...body },
  private: { ...inner },
});
const asked = event("modelAsked", {
  ...{ host: "api.example.com", tokens: 1_200, use: "inference", label: "internal", money: 0.036 },
});
const queued = event("modelQueued", { host: "api.example.com", ms: 11_200 });
const failed = event("modelFailed", { code: "rateLimited" }, {
  error: "Cannot infer: \x1b[2J slow",
});
const moved = event("modelChanged", { from: "small", to: "large", why: "escalated", made: true });
const kept = event("modelChanged", { from: "small", why: "chosen", made: false }, {
  refused: "not allowed",
});
const compacted = event("contextCompacted", {
  ...{ number: 1, method: "compact", before: 900, after: 300 },
});

Deno.test("alice sees in one line each which host is asked, what failed, and which model goes on", () => {
  const screen = fakeScreen();
  const view = makeLiveView(screen, { toolOf: () => "" });
  for (const each of [queued, asked, failed, moved, kept, compacted]) {
    view.take({ kind: "event", event: each });
  }
  assert.deepEqual(screen.lines, [
    "  … model         waits about 12 s for the rate of api.example.com",
    "  → model         asks api.example.com, about 1200 tokens, 0.04 USD",
    "  ✗ model         gave no answer: rateLimited",
    "                  Cannot infer: \\u{1b}[2J slow",
    "  ! model         small → large  by its rule",
    "  ! model         stays small: not allowed",
    "  ! context       older turns summarized: 900 → 300 tokens  ctx show 1",
  ]);
});

Deno.test("signals that come while a prompt stands are told of once it is gone; a broken answer is given up", () => {
  const screen = fakeScreen();
  const view = makeLiveView(screen, { toolOf: () => "" });
  const signal = (name: string): SeenEvent => event("signalled", { signal: name });
  view.idle(true);
  for (const each of ["SIGCAPDROP", "SIGCAPDROP", "SIGCTXPRESSURE"]) {
    view.take({ kind: "event", event: signal(each) });
  }
  assert.deepEqual(screen.lines, []);
  view.idle(false);
  assert.deepEqual(screen.lines, [
    "  ! signal        SIGCAPDROP",
    "  ! signal        SIGCTXPRESSURE",
  ]);
  view.take({ kind: "event", event: event("inferred", { broke: true, aside: true }) });
  assert.equal(screen.lines.at(-1), "  ! model         its answer broke off and is given up");
});

Deno.test("a host that is asked all the time is told of once", () => {
  const screen = fakeScreen();
  const view = makeLiveView(screen, { toolOf: () => "" });
  for (let n = 0; n < 9; n++) view.take({ kind: "event", event: asked });
  view.take({ kind: "event", event: { ...asked, body: { ...asked.body, host: "b.example" } } });
  assert.equal(screen.lines.length, 2);
});

Deno.test("the log has a line for each of them, and mallory's words cannot leave it", () => {
  const lines = [queued, asked, failed, moved, kept, compacted].map((each) =>
    logLine(each, 200).slice(18)
  );
  assert.deepEqual(lines, [
    "modelQueued      waits about 12 s for the rate of api.example.com",
    "modelAsked       asks api.example.com, about 1200 tokens, 0.04 USD",
    "modelFailed      gave no answer: rateLimited  Cannot infer: \\u{1b}[2J slow",
    "modelChanged     small → large  escalated",
    "modelChanged     stays small: not allowed  chosen",
    "contextCompacted number 1  method compact  before 900  after 300",
  ]);
});
