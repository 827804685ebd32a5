import assert from "node:assert/strict";
import { ToolName } from "../../contracts/authority/ids.ts";
import { exchange, type Played, player, say, textOf } from "./_fixture/player.ts";

const start = [say("system", "s"), say("user", "tidy the desk")];

Deno.test("turns without a condition are played one after another, conditions between them do not count", async () => {
  const play = player(`
scenario: x
turns:
  - { say: one }
  - { say: never, when: { user: nobody } }
  - { say: two }
`);
  assert.equal(await textOf(play(start)), "one");
  assert.equal(await textOf(play([...start, say("assistant", "one"), say("user", "on")])), "two");
});

Deno.test("a loop plays at its place and ever after", async () => {
  const play = player("scenario: x\nturns: [{ say: a }, { loop: true, calls: [{ tool: t }] }]");
  assert.equal(await textOf(play(start)), "a");
  const messages = [...start, say("assistant", "a")];
  for (let i = 1; i < 20; i++) {
    const { response } = await play(messages);
    assert.deepEqual(response?.message.toolCalls?.map((call) => call.id), [`call_${i}`]);
    messages.push(...exchange(`call_${i}`, "t", "r"));
  }
});

const WHEN: readonly (readonly [string, boolean])[] = [
  ["{ always: true }", true],
  ["{ user: tidy }", true],
  ["{ user: Tidy }", false],
  ["{ user: { equals: tidy the desk } }", true],
  ["{ user: { equals: tidy } }", false],
  ["{ user: { startsWith: tidy, contains: [the, desk] } }", true],
  ["{ user: { contains: [the, chair] } }", false],
  ["{ user: { lacks: chair } }", true],
  ["{ user: { lacks: [chair, desk] } }", false],
  ["{ system: s }", true],
  ["{ system: t }", false],
  ["{ result: {} }", true],
  ["{ result: { tool: file_list } }", true],
  ["{ result: { tool: file_read } }", false],
  ["{ result: { tool: file_list, outcome: ok } }", false],
  ["{ result: { outcome: refusedByPolicy } }", true],
  ["{ result: { outcome: [ok, refusedByPolicy] } }", true],
  ["{ result: { outcome: timedOut } }", false],
  ["{ result: { text: never-list } }", true],
  ["{ result: { text: { startsWith: never } } }", false],
  ["{ message: 1 }", true],
  ["{ message: 2 }", false],
  ["{ step: 3 }", true],
  ["{ step: { to: 2 } }", false],
  ["{ inference: { from: 3, to: 3 } }", true],
  ["{ inference: { from: 4 } }", false],
  ["{ offered: [file_list] }", true],
  ["{ offered: [file_list, http_fetch] }", false],
  ["{ notOffered: [http_fetch] }", true],
  ["{ notOffered: [file_list] }", false],
  ["{ user: tidy, step: 2 }", false],
];

for (const [when, expected] of WHEN) {
  Deno.test(`the condition ${when} ${expected ? "holds" : "does not hold"}`, async () => {
    const play = player(
      `scenario: x\nturns: [{ say: yes, when: ${when} }, { say: no, when: { always: true } }]`,
    );
    const messages = [
      ...start,
      ...exchange("call_1", "file_read", "text of a file"),
      ...exchange("call_2", "file_list", "refusedByPolicy: Cannot list: never-list"),
    ];
    const tools = [{
      name: ToolName.parse("file_list"),
      description: "d",
      interfaceId: "i",
      methodName: "m",
      paramSchema: "{}",
      permission: "auto" as const,
      category: "read" as const,
    }];
    const said = await textOf(play(messages, { tools }));
    assert.equal(said, expected ? "yes" : "no");
  });
}

Deno.test("a result is matched only until the next user message", async () => {
  const play = player(
    "scenario: x\nturns: [{ say: fresh, when: { result: {} } }, { say: old, loop: true }]",
  );
  const messages = [...start, ...exchange("a", "t", "r")];
  assert.equal(await textOf(play(messages)), "fresh");
  assert.equal(await textOf(play([...messages, say("user", "more")])), "old");
});

Deno.test("when nothing fits, the fault names the scenario, the inference and the last message", async () => {
  const { fault } = await player("scenario: short\nturns: [{ say: a }]")(
    [...start, ...exchange("a", "file_read", 'evil "quotes"\n\u001b[2J')],
  );
  assert.equal(fault?.code, "upstream");
  assert.equal(
    fault?.message,
    'Cannot infer: no turn of scenario "short" fits inference 2; ' +
      'the last message, of tool file_read, is "evil \\"quotes\\"\\n\\u001b[2J"',
  );
});

Deno.test("calls: templated arguments, raw text as it stands, unknown tools, given ids", async () => {
  const { response } = await player(`
scenario: x
turns:
  - { say: a }
  - calls:
      - { tool: file_read, args: { path: "{{ tool.1 | line 2 }}", from: "{{ '"7"' | number }}" } }
      - { tool: file_read, raw: '{"path": {{ user }}' }
      - { tool: no such tool!, id: own }
`.replaceAll("'\"7\"'", '\\"7\\"'))([...start, ...exchange("call_4", "file_list", "a\nb")]);
  assert.deepEqual(response?.message.toolCalls, [
    { id: "call_5", name: "file_read", arguments: '{"path":"b","from":7}' },
    { id: "call_6", name: "file_read", arguments: '{"path": tidy the desk' },
    { id: "own", name: "no such tool!", arguments: "{}" },
  ]);
  assert.equal(response?.finishReason, "toolCalls");
});

