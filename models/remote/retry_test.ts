import assert from "node:assert/strict";
import { faultOf, hear, requestOf, said } from "../_fixture/contract_suite.ts";
import {
  type Answer,
  ANTHROPIC_ERRORS,
  ANTHROPIC_KEY,
  OPENAI_KEY,
  openaiFailed,
  serveAnthropic,
  serveOpenai,
} from "../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";
import { openAnthropic } from "./anthropic/open.ts";
import { openOpenai } from "./openai/open.ts";
import { inSeconds } from "./retry.ts";

const ask = requestOf([said("Hello.")]);
const good: Answer = { text: ["Hello."] };

async function anthropic(answers: readonly Answer[]) {
  const server = serveAnthropic({ answers });
  const powers = quickPowers();
  const model = await openAnthropic(
    openBody("anthropic", server.url, { key: ANTHROPIC_KEY }),
    powers,
  );
  return {
    server,
    model,
    waits: powers.waits,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

Deno.test("an overloaded provider is asked again, and waits double", async () => {
  const { overloaded, internal } = ANTHROPIC_ERRORS;
  await using bench = await anthropic([overloaded, internal, good]);
  assert.equal((await hear(bench.model, ask)).text, "Hello.");
  assert.deepEqual(bench.waits, [500, 1_000]);
});

Deno.test("after three tries the last refusal is told", async () => {
  const limited = ANTHROPIC_ERRORS.rateLimit(1);
  await using bench = await anthropic([limited, limited, limited, good]);
  const fault = await faultOf(hear(bench.model, ask));
  assert.equal(fault.code, "rateLimited");
  assert.equal(bench.server.waiting(), 1);
});

Deno.test("Retry-After is heeded, and a provider that asks for more than 30 seconds is not waited for", async () => {
  await using bench = await anthropic([
    ANTHROPIC_ERRORS.rateLimit(7),
    good,
    ANTHROPIC_ERRORS.rateLimit(31),
    good,
  ]);
  await hear(bench.model, ask);
  assert.deepEqual(bench.waits, [7_000]);
  assert.equal((await faultOf(hear(bench.model, ask))).code, "rateLimited");
  assert.deepEqual(bench.waits, [7_000]);
});

Deno.test("Retry-After as a date counts from the provider's clock, and from ours where it tells none", () => {
  const ours = (): number => Date.UTC(2026, 0, 1, 12, 0, 0);
  const at = (headers: Readonly<Record<string, string>>): string | undefined =>
    inSeconds(new Map(Object.entries(headers)), ours).get("retry-after");
  const until = "Thu, 01 Jan 2026 12:00:09 GMT";
  assert.equal(at({ "retry-after": until }), "9");
  assert.equal(at({ "retry-after": until, date: "Thu, 01 Jan 2026 12:00:05 GMT" }), "4");
  assert.equal(at({ "retry-after": until, date: "soon" }), "9");
  assert.equal(at({ "retry-after": "Thursday, 01-Jan-26 12:00:02 GMT" }), "2");
  assert.equal(at({ "retry-after": "Thu, 01 Jan 2026 11:00:00 GMT" }), "0");
  assert.equal(at({ "retry-after": "Thu, 01 Jan 9999 11:00:00 GMT" }), "9999999");
  for (
    const other of ["7", "2026-01-01", "Thu Jan  1 12:00:09 2026", "Thu, 99 Foo 2026 12:00:09 GMT"]
  ) {
    assert.equal(at({ "retry-after": other }), other);
  }
  assert.equal(at({}), undefined);
});

Deno.test("a provider that names a date is waited for until then, and a far one is not", async () => {
  const limited = (seconds: number): Answer =>
    ANTHROPIC_ERRORS.rateLimit(new Date(Date.now() + seconds * 1_000).toUTCString());
  await using bench = await anthropic([limited(20), good, limited(90), good]);
  assert.equal((await hear(bench.model, ask)).text, "Hello.");
  const [waited = 0] = bench.waits;
  // The provider's `date` is of whole seconds, and as much as one old.
  assert.ok(waited > 15_000 && waited <= 21_000, `${waited} ms`);
  assert.equal((await faultOf(hear(bench.model, ask))).code, "rateLimited");
  assert.equal(bench.waits.length, 1);
});

Deno.test("what is wrong with the request is told at once", async () => {
  const { tooLong, tooLarge, forbidden } = ANTHROPIC_ERRORS;
  await using bench = await anthropic([tooLong, tooLarge, forbidden]);
  for (const code of ["contextOverflow", "contextOverflow", "refused"]) {
    assert.equal((await faultOf(hear(bench.model, ask))).code, code);
  }
  assert.deepEqual(bench.waits, []);
});

Deno.test("an error as a stream's first event is tried again; after text nothing is said twice", async () => {
  const breaks = { type: "overloaded_error", message: "Overloaded" };
  await using bench = await anthropic([{ breaks }, good, { text: ["Half "], breaks }, good]);
  assert.equal((await hear(bench.model, ask)).text, "Hello.");
  let heard = "";
  const fault = await faultOf(bench.model.infer(ask, {
    signal: new AbortController().signal,
    onChunk: ({ textDelta = "" }) => void (heard += textDelta),
  }));
  assert.equal(fault.code, "upstream");
  assert.equal(heard, "Half ");
  assert.equal(bench.server.waiting(), 1);
});

Deno.test("cancel ends the wait before the next try", async () => {
  const server = serveAnthropic({ answers: [ANTHROPIC_ERRORS.overloaded, good] });
  await using _server = server;
  const abort = new AbortController();
  const powers = quickPowers();
  const waiting = {
    ...powers,
    timer: {
      wait: (ms: number, signal: AbortSignal): Promise<void> => {
        const end = powers.timer.wait(60_000, signal);
        if (ms < 60_000) abort.abort();
        return end;
      },
    },
  };
  const open = openBody("anthropic", server.url, { key: ANTHROPIC_KEY });
  const model = await openAnthropic(open, waiting);
  assert.equal((await faultOf(hear(model, ask, abort.signal))).code, "cancelled");
  assert.equal(server.waiting(), 1);
});

Deno.test("a wrong key, an unknown model, a filter: each is told in its own way", async () => {
  await using server = serveOpenai({
    model: "other",
    answers: [],
  });
  const wrong = await openOpenai(
    openBody("openai", server.url, { key: "sk-wrong" }),
    quickPowers(),
  );
  const key = await faultOf(hear(wrong, ask));
  assert.equal(key.code, "refused");
  assert.match(key.message, /remit secret set/);
  const missing = await openOpenai(
    openBody("openai", server.url, { key: OPENAI_KEY }),
    quickPowers(),
  );
  assert.equal((await faultOf(hear(missing, ask))).code, "notFound");

  await using azure = serveOpenai({
    answers: [
      openaiFailed("openai", 400, "The response was filtered due to the prompt", {
        code: "content_filter",
      }),
      { text: ["I"], stop: "contentFilter" },
    ],
  });
  const model = await openOpenai(openBody("openai", azure.url, { key: OPENAI_KEY }), quickPowers());
  for (const text of ["", "I"]) {
    const { response } = await hear(model, ask);
    assert.equal(response.finishReason, "contentFilter");
    assert.equal(response.message.content, text);
  }
});
