/** A plugin's tools as the gate knows them. @module */
import {
  type Colour,
  type EffectClass,
  graverEffect,
  type Label,
  mixColour,
  mixLabel,
} from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { Scope } from "../../contracts/authority/lease.ts";
import {
  HOST_FUNCTION_EFFECT,
  type HostFunction,
  type PluginManifest,
  type PluginTool,
} from "../../contracts/tool/plugin.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { Source } from "../../contracts/authority/question.ts";
import { ToolDescriptor } from "../../contracts/tool/tool.ts";

/** The permissions of one plugin call: made from its arguments, enforced for its call id alone. */
export interface CallGrants {
  readonly functions: ReadonlySet<HostFunction>;
  /** What `fs.read` and `fs.list` may reach. */
  readonly reads: readonly Scope[];
  /** Paths that `fs.write` and `fs.delete` may propose, exactly or beneath. */
  readonly writes: readonly string[];
  /** The one origin that `http.fetch` may reach. */
  readonly origin?: string;
}

/** A plugin call that the gate has allowed. */
export interface PluginRun {
  readonly manifest: PluginManifest;
  readonly tool: PluginTool;
  readonly granted: GrantedCall;
  readonly grants: CallGrants;
}

/** The result of a call, with the colour and label of everything that it read. */
export interface PluginRan {
  readonly value: Json;
  readonly logs: readonly string[];
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
}

/** The powers of {@link bindPlugin}: a task's. */
export interface PluginParts {
  /** The scope of reading a path. Throws Fault `notFound`, `invalidArguments`. */
  readScope(path: string, process: Pick<ProcessRow, "mounts">): Scope;
  /** The origin of an address. Throws Fault `invalidArguments`. */
  originOf(url: string): string;
  redeem(call: GrantedCall): void;
  run(run: PluginRun, signal: AbortSignal): Promise<PluginRan>;
  /** Why a value does not match a JSON Schema, in words; undefined when it does. */
  misfit(schema: string, value: Json): string | undefined;
}

const CATEGORY: Readonly<Record<EffectClass, ToolDescriptor["category"]>> = {
  read: "read",
  stage: "stage",
  mutateLocal: "mutate",
  outboundRead: "network",
  outboundWrite: "network",
  destructive: "destroy",
  admin: "admin",
};

/** The effect of a plugin's tools: the highest of its host functions, or a manifest's higher. */
export function effectOf(
  manifest: Pick<PluginManifest, "hostFunctions">,
  tool: Pick<PluginTool, "effect">,
): EffectClass {
  return manifest.hostFunctions.map((name) => HOST_FUNCTION_EFFECT[name])
    .reduce(graverEffect, tool.effect ?? "read");
}

/**
 * The descriptor of a plugin's tool, for models and reviewers. Frozen.
 *
 * @throws ZodError when the schema of the arguments is too long
 */
export function descriptorOf(manifest: PluginManifest, tool: PluginTool): ToolDescriptor {
  const effect = effectOf(manifest, tool);
  return Object.freeze(ToolDescriptor.parse({
    name: tool.name,
    description: tool.description,
    // The digest makes a changed plugin a new tool, even with unchanged descriptions.
    interfaceId: `${manifest.name}@${manifest.version} sha256:${manifest.sha256.slice(0, 32)}`,
    methodName: tool.name,
    paramSchema: JSON.stringify(tool.parameters),
    permission: effect === "read" || effect === "stage" ? "auto" : "consent",
    category: CATEGORY[effect],
  }));
}

/** Binds one tool of a plugin to a task. */
export function bindPlugin(
  manifest: PluginManifest,
  tool: PluginTool,
  parts: PluginParts,
  descriptor: ToolDescriptor = descriptorOf(manifest, tool),
): ToolBinding {
  const effect = effectOf(manifest, tool);
  const functions: ReadonlySet<HostFunction> = new Set(manifest.hostFunctions);
  const schema = tool.result === undefined ? undefined : JSON.stringify(tool.result);

  return Object.freeze<ToolBinding>({
    descriptor,
    effect,
    deadlineMs: tool.deadlineMs,
    keepsDeadline: true,
    resultBytes: tool.resultBytes,
    resolve(args, process): Resolved {
      const paths = [...tool.reads, ...tool.writes].flatMap((name) => pathsIn(args, name));
      const reads = paths.map((path) => parts.readScope(path, process));
      const url = tool.fetches === undefined ? undefined : args[tool.fetches];
      const origin = typeof url === "string" ? parts.originOf(url) : undefined;
      return {
        scopes: [
          { resource: "plugin", right: "use", path: manifest.name },
          ...reads,
          ...(origin === undefined ? [] : [netScope(origin)]),
        ],
        effect,
        ...(origin === undefined ? {} : { destination: origin }),
        digests: {},
        colour: process.colour,
        label: process.label,
        summary: summaryOf(tool, args),
        idempotent: tool.idempotent,
      };
    },
    async invoke(granted, signal): Promise<PowerResult> {
      parts.redeem(granted);
      const grants = grantsOf(tool, functions, granted);
      const ran = await parts.run({ manifest, tool, granted, grants }, signal);
      const wrong = schema === undefined ? undefined : parts.misfit(schema, ran.value);
      if (wrong !== undefined) {
        throw new Fault("upstream", `Cannot use the result of "${tool.name}": ${wrong}`, {
          detail: { colour: ran.colour, label: ran.label },
        });
      }
      return {
        content: contentOf(ran),
        colour: mixColour(mixColour(ran.colour, tool.colour), granted.resolved.colour ?? "BLUE"),
        label: mixLabel(ran.label, granted.resolved.label ?? "public"),
        sources: ran.sources,
        value: ran.value,
      };
    },
  });
}

/** The scope of reaching an origin. */
function netScope(origin: string): Scope {
  return { resource: "net", right: "use", path: origin };
}

/** Exactly what was approved: the resolved call's scopes, not a new look at the world. */
function grantsOf(
  tool: PluginTool,
  functions: ReadonlySet<HostFunction>,
  { args, resolved: { scopes, destination } }: GrantedCall,
): CallGrants {
  return {
    functions,
    reads: scopes.filter(({ resource }) => resource === "mount" || resource === "scratch"),
    writes: tool.writes.flatMap((name) => pathsIn(args, name)),
    ...(destination === undefined ? {} : { origin: destination }),
  };
}

function pathsIn(args: JsonObject, name: string): readonly string[] {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (value === undefined || value === null) return [];
  const paths: readonly Json[] = Array.isArray(value) ? value : [value];
  return paths.map((path) => {
    if (typeof path === "string") return path;
    throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a path`);
  });
}

function summaryOf(tool: PluginTool, args: JsonObject): string {
  const names = [
    ...(tool.fetches === undefined ? [] : [tool.fetches]),
    ...tool.reads,
    ...tool.writes,
  ];
  const shown = names.flatMap((name) =>
    Object.hasOwn(args, name) ? [JSON.stringify(args[name])] : []
  );
  const what = `${tool.name} ${[...new Set(shown)].join(" ")}`.trim();
  return what.length > 300 ? `${what.slice(0, 300)}…` : what;
}

/** A text unchanged; anything else as JSON; then the logs. */
function contentOf({ value, logs }: PluginRan): string {
  const shown = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  return logs.length === 0 ? shown : `${shown}\n[console]\n${logs.join("\n")}`;
}
