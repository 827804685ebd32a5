import assert from "node:assert/strict";
import { faultOf, hear, requestOf, said, tool } from "../_fixture/contract_suite.ts";
import { OPENAI_KEY, serveOpenai } from "../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";
import { Exchange, EXCHANGE_CHARS, lineOf, parseRecording } from "./recording.ts";
import { openOpenai } from "./openai.ts";

const KEY = `${OPENAI_KEY}-0123456789abcdef`;
const first = requestOf([said("Überall?")], { tools: [tool("file_read")], seed: 3 });
const second = requestOf([said("And then?")]);

async function record(): Promise<{ lines: string[]; answers: string[] }> {
  await using server = serveOpenai({
    key: KEY,
    answers: [
      { status: 503, body: { error: { message: "busy" } } },
      { text: ["日", "本"], calls: [{ name: "file_read", pieces: ['{"path":', '"a"}'] }] },
      { text: ["Done."] },
    ],
  });
  const open = openBody("openai", server.url, { key: KEY, record: true });
  const model = await openOpenai(open, quickPowers());
  const lines: string[] = [];
  const answers: string[] = [];
  for (const request of [first, second]) {
    const answer = await model.infer(request, {
      signal: new AbortController().signal,
      onWire: (line) => lines.push(line),
    });
    answers.push(JSON.stringify(answer));
  }
  return { lines, answers };
}

// Nothing listens there: whatever is sent fails.
const replaying = (replay: string) =>
  openOpenai(openBody("openai", "http://127.0.0.1:9/v1", { replay }), {
    ...quickPowers(),
    fetch: () => Promise.reject(new assert.AssertionError({ message: "something was sent" })),
  });

Deno.test("a recording played back gives the same answers, tries included, and sends nothing", async () => {
  const { lines, answers } = await record();
  assert.equal(lines.length, 3);
  const model = await replaying(lines.join("\n"));
  for (const [n, request] of [first, second].entries()) {
    const { response } = await hear(model, request);
    assert.equal(JSON.stringify(response), answers[n]);
  }
});

Deno.test("a recording holds neither the key nor a header that could", async () => {
  const { lines } = await record();
  for (const line of lines) {
    assert.ok(!line.includes(KEY));
    assert.doesNotMatch(line, /authorization|bearer|cookie/i);
    assert.equal(Exchange.parse(JSON.parse(line)).v, 1);
  }
});

Deno.test("a request that differs is refused with the byte where it does, one too many with its number", async () => {
  const { lines } = await record();
  const other = await replaying(lines.join("\n"));
  const fault = await faultOf(hear(other, { ...first, messages: [said("Überal?")] }));
  assert.equal(fault.code, "conflict");
  const [, at = ""] =
    /^Cannot replay: request 1 differs from the recording at byte (\d+) of its body$/
      .exec(fault.message) ?? [];
  const body = Exchange.parse(JSON.parse(lines[0] ?? "")).request.body;
  const before = body.slice(0, body.indexOf("l?"));
  assert.equal(Number(at), new TextEncoder().encode(before).length);

  const short = await replaying(lines.slice(0, 2).join("\n"));
  await hear(short, first);
  const past = await faultOf(hear(short, second));
  assert.equal(past.code, "conflict");
  assert.match(past.message, /the recording has 2 requests, this is number 3/);
});

Deno.test("an answer that broke off breaks off again; what was too long to keep is told", async () => {
  const { lines: [, line = ""] } = await record();
  const exchange = Exchange.parse(JSON.parse(line));
  const chunks = exchange.response.chunks.slice(0, 2);
  const broken = { ...exchange, response: { ...exchange.response, chunks, broken: true as const } };
  assert.match((await faultOf(hear(await replaying(lineOf(broken)), first))).message, /breaks off/);

  const piece = [0, "x".repeat(EXCHANGE_CHARS)] as [number, string];
  const long = lineOf({ ...exchange, response: { ...exchange.response, chunks: [piece] } });
  assert.ok(long.length < EXCHANGE_CHARS);
  assert.equal(parseRecording(long)[0]?.response.cut, true);
});

Deno.test("what is no recording is refused with its line", async () => {
  const { lines: [line = ""] } = await record();
  for (const bad of ["{", '{"v":2}', line.replace('"v":1', '"v":1,"more":1')]) {
    const fault = await faultOf(replaying(`${line}\n\n${bad}\n`));
    assert.equal(fault.code, "invalidInput");
    assert.match(fault.message, /line 2/);
  }
});
