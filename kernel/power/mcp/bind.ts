/** Bindings of imported servers' tools. Used by mcp_tools.ts and result.ts. @module */
import {
  cleared,
  type Colour,
  type EffectClass,
  graverEffect,
  type Label,
  mixLabel,
} from "../../../contracts/authority/colour.ts";
import { isPeer } from "../../../contracts/exchange/exchange.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
import {
  type ImportedServer,
  type ImportedTool,
  mcpFile,
  mcpHostOf,
  mcpNet,
  type McpToolWords,
  mcpUse,
  type ServerListing,
} from "../../../contracts/exchange/mcp.ts";
import type { GrantedCall, Resolved, ToolBinding } from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import type { McpAnswer } from "../../../contracts/wire/wire_mcp.ts";
import type { Artifact } from "../../../contracts/tool/workspace.ts";
import {
  importedDescriptor,
  interfaceOf,
  listedPrompts,
  listedResources,
  peerDescriptor,
  type PeerTool,
  promptDescriptor,
  resourceDescriptor,
} from "./descriptors.ts";
import { type LastResult, makeLastResult, makeResults } from "./result.ts";

/** Milliseconds of one call: waiting for a person does not count, and progress extends the time. */
export const CALL_MS = 60_000;

/** Bytes of a result's text that are shown. */
const MAX_RESULT_BYTES = 65_536;

/** One request to the server, for a call that the gate has allowed. */
export interface McpAsking {
  readonly op: "call" | "read" | "prompt" | "task" | "artifact";
  /** The body of the request, without its id and deadline. */
  readonly body: JsonObject;
  /** `read`: the server may change nothing during the call. */
  readonly holds: ImportedTool["holds"];
  /** The tool whose review must still hold once the server has started; absent: no tool is pinned. */
  readonly tool?: ImportedTool;
}

/** Bytes of a result to keep as an artifact. */
export interface KeptBytes {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly colour: Colour;
  readonly label: Label;
}

/** The review's computation of effects from a server's grants; the binding must agree with what a person confirmed. */
interface McpEffects {
  effectOf(
    words: Pick<McpToolWords, "name" | "annotations">,
    at: ImportedServer,
  ): Pick<ImportedTool, "effect" | "holds" | "idempotent">;
  /** The effect that the grants alone allow during such a call. */
  grantedEffect(holds: ImportedTool["holds"], at: ImportedServer): EffectClass;
}

/** Powers of one task for the tools of its servers. */
export interface McpBindParts {
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
  /** Tells whether a live lease of the process covers the scope, or would at the process's start. */
  held(process: ProcessRow, scope: Scope): boolean;
  /** Why a tool differs from its review now; undefined where it does not. */
  suspended(tool: ImportedTool): string | undefined;
  /** Asks the server. Text in a fault may come from the server. */
  ask(asking: McpAsking, call: GrantedCall, signal: AbortSignal): Promise<McpAnswer>;
  /** The server's listing. */
  words(call: GrantedCall, signal: AbortSignal): Promise<ServerListing>;
  /** Keeps bytes as an artifact, in quarantine. Rejects `tooLarge`. */
  keep(kept: KeptBytes): Promise<Artifact>;
  /** Folds a committed outcome's record into the task. */
  fold(record: JsonObject): void;
  /** The label of everything that the server can read or was sent. Raised by calls. */
  readonly carried: { label: Label };
  readonly effects: McpEffects;
}

/** One tool and its request to the server. */
interface Bound {
  readonly descriptor: ToolDescriptor;
  readonly effect: EffectClass;
  readonly holds: ImportedTool["holds"];
  readonly idempotent: boolean;
  readonly tool?: ImportedTool;
  /** The effect of a particular call, where it is graver. */
  readonly graver?: (args: JsonObject) => EffectClass;
  /** The request; `list` is answered from the server's listing; lines are answered without the server. */
  asking(
    args: JsonObject,
    call: Pick<GrantedCall, "idempotencyKey" | "resolved">,
  ): Pick<McpAsking, "op" | "body"> | "list" | readonly string[];
}

/**
 * Binds the tools of a server or peer in a task: each reviewed tool; for a server also
 * `mcp_NAME_resource` and `mcp_NAME_prompt` where the server offers resources or prompts. Bindings
 * come from the review, never from the server's current answers.
 *
 * @throws ZodError when a reviewed tool does not fit a descriptor
 */
export function bindImported(server: ImportedServer, parts: McpBindParts): readonly ToolBinding[] {
  return isPeer(server.launch) ? bindPeer(server, parts) : bindServer(server, parts);
}

