/** A kernel made of hand-made parts around a real gate: what the broker's tests stand on. @module */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  type Answer,
  CallId,
  type ChargeableUsage,
  type Colour,
  DEFAULT_LIMITS,
  type DocumentRow,
  type DocumentWrite,
  type EffectClass,
  Fault,
  type GrantedCall,
  type Guard,
  type JsonObject,
  type Label,
  type Lease,
  LeaseId,
  type Leases,
  type NewEvent,
  NO_POLICY,
  noUsage,
  Pid,
  type PolicySource,
  type PowerResult,
  type Powers,
  type ProcessKeeper,
  type ProcessRow,
  type Question,
  type Resolved,
  type Scope,
  SessionId,
  TaskId,
  toJsonObject,
  type ToolBinding,
  type ToolCall,
  type ToolDescriptor,
  ToolName,
  type ToolResult,
} from "../contracts/mod.ts";
import { digestOf, sha256Hex } from "../port/digest.ts";
import { signedBytes } from "./answer_check.ts";
import { makeGate, type TaskGate } from "./gate.ts";
import type { Guards } from "./guards.ts";
import { makePins, type Pins } from "./pins.ts";
import { makePolicy } from "./policy.ts";
import { openQuestions, type QuestionBook } from "./questions.ts";
import { redact } from "./redact.ts";
import { makeRedeem, makeTokens, type Tokens } from "./tokens.ts";

/** A clock turned by hand, ids that count, and failpoints that are noted. */
export interface HandPowers extends Powers {
  turn(ms: number): void;
  readonly reached: string[];
}

export function handPowers(): HandPowers {
  let now = 1_000_000, count = 0;
  const timers = new Map<number, { at: number; f: () => void }>();
  const reached: string[] = [];
  return {
    reached,
    now: () => now,
    id: (prefix) => prefix + (++count).toString(36).padStart(12, "0"),
    token: () => sha256Hex(`token ${++count}`).slice(0, 32),
    after: (ms, f) => {
      const id = ++count;
      timers.set(id, { at: now + ms, f });
      return () => void timers.delete(id);
    },
    reach: (point) => void reached.push(point),
    turn: (ms) => {
      now += ms;
      for (const [id, timer] of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(id);
        timer.f();
      }
    },
  };
}

/** A log that remembers, that can be full, and during whose commits things can happen. */
export interface FakeLog {
  readonly events: (NewEvent & { readonly task: string; readonly commit: number })[];
  readonly documents: Map<string, DocumentRow>;
  full: boolean;
  during: (() => void) | undefined;
  append(
    task: string,
    events: readonly NewEvent[],
    documents?: readonly DocumentWrite[],
  ): Promise<{ n: number; hash: ReturnType<typeof sha256Hex> }[]>;
  head(): ReturnType<typeof sha256Hex>;
}

function fakeLog(): FakeLog {
  let commit = 0;
  const log: FakeLog = {
    events: [],
    documents: new Map(),
    full: false,
    during: undefined,
    head: () => sha256Hex("head"),
    append: async (task, events, documents = []) => {
      await Promise.resolve();
      if (log.full) throw new Fault("storeFull", "Cannot append: the disk is full");
      for (const write of documents) {
        const version = log.documents.get(write.id)?.version ?? 0;
        if (version !== write.expect) throw new Fault("conflict", `Cannot write ${write.id}`);
        const { kind, id, body } = write;
        log.documents.set(id, { kind, id, task: write.task, version: version + 1, body });
      }
      commit++;
      for (const event of events) log.events.push({ ...event, task, commit });
      const during = log.during;
      log.during = undefined;
      during?.();
      return events.map((_, n) => ({ n, hash: sha256Hex(`${n}`) }));
    },
  };
  return log;
}

/** A lease table without a store. */
export interface FakeLeases extends Leases {
  end(id: LeaseId, why: "revoked" | "expired"): void;
}

