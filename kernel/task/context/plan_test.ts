import assert from "node:assert/strict";
import fc from "fast-check";
import { CallId } from "../../../contracts/authority/mod.ts";
import type { ChatMessage } from "../../../contracts/model/mod.ts";
import { type ContextRoom, planContext, planShortening, TAGS } from "./plan.ts";
import { estimateTokens } from "../../../contracts/model/tokens.ts";

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
const room: ContextRoom = {
  window: 4_000,
  fixed: 0,
  ratio: 1,
  method: "compact",
  preserve: TAGS,
  important: new Set(),
  share: 0.6,
  put: 100,
};
const reading = [
  message("system", "s"),
  message("user", "u"),
  ...[1, 2, 3, 4].flatMap((n) => [asked(n), result(n, long)]),
];
const texts = (messages: readonly ChatMessage[] = []): string[] =>
  messages.map(({ content }) => content.slice(0, 6));

Deno.test("a conversation with room, or with nothing that is old, stays as it is", () => {
  assert.equal(planContext([message("system", "s"), message("user", "u")], room), undefined);
  assert.equal(planContext(reading, { ...room, window: 100_000 }), undefined);
});

Deno.test("the oldest exchanges give way, a call with its results; request and newest exchange stay", () => {
  const plan = planContext(reading, room);
  assert.equal(plan?.from, 2);
  assert.deepEqual(texts(plan?.evicted), ["look 1", "xxxxxx", "look 2", "xxxxxx"]);
  assert.deepEqual(plan?.replaced, plan?.evicted);
  assert.deepEqual(plan?.kept, []);
  assert.deepEqual(plan?.preserved, ["SYSTEM", "USER_INSTRUCTION"]);
});

Deno.test("a person's words and marked exchanges between the old ones stay, in their order", () => {
  const messages = [
    ...reading.slice(0, 4),
    message("user", "mind the gap"),
    ...reading.slice(4),
  ];
  const plan = planContext(messages, { ...room, important: new Set([6]), share: 0.4 });
  assert.deepEqual(texts(plan?.kept), ["mind t", "look 2", "xxxxxx"]);
  assert.deepEqual(texts(plan?.evicted), ["look 1", "xxxxxx", "look 3", "xxxxxx"]);
  assert.deepEqual(plan?.preserved, ["SYSTEM", "USER_INSTRUCTION", "IMPORTANT"]);
});

Deno.test("what is not asked to be kept gives way, but never the first and the last request", () => {
  const messages = [
    message("system", "s"),
    ...["first", "second", "third"].flatMap((said) => [
      message("user", `${said}${long}`),
      message("assistant", "ok"),
    ]),
  ];
  const plan = planContext(messages, { ...room, preserve: [] });
  assert.deepEqual(texts(plan?.evicted), ["ok", "second"]);
});

Deno.test("preserved words give way before the task cannot go on", () => {
  const messages = [
    message("system", "s"),
    ...[1, 2, 3, 4].flatMap((n) => [message("user", `${n}${long}`), message("assistant", "ok")]),
  ];
  const plan = planContext(messages, room);
  assert.deepEqual(texts(plan?.evicted), ["ok", "2xxxxx", "ok", "ok"]);
});

Deno.test("a checkpoint puts away all that is not kept", () => {
  const plan = planContext(reading, { ...room, window: 100_000, method: "checkpoint" });
  assert.equal(plan?.evicted.length, 6);
});

Deno.test("too little to be worth an inference is left alone until the window is full", () => {
  const messages = [
    message("system", "s"),
    message("user", `u${long.repeat(3)}`),
    asked(1),
    result(1, "a".repeat(800)),
    asked(2),
    result(2, "b"),
  ];
  assert.equal(planContext(messages, room), undefined);
  assert.ok(planContext(messages, { ...room, fixed: 700 }) !== undefined);
});

Deno.test("where exchanges are not enough, results are cut to what fits, the oldest first", () => {
  const messages = [
    message("system", "s"),
    message("user", "u"),
    asked(1),
    result(1, `head${long.repeat(9)}`),
  ];
  const cut = planShortening(messages, room);
  assert.equal(cut?.from, 3);
  assert.match(cut?.messages[0]?.content ?? "", /^headx+\n\[left out: .* of 36004 characters\]$/);
  const fits = [...messages.slice(0, 3), ...cut?.messages ?? []];
  assert.ok(estimateTokens(fits) <= 4_000 && estimateTokens(fits) > 3_900);
  assert.deepEqual(cut?.messages[0]?.provenance, messages[3]?.provenance);
  assert.equal(planShortening(messages, { window: 4_000, fixed: 4_000, ratio: 1 }), undefined);
  assert.equal(planShortening(reading, { window: 10_000, fixed: 0, ratio: 1 }), undefined);
});

Deno.test("a model that counts four times as much has a quarter of the room, for exchanges and for results", () => {
  assert.equal(planContext(reading, { ...room, window: 16_000 }), undefined);
  const plan = planContext(reading, { ...room, window: 16_000, ratio: 4 });
  assert.deepEqual(texts(plan?.evicted), ["look 1", "xxxxxx", "look 2", "xxxxxx"]);
  const messages = [message("system", "s"), asked(1), result(1, long.repeat(10))];
  const cut = planShortening(messages, { window: 16_000, fixed: 1_000, ratio: 4 });
  const left = 4 * estimateTokens([...messages.slice(0, 2), ...cut?.messages ?? []]) + 1_000;
  assert.ok(left <= 16_000 && left > 15_800, `${left}`);
});

Deno.test("whatever gives way: no answer lacks its call, system and requests stay, nothing is lost", () => {
  const exchange = fc.tuple(fc.nat(9_000), fc.nat(9_000), fc.boolean());
  const tags = fc.subarray([...TAGS]);
  const methods = fc.constantFrom("compact" as const, "evict" as const, "checkpoint" as const);
  fc.assert(fc.property(
    fc.array(exchange, { maxLength: 12 }),
    tags,
    methods,
    fc.nat(3_000),
    (exchanges, preserve, method, fixed) => {
      const messages = [
        message("system", "s"),
        message("user", "first"),
        ...exchanges.flatMap(([args, length, spoken], n) => [
          asked(n, "a".repeat(args)),
          result(n, "r".repeat(length)),
          ...(spoken ? [message("user", `more ${n}`)] : []),
        ]),
      ];
      const plan = planContext(messages, { ...room, preserve, method, fixed });
      if (plan === undefined) return;
      const next = [
        ...messages.slice(0, plan.from),
        ...plan.kept,
        ...messages.slice(plan.from + plan.replaced.length),
      ];
      assert.ok(plan.evicted.length > 0);
      assert.deepEqual(next.slice(0, 2), messages.slice(0, 2));
      const last = messages.findLast(({ role }) => role === "user");
      assert.ok(last !== undefined && next.includes(last));
      assert.deepEqual(new Set([...next, ...plan.evicted]), new Set(messages));
      const ids = new Set(next.flatMap(({ toolCalls }) => toolCalls?.map(({ id }) => id) ?? []));
      for (const { toolCallId } of next) assert.ok(toolCallId === undefined || ids.has(toolCallId));
      const answered = new Set(next.map(({ toolCallId }) => toolCallId));
      for (const id of ids) assert.ok(answered.has(id));
    },
  ));
});
