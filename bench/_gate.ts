/** A gate without a disk: every lease holds, nothing is kept. For benches. @module */
import { type Lease, LeaseId, Pid, SessionId, TaskId } from "../contracts/authority/mod.ts";
import { NO_POLICY } from "../contracts/policy/mod.ts";
import {
  DEFAULT_LIMITS,
  noUsage,
  type Powers,
  type ProcessRow,
  type ToolBinding,
} from "../contracts/task/mod.ts";
import { makeGate, type TaskGate } from "../broker/gate/gate.ts";
import { makePins } from "../broker/guards.ts";
import { makePolicy } from "../broker/policy.ts";
import type { Provenance } from "../broker/provenance/origins.ts";
import { openQuestions } from "../broker/questions.ts";
import { redact } from "../broker/credentials.ts";
import { makeRedeem, makeTokens } from "../broker/tokens.ts";
import type { GrantedCall } from "../contracts/task/mod.ts";

/** A gate, and the process that calls it. */
export interface BenchGate {
  readonly gate: TaskGate;
  readonly process: ProcessRow;
}

/** What the bench's tools are made with. */
export interface BenchPowers {
  readonly process: ProcessRow;
  redeem(call: GrantedCall): void;
}

/** Powers without a clock: for what is measured without them. */
export function fixedPowers(): Powers {
  let ids = 0;
  return {
    now: () => 1_000,
    id: (prefix: string) => prefix + (++ids).toString(36).padStart(12, "0"),
    token: () => (++ids).toString(16).padStart(32, "0"),
    after: () => () => {},
    reach: () => {},
  };
}

/** Makes one over these tools. */
export async function makeBenchGate(
  parts: {
    tools(powers: BenchPowers): readonly ToolBinding[];
    readonly powers: Powers;
    readonly provenance?: Provenance;
  },
): Promise<BenchGate> {
  const { powers } = parts;
  const pid = Pid.parse(2), task = TaskId.parse("t000000000001");
  const process: ProcessRow = {
    pid,
    ppid: undefined,
    task,
    session: SessionId.parse("s000000000001"),
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
    id: LeaseId.parse("l000000000001"),
    task,
    pid,
    scope: { resource: "mount", right: "read", path: "" },
    grantedAt: 0,
    expiresAt: 9e15,
    reason: "bench",
  };
  const processes = {
    get: () => process,
    list: () => [process],
    taint: () => {},
    advertise: (_pid: Pid, snapshot: ProcessRow["snapshot"]) => {
      process.snapshot = snapshot;
    },
    charge: () => {},
    wouldExceed: (_pid: Pid, charge: { readonly call?: string }) =>
      process.usage.toolCalls + (charge.call === undefined ? 0 : 1) > process.limits.toolCalls
        ? "toolCalls"
        : undefined,
  };
  const tokens = makeTokens(powers);
  const bindings = parts.tools({ process, redeem: makeRedeem(tokens, processes) });
  const tools = new Map(bindings.map((binding) => [String(binding.descriptor.name), binding]));
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
  const store = {
    document: () => Promise.resolve(undefined),
    documents: () => Promise.resolve([]),
  };
  const fixed = (): Promise<never> => Promise.reject(new Error("not in this bench"));
  const gate = makeGate({
    ...{ powers, processes, log, tokens, redact },
    leases: {
      ...{ grant: fixed, derive: fixed },
      revoke: () => Promise.resolve([]),
      alive: () => true,
      get: () => lease,
      covering: () => lease,
      dead: () => undefined,
      list: () => [lease],
      onEnd: () => () => {},
    },
    questions: await openQuestions({ store, log, powers, personKey }),
    policy: makePolicy(NO_POLICY),
    tools: () => tools,
    pins: makePins(bindings.map(({ descriptor }) => descriptor)),
    ...(parts.provenance === undefined ? {} : { provenance: parts.provenance }),
  });
  return { gate, process };
}