Deno.test("the same conversation always gives the same response", async () => {
  const yaml = "scenario: x\nturns: [{ say: hi, calls: [{ tool: t }] }]";
  const responses = [player(yaml), player(yaml)].map((play) => play(start));
  const [a, b] = await Promise.all(responses);
  assert.deepEqual(a, b);
});

Deno.test("text comes in chunks that join to it, no character is halved, each after its delay", async () => {
  const text = "ab🏮cd🏮🏮e";
  const play = player(
    `scenario: x\nstream: { chunkChars: 3, delayMs: 7, firstMs: 50 }\nturns: [{ say: "${text}", rationale: "why {{ user }}" }]`,
  );
  const { chunks, waits } = await play(start);
  assert.deepEqual(chunks[0], { rationale: "why tidy the desk" });
  const pieces = chunks.slice(1).map((chunk) => chunk.textDelta ?? "");
  assert.equal(pieces.join(""), text);
  assert.ok(pieces.every((piece) => piece.isWellFormed()), JSON.stringify(pieces));
  assert.deepEqual(waits, [50, ...pieces.map(() => 7)]);
});

Deno.test("a turn's own stream wins over the scenario's", async () => {
  const play = player(
    "scenario: x\nstream: { delayMs: 7 }\nturns: [{ say: abc, stream: { chunkChars: 1, delayMs: 0 } }]",
  );
  const { chunks, waits } = await play(start);
  assert.equal(chunks.length, 3);
  assert.deepEqual(waits, []);
});

Deno.test("calls are streamed whole, behind the text", async () => {
  const { chunks } = await player("scenario: x\nturns: [{ say: a, calls: [{ tool: t }] }]")(start);
  assert.deepEqual(chunks, [
    { textDelta: "a" },
    { toolCallDelta: { id: "call_1", name: "t", arguments: "{}" } },
  ]);
});

Deno.test("tokens are counted at 4 characters, or as the scenario says", async () => {
  const counted = await player("scenario: x\nturns: [{ say: 123456789 a }]")(start);
  // "s" and "tidy the desk": 14 characters.
  assert.deepEqual(counted.response?.usage, { inputTokens: 4, outputTokens: 3 });
  const told = await player(
    "scenario: x\nturns: [{ say: a, usage: { inputTokens: 7, outputTokens: 9 } }]",
  )(start);
  assert.deepEqual(told.response?.usage, { inputTokens: 7, outputTokens: 9 });
});

Deno.test("an error is a fault of its code: always, or the first times; text before it was streamed", async () => {
  const play = player(
    "scenario: x\nturns: [{ say: ab, error: { code: rateLimited, message: slow down, times: 2 }, calls: [{ tool: t }] }]",
  );
  const faults: (string | undefined)[] = [];
  let last: Played | undefined;
  for (let i = 0; i < 3; i++) {
    last = await play(start);
    faults.push(last.fault?.code);
    assert.equal(last.chunks[0]?.textDelta, "ab");
  }
  assert.deepEqual(faults, ["rateLimited", "rateLimited", undefined]);
  assert.equal(last?.response?.message.toolCalls?.length, 1);
  const always = player("scenario: x\nturns: [{ error: { code: upstream, message: down } }]");
  for (let i = 0; i < 5; i++) assert.equal((await always(start)).fault?.message, "down");
});

Deno.test("the text of a turn that is whole is not cut at maxTokens", async () => {
  const play = player('scenario: x\nturns: [{ say: "123456789", whole: true }]');
  const { response } = await play(start, { maxTokens: 2 });
  assert.equal(response?.message.content, "123456789");
  assert.equal(response?.finishReason, "stop");
});

Deno.test("finish can be told, and text past maxTokens is cut with its calls", async () => {
  const filtered = await player("scenario: x\nturns: [{ say: a, finish: contentFilter }]")(start);
  assert.equal(filtered.response?.finishReason, "contentFilter");
  const cut = await player(
    "scenario: x\nturns: [{ say: 123456789, calls: [{ tool: t }] }]".replace(
      "123456789",
      "'123456789'",
    ),
  )(
    start,
    { maxTokens: 2 },
  );
  assert.equal(cut.response?.message.content, "12345678");
  assert.equal(cut.response?.finishReason, "length");
  assert.equal(cut.response?.message.toolCalls, undefined);
});

Deno.test("a stop sequence ends the text before it", async () => {
  const { response } = await player("scenario: x\nturns: [{ say: one END two }]")(start, {
    stopSequences: ["two", "END"],
  });
  assert.equal(response?.message.content, "one ");
  assert.equal(response?.finishReason, "stop");
});

Deno.test("a request longer than the model's context is an overflow", async () => {
  const play = player("scenario: x\nmodel: { contextTokens: 10 }\nturns: [{ say: a }]");
  assert.equal((await play([say("user", "x".repeat(41))])).fault?.code, "contextOverflow");
  assert.equal(await textOf(play([say("user", "x".repeat(40))])), "a");
});

Deno.test("an answer is as untrusted and as confidential as what was read for it", async () => {
  const read = {
    ...say("tool", "r"),
    provenance: { origin: "tool", colour: "RED", label: "secret" },
  } as const;
  const { response } = await player("scenario: x\nturns: [{ say: a, loop: true }]")([
    ...start,
    read,
  ]);
  assert.deepEqual(response?.message.provenance, {
    origin: "model",
    source: "scripted:x",
    colour: "RED",
    label: "secret",
  });
});