function fakeLeases(powers: Powers): FakeLeases {
  const rows = new Map<LeaseId, Lease>();
  const ended = new Map<LeaseId, "revoked" | "expired">();
  const listeners = new Set<(lease: Lease, why: "revoked" | "expired") => void>();
  const fits = (lease: Lease, pid: Pid, scope: Scope): boolean =>
    lease.pid === pid && lease.scope.resource === scope.resource &&
    lease.scope.right === scope.right &&
    (lease.scope.path === "" || lease.scope.path === scope.path ||
      scope.path.startsWith(`${lease.scope.path}/`));
  const end = (id: LeaseId, why: "revoked" | "expired"): void => {
    const lease = rows.get(id);
    ended.set(id, why);
    if (lease !== undefined) { for (const listener of listeners) listener(lease, why); }
  };
  const alive = (id: LeaseId): boolean => rows.has(id) && !ended.has(id);
  return {
    end,
    alive,
    grant: (lease) => {
      const made: Lease = { ...lease, id: LeaseId.parse(powers.id("l")), grantedAt: powers.now() };
      rows.set(made.id, made);
      return Promise.resolve(made);
    },
    derive: () => Promise.reject(new Error("not in this fake")),
    revoke: (id) => {
      end(id, "revoked");
      return Promise.resolve([id]);
    },
    get: (id) => rows.get(id),
    covering: (pid, scope) =>
      [...rows.values()].find((lease) => fits(lease, pid, scope) && alive(lease.id)),
    dead: (pid, scope) =>
      [...rows.values()].filter((lease) => fits(lease, pid, scope))
        .map((lease) => ended.get(lease.id)).find((why) => why !== undefined),
    list: () => [...rows.values()],
    onEnd: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A process table of rows that tests change at will. */
export interface FakeProcesses extends ProcessKeeper {
  readonly rows: Map<number, ProcessRow>;
  readonly charges: Partial<ChargeableUsage>[];
  limit: ((charge: Partial<ChargeableUsage>) => string | undefined) | undefined;
}

function fakeProcesses(): FakeProcesses {
  const rows = new Map<number, ProcessRow>();
  const order = ["BLUE", "YELLOW", "RED"] as const,
    labels = ["public", "internal", "secret"] as const;
  const table: FakeProcesses = {
    rows,
    charges: [],
    limit: undefined,
    get: (pid) => rows.get(pid),
    list: () => [...rows.values()],
    taint: (pid, taint) => {
      const row = rows.get(pid);
      if (row === undefined) return;
      if (order.indexOf(taint.colour) > order.indexOf(row.colour)) row.colour = taint.colour;
      if (labels.indexOf(taint.label) > labels.indexOf(row.label)) row.label = taint.label;
      row.sources.push(...taint.sources);
    },
    advertise: (pid, snapshot) => {
      const row = rows.get(pid);
      if (row !== undefined) row.snapshot = snapshot;
    },
    charge: (pid, charge) => {
      const limit = table.limit?.(charge);
      if (limit !== undefined) throw new Fault("budgetExhausted", `Cannot charge: ${limit}`);
      table.charges.push(charge);
      const row = rows.get(pid);
      if (row !== undefined) row.usage.questions += charge.questions ?? 0;
    },
    wouldExceed: (_pid, charge) => table.limit?.(charge),
  };
  return table;
}

/** A tool made for a test. */
export interface TestTool {
  readonly name: string;
  readonly effect: EffectClass;
  readonly category?: ToolDescriptor["category"];
  readonly paramSchema?: string;
  readonly description?: string;
  readonly deadlineMs?: number;
  readonly resultBytes?: number;
  resolve?(args: JsonObject, process: ProcessRow): Partial<Resolved>;
  invoke?(call: GrantedCall, signal: AbortSignal): Promise<Partial<PowerResult>>;
}

const ANY_OBJECT = JSON.stringify({ type: "object" });

/** Everything around one gate, in reach. */
export interface World {
  readonly powers: HandPowers;
  readonly log: FakeLog;
  readonly leases: FakeLeases;
  readonly processes: FakeProcesses;
  readonly tools: Map<string, ToolBinding>;
  readonly pins: Pins;
  readonly tokens: Tokens;
  readonly questions: QuestionBook;
  readonly gate: TaskGate;
  readonly alice: ProcessRow;
  /** Calls whose effect took place, by tool. */
  readonly effects: string[];
  add(tool: TestTool): ToolBinding;
  lease(scope: Scope, pid?: Pid): Promise<Lease>;
  call(name: string, args?: JsonObject, options?: CallOptions): Promise<ToolResult>;
  decide(name: string, args?: JsonObject): ReturnType<TaskGate["decide"]>;
  /** Waits until a question is open, then signs and gives an answer to it. */
  answer(change?: Partial<Answer>, key?: Keys): Promise<Question>;
  openQuestion(): Promise<Question>;
  signed(question: Question, change?: Partial<Answer>, key?: Keys): Answer;
}

export interface CallOptions {
  readonly id?: string;
  readonly pid?: Pid;
  readonly signal?: AbortSignal;
  readonly text?: string;
  readonly snapshot?: string;
}

export interface Keys {
  readonly raw: string;
  readonly secret: KeyObject;
}

export function makeKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { raw: String(publicKey.export({ format: "jwk" }).x), secret: privateKey };
}

export const CAROL = makeKeys();
export const CAROL_STEP_UP = makeKeys();
/** Names the kernel, as its receipt key does. */
export const KERNEL_KEY = makeKeys().raw;

export const DESK: Scope = { resource: "mount", right: "read", path: "desk" };

export interface WorldOptions {
  readonly policy?: Partial<PolicySource>;
  readonly row?: Partial<ProcessRow>;
  readonly guards?: Guards;
  readonly advisor?: Guard;
  readonly stepUpKey?: boolean;
  readonly unfinished?: ReadonlySet<string>;
  readonly finished?: ReadonlyMap<string, ToolResult>;
  readonly from?: World;
}

let tasks = 0;

export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const powers = options.from?.powers ?? handPowers();
  const log = options.from?.log ?? fakeLog();
  const leases = fakeLeases(powers), processes = fakeProcesses();
  const tokens = makeTokens(powers), pins = makePins();
  const tools = new Map<string, ToolBinding>();
  const effects: string[] = [];
  const questions = await openQuestions({
    store: { documents: () => Promise.resolve([...log.documents.values()]) },
    log,
    powers,
    personKey: CAROL.raw,
    kernelKey: KERNEL_KEY,
    ...(options.stepUpKey === false ? {} : { stepUpKey: CAROL_STEP_UP.raw }),
  });
  const { unfinished, finished } = options;
  const gate = makeGate({
    powers,
    processes,
    leases,
    questions,
    policy: makePolicy({ ...NO_POLICY, ...options.policy }),
    log,
    tools: () => tools,
    pins,
    tokens,
    redact,
    ...(options.guards === undefined ? {} : { guards: options.guards }),
    ...(options.advisor === undefined ? {} : { advisor: options.advisor }),
    ...(unfinished === undefined ? {} : { unfinished: () => unfinished }),
    ...(finished === undefined ? {} : { finished: () => finished }),
  });
  const alice = makeRow({ ...options.row, ...(options.from && { task: options.from.alice.task }) });
  processes.rows.set(alice.pid, alice);
  const redeem = makeRedeem(tokens, processes);

  const world: World = {
    powers,
    log,
    leases,
    processes,
    tools,
    pins,
    tokens,
    questions,
    gate,
    alice,
    effects,
    add: (tool) => {
      const binding = bind(tool, redeem, effects);
      tools.set(tool.name, binding);
      pins.review(binding.descriptor);
      return binding;
    },
    lease: (scope, pid = alice.pid) =>
      leases.grant({ task: alice.task, pid, scope, expiresAt: 9e15, reason: "test" }),
    call: async (name, args = {}, more = {}) => {
      const pid = more.pid ?? alice.pid;
      const snapshot = more.snapshot ?? gate.advertise(pid).id;
      const signal = more.signal ?? new AbortController().signal;
      return await gate.call(pid, callOf(name, args, more), snapshot, signal);
    },
    decide: (name, args = {}) =>
      gate.decide(alice.pid, callOf(name, args), gate.advertise(alice.pid).id),
    openQuestion: async () => {
      for (let i = 0; i < 100; i++) {
        const [open] = questions.open();
        if (open !== undefined) return open;
        await Promise.resolve();
      }
      throw new Error("nobody was asked");
    },
    signed: (question, change = {}, key = CAROL) => signed(question, powers.now(), { change, key }),
    answer: async (change = {}, key = CAROL) => {
      const question = await world.openQuestion();
      const answered = await questions.answer(world.signed(question, change, key));
      return answered;
    },
  };
  await world.lease(DESK);
  await world.lease({ resource: "mount", right: "write", path: "desk" });
  await world.lease({ resource: "net", right: "use", path: "" });
  return world;
}

