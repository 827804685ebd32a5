import { deepEqual, equal, ok } from "node:assert/strict";
import { type Digest, TaskId } from "../../../contracts/authority/mod.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import { McpServerName } from "../../../contracts/exchange/mod.ts";
import type { NewEvent, StoredEvent } from "../../../contracts/task/mod.ts";
import { makeMcpLog, mcpLogWords, readMcpLog } from "./log.ts";

const TASK = TaskId.parse("t000000000000");
const at = { task: TASK, server: { name: McpServerName.parse("files") } };

interface Bench {
  readonly log: ReturnType<typeof makeMcpLog>;
  readonly events: NewEvent[];
  readonly notes: string[];
  /** Lets the batch's time pass. */
  tick(): void;
}

function bench(fails = false): Bench {
  const events: NewEvent[] = [], notes: string[] = [], due: (() => void)[] = [];
  const log = makeMcpLog({
    log: {
      append(_task, more) {
        if (fails) return Promise.reject(new Error("the disk is full"));
        events.push(...more);
        return Promise.resolve([]);
      },
    },
    powers: {
      after(_ms, f) {
        due.push(f);
        return () => void due.splice(due.indexOf(f), 1);
      },
    },
    note: (line) => void notes.push(line),
  });
  return { log, events, notes, tick: () => due.splice(0).forEach((f) => f()) };
}

const access = (value: string, allowed = false): JsonObject => ({
  ...{ permission: "read", value, allowed },
});

Deno.test("what a server did is one event; its words are in the private part, which can be erased", () => {
  const { log, events } = bench();
  log.note(at, "suspended", { why: "changed", tool: "read_file" });
  log.note(at, "errors", { lines: 2 }, "a stack trace");
  deepEqual(events, [
    {
      kind: "mcp",
      body: { server: "files", what: "suspended", why: "changed" },
      private: { tool: "read_file" },
    },
    {
      kind: "mcp",
      body: { server: "files", what: "errors", lines: 2 },
      private: { text: "a stack trace" },
    },
  ]);
});

Deno.test("the first access of a kind is written at once, and a million more together (long)", async () => {
  const { log, events, tick } = bench();
  for (let i = 0; i < 1_000_000; i++) log.note(at, "access", access("/etc/passwd"));
  equal(events.length, 1);
  log.note(at, "access", access("/home/alice/a", true));
  equal(events.length, 2);
  tick();
  await log.flush(TASK);
  equal(events.length, 3);
  equal(events[2]?.body["times"], 999_999);
  deepEqual(events[2]?.private, { value: "/etc/passwd" });
});

Deno.test("requests of a server at a URL are counted: the first of a kind is written at once", async () => {
  const { log, events, tick } = bench();
  const request = (status: number): void =>
    log.note(at, "proxied", { method: "POST", status, host: "far.example:443" });
  for (let i = 0; i < 1_000; i++) request(200);
  request(500);
  equal(events.length, 2);
  tick();
  await log.flush(TASK);
  deepEqual(events.slice(2), [{
    kind: "mcp",
    body: { server: "files", what: "proxied", method: "POST", status: 200, times: 999 },
    private: { host: "far.example:443" },
  }]);
});

Deno.test("a host that was refused is told with its words, each time", () => {
  const { log, events } = bench();
  for (const host of ["evil.test:80", "worse.test:80"]) {
    log.note(at, "proxied", { ok: false, host }, "not granted");
  }
  deepEqual(events.map((event) => event.private), [
    { host: "evil.test:80", text: "not granted" },
    { host: "worse.test:80", text: "not granted" },
  ]);
});

Deno.test("mallory, who asks for a thousand different paths, is told apart up to a number", async () => {
  const { log, events } = bench();
  for (let i = 0; i < 1_001; i++) log.note(at, "access", access(`/${i}`));
  await log.flush(TASK);
  ok(events.length < 100);
  const times = events.reduce((sum, { body }) => sum + Number(body["times"]), 0);
  equal(times, 1_001);
});

Deno.test("a server's events in a task are bounded, and what was dropped is counted at its end", async () => {
  const { log, events } = bench();
  for (let i = 0; i < 6_000; i++) log.note(at, "odd", { n: i });
  equal(events.length, 5_000);
  await log.close(TASK);
  deepEqual(events.at(-1)?.body, { server: "files", what: "odd", dropped: 1_000 });
});

