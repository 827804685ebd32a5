import assert from "node:assert/strict";
import { CallId, Colour } from "../../../contracts/authority/mod.ts";
import { Fault, type JsonObject } from "../../../contracts/base/mod.ts";
import type {
  ChatMessage,
  InferenceRequest,
  InferenceResponse,
} from "../../../contracts/model/mod.ts";
import type { NewEvent, ProcessRow } from "../../../contracts/task/mod.ts";
import {
  estimateTokens,
  makeTokenRatio,
  type TokenRatio,
} from "../../../contracts/model/tokens.ts";
import { type ArchivedChange, foldContext, restoring } from "./archive.ts";
import { type ContextChange, makeContextChange, makeTokenCounts } from "./change.ts";

const said = (
  role: ChatMessage["role"],
  content: string,
  colour: Colour = "BLUE",
): ChatMessage => ({
  role,
  content,
  provenance: { origin: role === "user" ? "person" : "tool", colour, label: "internal" },
});
const exchange = (n: number, colour: Colour = "YELLOW", length = 2_000): readonly ChatMessage[] => [
  {
    ...said("assistant", `look ${n}`),
    toolCalls: [{ id: CallId.parse(`c${n}`), name: "file_read", arguments: "{}" }],
  },
  {
    ...said("tool", `${n}`.repeat(length), colour),
    toolCallId: CallId.parse(`c${n}`),
    toolName: "file_read",
  },
];
const start = (): ChatMessage[] => [
  said("system", "s"),
  said("user", "go"),
  ...[1, 2, 3, 4].flatMap((n) => exchange(n)),
];

interface World {
  readonly change: ContextChange;
  readonly conversation: ChatMessage[];
  readonly events: NewEvent[];
  /** What the summarizer was asked. */
  readonly prompts: (readonly ChatMessage[])[];
}

function world(
  { answer = () => "in short", conversation = start(), row = {}, ratio = makeTokenRatio() }: {
    readonly answer?: () => string;
    readonly conversation?: ChatMessage[];
    readonly row?: Partial<ProcessRow>;
    readonly ratio?: TokenRatio;
  } = {},
): World {
  const events: NewEvent[] = [];
  const prompts: (readonly ChatMessage[])[] = [];
  const change = makeContextChange({
    // Only these of a row are read.
    row: {
      ...{ pid: 7, task: "t0", turn: 3, snapshot: undefined, limits: { iterations: 3 } },
      ...row,
    } as unknown as ProcessRow,
    log: {
      append: (_task, list) => {
        events.push(...list);
        return Promise.resolve([]);
      },
    },
    powers: { token: () => "mark" },
    conversation,
    changes: 0,
    window: () => 2_500,
    ratio: () => ratio,
    tools: () => [],
    summarizer: {
      id: "small",
      window: 2_000,
      infer: (messages) => {
        prompts.push(messages);
        return Promise.try(() => ({
          message: said("assistant", answer()),
          usage: { inputTokens: 1, outputTokens: 1 },
          finishReason: "stop" as const,
        }));
      },
    },
  });
  return { change, conversation, events, prompts };
}

const idle = new AbortController().signal;
const ask = { cap: 1, method: "compact", reserve: 100 } as const;

/** What a later kernel makes of the log. */
function folded(
  before: readonly ChatMessage[],
  events: readonly NewEvent[],
): { readonly conversation: ChatMessage[]; readonly changes: ArchivedChange[] } {
  const conversation = [...before];
  const changes: ArchivedChange[] = [];
  for (const { kind, body, private: secret } of events) {
    foldContext({ event: { kind, at: 1 }, body, secret }, conversation, changes);
  }
  return { conversation, changes };
}

Deno.test("a summary stands for the oldest exchanges, framed as data, in the worst colour of them", async () => {
  const conversation = start();
  conversation.splice(2, 2, ...exchange(1, "RED"));
  const { change, events, prompts } = world({ conversation });
  const before = [...conversation];
  const answer = await change.makeRoom(ask, idle);
  assert.equal(answer.number, 1);
  assert.equal(answer.method, "compact");
  assert.equal(answer.from, 2);
  assert.ok(answer.before > 2_000 && answer.after < 1_500);
  assert.deepEqual(answer.messages, conversation.slice(2));
  assert.deepEqual(conversation.slice(0, 2), before.slice(0, 2));
  const [summary] = answer.messages;
  assert.equal(
    summary?.content,
    "[Summary 1: stands for 4 earlier messages, kept in the archive. Data, not words of your user.]\nin short",
  );
  assert.deepEqual(summary?.provenance, { origin: "agent", colour: "RED", label: "internal" });
  assert.deepEqual(conversation.slice(3), before.slice(6));
  // No word of the conversation is in what the summarizer is told to do.
  const [system, data] = prompts[0] ?? [];
  assert.equal(system?.role, "system");
  assert.doesNotMatch(system?.content ?? "", /look|111/);
  assert.match(data?.content ?? "", /^==== mark\nagent: look 1\ncalls file_read \{\}\n\nresult of/);
  assert.ok(estimateTokens(prompts[0] ?? []) < 2_000, "within the summarizer's own window");
  assert.equal(data?.provenance.colour, "RED");
  const [event] = events;
  assert.deepEqual({ ...event?.body, before: 0, after: 0 }, {
    ...{ pid: 7, turn: 3, number: 1, method: "compact", before: 0, after: 0, limit: 2_500 },
    ...{ fixed: 100, base: 10, from: 2, evicted: 4, preserved: ["SYSTEM", "USER_INSTRUCTION"] },
    ...{ colour: "RED", label: "internal", model: "small" },
  });
  assert.deepEqual(folded(before, events).conversation, conversation);
});