function signed(
  question: Question,
  at: number,
  { change, key }: { readonly change: Partial<Answer>; readonly key: Keys },
): Answer {
  const answer = {
    question: question.id,
    shown: digestOf(toJsonObject({ ...question, state: "open" })),
    decision: "allow" as const,
    for: "once" as const,
    by: "carol",
    channel: "terminal" as const,
    at,
    key: key.raw,
    ...change,
  };
  const signature = sign(null, signedBytes(answer), key.secret);
  return {
    ...answer,
    signature: new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true }),
  };
}

function callOf(name: string, args: JsonObject, more: CallOptions = {}): ToolCall {
  return {
    id: CallId.parse(more.id ?? "c1"),
    name,
    arguments: more.text ?? JSON.stringify(args),
  };
}

export function makeRow(change: Partial<ProcessRow> = {}): ProcessRow {
  return {
    pid: Pid.parse(2),
    ppid: undefined,
    task: TaskId.parse(`t${(++tasks).toString(36).padStart(12, "0")}`),
    session: SessionId.parse("s000000000001"),
    conversation: "main",
    principal: "alice",
    profile: "operator",
    spec: "agent",
    mounts: [],
    capabilities: undefined,
    limits: DEFAULT_LIMITS,
    depth: 0,
    onQuestion: "ask",
    startedAt: 0,
    status: "running",
    phase: "work",
    turn: 1,
    colour: "BLUE",
    label: "public",
    sources: [],
    usage: noUsage(),
    leases: [],
    snapshot: undefined,
    model: { id: "scripted:test", backend: "scripted", nonce: "n" },
    calls: new Map(),
    exit: undefined,
    ...change,
  };
}

function bind(
  tool: TestTool,
  redeem: (call: GrantedCall) => void,
  effects: string[],
): ToolBinding {
  const descriptor: ToolDescriptor = {
    name: ToolName.parse(tool.name),
    description: tool.description ?? "A tool made for a test.",
    interfaceId: "Test",
    methodName: tool.name,
    paramSchema: tool.paramSchema ?? ANY_OBJECT,
    permission: "auto",
    category: tool.category ?? "read",
  };
  return {
    descriptor,
    effect: tool.effect,
    deadlineMs: tool.deadlineMs ?? 1_000,
    resultBytes: tool.resultBytes ?? 10_000,
    resolve: (args, process) => ({
      scopes: [DESK],
      effect: tool.effect,
      digests: {},
      summary: "A test acts.",
      idempotent: false,
      ...tool.resolve?.(args, process),
    }),
    invoke: async (call, signal) => {
      redeem(call);
      const result = await tool.invoke?.(call, signal);
      effects.push(tool.name);
      return { content: "done", colour: "BLUE", label: "public", sources: [], ...result };
    },
  };
}

export const COLOURS: readonly Colour[] = ["BLUE", "YELLOW", "RED"];
export const LABELS: readonly Label[] = ["public", "internal", "secret"];
