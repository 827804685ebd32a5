/** The policy part of remit.yaml. Unknown keys are errors. @module */
import * as z from "zod";
import { Colour, EffectClass, Label } from "../authority/colour.ts";
import { MountName, ToolName } from "../authority/ids.ts";
import { Limits } from "../task/budget.ts";
import { SpendingBudget } from "../task/spending.ts";
import { MountMode } from "../tool/workspace.ts";
import { MemoryRetention, Phase, Profile } from "../task/task.ts";
import { McpServerName, McpToolName } from "../exchange/mcp.ts";
import { NoteKind } from "../memory/wiki.ts";
import { SERVICE_KEYS } from "./serve_config.ts";
import { PermissionMode } from "../tool/tool.ts";
import { CommandClass, CommandName } from "../tool/command.ts";
import { AgentSpecs } from "./agent_spec.ts";
import { BrowserProfiles } from "./browser_profile.ts";
import { GuardConfigs } from "./guard_config.ts";
import { Gpu, LocalConfig, Price, Rates, RedactRule, RemoteConfig } from "../model/model_config.ts";

const oneOrMore = <T extends z.ZodType>(item: T): z.ZodUnion<[T, z.ZodArray<T>]> =>
  z.union([item, z.array(item).min(1).max(64)]);

/** One rule: all given conditions must hold. Globs: `*` within a part, `**` across. */
export const PolicyRule = z.object({
  name: z.string().max(128).optional(),
  profile: oneOrMore(Profile).optional(),
  phase: oneOrMore(Phase).optional(),
  tool: oneOrMore(z.string().max(64)).optional(),
  category: oneOrMore(z.string().max(64)).optional(),
  effect: oneOrMore(EffectClass).optional(),
  path: oneOrMore(z.string().max(4_096)).optional(),
  destination: oneOrMore(z.string().max(2_048)).optional(),
  /** Holds where every value is in the person's own request, except those of the arguments in `except`. */
  when: z.object({
    args: z.literal("fromRequest"),
    except: z.array(z.string().min(1).max(128)).max(32).optional(),
  }).strict().optional(),
  mode: z.union([PermissionMode, z.literal("suppress")]),
  /** Shown to people and to the agent with a refusal. */
  why: z.string().max(512).optional(),
}).strict();
export type PolicyRule = z.infer<typeof PolicyRule>;

/** The engine of the browser tools. */
export const BrowserChoice = z.object({
  /** `static` reads pages without a browser; `chromium` needs bubblewrap and Debian's Chromium. */
  engine: z.enum(["static", "chromium"]),
  /** Chromium's executable, absolute. */
  program: z.string().regex(/^\/[^\0]{1,1023}$/).default("/usr/bin/chromium"),
  /** Where agents are signed in, once a person approved it: `remit browser approve`. */
  profiles: BrowserProfiles.optional(),
}).strict();
export type BrowserChoice = z.infer<typeof BrowserChoice>;

/** A named model: an alias, or an alias with settings. */
export const ModelEntry = z.union([
  z.string().max(1_024),
  z.object({
    /** `anthropic:NAME`, `openai:NAME@URL`, `ollama:NAME[@URL]`, `gguf:PATH`, a name of the store, a URL. */
    ref: z.string().min(1).max(1_024),
    /** Name of the secret with the provider's key (`remit secret set`). */
    secret: z.string().max(64).optional(),
    contextTokens: RemoteConfig.shape.contextTokens,
    outputTokens: RemoteConfig.shape.outputTokens,
    dialect: RemoteConfig.shape.dialect,
    temperature: RemoteConfig.shape.temperature,
    seed: RemoteConfig.shape.seed,
    price: Price.optional(),
    rates: Rates.optional(),
    /**
     * Local weights: llama.cpp's native engine in place of the WebAssembly one, which has no
     * rights. `true` means `cpu`; the others are builds for graphics cards.
     */
    accelerated: z.union([z.boolean(), z.literal("cpu"), Gpu]).optional(),
    /** Layers that the card takes; absent: all. */
    gpuLayers: LocalConfig.shape.gpuLayers,
    /** Local weights: the chat template (`chatml`, `gemma`, `llama3`, or Jinja), for weights without one. */
    template: LocalConfig.shape.template,
    /** Local weights: an answer without a call is retried once, restricted to calls. */
    callFirst: LocalConfig.shape.callFirst,
    /** Retry on another model after this many calls in a row that were not valid. */
    escalate: z.object({
      to: z.string().min(1).max(1_024),
      after: z.int().min(1).max(100),
    }).strict().optional(),
    /**
     * Models that replace it, in this order, where the conversation's label is above the model's
     * clearance.
     */
    others: z.array(z.string().min(1).max(1_024)).min(1).max(7).optional(),
    /** Which of the model and its `others` comes first: cheapest by `price`, fastest by `speed`; default: the model. */
    choose: z.enum(["cheapest", "fastest"]).optional(),
    /** Tokens a second, as measured by "remit model test". */
    speed: z.number().min(0.01).max(1e6).optional(),
    /** The model that shortens conversations; default: the model itself. */
    summarizer: z.string().min(1).max(1_024).optional(),
  }).strict(),
]);
export type ModelEntry = z.infer<typeof ModelEntry>;