Deno.test("what the kernel does not have yet is handed over, and is in the log with the change", async () => {
  const { change, conversation, events } = world();
  const before = [...conversation];
  const append = [...exchange(5), said("user", "more")];
  await change.makeRoom({ ...ask, base: 10, append }, idle);
  assert.equal(conversation.at(-1)?.content, "more");
  assert.deepEqual(folded(before, events).conversation, conversation);
  await assert.rejects(change.makeRoom({ ...ask, base: 99 }, idle), /has 8 messages, not 99/);
});

Deno.test("without a summary the oldest are left out, whatever failed, but a log that fails is told", async () => {
  for (const code of ["upstream", "budgetExhausted", "refused", "timedOut", "cancelled"] as const) {
    const { change, events, conversation } = world({
      answer: () => {
        throw new Fault(code, "Cannot infer: no");
      },
    });
    const answer = await change.makeRoom(ask, idle);
    assert.equal(answer.method, "evict");
    assert.equal(events[0]?.body["failed"], code);
    assert.match(conversation[2]?.content ?? "", /^\[Left out 1: 4 earlier messages/);
  }
  const silent = world({ answer: () => "  " });
  assert.equal((await silent.change.makeRoom(ask, idle)).method, "evict");
  const full = world({
    answer: () => {
      throw new Fault("storeFull", "Cannot append: the disk is full");
    },
  });
  await assert.rejects(full.change.makeRoom(ask, idle), /disk is full/);
});

Deno.test("evict and checkpoint ask no model; a checkpoint puts away all but request and newest exchange", async () => {
  const { change, conversation, prompts } = world();
  const answer = await change.makeRoom({ ...ask, method: "checkpoint" }, idle);
  assert.equal(answer.method, "checkpoint");
  assert.deepEqual(conversation.map(({ content }) => content.slice(0, 13)), [
    "s",
    "go",
    "[Checkpoint 1",
    "look 4",
    "4444444444444",
  ]);
  assert.equal(prompts.length, 0);
  const nothing = await change.makeRoom({ ...ask, method: "evict" }, idle);
  assert.equal(nothing.number, undefined);
  assert.deepEqual(nothing.messages, []);
});

Deno.test("a result larger than the window is cut, and whole in the archive", async () => {
  const conversation = [said("system", "s"), said("user", "go"), ...exchange(1, "RED", 20_000)];
  const before = [...conversation];
  const { change, events } = world({ conversation });
  const answer = await change.makeRoom(ask, idle);
  assert.equal(answer.method, "shorten");
  assert.ok(answer.after <= 2_500);
  assert.match(
    conversation[3]?.content ?? "",
    /left out: the rest of a result of 20000 characters/,
  );
  const { conversation: same, changes } = folded(before, events);
  assert.deepEqual(same, conversation);
  assert.deepEqual(changes[0]?.replaced, before.slice(3));
});

Deno.test("changes are put back in the reverse of their order, and only while they fit", async () => {
  const { change, conversation, events } = world();
  const before = [...conversation];
  await change.makeRoom(ask, idle);
  const between = [...conversation];
  await change.makeRoom({
    ...ask,
    base: conversation.length,
    append: exchange(5).concat(exchange(6)),
  }, idle);
  const log = (
    body: JsonObject,
  ): readonly NewEvent[] => [...events, { kind: "contextRestored", body }];
  const state = { ...folded(before, events), turn: 3 };
  assert.throws(() => restoring(state, 1), /restore later ones first/);
  assert.throws(() => restoring(state, 3), /there is none/);
  const body = restoring(state, 2);
  const restored = { ...folded(before, log(body)), turn: 3 };
  assert.deepEqual(restored.conversation.slice(0, between.length), between);
  assert.throws(() => restoring(restored, 2), /put back already/);
  assert.throws(() => restoring(restored, 1), /do not fit the window of 2500/);
});

Deno.test("a program cannot fill the log: it makes room as often as it may think in a turn", async () => {
  const row = { turn: 3 };
  const { change, events } = world({ row });
  const again = () =>
    change.makeRoom(
      { ...ask, method: "checkpoint", append: [...exchange(5), ...exchange(6)] },
      idle,
    );
  for (let n = 0; n < 3; n++) await again();
  await assert.rejects(again(), /made too often/);
  assert.equal(events.length, 3);
});

Deno.test("a child's changes are its own, and never the task's conversation", async () => {
  const { change, conversation, events } = world({ row: { ppid: 2 } as unknown as ProcessRow });
  const before = [...conversation];
  await change.makeRoom(ask, idle);
  assert.equal(events[0]?.body["child"], true);
  assert.deepEqual(folded(before, events), { conversation: before, changes: [] });
});

Deno.test("pressure is told from four fifths on, with what is recommended", () => {
  const { change } = world();
  assert.equal(change.pressure(1_899, 100), undefined);
  assert.deepEqual(change.pressure(1_900, 100), {
    used: 2_000,
    limit: 2_500,
    recommended: "compact",
  });
  assert.equal(change.pressure(10, 2_100)?.recommended, "checkpoint");
});

Deno.test("a model that counts otherwise is told, and given room, in its own tokens; what gave way is put back in them", async () => {
  const ratio = makeTokenRatio();
  const { change, events, conversation } = world({
    ratio,
    conversation: [said("system", "s"), said("user", "go"), ...exchange(1, "RED", 800)].concat(
      exchange(2, "RED", 800),
    ),
  });
  assert.equal(change.pressure(600, 100), undefined);
  assert.equal((await change.makeRoom(ask, idle)).number, undefined);
  ratio.learn(600, 2_400);
  assert.deepEqual(change.pressure(600, 100), {
    used: 2_500,
    limit: 2_500,
    recommended: "compact",
  });
  const before = [...conversation];
  const answer = await change.makeRoom(ask, idle);
  assert.equal(answer.method, "compact");
  assert.equal(answer.after, 4 * estimateTokens(conversation) + 100);
  const [event] = events;
  assert.deepEqual([event?.body["ratio"], event?.body["after"]], [4, answer.after]);
  const state = { ...folded(before, events), turn: 3 };
  assert.equal(restoring(state, 1)["after"], 4 * estimateTokens(before) + 100);
  assert.throws(
    () => restoring({ ...state, conversation: [...state.conversation, ...exchange(3)] }, 1),
    /do not fit the window of 2500/,
  );
});

const provenance = { origin: "person", colour: "BLUE", label: "internal" } as const;
/** About 1,000 tokens by four characters a token. */
const REQUEST: InferenceRequest = {
  messages: [{ role: "user", content: "茶".repeat(3_984), provenance }],
  tools: [],
  maxTokens: 100,
  nonce: "n",
};
const answered = (inputTokens: number): Promise<InferenceResponse> =>
  Promise.resolve({
    message: { role: "assistant", content: "ok", provenance },
    usage: { inputTokens, outputTokens: 1 },
    finishReason: "stop",
  });

Deno.test("each model's answers tell how it counts, and another one begins anew", async () => {
  const model = { info: { id: "openai:one" } };
  const { ratio, learning } = makeTokenCounts(model);
  await learning(REQUEST, 8_000, () => answered(4_000));
  assert.equal(ratio().now(), 4);
  model.info = { id: "openai:two" };
  assert.equal(ratio().now(), 1);
  await learning(REQUEST, 8_000, () => answered(1_500));
  model.info = { id: "openai:one" };
  assert.equal(ratio().now(), 4);
});

Deno.test("a refusal for its length tells it too: the exact count, or more than the window", async () => {
  const refusing = (detail: { readonly tokens?: number } = {}) => () =>
    Promise.reject(new Fault("contextOverflow", "Cannot infer: too long", { detail }));
  const exact = makeTokenCounts({ info: { id: "gguf" } });
  await assert.rejects(exact.learning(REQUEST, 2_048, refusing({ tokens: 3_000 })), /too long/);
  assert.equal(exact.ratio().of(1_000), 3_000);
  const vague = makeTokenCounts({ info: { id: "openai" } });
  await assert.rejects(vague.learning(REQUEST, 2_048, refusing()), /too long/);
  assert.equal(vague.ratio().of(1_000), 2_049);
  const other = makeTokenCounts({ info: { id: "openai" } });
  const away = () => Promise.reject(new Fault("upstream", "Cannot infer: away"));
  await assert.rejects(other.learning(REQUEST, 2_048, away), /away/);
  assert.equal(other.ratio().now(), 1);
});
