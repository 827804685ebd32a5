import { equal } from "node:assert/strict";
import { mcpLogWords } from "./log_words.ts";

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
