import { Fault, type FaultCode } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { PortHandler } from "../contracts/base/port.ts";
import { openScripted } from "./scripted/open.ts";
import { makeModelService, makeToolTables } from "./service.ts";
import { deepEqual, equal, throws } from "node:assert/strict";
import type { InferenceRequest } from "../contracts/model/model.ts";
import assert from "node:assert/strict";

/** A timer whose waits end when the test says so. */
function handTimer(): {
  readonly timer: { wait(ms: number, signal: AbortSignal): Promise<void> };
  turn(): void;
} {
  let waiting: (() => void)[] = [];
  return {
    timer: {
      wait: (_ms, signal) =>
        new Promise((resolve, reject) => {
          waiting.push(resolve);
          signal.addEventListener(
            "abort",
            () => reject(new Fault("cancelled", "Cannot: cancelled")),
          );
        }),
    },
    turn: () => {
      const now = waiting;
      waiting = [];
      for (const resolve of now) resolve();
    },
  };
}

const open = (text: string, kind = "scripted"): Json => ({
  kind,
  ref: `${kind}:s.yaml`,
  config: JSON.stringify({ file: "s.yaml", text }),
});
const infer = (id: number, content = "go"): Json => ({
  id,
  request: {
    messages: [{
      role: "user",
      content,
      provenance: { origin: "person", colour: "BLUE", label: "internal" },
    }],
    tools: [],
    maxTokens: 100,
    nonce: "n",
  },
});

interface Bench {
  readonly service: PortHandler;
  readonly told: Json[];
  turn(): void;
}

function bench(): Bench {
  const told: Json[] = [];
  const clock = handTimer();
  const port = {
    tell: (op: string, body: Json): void => {
      told.push([op, body]);
    },
  };
  const service = makeModelService(port, {
    scripted: () => Promise.resolve((asked) => openScripted(asked, { timer: clock.timer })),
  });
  return { service, told, turn: clock.turn };
}

async function faultOf(promise: Json | Promise<Json>): Promise<Fault> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it was not refused" });
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("open tells what the model says of itself", async () => {
  const { service } = bench();
  const info = await service.ask(
    "open",
    open(
      "scenario: far\nmodel: { remote: true, price: { input: 3, output: 15 }, contextTokens: 900 }\nturns: [{ say: a }]",
    ),
  );
  assert.deepEqual(info, {
    id: "scripted:far",
    displayName: "far (scripted)",
    arch: "scripted",
    contextTokens: 900,
    outputTokens: 8_192,
    backend: "scripted",
    supportsTools: true,
    remote: true,
    price: { input: 3, output: 15 },
  });
});

const KINDS = ["gguf", "constructor", "__proto__", ""];
for (const kind of KINDS) {
  Deno.test(`the kind "${kind}" is refused as unavailable, naming the kinds there are`, async () => {
    const fault = await faultOf(bench().service.ask("open", open("", kind)));
    assert.equal(fault.code, "unavailable");
    assert.match(fault.message, /there is: scripted$/);
  });
}

Deno.test("a wrong scenario is refused with its place, and the right one can be opened then", async () => {
  const { service } = bench();
  const fault = await faultOf(service.ask("open", open("scenario: x\nturns: 3")));
  assert.equal(fault.code, "invalidInput");
  assert.match(fault.message, /^Cannot read scenario: s\.yaml:2:8: turns: /);
  assert.deepEqual(fault.detail?.["file"], "s.yaml");
  await service.ask("open", open("scenario: x\nturns: [{ say: a }]"));
});

Deno.test("a config that is not { file, text } is refused", async () => {
  for (const config of ["", "{}", "[]", '{"file":"a","text":1}', '{"file":"a","text":"","x":1}']) {
    const fault = await faultOf(
      bench().service.ask("open", { kind: "scripted", ref: "scripted:a", config }),
    );
    assert.equal(fault.code, "invalidInput", config);
  }
});

const REFUSALS: readonly (readonly [string, (bench: Bench) => Json | Promise<Json>, FaultCode])[] =
  [
    [
      "an inference before the open",
      ({ service }) => service.ask("infer", infer(1)),
      "invalidInput",
    ],
    ["an op that there is not", ({ service }) => service.ask("eval", null), "invalidInput"],
  ];
for (const [what, ask, code] of REFUSALS) {
  Deno.test(`${what} is refused as ${code}`, async () => {
    assert.equal((await faultOf(ask(bench()))).code, code);
  });
}

Deno.test("a second open is a conflict", async () => {
  const { service } = bench();
  const body = open("scenario: x\nturns: [{ say: a }]");
  await service.ask("open", body);
  assert.equal((await faultOf(service.ask("open", body))).code, "conflict");
});