/** The wiki that tasks hold, and the handling of their notes. */
export const MemoryConfig = z.object({
  /** The wiki's folder: absolute, `~/…`, or relative to the file's folder; absent: none. */
  wiki: z.string().min(1).max(4_096).optional(),
  /** Absent: `propose`. */
  access: z.enum(["none", "read", "propose"]).optional(),
  /** What agents may do with their own notes about you; absent: `write`, which asks. */
  user: z.enum(["none", "read", "write"]).optional(),
  /** Kinds of notes that wait for `remit wiki notes` even when you consented. */
  review: z.array(NoteKind).max(3).optional(),
  retention: MemoryRetention.optional(),
  /** The most confidential pages that tasks see; absent: what the profile may see. */
  clearance: Label.optional(),
}).strict();
export type MemoryConfig = z.infer<typeof MemoryConfig>;

/** Settings of imported MCP servers. The servers themselves are in remit.lock, by `remit mcp add`. */
export const McpConfig = z.object({
  /** Names of servers that tasks hold; absent: every approved one. */
  use: z.array(McpServerName).max(64).optional(),
  servers: z.partialRecord(
    McpServerName,
    z.object({
      /** Names on the wire of tools that are switched off. */
      off: z.array(McpToolName).max(512).optional(),
      clearance: Label.optional(),
      samplingTokens: z.int().min(0).max(10_000_000).optional(),
      elicitation: z.boolean().optional(),
    }).strict(),
  ).optional(),
  /** Number of imported tools above which models get `tool_search` in place of all of them; default 30. */
  searchAbove: z.int().min(0).max(1_000).optional(),
}).strict();
export type McpConfig = z.infer<typeof McpConfig>;

/** A whole remit.yaml. */
export const RemitConfig = z.object({
  version: z.literal(1),
  model: z.string().max(1_024).optional(),
  models: z.record(z.string().max(64), ModelEntry).optional(),
  /** The embedding model: a reference or a name of `models`; absent: the built-in one. */
  embedder: z.string().max(1_024).optional(),
  /** Text to redact before messages leave the machine for a model. */
  redact: z.array(RedactRule).max(256).optional(),
  /** Ed25519 public keys (hex) that sign weights; if given, weights of other signers must be pinned by you. */
  modelKeys: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(64).optional(),
  /** Models that a profile's sessions may use; default: operator `remote`, guest and anonymous `local`. */
  modelsFor: z.partialRecord(Profile, z.enum(["none", "local", "remote"])).optional(),
  mounts: z.record(
    MountName,
    z.object({
      dir: z.string().min(1).max(4_096),
      mode: MountMode.optional(),
      colour: Colour.optional(),
      label: Label.optional(),
    }).strict(),
  ).optional(),
  /** Paths (globs, `MOUNT/…` or beneath this file's folder) that are less trusted or more confidential. */
  marks: z.array(
    z.object({
      path: z.string().min(1).max(4_096),
      colour: Colour.optional(),
      label: Label.optional(),
    }).strict(),
  ).max(1_000).optional(),
  rules: z.array(PolicyRule).max(1_000).optional(),
  /**
   * Additions to the built-in never-list: globs that no tool reads or writes. `!GLOB` exempts files
   * that are examples by name: `"!.env.example"`.
   */
  never: z.array(z.string().min(1).max(4_096)).max(1_000).optional(),
  /** What each sink may receive. Keys: `model:KIND:NAME`, an origin, a server, a peer, `outbox`. */
  clearance: z.record(z.string().max(2_048), Label).optional(),
  limits: Limits.partial().optional(),
  budgets: z.array(SpendingBudget).max(64).optional(),
  /** Refuse instead of asking where the colour is too low for an effect. */
  strict: z.boolean().optional(),
  selfConsent: z.boolean().optional(),
  agents: AgentSpecs.optional(),
  tools: z.record(
    ToolName,
    z.object({
      resultBytes: z.int().min(1).max(10_000_000).optional(),
      /** Offer the tool to models from the start, without `tool_search`. */
      offer: z.boolean().optional(),
    }).strict(),
  ).optional(),
  /** Ed25519 public keys (hex) whose plugins are trusted like Remit's own and share one host. */
  toolKeys: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(64).optional(),
  /** Programs of this machine that tasks may run, by the name that calls use. */
  commands: z.record(CommandName, CommandClass).optional(),
  browser: BrowserChoice.optional(),
  guards: GuardConfigs.optional(),
  memory: MemoryConfig.optional(),
  mcp: McpConfig.optional(),
  ...SERVICE_KEYS,
}).strict();
export type RemitConfig = z.infer<typeof RemitConfig>;

/** A rule with its place in a file. */
export interface PlacedRule extends PolicyRule {
  /** `FILE:LINE` or `built-in: NAME`. */
  readonly at: string;
}

/** The merged policy of all layers, as the command line hands it to the kernel. */
export interface PolicySource {
  readonly rules: readonly PlacedRule[];
  readonly never: readonly { readonly glob: string; readonly at: string }[];
  readonly clearance: Readonly<Record<string, Label>>;
  readonly limits: Partial<Limits>;
  readonly strict: boolean;
  readonly selfConsent: boolean;
  readonly resultBytes: Readonly<Record<string, number>>;
  readonly modelsFor: Readonly<Partial<Record<Profile, "none" | "local" | "remote">>>;
  /** Over all tasks; absent: none. */
  readonly budgets?: readonly SpendingBudget[];
}

/** Empty policy: the built-in defaults decide. */
export const NO_POLICY: PolicySource = Object.freeze({
  rules: [],
  never: [],
  clearance: {},
  limits: {},
  strict: false,
  selfConsent: false,
  resultBytes: {},
  modelsFor: {},
});
