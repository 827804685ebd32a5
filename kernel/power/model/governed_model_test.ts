import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import fc from "fast-check";
import { Digest, Pid, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type {
  ChatMessage,
  InferenceRequest,
  InferenceResponse,
} from "../../../contracts/model/mod.ts";
import type { NewEvent } from "../../../contracts/task/mod.ts";
import {
  governed,
  type GovernedModel,
  type GovernParts,
  requestSize,
  textsSize,
} from "./governed_model.ts";
import { makeModelRates } from "./rates.ts";
import type { OpenModel } from "./services.ts";

const PROVENANCE = { origin: "operator", colour: "BLUE", label: "internal" } as const;
const say = (content: string): ChatMessage => ({ role: "user", content, provenance: PROVENANCE });

const REQUEST: InferenceRequest = {
  messages: [say("Read the plan.")],
  tools: [],
  maxTokens: 100,
  nonce: "n1",
};
const RESPONSE: InferenceResponse = {
  message: { ...say("Well."), role: "assistant" },
  usage: { inputTokens: 5, outputTokens: 2 },
  finishReason: "stop",
};

interface World {
  readonly model: GovernedModel;
  /** What happened, in its order. */
  readonly seen: string[];
  readonly events: NewEvent[];
  readonly changes: { refused?: string; full?: boolean; fails?: Error; egress?: number };
}

function makeWorld(plan: Partial<OpenModel["plan"]>, noTimers = true): World {
  const seen: string[] = [], events: NewEvent[] = [];
  const changes: World["changes"] = {};
  const sent = (): void => {
    seen.push("sent");
    if (changes.fails !== undefined) throw changes.fails;
  };
  const open: OpenModel = {
    info: {
      ...{ id: "openai:m", displayName: "m", arch: "openai", backend: "openai" },
      ...{ contextTokens: 1_000, outputTokens: 100, supportsTools: true, remote: true },
      price: { input: 10, output: 50 },
    },
    plan: { noWait: noTimers, ...plan },
    infer: async () => {
      await Promise.resolve();
      sent();
      return RESPONSE;
    },
    embed: async (texts) => {
      await Promise.resolve();
      sent();
      return { vectors: texts.map(() => new Float32Array(2)), inputTokens: 3 };
    },
    release: () => undefined,
  };
  let tokens = 0;
  const row: GovernParts["row"] = {
    task: TaskId.parse("t000000000001"),
    session: SessionId.parse("s000000000001"),
    principal: "alice",
    conversation: "main",
    turn: 3,
    pid: Pid.parse(2),
    label: "internal",
    colour: "RED",
  };
  const powers = {
    now: () => 1_000,
    token: () => `nonce${++tokens}`,
    after: () => () => undefined,
  };
  const model = governed(open, {
    row,
    powers,
    rates: makeModelRates(powers),
    modelRefused: () => changes.refused,
    egress(_row, { bytes, host }) {
      if (bytes <= (changes.egress ?? Infinity)) {
        if (changes.egress !== undefined) seen.push(`${bytes} bytes to ${host}`);
        return Promise.resolve();
      }
      return Promise.reject(new Fault("budgetExhausted", "Cannot ask a model: it is used up"));
    },
    log: {
      append: (task, more) => {
        if (changes.full === true) {
          return Promise.reject(new Fault("storeFull", "Cannot append: the disk is full"));
        }
        equal(task, row.task);
        events.push(...more);
        seen.push(...more.map(({ kind }) => kind));
        return Promise.resolve(more.map((_, n) => ({ n, hash: Digest.parse("0".repeat(64)) })));
      },
    },
  });
  return { model, seen, events, changes };
}

const infer = ({ model, seen }: World): Promise<InferenceResponse> =>
  model.infer(REQUEST, {
    onChunk: () => undefined,
    onEntered: () => seen.push("entered"),
    signal: new AbortController().signal,
  });

Deno.test("text for a provider is on record before it leaves: host, model, bytes, tokens, nonce", async () => {
  const world = makeWorld({ host: "api.example.com" });
  equal(await infer(world), RESPONSE);
  deepEqual(world.seen, ["modelAsked", "entered", "sent"]);
  deepEqual(world.events[0], {
    kind: "modelAsked",
    body: {
      ...{ session: "s000000000001", principal: "alice", conversation: "main", turn: 3, pid: 2 },
      ...{ label: "internal", colour: "RED", use: "inference", host: "api.example.com" },
      ...{ model: "openai:m", backend: "openai", nonce: "n1" },
      ...{ texts: 1, tools: 0, bytes: 14, tokens: 4, money: 4e-5, most: 0.00504 },
    },
  });
  await world.model.embed(["ä", "b"], new AbortController().signal);
  const { body } = world.events[1] ?? {};
  deepEqual([body?.["use"], body?.["bytes"], body?.["texts"]], ["embedding", 3, 2]);
  const { kind, body: end } = world.events[2] ?? {};
  deepEqual([kind, end?.["nonce"], end?.["money"]], ["inferred", body?.["nonce"], 3e-5]);
});

Deno.test("a request that waits for its provider's rate is on record as waiting, with the host and about how long", async () => {
  const world = makeWorld({ host: "api.example.com", rates: { requestsPerMinute: 1 } }, false);
  await infer(world);
  const cancel = new AbortController();
  const second = world.model.infer(REQUEST, { onChunk() {}, signal: cancel.signal });
  await Promise.resolve();
  const [queued, ...rest] = world.events.filter(({ kind }) => kind === "modelQueued");
  deepEqual(queued?.body, { pid: 2, turn: 3, host: "api.example.com", ms: 60_000 });
  equal(rest.length, 0);
  cancel.abort();
  await rejects(second, /cancelled while it waited/);
  equal(world.events.filter(({ kind }) => kind === "modelAsked").length, 1);
});

Deno.test("mallory's request would have left although nothing could be recorded", async () => {
  const world = makeWorld({ host: "api.example.com" });
  world.changes.full = true;
  await rejects(infer(world), { code: "storeFull" });
  deepEqual(world.seen, []);
});

Deno.test("an attempt that fails is on record with its code, and the provider's words are private", async () => {
  const world = makeWorld({ host: "api.example.com" });
  for (
    const [error, code] of [
      [new Fault("upstream", "Cannot infer: the provider says hello"), "upstream"],
      [new TypeError("a bug"), "bug"],
    ] as const
  ) {
    world.changes.fails = error;
    world.events.length = 0;
    await rejects(infer(world), error);
    deepEqual(world.events.map(({ kind }) => kind), ["modelAsked", "modelFailed"]);
    deepEqual(world.events[1]?.body, { pid: 2, nonce: "n1", code, ms: 0 });
    equal(world.events[1]?.private?.["error"], error.message);
  }
});

Deno.test("what the process read while it waited is judged before its text leaves", async () => {
  const world = makeWorld({ host: "api.example.com" });
  world.changes.refused = "the conversation is secret (a rule)";
  await rejects(infer(world), (error) => {
    ok(error instanceof Fault);
    match(error.message, /secret \(a rule\)/);
    return error.code === "refused";
  });
  deepEqual(world.seen, []);
});

Deno.test("a model on this machine is passed on as it is: nothing recorded, nothing waits", async () => {
  const world = makeWorld({});
  world.changes.full = true;
  for (let n = 0; n < 100; n++) await infer(world);
  equal(world.seen.filter((each) => each === "sent").length, 100);
  equal(world.events.length, 0);
});

Deno.test("alice's server on loopback may have rates, and leaves no record of text that stayed here", async () => {
  const world = makeWorld({ rates: { requestsPerMinute: 2 } });
  await infer(world);
  await infer(world);
  await rejects(infer(world), { code: "rateLimited" });
  deepEqual(world.seen, ["entered", "sent", "entered", "sent"]);
});

Deno.test("a provider that asks for time gets it from the next request, which says so", async () => {
  const world = makeWorld({ host: "api.example.com" });
  world.changes.fails = new Fault("rateLimited", "Cannot infer: 429", {
    detail: { again: true, afterMs: 3_000 },
  });
  await rejects(infer(world), { code: "rateLimited" });
  delete world.changes.fails;
  await rejects(infer(world), /api\.example\.com asked to wait 3 s/);
});

Deno.test("bytes are those of UTF-8, whatever the text, lone halves of pairs too", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (texts) => {
      const bytes = texts.map((text) => new TextEncoder().encode(text).length);
      equal(textsSize(texts).bytes, bytes.reduce((sum, each) => sum + each, 0));
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 })), (units) => {
      const text = String.fromCharCode(...units);
      equal(textsSize([text]).bytes, new TextEncoder().encode(text).length);
    }),
  );
});

Deno.test("arguments of calls, tools and the schema count among what leaves", () => {
  const base = requestSize(REQUEST).bytes;
  const longer = requestSize({ ...REQUEST, responseSchema: "{}" }).bytes;
  equal(longer, base + 2);
});

Deno.test("what leaves for a model is counted before it is on record; what does not fit is neither sent nor recorded", async () => {
  const world = makeWorld({ host: "api.example.com" });
  world.changes.egress = 14;
  await infer(world);
  deepEqual(world.seen.slice(0, 2), ["14 bytes to api.example.com", "modelAsked"]);
  world.changes.egress = 13;
  world.seen.length = 0;
  await rejects(infer(world), /used up/);
  const vectors = world.model.embed(["fourteen bytes"], new AbortController().signal);
  await rejects(vectors, /used up/);
  deepEqual(world.seen, []);
  const here = makeWorld({});
  here.changes.egress = 0;
  await infer(here);
  deepEqual(here.seen, ["entered", "sent"], "text for a model of this machine leaves nothing");
});
