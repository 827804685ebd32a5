import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { Digest, Pid, SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { NewEvent } from "../../../contracts/task/mod.ts";
import { type Embedders, type EmbedOptions, makeEmbedders } from "./embedders.ts";
import { makeModelRates } from "./rates.ts";
import type { OpenModel } from "./services.ts";

const LABELS = ["public", "internal", "secret"] as const;
type Label = (typeof LABELS)[number];

interface World {
  readonly embedders: Embedders;
  /** What reached the service. */
  readonly sent: string[];
  readonly events: NewEvent[];
  released: number;
}

/** An embedder at `host` (none: on this machine) that is cleared for `clearance`; guests use local ones. */
function makeWorld(host: string | undefined, clearance: Label): World {
  const sent: string[] = [], events: NewEvent[] = [];
  const model: OpenModel = {
    info: {
      ...{ id: "e", displayName: "e", arch: "e", backend: "e", contextTokens: 100 },
      // A liar: it says that text stays here.
      ...{ outputTokens: 2, supportsTools: false, remote: false },
    },
    plan: { noWait: true, ...(host === undefined ? {} : { host }) },
    infer: () => Promise.reject(new Error("an embedder infers nothing")),
    embed: (texts) => {
      sent.push(...texts);
      return Promise.resolve({ vectors: texts.map(() => new Float32Array(2)), inputTokens: 7 });
    },
    release: () => void (world.released += 1),
  };
  let tokens = 0;
  const powers = { now: () => 1_000, token: () => `n${++tokens}`, after: () => () => undefined };
  const world: World = {
    sent,
    events,
    released: 0,
    embedders: makeEmbedders({
      powers,
      rates: makeModelRates(powers),
      provide: () => Promise.resolve(model),
      modelRefused: ({ profile, label }, sink) => {
        if (sink.remote && profile !== "operator") return "guests use local ones";
        const above = LABELS.indexOf(label) > LABELS.indexOf(clearance);
        return sink.remote && above ? `the texts are ${label}` : undefined;
      },
      log: {
        append: (_task, more) => {
          events.push(...more);
          return Promise.resolve(more.map((_, n) => ({ n, hash: Digest.parse("0".repeat(64)) })));
        },
      },
    }),
  };
  return world;
}

const options = (label: Label, changes: Partial<EmbedOptions["row"]> = {}): EmbedOptions => ({
  label,
  signal: new AbortController().signal,
  row: {
    task: TaskId.parse("t000000000001"),
    session: SessionId.parse("s000000000001"),
    principal: "alice",
    profile: "operator",
    conversation: "main",
    turn: 1,
    pid: Pid.parse(2),
    label: "public",
    colour: "RED",
    ...changes,
  },
});

const remote = { ref: "openai-embed:m@https://e.example/v1", config: "{}" };
const isFault = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;

Deno.test("texts within its clearance go to a remote embedder, on record before they leave", async () => {
  const world = makeWorld("e.example", "internal");
  const embedder = await world.embedders.provide(remote);
  const { vectors, inputTokens } = await embedder.embed(["a", "b"], options("internal"));
  equal(vectors.length, 2);
  equal(inputTokens, 7);
  deepEqual(world.sent, ["a", "b"]);
  equal(world.events[0]?.kind, "modelAsked");
  match(JSON.stringify(world.events[0]), /"internal"/);
});

Deno.test("mallory's secret text does not leave for a remote embedder, nor does text of a process that read secrets", async () => {
  const world = makeWorld("e.example", "internal");
  const embedder = await world.embedders.provide(remote);
  await rejects(embedder.embed(["key"], options("secret")), isFault("clearance"));
  await rejects(
    embedder.embed(["key"], options("public", { label: "secret" })),
    isFault("clearance"),
  );
  deepEqual([world.sent, world.events], [[], []]);
});

Deno.test("a session that may use no remote model is refused whatever the label", async () => {
  const world = makeWorld("e.example", "secret");
  const embedder = await world.embedders.provide(remote);
  await rejects(
    embedder.embed(["a"], options("public", { profile: "guest" })),
    isFault("refused"),
  );
  deepEqual(world.sent, []);
});

Deno.test("secrets may be embedded on this machine, and nothing is written of it", async () => {
  const world = makeWorld(undefined, "public");
  const embedder = await world.embedders.provide({ ref: "gguf-embed:m", config: "{}" });
  await embedder.embed(["key"], options("secret", { profile: "guest" }));
  deepEqual([world.sent, world.events], [["key"], []]);
  embedder.release();
  equal(world.released, 1);
});

Deno.test("a model that makes text is no embedder, and too many texts are refused before they are judged", async () => {
  const world = makeWorld(undefined, "secret");
  await rejects(
    world.embedders.provide({ ref: "openai:gpt@https://e.example/v1", config: "{}" }),
    isFault("invalidInput"),
  );
  const embedder = await world.embedders.provide(remote);
  await rejects(
    embedder.embed(new Array<string>(257).fill("a"), options("public")),
    isFault("tooLarge"),
  );
});
