import assert from "node:assert/strict";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { StateCounts } from "../../contracts/task/mod.ts";
import { makeDurations, metricsText } from "./metrics.ts";
import { otlpBody, readTraceparent, tracesUrl } from "./traces.ts";
import { startStateCare } from "./care.ts";

const NOW = 1_800_000_000_000;
const STATE: StateCounts = {
  tasks: { open: 1, done: 2 },
  channels: { webhook: 3 },
  inbox: { held: 4 },
  exchanges: { working: 5 },
  questions: 6,
  processes: 7,
};
const SPANS = [
  {
    ...{ kind: "task", id: "t1", from: NOW, to: NOW + 900, ok: true },
    attributes: { channel: "webhook", interactive: false },
  },
  {
    ...{ kind: "call", id: "4", from: NOW + 100, to: NOW + 250, ok: false },
    attributes: { tool: "file_read", outcome: "executionError", pid: 2, money: 0.25 },
  },
];

/** A kernel that answers what a service asks of it, and timers that ring when they are told. */
function world(answers: Readonly<Record<string, (body: Json) => Json>>): {
  readonly asked: (readonly [string, Json])[];
  readonly notes: string[];
  ring(ms: number): Promise<void>;
  readonly parts: Omit<Parameters<typeof startStateCare>[0], "serve">;
} {
  const asked: (readonly [string, Json])[] = [];
  const notes: string[] = [];
  const timers: { ms: number; then(): void }[] = [];
  return {
    asked,
    notes,
    async ring(ms): Promise<void> {
      const at = timers.findIndex((each) => each.ms === ms);
      const [timer] = at < 0 ? [] : timers.splice(at, 1);
      assert.ok(timer, `nothing waits ${ms} ms`);
      timer.then();
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    },
    parts: {
      link: {
        async ask(op, body): Promise<Json> {
          await Promise.resolve();
          asked.push([op, body]);
          const answer = answers[op];
          if (answer === undefined) throw new Fault("invalidInput", `Cannot serve "${op}"`);
          return answer(body);
        },
      },
      counts: () => ({ hooks: {} }),
      version: "1",
      now: () => NOW,
      after(ms, then) {
        const timer = { ms, then };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
      note: (text) => void notes.push(text),
    },
  };
}

Deno.test("metrics are OpenMetrics: names, types, escaped labels, one end", async () => {
  const w = world({ counts: () => toJson(STATE) });
  const care = startStateCare({ ...w.parts, serve: {} });
  const text = await care.metrics?.() ?? "";
  assert.match(text, /^# TYPE remit_tasks gauge$/m);
  assert.match(text, /^remit_tasks\{status="done"\} 2$/m);
  assert.match(text, /^remit_questions_open 6$/m);
  assert.ok(text.endsWith("# EOF\n"));
  const odd = metricsText({
    state: { ...STATE, channels: { 'a"\\\nremit_up 1': 1 } },
    counts: { hooks: { ci: { taken: 1, duplicate: 0, unknown: 2, late: 0 } } },
    ...{ startedAt: NOW, version: "1" },
  });
  assert.match(odd, /^remit_webhook_deliveries_total\{webhook="ci",result="unknown"\} 2$/m);
  assert.ok(odd.includes('{channel="a\\"\\\\\\nremit_up 1"} 1'));
  assert.ok(!odd.split("\n").includes('remit_up 1"} 1'));
  assert.equal(startStateCare({ ...w.parts, serve: { metrics: false } }).metrics, undefined);
});

Deno.test("deliveries to peers and the time of requests are counted as OpenMetrics has them", () => {
  const durations = makeDurations();
  for (const ms of [0, 1, 3, 90_000]) durations.add("a2a", ms);
  const text = metricsText({
    state: STATE,
    counts: {
      ...{ hooks: {}, durations: durations.all() },
      pushes: { tried: 5, delivered: 3, givenUp: 1 },
    },
    ...{ startedAt: NOW, version: "1" },
  });
  const family = "remit_request_duration_seconds";
  for (
    const line of [
      "remit_peer_delivery_tries_total 5",
      'remit_peer_deliveries_total{result="delivered"} 3',
      'remit_peer_deliveries_total{result="given_up"} 1',
      `# TYPE ${family} histogram`,
      `${family}_bucket{surface="a2a",le="0.001"} 2`,
      `${family}_bucket{surface="a2a",le="0.005"} 3`,
      `${family}_bucket{surface="a2a",le="60"} 3`,
      `${family}_bucket{surface="a2a",le="+Inf"} 4`,
      `${family}_sum{surface="a2a"} 90.004`,
      `${family}_count{surface="a2a"} 4`,
    ]
  ) assert.ok(text.split("\n").includes(line), line);
});

Deno.test("a task that ended is told to the collector as one trace, without any content", async () => {
  let ended: readonly string[] = [];
  const w = world({
    ended: ({ after }: Readonly<Record<string, Json>> | Json & { after?: Json }) =>
      toJson({ tasks: after === null ? [] : ended, next: 7 }),
    spans: () => toJson(SPANS),
    deliver: () => ({ status: 200 }),
  } as Readonly<Record<string, (body: Json) => Json>>);
  const care = startStateCare({ ...w.parts, serve: { otlp: "http://127.0.0.1:4318" } });
  const other = readTraceparent(`00-${"a".repeat(32)}-${"b".repeat(16)}-01`);
  care.traces?.began("t1", other);
  await care.traces?.flush();
  assert.equal(w.asked.filter(([op]) => op === "deliver").length, 0);
  ended = ["t1"];
  await care.traces?.flush();
  const [, told] = w.asked.find(([op]) => op === "deliver") ?? [];
  const { url, body, origins } = Object(told);
  assert.equal(url, "http://127.0.0.1:4318/v1/traces");
  assert.deepEqual(origins, ["http://127.0.0.1:4318"]);
  const [first, second] = JSON.parse(body).resourceSpans[0].scopeSpans[0].spans;
  assert.equal(first.name, "task webhook");
  assert.deepEqual(first.links, [{ traceId: "a".repeat(32), spanId: "b".repeat(16) }]);
  assert.match(first.traceId, /^[0-9a-f]{32}$/);
  // A stranger's trace is a link: it chooses no id of ours.
  assert.notEqual(first.traceId, "a".repeat(32));
  assert.equal(second.parentSpanId, first.spanId);
  assert.equal(second.traceId, first.traceId);
  assert.equal(second.startTimeUnixNano, `${NOW + 100}000000`);
  assert.deepEqual(second.status, { code: 2 });
  const attribute = (key: string): unknown =>
    second.attributes.find((each: { key: string }) => each.key === key)?.value;
  assert.deepEqual(attribute("remit.money"), { doubleValue: 0.25 });
  assert.deepEqual(attribute("remit.pid"), { intValue: "2" });
  await care.close();
});

Deno.test("a collector that is away is said once, and holds nothing up", async () => {
  const w = world({
    ended: () => toJson({ tasks: ["t1"], next: 1 }),
    spans: () => toJson(SPANS),
    deliver: () => {
      throw new Fault("upstream", "Cannot reach 127.0.0.1:4318");
    },
  });
  const care = startStateCare({ ...w.parts, serve: { otlp: "http://127.0.0.1:4318/custom" } });
  await care.traces?.flush();
  await care.traces?.flush();
  assert.equal(w.notes.length, 1);
  assert.match(w.notes[0] ?? "", /were not told/);
  await care.close();
});

Deno.test("what is no traceparent is no link", () => {
  for (
    const text of [
      ...[undefined, "", `01-${"a".repeat(32)}-${"b".repeat(16)}-01`],
      ...[`00-${"0".repeat(32)}-${"b".repeat(16)}-01`, `00-${"A".repeat(32)}-${"b".repeat(16)}-01`],
      ...[
        `00-${"a".repeat(32)}-${"0".repeat(16)}-01`,
        `00-${"a".repeat(32)}-${"b".repeat(16)}-01x`,
      ],
    ]
  ) assert.equal(readTraceparent(text), undefined);
  assert.equal(tracesUrl("https://c.example/otlp/v1/traces"), "https://c.example/otlp/v1/traces");
  assert.equal(JSON.parse(otlpBody([], { name: "remit", version: "1" })).resourceSpans.length, 1);
});

Deno.test("retention asks once a day, for what ended so many days ago", async () => {
  const w = world({ retain: () => ({ tasks: 3, exchanges: 1 }) });
  const care = startStateCare({ ...w.parts, serve: { retentionDays: 30 } });
  await w.ring(60_000);
  await w.ring(86_400_000);
  assert.deepEqual(w.asked, [
    ["retain", { before: NOW - 30 * 86_400_000, dryRun: false }],
    ["retain", { before: NOW - 30 * 86_400_000, dryRun: false }],
  ]);
  assert.match(w.notes[0] ?? "", /3 tasks, 1 exchanges, 0 messages .* were erased/);
  await care.close();
  await assert.rejects(w.ring(86_400_000), /nothing waits/);
});
