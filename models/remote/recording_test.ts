import assert from "node:assert/strict";
import { faultOf, hear, requestOf, said, tool } from "../_fixture/contract_suite.ts";
import { OPENAI_KEY, openaiEvent, serveOpenai } from "../_fixture/providers/mod.ts";
import { streamOpenai } from "../_fixture/providers/openai.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";
import { Exchange, lineOf, MAX_LINE_CHARS, parseRecording } from "./recording.ts";
import { openOpenai } from "./openai/open.ts";

const KEY = `${OPENAI_KEY}-0123456789abcdef`;
const first = requestOf([said("Überall?")], { tools: [tool("file_read")], seed: 3 });
const STREAM = { fields: { model: "tiny" }, variant: "openai" } as const;
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

  const piece = [0, "x".repeat(MAX_LINE_CHARS)] as [number, string];
  const long = lineOf({ ...exchange, response: { ...exchange.response, chunks: [piece] } });
  assert.ok(long.length < MAX_LINE_CHARS);
  assert.equal(parseRecording(long)[0]?.response.cut, true);
});

Deno.test("requests that were under way together are played in whichever order they come, others in theirs", async () => {
  const slow = Promise.withResolvers<void>();
  await using server = serveOpenai({
    key: KEY,
    answers: [
      { raw: [slow.promise, ...streamOpenai({ text: ["A."] }, STREAM)] },
      { text: ["B."] },
      { text: ["C."] },
    ],
  });
  const open = openBody("openai", server.url, { key: KEY, record: true });
  const model = await openOpenai(open, quickPowers());
  const lines: string[] = [];
  const ask = (text: string) =>
    model.infer(requestOf([said(text)]), {
      signal: new AbortController().signal,
      onWire: (line) => lines.push(line),
    });
  const a = ask("a?");
  await server.came(1);
  await ask("b?");
  slow.resolve();
  await a;
  await ask("c?");
  assert.deepEqual(lines.map((line) => /[abc]\?/.exec(line)?.[0]), ["b?", "a?", "c?"]);
  const plays = async (...texts: string[]): Promise<readonly string[]> => {
    const played = await replaying(lines.join("\n"));
    const answers: string[] = [];
    for (const text of texts) answers.push((await hear(played, requestOf([said(text)]))).text);
    return answers;
  };
  assert.deepEqual(await plays("a?", "b?", "c?"), ["A.", "B.", "C."]);
  assert.deepEqual(await plays("b?", "a?", "c?"), ["B.", "A.", "C."]);
  // The third began when the others had ended: before them it is another conversation.
  for (const order of [["c?"], ["a?", "c?"], ["b?", "c?"], ["a?", "a?"]]) {
    assert.equal((await faultOf(plays(...order))).code, "conflict", order.join());
  }
});

Deno.test("a connection that was refused and made again is refused and made again", async () => {
  await using server = serveOpenai({ key: KEY, answers: [{ text: ["Well."] }] });
  let tries = 0;
  const model = await openOpenai(openBody("openai", server.url, { key: KEY, record: true }), {
    ...quickPowers(),
    fetch: (input, init) =>
      tries++ === 0
        ? Promise.reject(new TypeError("Connection refused (os error 111)"))
        : fetch(input, init),
  });
  const lines: string[] = [];
  await model.infer(first, {
    signal: new AbortController().signal,
    onWire: (line) => lines.push(line),
  });
  assert.equal(lines.length, 2);
  assert.equal((await hear(await replaying(lines.join("\n")), first)).text, "Well.");
  const alone = await faultOf(hear(await replaying(lines[0] ?? ""), first));
  assert.match(alone.message, /the recording has no answer here/);
});

Deno.test("a key that comes back letter by letter leaves its exchange out of the recording, and says so", async () => {
  const chunk = (delta: object): string =>
    openaiEvent({ choices: [{ index: 0, delta, finish_reason: null }] });
  const call = (index: number, text: string): string =>
    chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: "f", arguments: text } }] });
  const half = KEY.length >> 1;
  const numbered = `\\u00${KEY.charCodeAt(0).toString(16)}`;
  const [one, two] = [KEY.slice(0, half), KEY.slice(half)];
  for (
    const pieces of [
      [...KEY].map((content) => chunk({ content })),
      [...KEY].map((reasoning_content) => chunk({ reasoning_content })),
      [call(0, '{"a":"'), call(0, one), call(1, "{}"), call(0, two), call(0, '"}')],
      [chunk({ content: "HERE" }).replace("HERE", () => numbered + KEY.slice(1))],
    ]
  ) {
    const end = openaiEvent({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    await using server = serveOpenai({ key: KEY, answers: [{ raw: [...pieces, end] }] });
    const open = openBody("openai", server.url, { key: KEY, record: true });
    const lines: string[] = [];
    const model = await openOpenai(open, quickPowers());
    await model.infer(first, {
      signal: new AbortController().signal,
      onWire: (line) => lines.push(line),
    });
    const [exchange] = parseRecording(lines.join("\n"));
    assert.deepEqual(exchange?.response.chunks, []);
    const fault = await faultOf(hear(await replaying(lines.join("\n")), first));
    assert.match(fault.message, /request 1 was not recorded: [^]* held the key in pieces/);
  }
});

Deno.test("a body that is told by the one before it is that body, and none without it", async () => {
  const { lines: [line = ""] } = await record();
  const { request, ...rest } = Exchange.parse(JSON.parse(line));
  const at = request.body.indexOf("Überall");
  const short = (before: number, after: number, model = "tiny"): string =>
    JSON.stringify({
      ...rest,
      request: { ...request, body: { model, before, text: "Nowhere", after } },
    });
  const end = request.body.length - at - "Überall".length;
  const [, second, third] = parseRecording([line, short(at, end), short(at, end)].join("\n"));
  const want = request.body.replace("Überall", "Nowhere");
  assert.deepEqual([second?.request.body, third?.request.body], [want, want]);
  for (const bad of [short(at, end, "other"), short(request.body.length, 1)]) {
    const fault = await faultOf(replaying(`${line}\n${bad}`));
    assert.equal(fault.code, "invalidInput");
    assert.match(
      fault.message,
      /line 2 of the recording refers to an earlier body that is missing/,
    );
  }
  // What someone made to fill the memory does not.
  const wide = {
    ...rest,
    request: { ...request, body: `{"model":"m","x":"${"x".repeat(100_000)}"}` },
  };
  const more = { model: "m", before: 100_000, text: "", after: 10 };
  const many = JSON.stringify({ ...wide, request: { ...wide.request, body: more } });
  const flood = `${JSON.stringify(wide)}\n${`${many}\n`.repeat(1_000)}`;
  assert.throws(() => parseRecording(flood), /its requests are more than 50000000 characters/);
});

Deno.test("what is no recording is refused with its line", async () => {
  const { lines: [line = ""] } = await record();
  for (const bad of ["{", '{"v":2}', line.replace('"v":1', '"v":1,"more":1')]) {
    const fault = await faultOf(replaying(`${line}\n\n${bad}\n`));
    assert.equal(fault.code, "invalidInput");
    assert.match(fault.message, /line 2/);
  }
});
