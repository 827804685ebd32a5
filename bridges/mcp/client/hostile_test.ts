import assert from "node:assert/strict";
import { startBridge } from "../_fixture/bridge_process.ts";
import { ANSWER, type RawRule, rawServer } from "../_fixture/raw_server.ts";
import { asked, attack, notice, type Words } from "./_fixture/attack.ts";

const result = { content: [{ type: "text", text: "forged" }] };
/** What mallory's server says in place of an answer, before an honest one; what is found odd. */
const BEFORE_AN_ANSWER: Readonly<Record<string, readonly [RawRule["say"], RegExp]>> = {
  "an answer to nothing": [[{ jsonrpc: "2.0", id: 999, result }], /nobody made/],
  "an answer to an id as a text": [
    [{ jsonrpc: "2.0", id: "1", result }],
    /answered 1 as "1"/,
  ],
  "a batch": [[`[${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}]`], /batch/],
  "a line that is no JSON": [["Listening on port 3000"], /syntax error/],
  "a member twice": [[`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`], /repeats a key/],
  "no version": [[{ id: 999, result }], /not JSON-RPC 2\.0/],
  "a very deep message": [[
    `{"jsonrpc":"2.0","method":"x","params":{"a":${"[".repeat(60)}${"]".repeat(60)}}}`,
  ], /too deeply/],
  "progress of nothing": [
    [notice("notifications/progress", { progressToken: 77, progress: 1 })],
    /progress of nothing/,
  ],
  "a list that it never promised": [
    [notice("notifications/prompts/list_changed")],
    /never promised/,
  ],
  "an update that nobody subscribed to": [
    [notice("notifications/resources/updated", { uri: "file:///etc/passwd" })],
    /never promised/,
  ],
  "a notification that nobody knows": [[notice("notifications/pwned")], /nobody knows/],
  "the end of a request that it did not make": [
    [notice("notifications/cancelled", { requestId: 5 })],
    /did not make/,
  ],
  "a request for what clients do not serve": [[asked(1, "fs/read")], /nobody serves that/],
  "a complaint about us": [
    [{ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } }],
    /could not read us/,
  ],
  "bytes that are no UTF-8": [[{ bytes: btoa("\xff\xfe{}\n") }], /syntax error/],
  "sampling, which was not allowed": [
    [asked("s", "sampling/createMessage", { messages: [], maxTokens: 5 })],
    /not allowed/,
  ],
};

for (const [what, [say, odd]] of Object.entries(BEFORE_AN_ANSWER)) {
  Deno.test(`mallory's server sends ${what}: it is told as odd, and the call is answered`, async () => {
    const found = await attack([...say, ANSWER]);
    assert.equal(found.outcome, "done");
    assert.equal(found.after, "done");
    assert.match(found.odd.join("\n"), odd);
  });
}

/** Answers that are broken: the call ends at once, as a fault. */
const BROKEN: Readonly<Record<string, readonly [RawRule["say"], RegExp]>> = {
  "an error without a code": [
    [{ jsonrpc: "2.0", id: "$id", error: "no" }],
    /upstream: .*neither method, result nor error/,
  ],
  "an error with a code that is a text": [
    [{ jsonrpc: "2.0", id: "$id", error: { code: "ENOENT", message: "no" } }],
    /upstream: .*malformed error/,
  ],
  "a result and an error": [
    [{ jsonrpc: "2.0", id: "$id", result, error: { code: 1, message: "no" } }],
    /upstream: .*a result and an error in one/,
  ],
  "a result that is no object": [
    [{ jsonrpc: "2.0", id: "$id", result: "yes" }],
    /upstream: .*a result that is no object/,
  ],
  "an answer too deep to be read, its id first": [
    [`{"jsonrpc":"2.0","id":"$id","result":{"a":${"[".repeat(90)}${"]".repeat(90)}}}`],
    /upstream: .*too deeply/,
  ],
  "an answer too deep to be read, its id last": [
    [`{"result":{"a":${"[".repeat(90)}${"]".repeat(90)}},"jsonrpc":"2.0","id":"$id"}`],
    /upstream: .*too deeply/,
  ],
  "nothing but an id": [[{ jsonrpc: "2.0", id: "$id" }], /upstream: .*neither method/],
  "a member named __proto__": [
    [`{"jsonrpc":"2.0","id":"$id","result":{"__proto__":{"content":[]}}}`],
    /upstream: .*__proto__/,
  ],
};

