import assert from "node:assert/strict";
import type { Fault } from "../../../contracts/base/fault.ts";
import type { LanguageModel } from "../../../contracts/model/model.ts";
import { faultOf, hear, requestOf, said } from "../../_fixture/contract_suite.ts";
import {
  type Hostile,
  ollamaLine,
  serveCut,
  serveEndless,
  serveEndlessComments,
  serveEndlessNothing,
  serveGigabyte,
  serveGigabyteError,
  serveHalf,
  serveHostile,
  serveMalformed,
  serveNotUtf8,
  serveOllama,
  serveRedirect,
} from "../../_fixture/providers/mod.ts";
import { benchPowers, openAt } from "./_fixture/bench.ts";

const MIB = 1_048_576;
const asking = requestOf([said("Hello.")]);

/** What a hostile server comes to. */
async function met(
  server: Hostile,
): Promise<{ readonly fault: Fault; readonly model: LanguageModel }> {
  const model = await openAt(server.url);
  return { model, fault: await faultOf(hear(model, asking)) };
}

const SERVERS: readonly (readonly [string, () => Hostile, RegExp])[] = [
  ["text without an end", () => serveEndless("ollama"), /more than 1000000 characters|bytes/],
  ["empty deltas without an end", () => serveEndlessNothing("ollama"), /bytes in one answer/],
  ["blank lines without an end", () => serveEndlessComments("ollama"), /bytes in one answer/],
  ["a line of a gigabyte", () => serveGigabyte("ollama"), /a line of over/],
  ["a line that is no JSON", () => serveMalformed("ollama"), /a line that is not JSON/],
  ["bytes that are no UTF-8", () => serveNotUtf8("ollama"), /is not UTF-8/],
  ["half an answer, and a cut", () => serveCut("ollama"), /broke off/],
  ["half an answer as if it were whole", () => serveHalf("ollama"), /breaks off before its end/],
];

for (const [what, serve, words] of SERVERS) {
  Deno.test(`mallory's server sends ${what}: upstream, and soon`, async () => {
    await using server = serve();
    const { fault } = await met(server);
    assert.equal(fault.code, "upstream");
    assert.match(fault.message, words);
    assert.ok(server.sent() < 64 * MIB, `${server.sent()} bytes were taken`);
  });
}

Deno.test("mallory's error of a gigabyte is read no further than its beginning", async () => {
  await using server = serveGigabyteError("ollama");
  const { fault } = await met(server);
  assert.equal(fault.code, "invalidInput");
  assert.ok(fault.message.length < 1_000);
  assert.ok(server.sent() < 64 * MIB, `${server.sent()} bytes were taken`);
});

Deno.test("mallory's redirect is not followed, with or without a key", async () => {
  await using target = serveOllama({ answers: [{ text: ["Come in."] }] });
  await using server = serveRedirect("ollama", `${target.url}/api/chat`);
  const { fault } = await met(server);
  assert.equal(fault.code, "upstream");
  assert.match(fault.message, /sends the request elsewhere/);
  assert.deepEqual(target.received, []);
});

Deno.test("mallory's server falls silent: the wait ends with the idle clock, and with a cancel", async () => {
  const silence = Promise.withResolvers<void>();
  let silent = Promise.withResolvers<void>();
  await using server = serveHostile("ollama", function* () {
    yield "{";
    silent.resolve();
    yield silence.promise;
  });
  const powers = benchPowers();
  const model = await openAt(server.url, {}, powers);
  const abort = new AbortController();
  const cancelled = faultOf(hear(model, asking, abort.signal));
  await silent.promise;
  abort.abort();
  assert.equal((await cancelled).code, "cancelled");

  silent = Promise.withResolvers();
  const idle = faultOf(hear(model, asking));
  await silent.promise;
  powers.ring();
  const fault = await idle;
  assert.equal(fault.code, "upstream");
  assert.match(fault.message, /sent nothing for \d+ seconds/);
});

Deno.test("mallory's tool that was not advertised goes out as it is, cut to what a call holds", async () => {
  const name = "rm_".repeat(100);
  await using server = serveOllama({ answers: [{ calls: [{ name, pieces: [] }] }] });
  const { response } = await hear(await openAt(server.url), asking);
  const [call] = response.message.toolCalls ?? [];
  assert.equal(call?.name, name.slice(0, 128));
  assert.equal(call?.arguments, "{}");
});

Deno.test("mallory's arguments that are text go out as text, for the gate to judge", async () => {
  const line = (fields: object): string =>
    ollamaLine({ message: { role: "assistant", content: "", ...fields }, done: false });
  const call = { function: { name: "clock", arguments: '{"path": broken' } };
  await using server = serveHostile("ollama", () => [
    line({ tool_calls: [call] }),
    ollamaLine({ message: {}, done: true, done_reason: "stop" }),
  ]);
  const { response } = await hear(await openAt(server.url), asking);
  assert.equal(response.message.toolCalls?.[0]?.arguments, '{"path": broken');
});

const LINES: readonly (readonly [string, string, RegExp])[] = [
  ["a call without a name", '{"message":{"tool_calls":[{"function":{}}]}}', /call without a name/],
  ["a list for a line", "[1]", /not an object/],
  [
    "more after its end",
    '{"message":{},"done":true}\n{"message":{"content":"more"}}',
    /goes on after its end/,
  ],
];

for (const [what, line, words] of LINES) {
  Deno.test(`mallory's server sends ${what}: upstream`, async () => {
    await using server = serveHostile("ollama", () => [`${line}\n`]);
    const { fault } = await met(server);
    assert.equal(fault.code, "upstream");
    assert.match(fault.message, words);
  });
}

Deno.test("mallory's numbers of tokens that are none are counted here", async () => {
  await using server = serveHostile("ollama", () => [
    '{"message":{"content":"Hello"},"done":true,"prompt_eval_count":-5,"eval_count":1e99}\n',
  ]);
  const { response } = await hear(await openAt(server.url), asking);
  assert.ok(response.usage.inputTokens > 0 && response.usage.inputTokens < 1_000);
  assert.ok(response.usage.outputTokens > 0 && response.usage.outputTokens < 1_000);
});
