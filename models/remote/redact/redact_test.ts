import assert from "node:assert/strict";
import fc from "fast-check";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { CallId } from "../../../contracts/authority/ids.ts";
import type { RedactRule } from "../../../contracts/model/model_config.ts";
import { makeRedact, redactMessages } from "./redact.ts";

const KINDS = ["email", "phone", "card", "iban", "key", "ip"] as const;
const all = makeRedact(KINDS.map((kind) => ({ kind })));
const one = (kind: typeof KINDS[number], text: string): string => makeRedact([{ kind }])(text);

Deno.test("each kind is found as people write it", () => {
  const found: readonly (readonly [typeof KINDS[number], string, string])[] = [
    ["email", "Ask carol.o'brien+x@mail.example.org.", "Ask carol.o'[redacted email]."],
    ["email", "an@example.com, bob@münchen.example", "[redacted email], [redacted email]"],
    ["phone", "Call +49 (0)89 1234 5678 now", "Call [redacted phone] now"],
    ["phone", "0171/2345678 or (555) 010-9999", "[redacted phone] or [redacted phone]"],
    ["card", "4111 1111 1111 1111 12/27", "[redacted card] 12/27"],
    ["card", "no 5500-0000-0000-0004, 378282246310005", "no [redacted card], [redacted card]"],
    ["iban", "DE89 3704 0044 0532 0130 00 is mine", "[redacted iban] is mine"],
    ["iban", "gb82west12345698765432", "[redacted iban]"],
    [
      "key",
      "sk-ant-api03-abcdefghijklmnop and AKIAIOSFODNN7EXAMPLE",
      "[redacted key] and [redacted key]",
    ],
    [
      "key",
      "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY----- end",
      "[redacted key] end",
    ],
    ["ip", "from 192.168.0.1:80 and 2001:db8::1!", "from [redacted ip]:80 and [redacted ip]!"],
  ];
  for (const [kind, text, want] of found) assert.equal(one(kind, text), want);
});

Deno.test("what only looks like one stays", () => {
  const left: readonly (readonly [typeof KINDS[number], string])[] = [
    ["email", "@carol says a@b and x@y"],
    ["phone", "version 1.2.3, the year 2026, 12345"],
    ["card", "4111 1111 1111 1112, 1700000000000"],
    ["iban", "DE89 3704 0044 0532 0130 01, AB12 is a room"],
    ["key", "sketch-book and ask-me"],
    ["ip", "1.2.3, 300.1.1.1, 1.2.3.4.5, 12:30:45"],
  ];
  for (const [kind, text] of left) assert.equal(one(kind, text), text, kind);
});

Deno.test("a word is found in any case where it stands by itself", () => {
  const redact = makeRedact([{ word: "Falcon" }, { word: "C++ (x)" }]);
  assert.equal(
    redact("FALCON, falcons, a falcon."),
    "[redacted word], falcons, a [redacted word].",
  );
  assert.equal(redact("in c++ (X)!"), "in [redacted word]!");
});

Deno.test("what was replaced is not found again, and a rule of nothing changes nothing", () => {
  fc.assert(fc.property(fc.string({ maxLength: 400, unit: "grapheme" }), (text) => {
    const once = all(text);
    assert.equal(all(once), once);
    assert.equal(makeRedact([])(text), text);
  }));
});

Deno.test("an address among any text is found", () => {
  const environment = fc.string({ maxLength: 80 }).map((text) => text.replace(/[\w.%+@-]/g, " "));
  fc.assert(fc.property(environment, environment, (before, after) => {
    const text = `${before} carol@example.org ${after}`;
    assert.ok(!all(text).includes("carol@example.org"));
  }));
});

Deno.test("arguments of calls stay JSON, numbers, keys and escapes included", () => {
  const args = (text: string): string | undefined => {
    const message: ChatMessage = {
      role: "assistant",
      content: "to carol@example.org",
      toolCalls: [{ id: CallId.parse("a"), name: "t", arguments: text }],
      provenance: { origin: "model", colour: "BLUE", label: "internal" },
    };
    const [redacted] = redactMessages([message], all);
    assert.equal(redacted?.content, "to [redacted email]");
    return redacted?.toolCalls?.[0]?.arguments;
  };
  const left = args(
    '{"n":4111111111111111,"to":["carol\\u0040example.org"],"a@b.example":1, "k":2}',
  );
  assert.deepEqual(JSON.parse(left ?? ""), {
    n: "[redacted card]",
    to: ["[redacted email]"],
    "[redacted email]": 1,
    k: 2,
  });
  assert.equal(args('{ "plain" : 1 }'), '{ "plain" : 1 }');
  assert.equal(args("{broken carol@example.org"), "{broken [redacted email]");
  const deep = `${"[".repeat(200_000)}"carol@example.org"${"]".repeat(200_000)}`;
  assert.ok(!args(deep)?.includes("carol@"));
});

Deno.test("a million hostile characters take a time that grows with their number, not with its square (long)", () => {
  const pieces = [
    "a",
    "a.",
    "a@",
    "a@a.",
    "1",
    "1 ",
    "4111 ",
    "0 0 0",
    "+1 ",
    "DE89 ",
    "DE8911111111111111111 ",
    "eyJ",
    "eyJaaaaaaaa.",
    "sk-",
    "-----BEGIN PRIVATE KEY-----",
    "1.1.1.",
    "a:",
    "::1 ",
    "é",
  ];
  const rules: RedactRule[] = [...KINDS.map((kind) => ({ kind })), { word: "aaaaaaaaab" }];
  const redact = makeRedact(rules);
  // A square of this length would not end: that the test does is the claim.
  const length = 2_000_000;
  for (const piece of pieces) {
    const text = piece.repeat(length / piece.length);
    assert.ok(redact(text).length > 0, JSON.stringify(piece));
  }
});
