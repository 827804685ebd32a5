/** Hand-made parts of a kernel around a real gate: the base of the broker's tests. @module */
import {
  type Answer,
  CallId,
  type Lease,
  Pid,
  type Question,
  type Scope,
} from "../../contracts/authority/mod.ts";
import type { JsonObject } from "../../contracts/base/mod.ts";
import type { Guard, ToolCall } from "../../contracts/model/mod.ts";
import { NO_POLICY, type PolicySource } from "../../contracts/policy/mod.ts";
import type { ProcessRow, ToolBinding } from "../../contracts/task/mod.ts";
import type { ToolResult } from "../../contracts/tool/mod.ts";
import { type GateParts, makeGate, type TaskGate } from "../gate/gate.ts";
import { type Guards, makePins, type Pins } from "../guards.ts";
import type { Plans } from "../plans.ts";
import { makePolicy } from "../policy.ts";
import { makeProvenance, type Provenance } from "../provenance/origins.ts";
import { openQuestions, type QuestionBook } from "../questions.ts";
import { redact } from "../credentials.ts";
import { makeRedeem, makeTokens, type Tokens } from "../tokens.ts";
import { CAROL, CAROL_STEP_UP, KERNEL_KEY, type Keys, signed } from "./carol.ts";
import { type FakeLeases, fakeLeases } from "./fake_leases.ts";
import { type FakeLog, fakeLog } from "./fake_log.ts";
import { type FakeProcesses, fakeProcesses, makeRow } from "./fake_processes.ts";
import { type HandPowers, handPowers } from "./hand_powers.ts";
import { bind, DESK, type TestTool } from "./test_tool.ts";

/** Everything around one gate, accessible to a test. */
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
  readonly provenance: Provenance;
  readonly alice: ProcessRow;
  /** Calls whose effect took place, by tool. */
  readonly effects: string[];
  add(tool: TestTool): ToolBinding;
  lease(scope: Scope, pid?: Pid): Promise<Lease>;
  call(name: string, args?: JsonObject, options?: CallOptions): Promise<ToolResult>;
  decide(name: string, args?: JsonObject): ReturnType<TaskGate["decide"]>;
  /** Waits until a question is open, then signs and gives an answer. */
  answer(change?: Partial<Answer>, key?: Keys): Promise<Question>;
  openQuestion(): Promise<Question>;
  signed(question: Question, change?: Partial<Answer>, key?: Keys): Answer;
}

/** How a call differs from alice's plain one. */
export interface CallOptions {
  readonly id?: string;
  readonly pid?: Pid;
  readonly signal?: AbortSignal;
  readonly text?: string;
  readonly snapshot?: string;
}

/** How a world differs from the plain one; `from`: an earlier kernel's log and clock. */
export interface WorldOptions {
  readonly policy?: Partial<PolicySource>;
  readonly row?: Partial<ProcessRow>;
  readonly guards?: Guards;
  readonly advisor?: Guard;
  readonly plans?: Plans;
  readonly flags?: GateParts["flags"];
  readonly earlier?: GateParts["earlier"];
  readonly signed?: GateParts["signed"];
  readonly stepUpKey?: boolean;
  readonly unfinished?: ReadonlySet<string>;
  readonly finished?: ReadonlyMap<string, ToolResult>;
  readonly from?: World;
}

/** Makes a world: alice runs, and has leases on `desk` and the net. */
export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const powers = options.from?.powers ?? handPowers();
  const log = options.from?.log ?? fakeLog();
  const leases = fakeLeases(powers), processes = fakeProcesses();
  const tokens = makeTokens(powers), pins = makePins();
  const tools = new Map<string, ToolBinding>();
  const effects: string[] = [];
  const questions = await openQuestions({
    store: {
      document: (_kind, id) => Promise.resolve(log.documents.get(id)),
      documents: ({ task }) =>
        Promise.resolve(
          [...log.documents.values()].filter((row) => task === undefined || row.task === task),
        ),
    },
    log,
    powers,
    personKey: CAROL.raw,
    kernelKey: KERNEL_KEY,
    ...(options.stepUpKey === false ? {} : { stepUpKey: CAROL_STEP_UP.raw }),
  });
  const { unfinished, finished } = options, provenance = makeProvenance();
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
    provenance,
    ...(options.guards === undefined ? {} : { guards: options.guards }),
    ...(options.flags === undefined ? {} : { flags: options.flags }),
    ...(options.earlier === undefined ? {} : { earlier: options.earlier }),
    ...(options.signed === undefined ? {} : { signed: options.signed }),
    ...(options.advisor === undefined ? {} : { advisor: options.advisor }),
    ...(options.plans === undefined ? {} : { plans: options.plans }),
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
    provenance,
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

function callOf(name: string, args: JsonObject, more: CallOptions = {}): ToolCall {
  return {
    id: CallId.parse(more.id ?? "c1"),
    name,
    arguments: more.text ?? JSON.stringify(args),
  };
}
