import { deepEqual, equal, rejects } from "node:assert/strict";
import { CallId, Digest, Pid, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { ModelChoice, NewEvent } from "../../../contracts/task/mod.ts";
import { makeModelRates } from "../../power/model/rates.ts";
import type { OpenModel } from "../../power/model/services.ts";
import { type JudgedModel, makeProcessModel, type ProcessModel } from "./process_model.ts";

const SMALL = { ref: "gguf:small", config: "{}" };
const OTHER = { ref: "gguf:other", config: "{}" };
const LARGE = { ref: "openai:large", config: '{"model":"large"}' };

interface World {
  readonly process: ProcessModel;
  readonly events: NewEvent[];
  readonly held: Map<string, number>;
  readonly judged: JudgedModel[];
  readonly changes: { refused?: string; small?: string; full?: boolean; missing?: boolean };
  /** The model that answered an inference now. */
  answers(): Promise<string>;
}

function makeWorld(rule?: { readonly after: number; readonly to: ModelChoice }): World {
  const events: NewEvent[] = [], judged: JudgedModel[] = [];
  const held = new Map<string, number>();
  const changes: World["changes"] = {};
  const open = (ref: string): OpenModel => {
    held.set(ref, (held.get(ref) ?? 0) + 1);
    const remote = ref === LARGE.ref;
    return {
      info: {
        ...{ id: ref, displayName: ref, arch: "x", backend: ref.split(":")[0] ?? "", remote },
        ...{ contextTokens: remote ? 2_000 : 1_000, outputTokens: 100, supportsTools: true },
      },
      plan: { noWait: false, ...(remote ? { host: "api.example.com" } : {}) },
      infer: () =>
        Promise.resolve({
          message: {
            role: "assistant",
            content: ref,
            provenance: { origin: "model", colour: "BLUE", label: "public" },
          },
          usage: { inputTokens: 1, outputTokens: 1 },
          finishReason: "stop",
        }),
      embed: () => Promise.resolve({ vectors: [], inputTokens: 0 }),
      release: () => void held.set(ref, (held.get(ref) ?? 0) - 1),
    };
  };
  const powers = { now: () => 0, token: () => "n", after: () => () => undefined };
  const process = makeProcessModel({
    first: SMALL,
    opened: open(SMALL.ref),
    rule,
    others: [LARGE, OTHER],
    powers,
    rates: makeModelRates(powers),
    row: {
      ...{ task: TaskId.parse("t000000000001"), session: SessionId.parse("s000000000001") },
      ...{ principal: "alice", conversation: "main", turn: 1, pid: Pid.parse(2) },
      ...{ label: "internal", colour: "BLUE" },
    },
    models: {
      provide: ({ ref }) =>
        changes.missing === true
          ? Promise.reject(new Fault("unavailable", "Cannot open: its key is not here"))
          : Promise.resolve(open(ref)),
    },
    judge(model) {
      judged.push(model);
      if (model.ref === SMALL.ref) return changes.small;
      return model.ref === LARGE.ref ? changes.refused : undefined;
    },
    log: {
      append: (_task, more) => {
        if (changes.full === true) return Promise.reject(new Fault("storeFull", "Cannot append"));
        events.push(...more);
        return Promise.resolve(more.map((_, n) => ({ n, hash: Digest.parse("0".repeat(64)) })));
      },
    },
  });
  return {
    ...{ process, events, held, judged, changes },
    answers: async () =>
      (await process.model.infer({
        messages: [],
        tools: [],
        maxTokens: 1,
        nonce: "n",
      }, { onChunk: () => undefined, signal: new AbortController().signal })).message.content,
  };
}

function fail(process: ProcessModel): void {
  const call = { id: CallId.parse("c"), name: "x", arguments: "{" };
  process.proposed([call]);
  process.called(call, "invalidArguments");
}

Deno.test("a process goes on with the other model: judged, opened, on record before it is asked, the old kept by its opener", async () => {
  const world = makeWorld({ after: 1, to: LARGE });
  equal(await world.process.switchIfDue(), false);
  equal(await world.answers(), SMALL.ref);
  fail(world.process);
  equal(await world.process.switchIfDue(), true);
  deepEqual(world.judged.at(-1), { ref: LARGE.ref, remote: true, host: "api.example.com" });
  equal(await world.answers(), LARGE.ref);
  deepEqual(world.events.map(({ kind }) => kind), ["modelChanged", "modelAsked"]);
  deepEqual([world.process.model.info.id, world.process.model.plan.host], [
    LARGE.ref,
    "api.example.com",
  ]);
  fail(world.process);
  equal(await world.process.switchIfDue(), false);
  world.process.release();
  world.process.release();
  deepEqual([...world.held], [[SMALL.ref, 1], [LARGE.ref, 0]]);
});

Deno.test("mallory's wrong calls would have moved secret text to a provider that may not have it", async () => {
  const world = makeWorld({ after: 1, to: LARGE });
  world.changes.refused = "the conversation is secret (a rule)";
  fail(world.process);
  equal(await world.process.switchIfDue(), false);
  equal(await world.answers(), SMALL.ref);
  equal(world.held.get(LARGE.ref), 0);
  deepEqual(world.events.map(({ kind, body }) => [kind, body["made"]]), [["modelChanged", false]]);
  equal(world.events[0]?.private?.["refused"], "the conversation is secret (a rule)");
  fail(world.process);
  equal(await world.process.switchIfDue(), false);
  equal(world.events.length, 1);
});

Deno.test("a model that cannot be opened leaves the process what it has, and says why", async () => {
  const world = makeWorld();
  world.changes.missing = true;
  world.process.choose(LARGE);
  equal(await world.process.switchIfDue(), false);
  equal(await world.answers(), SMALL.ref);
  equal(world.events[0]?.private?.["refused"], "Cannot open: its key is not here");
});

Deno.test("a switch that cannot be recorded is none, and what it opened is given back", async () => {
  const world = makeWorld();
  world.process.choose(LARGE);
  world.changes.full = true;
  await rejects(world.process.switchIfDue(), { code: "storeFull" });
  equal(await world.answers(), SMALL.ref);
  equal(world.held.get(LARGE.ref), 0);
});

Deno.test("a model in use that is no longer allowed is refused as the first one would be", async () => {
  const world = makeWorld();
  world.process.choose(LARGE);
  equal(await world.process.switchIfDue(), true);
  world.changes.refused = "the conversation is secret (a rule)";
  equal(world.process.refused(), "the conversation is secret (a rule)");
  await rejects(world.answers(), { code: "refused" });
  equal(world.events.filter(({ kind }) => kind === "modelAsked").length, 0);
});

Deno.test("where the label rises above its model a process goes on with the first other that may see it, each tried once", async () => {
  const world = makeWorld();
  equal(await world.process.switchIfDue(), false);
  world.changes.small = "the conversation is secret (a rule)";
  world.changes.refused = "the conversation is secret (a rule)";
  equal(await world.process.switchIfDue(), true);
  equal(await world.answers(), OTHER.ref);
  deepEqual(
    world.events.filter(({ kind }) => kind === "modelChanged")
      .map(({ body }) => [body["why"], body["made"]]),
    [["label", false], ["label", true]],
  );
  equal(await world.process.switchIfDue(), false);
});