Deno.test("two inferences run at once, their chunks named by id; an id in use is a conflict", async () => {
  const { service, told, turn } = bench();
  await service.ask(
    "open",
    open("scenario: x\nstream: { chunkChars: 1, delayMs: 5 }\nturns: [{ say: '{{ user }}' }]"),
  );
  const first = service.ask("infer", infer(1, "ab"));
  const second = service.ask("infer", infer(2, "xy"));
  await settled();
  assert.equal((await faultOf(service.ask("infer", infer(2)))).code, "conflict");
  turn();
  await settled();
  turn();
  const answers = await Promise.all([first, second]);
  assert.deepEqual(told, [
    ["chunk", { id: 1, chunk: { textDelta: "a" } }],
    ["chunk", { id: 2, chunk: { textDelta: "x" } }],
    ["chunk", { id: 1, chunk: { textDelta: "b" } }],
    ["chunk", { id: 2, chunk: { textDelta: "y" } }],
  ]);
  assert.match(JSON.stringify(answers[0]), /"content":"ab"/);
  assert.match(JSON.stringify(answers[1]), /"content":"xy"/);
});

Deno.test("whoever wants text alone is told no pieces of calls", async () => {
  const { service, told } = bench();
  const play = "scenario: x\nturns: [{ say: look, calls: [{ tool: file_read, args: {} }] }]";
  await service.ask("open", open(play));
  await service.ask("infer", { ...Object(infer(1, "go")), textOnly: true });
  assert.deepEqual(told, [["chunk", { id: 1, chunk: { textDelta: "look" } }]]);
  const answer = await service.ask("infer", infer(2, "go"));
  assert.match(JSON.stringify(answer), /"toolCalls":\[\{/);
  assert.match(JSON.stringify(told.slice(1)), /"textDelta":"look".*"toolCallDelta"/);
});

Deno.test("cancel ends the one inference it names, and no chunk of it comes afterwards", async () => {
  const { service, told, turn } = bench();
  await service.ask(
    "open",
    open("scenario: x\nstream: { chunkChars: 1, delayMs: 5 }\nturns: [{ say: abc }]"),
  );
  const first = faultOf(service.ask("infer", infer(1)));
  const second = service.ask("infer", infer(2));
  await settled();
  turn();
  await settled();
  service.tell("cancel", { id: 1 });
  service.tell("cancel", { id: 77 });
  for (let i = 0; i < 3; i++) {
    await settled();
    turn();
  }
  assert.equal((await first).code, "cancelled");
  await second;
  const ids = told.map((each) => JSON.stringify(each).includes('"id":1'));
  assert.equal(ids.filter(Boolean).length, 1);
  // The id is free again.
  const again = service.ask("infer", infer(1));
  for (let i = 0; i < 4; i++) {
    await settled();
    turn();
  }
  await again;
});

Deno.test("a model that hangs is ended by cancel alone", async () => {
  const { service } = bench();
  await service.ask("open", open("scenario: x\nturns: [{ hang: true }]"));
  let ended = false;
  const hanging = faultOf(service.ask("infer", infer(1))).finally(() => ended = true);
  await settled();
  assert.equal(ended, false);
  service.tell("cancel", { id: 1 });
  assert.equal((await hanging).code, "cancelled");
});

Deno.test("a cancel that comes with its inference, before the model was found, is not lost", async () => {
  const { service } = bench();
  await service.ask("open", open("scenario: hangs\nturns: [{ hang: true }]"));
  const hanging = faultOf(service.ask("infer", infer(1)));
  service.tell("cancel", { id: 1 });
  assert.equal((await hanging).code, "cancelled");
});

const table = (name: string): InferenceRequest["tools"] =>
  [{ name }] as unknown as InferenceRequest["tools"];

Deno.test("a table that was sent is known again, and one that was not is asked for", () => {
  const tables = makeToolTables();
  throws(
    () => tables.of("a", []),
    (error) => error instanceof Fault && error.detail?.["table"] === "a",
  );
  deepEqual(tables.of("a", table("a")), table("a"));
  deepEqual(tables.of("a", []), table("a"));
});

Deno.test("few tables are kept, those that are used longest", () => {
  const tables = makeToolTables();
  tables.of("used", table("used"));
  for (let n = 0; n < 40; n++) {
    tables.of(`t${n}`, table(`t${n}`));
    equal(tables.of("used", []).length, 1);
  }
  throws(() => tables.of("t0", []), (error) => error instanceof Fault);
});