function bindServer(server: ImportedServer, parts: McpBindParts): readonly ToolBinding[] {
  const { effectOf } = parts.effects;
  const taken = new Set<string>(server.tools.map(({ name }) => name));
  const reading = effectOf({ name: "read", annotations: { readOnlyHint: true } }, server);
  const extra = (
    offered: boolean,
    descriptor: ToolDescriptor,
    asking: Bound["asking"],
  ): readonly Bound[] =>
    offered && !taken.has(descriptor.name) ? [{ ...reading, descriptor, asking }] : [];

  const bound: readonly Bound[] = [
    ...server.tools.map((tool) => reviewed(server, tool, parts.effects)),
    ...extra(
      server.offers.resources,
      resourceDescriptor(server, reading.effect),
      ({ uri }) => uri === undefined ? "list" : { op: "read", body: { uri } },
    ),
    ...extra(
      server.offers.prompts,
      promptDescriptor(server, reading.effect),
      ({ name, args = {} }) => name === undefined ? "list" : { op: "prompt", body: { name, args } },
    ),
  ];
  return bindBound(server, bound, parts);
}

/** Binds tools over one server or peer. */
function bindBound(
  server: ImportedServer,
  bound: readonly Bound[],
  parts: McpBindParts,
): readonly ToolBinding[] {
  const lastResult = makeLastResult();
  return bound.map((each) => bind(server, each, { ...parts, lastResult }));
}

/** Binds a reviewed tool. */
function reviewed(
  server: ImportedServer,
  tool: ImportedTool,
  { grantedEffect }: McpEffects,
): Bound {
  const floor = grantedEffect(tool.holds, server);
  // A pinned effect is never below what the grants allow. It is not above them either where all
  // changes of a call are staged: it may have been pinned before changes were staged.
  const effect = floor === "stage" ? floor : graverEffect(tool.effect, floor);
  return {
    descriptor: importedDescriptor(server, { ...tool, effect }),
    effect,
    holds: tool.holds,
    idempotent: tool.idempotent,
    tool,
    asking: (args) => ({
      op: "call",
      body: {
        tool: tool.tool,
        args,
        ...(tool.resultSchema === undefined ? {} : { resultSchema: tool.resultSchema }),
      },
    }),
  };
}

function bind(
  server: ImportedServer,
  bound: Bound,
  parts: McpBindParts & { readonly lastResult: LastResult },
): ToolBinding {
  const { carried, lastResult } = parts;
  const { descriptor, effect, holds, tool } = bound;
  const reaches = server.launch.kind === "http" || server.grants.net.length > 0;
  const results = makeResults(server, parts);

  const family = isPeer(server.launch) ? "a2a" : "mcp";
  const standing = (): void => {
    const why = tool === undefined ? undefined : parts.suspended(tool);
    if (why === undefined) return;
    throw new Fault(
      "refused",
      `Cannot call "${descriptor.name}": ${why}; the operator can look with ` +
        `\`remit ${family} review ${server.name}\``,
    );
  };

  return Object.freeze<ToolBinding>({
    descriptor,
    effect,
    ...(reaches ? { granted: true } : {}),
    deadlineMs: CALL_MS,
    keepsDeadline: true,
    resultBytes: MAX_RESULT_BYTES,
    resolve(args, process): Resolved {
      standing();
      return {
        scopes: scopesOf(server, { holds, process, held: parts.held }),
        effect: bound.graver?.(args) ?? effect,
        destination: destinationOf(server),
        clearance: server.clearance,
        raise: `remit ${family} ${
          family === "a2a" ? "approve" : "grant"
        } ${server.name} --clearance`,
        ...(!cleared(process.label, server.clearance) && isDeclared(args, descriptor) &&
            lastResult.returned(args)
          ? { returns: true }
          : {}),
        digests: {},
        colour: process.colour,
        label: process.label,
        summary: summaryOf(server, descriptor),
        idempotent: bound.idempotent,
      };
    },
    async invoke(call, signal) {
      parts.redeem(call);
      // From here on the server may know the arguments, whichever process of the task calls it next.
      if (call.resolved.returns === true) lastResult.passed();
      else carried.label = mixLabel(carried.label, call.resolved.label ?? "public");
      const asking = bound.asking(call.args, call);
      if (asking === "list") {
        const words = await results.judged(parts.words(call, signal));
        return results.listed(
          call,
          descriptor.methodName === "prompts/get" ? listedPrompts(words) : listedResources(words),
        );
      }
      if (!("op" in asking)) return results.listed(call, asking);
      const answer: McpAnswer = await results.judged(
        parts.ask({ ...asking, holds, ...(tool === undefined ? {} : { tool }) }, call, signal),
      );
      return await results.of(call, answer);
    },
    committed(_call: GrantedCall, { record }): void {
      if (record !== undefined) parts.fold(record);
    },
  });
}