for (const [what, [say, outcome]] of Object.entries(BROKEN)) {
  Deno.test(`mallory's server answers with ${what}: the call ends at once, as a fault`, async () => {
    const found = await attack(say);
    assert.match(found.outcome, outcome);
    assert.equal(found.after, "done");
    assert.ok(found.odd.length > 0);
  });
}

Deno.test("mallory's server answers twice: the second is odd and goes to nobody", async () => {
  const found = await attack([ANSWER, { ...ANSWER, result }]);
  assert.equal(found.outcome, "done");
  assert.equal(found.after, "done");
  assert.match(found.odd.join("\n"), /answered a request twice/);
});

Deno.test("mallory's server floods us with notifications: most are dropped, and a call is still served", async () => {
  const flood = {
    repeat: 20_000,
    line: notice("notifications/message", { level: "info", data: "a" }),
  };
  const found = await attack([flood, ANSWER]);
  assert.equal(found.outcome, "done");
  assert.match(found.odd.join("\n"), /floods/);
});

Deno.test("mallory's server sends violations by the thousand: at most twenty a second are told", async () => {
  const found = await attack([{ repeat: 50_000, line: "no JSON" }, ANSWER]);
  assert.equal(found.outcome, "done");
  assert.ok(found.odd.length < 500, `${found.odd.length} were told`);
});

Deno.test("mallory's output schema holds a regular expression bomb: no one compiles it", async () => {
  const tool = {
    name: "x",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
  };
  const answer = {
    ...ANSWER,
    result: { content: [], structuredContent: { a: `${"a".repeat(40)}!` } },
  };
  await using bridge = await startBridge(rawServer([
    { when: "tools/list", say: [{ jsonrpc: "2.0", id: "$id", result: { tools: [tool] } }] },
    { when: "tools/call", say: [answer] },
  ]));
  await bridge.open();
  const words = await bridge.words();
  assert.equal(words.tools.length, 1);
  const { structured } = await bridge.call("x", {}, {
    resultSchema: JSON.stringify(tool.outputSchema),
  });
  assert.match(structured ?? "", /aaaa!/);
});

Deno.test("a structured result that does not fit the reviewed schema is a fault, and so is its absence", async () => {
  const resultSchema = JSON.stringify({
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
  });
  for (const structuredContent of [{ n: "5" }, undefined]) {
    const answer = { ...ANSWER, result: { content: [], structuredContent } };
    await using bridge = await startBridge(rawServer([{ when: "tools/call", say: [answer] }]));
    await bridge.open();
    await assert.rejects(bridge.call("x", {}, { resultSchema }), {
      code: "upstream",
      message: structuredContent === undefined ? /no structured content/ : /"\/n": must be integer/,
    });
  }
});

Deno.test("an error's text is cut", async () => {
  const found = await attack([{
    jsonrpc: "2.0",
    id: "$id",
    error: { code: -32000, message: "$x1000000" },
  }]);
  assert.match(found.outcome, /^upstream: /);
  assert.ok(found.outcome.length < 2_200);
});

Deno.test("mallory's pages go round in a circle, and never end: both are cut, and the words say so", async () => {
  const page = (nextCursor: string): Words => ({
    jsonrpc: "2.0",
    id: "$id",
    result: { tools: [], nextCursor },
  });
  await using bridge = await startBridge(
    rawServer([{ when: "tools/list", always: true, say: [page("again")] }]),
  );
  await bridge.open();
  assert.match((await bridge.words()).left.join(), /round in a circle/);
});
