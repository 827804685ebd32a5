import assert from "node:assert/strict";
import fc from "fast-check";
import type { ChatMessage } from "../contracts/chat.ts";
import { CallId } from "../contracts/ids.ts";
import { estimateTokens, fitContext } from "./context.ts";

const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;
const message = (role: ChatMessage["role"], content: string): ChatMessage => ({
  role,
  content,
  provenance,
});
const asked = (n: number, args = "{}"): ChatMessage => ({
  ...message("assistant", `look ${n}`),
  toolCalls: [{ id: CallId.parse(`c${n}`), name: "file_read", arguments: args }],
});
const result = (n: number, content: string): ChatMessage => ({
  ...message("tool", content),
  toolCallId: CallId.parse(`c${n}`),
  toolName: "file_read",
  provenance: { origin: "tool", colour: "RED", label: "secret" },
});
const long = "x".repeat(4_000);
const room = { window: 4_000, reserved: 0, squeeze: false };

Deno.test("a conversation that fits is the same array", () => {
  const messages = [message("system", "s"), message("user", "u")];
  assert.equal(fitContext(messages, room), messages);
});

Deno.test("the oldest tool results give way first, the newest stays, provenance is kept", () => {
  const messages = [
    message("system", "s"),
    message("user", "u"),
    asked(1),
    result(1, long),
    asked(2),
    result(2, long),
    asked(3),
    result(3, long),
    asked(4),
    result(4, long),
  ];
  const fitted = fitContext(messages, room) ?? [];
  assert.equal(fitted.length, messages.length);
  assert.equal(fitted[3]?.content, "[left out by the runner: a result of 4000 characters]");
  assert.deepEqual(fitted[3]?.provenance, messages[3]?.provenance);
  assert.equal(fitted[9], messages[9]);
  assert.equal(fitted[2], messages[2]);
  assert.ok(estimateTokens(fitted) <= 2_400);
});

Deno.test("when results are not enough, the oldest exchanges go, a call together with its result", () => {
  const messages = [
    message("system", "s"),
    ...[1, 2, 3, 4].flatMap((n) => [
      message("user", long),
      asked(n),
      result(n, "short"),
    ]),
  ];
  const fitted = fitContext(messages, room) ?? [];
  assert.equal(fitted[0], messages[0]);
  assert.match(fitted[1]?.content ?? "", /^\[left out by the runner: \d+ earlier messages\]$/);
  assert.equal(fitted[1]?.provenance.colour, "RED");
  assert.ok(fitted.includes(messages[10] ?? message("user", "")), "the last user message is gone");
  assert.ok(fitted.includes(messages[11] ?? message("user", "")), "the newest exchange is gone");
  for (const [index, each] of fitted.entries()) {
    if (each.role === "tool") assert.equal(fitted[index - 1]?.role, "assistant");
  }
});

Deno.test("large arguments of earlier calls in the same turn give way too", () => {
  const args = JSON.stringify({ content: long });
  const messages = [
    message("system", "s"),
    message("user", "u"),
    ...[1, 2, 3, 4, 5].flatMap((n) => [asked(n, args), result(n, "ok")]),
  ];
  const fitted = fitContext(messages, room) ?? [];
  assert.ok(fitted.length < messages.length);
  assert.ok(fitted.includes(messages[1] ?? message("user", "")));
  assert.equal(fitted.at(-1), messages.at(-1));
});

Deno.test("even the newest result gives way before the turn is given up", () => {
  const messages = [
    message("system", "s"),
    message("user", "u"),
    asked(1),
    result(1, long.repeat(9)),
  ];
  const fitted = fitContext(messages, room) ?? [];
  assert.match(fitted[3]?.content ?? "", /left out by the runner/);
});

Deno.test("a system message and a user message that do not fit are an overflow", () => {
  const messages = [message("system", long.repeat(3)), message("user", long.repeat(3))];
  assert.equal(fitContext(messages, room), undefined);
  const reserved = { ...room, reserved: 4_000 };
  assert.equal(fitContext([message("system", "s"), message("user", "u")], reserved), undefined);
});

Deno.test("squeezing makes more room than the first trim did", () => {
  const messages = [
    message("system", "s"),
    message("user", "u"),
    ...[1, 2, 3].flatMap((n) => [asked(n), result(n, "y".repeat(3_000))]),
  ];
  assert.equal(fitContext(messages, room), messages);
  const squeezed = fitContext(messages, { ...room, squeeze: true }) ?? [];
  assert.ok(estimateTokens(squeezed) <= 1_600);
});

Deno.test("whatever is trimmed, it fits, system and last user message stay, no answer lacks its call", () => {
  const exchange = fc.tuple(fc.nat(9_000), fc.nat(9_000), fc.boolean());
  fc.assert(fc.property(fc.array(exchange, { maxLength: 12 }), (exchanges) => {
    const system = message("system", "s");
    const messages = [
      system,
      message("user", "first"),
      ...exchanges.flatMap(([args, length, spoken], n) => [
        asked(n, "a".repeat(args)),
        result(n, "r".repeat(length)),
        ...(spoken ? [message("user", `more ${n}`)] : []),
      ]),
    ];
    const fitted = fitContext(messages, room);
    if (fitted === undefined) return;
    assert.ok(estimateTokens(fitted) <= room.window);
    assert.equal(fitted[0], system);
    const user = messages.findLast((each) => each.role === "user");
    assert.ok(user !== undefined && fitted.includes(user));
    const ids = new Set(fitted.flatMap((each) => each.toolCalls ?? []).map((each) => each.id));
    for (const each of fitted) assert.ok(each.toolCallId === undefined || ids.has(each.toolCallId));
  }));
});
