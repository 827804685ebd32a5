/** Shared by the tests of bindings: a server of the test, and powers that record their requests. */
import {
  CallId,
  Digest,
  type Label,
  Pid,
  type Scope,
  TaskId,
} from "../../../../contracts/authority/mod.ts";
import type { Json, JsonObject } from "../../../../contracts/base/mod.ts";
import { ImportedServer, type ServerListing } from "../../../../contracts/exchange/mod.ts";
import type { GrantedCall, ProcessRow, ToolBinding } from "../../../../contracts/task/mod.ts";
import { Artifact } from "../../../../contracts/tool/mod.ts";
import type { McpCallResult } from "../../../../contracts/wire/mod.ts";
import { sha256Hex } from "../../../../port/digest.ts";
import { effectOf, grantedEffect } from "../../../../bridges/mcp/review/effect.ts";
import { bindImported, type McpAsking, type McpBindParts } from "../bind.ts";

const TASK = TaskId.parse("t000000000000");
const ALICE = Pid.parse(2);
const ZERO = Digest.parse("0".repeat(64));

/** An npm server, unless a test says otherwise. */
export function serverOf(changes: Record<string, Json> = {}): ImportedServer {
  return ImportedServer.parse({
    name: "files",
    launch: {
      ...{ kind: "npm", package: "files", version: "1.0.0", args: [] },
      tree: { id: "files-1", sha256: ZERO, files: 1, bytes: 1 },
    },
    grants: { read: ["/home/alice/desk"], write: ["/home/alice/desk"], net: [] },
    ...{ env: {}, secretEnv: [], secretHeaders: [], samplingTokens: 0, elicitation: false },
    tools: [toolOf()],
    offers: { resources: true, prompts: true },
    clearance: "internal",
    ...changes,
  });
}

/** A tool that writes, unless a test says otherwise. */
export function toolOf(changes: Record<string, Json> = {}): JsonObject {
  return {
    ...{ name: "mcp_files_save", tool: "save", description: "Saves." },
    paramSchema: JSON.stringify({ type: "object" }),
    ...{ effect: "mutateLocal", holds: "all", idempotent: false, digest: ZERO },
    ...changes,
  };
}

/** Powers of the test. */
export interface Bench {
  readonly bindings: ReadonlyMap<string, ToolBinding>;
  readonly asked: McpAsking[];
  readonly redeemed: string[];
  readonly kept: Parameters<McpBindParts["keep"]>[0][];
  readonly folded: JsonObject[];
  readonly carried: { label: Label };
  /** Paths of revoked scopes. */
  readonly dead: Set<string>;
  readonly suspended: Map<string, string>;
  call(tool: string, args?: JsonObject, label?: Label): GrantedCall;
  invoke(tool: string, args?: JsonObject, label?: Label): ReturnType<ToolBinding["invoke"]>;
}

/** Binds a server over powers of the test. */
export function benchOf(
  server: ImportedServer,
  answer: (asking: McpAsking) => McpCallResult | Promise<McpCallResult> = () => textResult("done"),
): Bench {
  const dead = new Set<string>(), suspended = new Map<string, string>();
  const asked: McpAsking[] = [], redeemed: string[] = [], folded: JsonObject[] = [];
  const kept: Bench["kept"] = [], carried: { label: Label } = { label: "internal" };
  const parts: McpBindParts = {
    redeem: ({ token }) => void redeemed.push(token),
    held: (_pid, scope: Scope) => !dead.has(scope.path),
    suspended: ({ tool }) => suspended.get(tool),
    async ask(asking) {
      asked.push(asking);
      return await answer(asking);
    },
    words: () => Promise.resolve(WORDS),
    keep(each) {
      kept.push(each);
      return Promise.resolve(Artifact.parse({
        ...{ id: `a${String(kept.length).padStart(12, "0")}`, task: TASK, name: each.name },
        ...{ digest: sha256Hex(each.bytes), bytes: each.bytes.length },
        ...{ colour: each.colour, label: each.label, state: "quarantined" },
        ...{ createdAt: 0, expiresAt: 1 },
      }));
    },
    fold: (record) => void folded.push(record),
    carried,
    effects: { effectOf, grantedEffect },
  };
  const bindings = new Map(
    bindImported(server, parts).map((each) => [String(each.descriptor.name), each]),
  );
  const bindingOf = (tool: string): ToolBinding => {
    const binding = bindings.get(tool);
    if (binding === undefined) throw new Error(`no tool "${tool}"`);
    return binding;
  };
  const call = (tool: string, args: JsonObject = {}, label: Label = "public"): GrantedCall => {
    const binding = bindingOf(tool);
    return {
      ...{ task: TASK, pid: ALICE, callId: CallId.parse("c1"), tool: binding.descriptor.name },
      ...{ args, resolved: binding.resolve(args, rowOf(label)), token: "token" },
      ...{ idempotencyKey: ZERO, deadlineMs: 1_000, resultBytes: 65_536 },
    };
  };
  return {
    ...{ bindings, asked, redeemed, kept, folded, carried, dead, suspended, call },
    invoke: (tool, args, label) =>
      bindingOf(tool).invoke(call(tool, args, label), new AbortController().signal),
  };
}

/** A process that has read nothing untrusted. */
export function rowOf(label: Label = "public"): ProcessRow {
  return { pid: ALICE, task: TASK, colour: "BLUE", label } as ProcessRow;
}

/** An answer of one text. */
export function textResult(text: string, changes: Partial<McpCallResult> = {}): McpCallResult {
  return { isError: false, parts: [{ kind: "text", text }], cutBytes: 0, ...changes };
}

const WORDS: ServerListing = {
  protocol: "2025-11-25",
  server: { name: "files", version: "1" },
  capabilities: [],
  tools: [],
  resources: [{ uri: "file:///a.txt", name: "a\n⟨link⟩" }],
  templates: [{ uriTemplate: "file:///{path}", name: "any" }],
  prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }],
  left: [],
};
