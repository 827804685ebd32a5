/** The gate without a disk: what a decision costs. FACTS section 7. @module */
import { Ajv } from "ajv";
import {
  CallId,
  DEFAULT_LIMITS,
  type JsonObject,
  type Lease,
  LeaseId,
  NO_POLICY,
  noUsage,
  Pid,
  type ProcessRow,
  SessionId,
  TaskId,
  type ToolBinding,
  ToolName,
} from "../contracts/mod.ts";
import { makeGate } from "../broker/gate.ts";
import { makePins } from "../broker/pins.ts";
import { makePolicy } from "../broker/policy.ts";
import { openQuestions } from "../broker/questions.ts";
import { redact } from "../broker/redact.ts";
import { makeTokens } from "../broker/tokens.ts";
import { median } from "./quantile.ts";
import type { Row } from "./row.ts";

const PATH = { type: "string", minLength: 1, maxLength: 4_096 } as const;
const SMALL_SCHEMA = {
  type: "object",
  properties: {
    path: PATH,
    from: { type: "integer", minimum: 1 },
    to: { type: "integer", minimum: 1 },
    maxBytes: { type: "integer", minimum: 1, maximum: 1_048_576 },
  },
  required: ["path"],
  additionalProperties: false,
} as const;
const LARGE_SCHEMA = {
  type: "object",
  properties: {
    path: PATH,
    edits: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          from: { type: "integer" },
          to: { type: "integer" },
          text: { type: "string", maxLength: 65_536 },
        },
        required: ["from", "to", "text"],
        additionalProperties: false,
      },
    },
  },
  required: ["path", "edits"],
  additionalProperties: false,
} as const;

const SMALL = { from: 10, maxBytes: 16_384, path: "desk/decision/0007-why.md", to: 80 };
const LARGE = {
  edits: Array.from({ length: 5 }, (_, i) => ({
    from: i,
    text: "some replaced text that is of ordinary length, a line or so.\n".repeat(3),
    to: i + 3,
  })),
  path: "desk/notes/monday.md",
};

/** Rows for `deno task bench`: a decision at two sizes, against parsing and checking alone. */
export async function gateBench(): Promise<Row[]> {
  return [
    await row("gate decision, small arguments", { args: SMALL, schema: SMALL_SCHEMA, most: 3 }),
    await row("gate decision, 1 KB of arguments", { args: LARGE, schema: LARGE_SCHEMA, most: 10 }),
  ];
}

async function row(
  name: string,
  load: { readonly args: JsonObject; readonly schema: object; readonly most: number },
): Promise<Row> {
  const text = JSON.stringify(load.args);
  const decide = await decider(text, JSON.stringify(load.schema));
  const check = new Ajv({ strict: false }).compile(load.schema);
  const { value, baseline } = medians(decide, () => {
    if (!check(JSON.parse(text))) throw new Error("the arguments do not fit");
  });
  return {
    name,
    value,
    unit: "µs",
    baseline,
    ratio: value / baseline,
    target: `<= ${load.most} µs median`,
    ok: value <= load.most,
  };
}

/** Medians of 60 rounds each, taken in turn so that both see the same machine; microseconds a call. */
function medians(a: () => void, b: () => void): { value: number; baseline: number } {
  const calls = 1_000, rounds = 60;
  const took = (f: () => void): number => {
    const began = performance.now();
    for (let i = 0; i < calls; i++) f();
    return (performance.now() - began) / calls * 1_000;
  };
  for (let i = 0; i < 50; i++) took(a), took(b);
  const as: number[] = [], bs: number[] = [];
  for (let i = 0; i < rounds; i++) as.push(took(a)), bs.push(took(b));
  return { value: median(as), baseline: median(bs) };
}

async function decider(text: string, paramSchema: string): Promise<() => void> {
  let ids = 0;
  const powers = {
    now: () => 1_000,
    id: (prefix: string) => prefix + (++ids).toString(36).padStart(12, "0"),
    token: () => (++ids).toString(16).padStart(32, "0"),
    after: () => () => {},
    reach: () => {},
  };
  const pid = Pid.parse(2), task = TaskId.parse(powers.id("t"));
  const process: ProcessRow = {
    pid,
    ppid: undefined,
    task,
    session: SessionId.parse(powers.id("s")),
    conversation: "main",
    principal: "bench",
    profile: "operator",
    spec: "agent",
    mounts: [],
    capabilities: undefined,
    limits: DEFAULT_LIMITS,
    depth: 0,
    onQuestion: "queue",
    startedAt: 0,
    status: "running",
    phase: "work",
    turn: 1,
    colour: "YELLOW",
    label: "internal",
    sources: [],
    usage: noUsage(),
    leases: [],
    snapshot: undefined,
    model: { id: "scripted:bench", backend: "scripted", nonce: "n" },
    calls: new Map(),
    exit: undefined,
  };
  const lease: Lease = {
    id: LeaseId.parse(powers.id("l")),
    task,
    pid,
    scope: { resource: "mount", right: "read", path: "desk" },
    grantedAt: 0,
    expiresAt: 9e15,
    reason: "bench",
  };
  const binding: ToolBinding = {
    descriptor: Object.freeze({
      name: ToolName.parse("file_read"),
      description: "Reads a file.",
      interfaceId: "Files",
      methodName: "read",
      paramSchema,
      permission: "auto",
      category: "read",
    }),
    effect: "read",
    deadlineMs: 1_000,
    resultBytes: 1_000,
    resolve: (args) => ({
      scopes: [{ resource: "mount", right: "read", path: String(args["path"]) }],
      effect: "read",
      digests: {},
      summary: "Read a file.",
      idempotent: true,
    }),
    invoke: () => Promise.reject(new Error("not in this bench")),
  };
  const tools = new Map([["file_read", binding]]);
  const log = {
    append: () => Promise.resolve([]),
    head: () => {
      throw new Error("not in this bench");
    },
  };
  const { publicKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const personKey = raw.toBase64({ alphabet: "base64url", omitPadding: true });
  const store = { documents: () => Promise.resolve([]) };
  const gate = makeGate({
    powers,
    processes: {
      get: () => process,
      list: () => [process],
      taint: () => {},
      advertise: (_pid, snapshot) => {
        process.snapshot = snapshot;
      },
      charge: () => {},
      wouldExceed: (_pid, charge) =>
        process.usage.toolCalls + (charge.call === undefined ? 0 : 1) > process.limits.toolCalls
          ? "toolCalls"
          : undefined,
    },
    leases: {
      grant: () => Promise.reject(new Error("not in this bench")),
      derive: () => Promise.reject(new Error("not in this bench")),
      revoke: () => Promise.resolve([]),
      alive: () => true,
      get: () => lease,
      covering: (_pid, scope) => scope.path.startsWith("desk/") ? lease : undefined,
      dead: () => undefined,
      list: () => [lease],
      onEnd: () => () => {},
    },
    questions: await openQuestions({ store, log, powers, personKey }),
    policy: makePolicy(NO_POLICY),
    log,
    tools: () => tools,
    pins: makePins([binding.descriptor]),
    tokens: makeTokens(powers),
    redact,
  });
  const call = { id: CallId.parse("c1"), name: "file_read", arguments: text };
  const { id } = gate.advertise(pid);
  return () => {
    const decision = gate.decide(pid, call, id);
    if (decision.kind !== "allow") throw new Error(JSON.stringify(decision));
  };
}