Deno.test("an event that cannot be written ends nothing: the kernel's own log says so", async () => {
  const { log, notes } = bench(true);
  log.note(at, "started");
  await log.flush(TASK);
  equal(notes.length, 1);
});

Deno.test("the log of a server gives its newest entries of all tasks, safe to show", async () => {
  const stored = (n: number, server: string): StoredEvent => ({
    ...{ task: n % 2 === 0 ? TASK : "t000000000001", n, kind: "mcp", at: n, seq: n },
    ...{
      body: JSON.stringify({
        server,
        what: "access",
        allowed: false,
        permission: "read",
        times: n,
      }),
      hash: "" as Digest,
    },
  });
  const rows = Array.from(
    { length: 2_500 },
    (_, n) => stored(n + 1, n % 5 === 0 ? "other" : "files"),
  );
  const entries = await readMcpLog(
    {
      events: ({ untilSeq = Infinity, newest, limit = 0 }) => {
        equal(newest, true);
        return Promise.resolve(
          rows.filter(({ seq }) => seq <= untilSeq).toReversed().slice(0, limit),
        );
      },
    },
    () => Promise.resolve({ value: "/etc\u001b[2J" }),
    { server: "files", limit: 3 },
  );
  deepEqual(entries.map(({ at }) => at), [2_498, 2_499, 2_500]);
  equal(entries[0]?.text, "tried to read /etc\\u{1b}[2J, 2498 times: refused");
});

Deno.test("what a server did, tried and was refused is a sentence each, without the event's own words", () => {
  const lines: readonly (readonly [Parameters<typeof mcpLogWords>, string])[] = [
    [
      ["access", { permission: "read", allowed: false, times: 3 }, { value: "/etc/passwd" }],
      "tried to read /etc/passwd, 3 times: refused",
    ],
    [["access", { permission: "write", allowed: true, times: 1 }, { value: "/a" }], "wrote /a"],
    [
      ["access", { permission: "run", allowed: false, times: 1 }],
      "tried to start a program: refused",
    ],
    [
      ["proxied", { allowed: false }, { host: "evil.test:80" }],
      "tried to reach evil.test:80: refused",
    ],
    [
      ["proxied", { ok: false }, { host: "evil.test:80", text: "not granted" }],
      "tried to reach evil.test:80: not granted",
    ],
    [["proxied", { method: "POST", status: 200 }, { host: "a:443" }], "POST a:443: 200"],
    [
      ["proxied", { method: "POST", status: 307 }, { host: "a:443" }],
      "POST a:443: it redirects elsewhere (307), which was not followed",
    ],
    [["started", { ms: 12 }, { text: "2025-11-25 a 1.0" }], "ready in 12 ms: 2025-11-25 a 1.0"],
    [
      ["suspended", { why: "changed" }, { tool: "add" }],
      "add changed since it was reviewed: suspended",
    ],
    [["suspended", { why: "missing" }, { tool: "add" }], "add is no longer offered: suspended"],
    [["changed", { added: 1 }], "offers 1 tool that nobody approved"],
    [["changed", {}, { text: "tools" }], "says that its tools changed"],
    [
      ["elicit", { mode: "form", action: "decline" }, { text: "Your\npassword?" }],
      "asked the person (decline): Your password?",
    ],
    [
      ["sample", { ok: false, failed: "refused" }, { text: "Hi" }],
      "asked for the model (refused): Hi",
    ],
    [["sample", { ok: true, tokens: 7 }], "used 7 tokens of the model"],
    [["odd", {}, { text: "a batch" }], "broke the protocol: a batch"],
    [["odd", { dropped: 4 }], "4 more events were left out"],
    [["errors", { bytes: 3 }, { text: "no\n" }], "printed: no"],
    [["ended", {}, { text: "exit code 4" }], "exit code 4"],
    [["ended", {}, { text: "Cannot go on: the task has ended" }], "the task has ended"],
    [["call", { failed: "timedOut" }, { text: "add" }], "did not answer a call of add in time"],
    [["call", { failed: "upstream" }, { text: "add" }], "a call of add failed (upstream)"],
    // Its content was erased.
    [["access", { permission: "read", allowed: false, times: 1 }], "tried to read: refused"],
  ];
  for (const [given, words] of lines) equal(mcpLogWords(...given), words);
});