/**
 * The scopes that a call needs leases for: the use of the server, and those of its grants that are not revoked. A lease
 * that ends during the call ends the call; the next call runs with the remaining ones.
 *
 * @throws Fault `leaseRevoked` when all grants that the call could use are revoked
 */
function scopesOf(
  { name, launch, grants }: ImportedServer,
  { holds, process, held }: {
    readonly holds: ImportedTool["holds"];
    readonly process: ProcessRow;
    readonly held: McpBindParts["held"];
  },
): readonly Scope[] {
  const hosts = launch.kind === "http" ? [mcpHostOf(launch.url)] : grants.net;
  const granted = [
    ...grants.read.map((path) => mcpFile(name, "read", path)),
    ...(holds === "read" ? [] : grants.write.map((path) => mcpFile(name, "write", path))),
    ...hosts.map((host) => mcpNet(name, host)),
  ];
  const left = granted.filter((scope) => held(process, scope));
  if (granted.length > 0 && left.length === 0) {
    throw new Fault(
      "leaseRevoked",
      `Cannot call a tool of "${name}": everything that it was granted was taken back; ask the ` +
        "operator to grant it again",
    );
  }
  return [mcpUse(name), ...left];
}

/** Tells whether all arguments are declared. Names of other arguments are content, too, where a schema accepts any. */
function isDeclared(args: JsonObject, { paramSchema }: ToolDescriptor): boolean {
  const { properties } = JSON.parse(paramSchema) as { readonly properties?: JsonObject };
  return Object.keys(args).every((name) => Object.hasOwn(properties ?? {}, name));
}

/** The destination of the call's text. */
function destinationOf(server: ImportedServer): string {
  return server.launch.kind === "http" ? new URL(server.launch.url).origin : interfaceOf(server);
}

/** One line without any text of the server: tool names have only plain characters. */
function summaryOf(server: ImportedServer, { name }: ToolDescriptor): string {
  const to = server.launch.kind === "http" ? ` at ${new URL(server.launch.url).origin}` : "";
  if (isPeer(server.launch)) return `call ${name} of the peer "${server.name}"${to}`;
  return `call ${name} of the imported server "${server.name}"${to}`;
}

function bindPeer(server: ImportedServer, parts: McpBindParts): readonly ToolBinding[] {
  const taken = new Set<string>(server.tools.map(({ name }) => name));
  const own = (tool: PeerTool, rest: Pick<Bound, "asking" | "graver">): readonly Bound[] => {
    const { descriptor, effect } = peerDescriptor(server, tool);
    const bound: Bound = { descriptor, effect, holds: "all", idempotent: true, ...rest };
    return taken.has(descriptor.name) ? [] : [bound];
  };
  const bound: readonly Bound[] = [
    ...server.tools.map((tool): Bound => ({
      ...reviewed(server, tool, parts.effects),
      asking: (args, { idempotencyKey, resolved: { label = "secret" } }) => ({
        op: "call",
        body: { tool: tool.tool, args, key: idempotencyKey, label },
      }),
    })),
    ...own("describe", { asking: () => describedBy(server) }),
    ...own("task", {
      // Reading sends only a task's name; cancelling changes something at the peer.
      graver: (args) => args["do"] === "cancel" ? "outboundWrite" : "outboundRead",
      asking: ({ task = "", do: what = "get" }) => ({ op: "task", body: { task, do: what } }),
    }),
    ...own("artifact", {
      asking: ({ task = "", artifact = "" }) => ({ op: "artifact", body: { task, artifact } }),
    }),
  ];
  return bindBound(server, bound, parts);
}

/** The pinned description of a peer: a line of JSON for the peer, and one for each skill. */
function describedBy(server: ImportedServer): readonly string[] {
  const { name, launch, clearance, tools } = server;
  const who: JsonObject = isPeer(launch)
    ? {
      ...{ peer: name, card: launch.url, endpoint: launch.a2a.endpoint },
      ...{ binding: launch.a2a.binding, signedBy: [...launch.a2a.keys] },
      ...{ answersAre: "RED", mayBeTold: clearance },
    }
    : { peer: name };
  return [
    JSON.stringify(who),
    ...tools.map((tool) =>
      JSON.stringify({
        ...{ tool: tool.name, skill: tool.tool, effect: tool.effect },
        ...{ says: tool.description, takes: JSON.parse(tool.paramSchema) },
      })
    ),
  ];
}
