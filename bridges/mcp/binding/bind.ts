/** An imported server's tools as the gate knows them. @module */
import { cleared, type EffectClass, graverEffect, mixLabel } from "../../../contracts/colour.ts";
import { Fault } from "../../../contracts/fault.ts";
import { isPeer } from "../../../contracts/exchange.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { Scope } from "../../../contracts/lease.ts";
import {
  type ImportedServer,
  type ImportedTool,
  mcpFile,
  mcpHostOf,
  mcpNet,
  type McpPromptWords,
  type McpResourceWords,
  mcpUse,
  type McpWords,
} from "../../../contracts/mcp.ts";
import type { GrantedCall, Resolved, ToolBinding } from "../../../contracts/power.ts";
import type { ProcessRow } from "../../../contracts/process.ts";
import type { ToolDescriptor } from "../../../contracts/tool.ts";
import type { McpAnswer } from "../../../contracts/wire_mcp.ts";
import { effectOf, grantedEffect } from "../review/effect.ts";
import {
  importedDescriptor,
  interfaceOf,
  type McpAsking,
  type McpBindParts,
  promptDescriptor,
  resourceDescriptor,
} from "./descriptor.ts";
import { makeResults, makeSaidLast, type SaidLast } from "./result.ts";

/** Milliseconds for one call: waiting for a person does not count, progress extends it. */
export const CALL_MS = 60_000;
/** Most bytes of a result's text that are shown. */
const RESULT_BYTES = 65_536;

/** How one tool asks its server. */
export interface Bound {
  readonly descriptor: ToolDescriptor;
  readonly effect: EffectClass;
  readonly holds: ImportedTool["holds"];
  readonly idempotent: boolean;
  readonly tool?: ImportedTool;
  /** The effect of this very call, where it is graver. */
  readonly graver?: (args: JsonObject) => EffectClass;
  /** What is asked; a list is made of the server's words; lines are known without asking. */
  asking(
    args: JsonObject,
    call: Pick<GrantedCall, "idempotencyKey" | "resolved">,
  ): Pick<McpAsking, "op" | "body"> | "list" | readonly string[];
}

/**
 * Binds what a task was handed of a server: each reviewed tool, and `mcp_NAME_resource` and `mcp_NAME_prompt` where it
 * offers them. Nothing of it is what the server says now.
 *
 * @throws ZodError when reviewed words do not fit a descriptor
 */
export function bindImported(server: ImportedServer, parts: McpBindParts): readonly ToolBinding[] {
  const taken = new Set<string>(server.tools.map(({ name }) => name));
  const reading = effectOf({ name: "read", annotations: { readOnlyHint: true } }, server);
  const extra = (
    offered: boolean,
    descriptor: ToolDescriptor,
    asking: Bound["asking"],
  ): readonly Bound[] =>
    offered && !taken.has(descriptor.name) ? [{ ...reading, descriptor, asking }] : [];

  const bound: readonly Bound[] = [
    ...server.tools.map((tool) => reviewed(server, tool)),
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
export function bindBound(
  server: ImportedServer,
  bound: readonly Bound[],
  parts: McpBindParts,
): readonly ToolBinding[] {
  const said = makeSaidLast();
  return bound.map((each) => bind(server, each, { ...parts, said }));
}

/** A reviewed tool. */
export function reviewed(server: ImportedServer, tool: ImportedTool): Bound {
  const floor = grantedEffect(tool.holds, server);
  // A pinned effect is never below what the grants allow, whoever wrote it down; nor above it where all that a call can
  // do is staged: it may have been pinned when changes were not.
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
  parts: McpBindParts & { readonly said: SaidLast },
): ToolBinding {
  const { carried, said } = parts;
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
    resultBytes: RESULT_BYTES,
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
            said.returned(args)
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
      // From here on the server may know it, whichever process of the task calls it next.
      if (call.resolved.returns === true) said.passed();
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
 * What a call needs a lease for: using the server, and of its grants what is not taken back. A lease that ends during
 * the call ends the call; the next one runs with what is left.
 *
 * @throws Fault `leaseRevoked` when all that the call could use is taken back
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

/** Names of arguments are content, too, where a schema takes any: only those that the review pinned are none. */
function isDeclared(args: JsonObject, { paramSchema }: ToolDescriptor): boolean {
  const { properties } = JSON.parse(paramSchema) as { readonly properties?: JsonObject };
  return Object.keys(args).every((name) => Object.hasOwn(properties ?? {}, name));
}

function destinationOf(server: ImportedServer): string {
  return server.launch.kind === "http" ? new URL(server.launch.url).origin : interfaceOf(server);
}

/** The tool's name is in the characters of tool names: nothing in the line is the server's own word. */
function summaryOf(server: ImportedServer, { name }: ToolDescriptor): string {
  const to = server.launch.kind === "http" ? ` at ${new URL(server.launch.url).origin}` : "";
  if (isPeer(server.launch)) return `call ${name} of the peer "${server.name}"${to}`;
  return `call ${name} of the imported server "${server.name}"${to}`;
}

// Lists of a server's resources and prompts as text for a model: untrusted data.

/** Most characters of one text of the server's in a list. */
const SHOWN = 300;

function listedResources({ resources, templates }: McpWords): readonly string[] {
  return [...resources, ...templates].map((each) => JSON.stringify(resourceLine(each)));
}

function listedPrompts({ prompts }: McpWords): readonly string[] {
  return prompts.map((each) => JSON.stringify(promptLine(each)));
}

function resourceLine(resource: McpResourceWords): object {
  const { uri, uriTemplate, name, description, mimeType } = resource;
  return { uri, uriTemplate, name, mimeType, description: description?.slice(0, SHOWN) };
}

function promptLine({ name, description, arguments: named }: McpPromptWords): object {
  return {
    name,
    description: description?.slice(0, SHOWN),
    arguments: named.map((each) => ({
      name: each.name,
      required: each.required ?? false,
      description: each.description?.slice(0, SHOWN),
    })),
  };
}
