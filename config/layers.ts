/** Layers of configuration become one policy. @module */
import { type Label, mixColour, mixLabel } from "../contracts/authority/mod.ts";
import type { RedactRule } from "../contracts/model/mod.ts";
import {
  type AgentSpec,
  type BrowserChoice,
  type GuardConfigs,
  type ModelEntry,
  NO_POLICY,
  type PlacedRule,
  type PolicySource,
  type RemitConfig,
} from "../contracts/policy/mod.ts";
import type { Limits } from "../contracts/task/mod.ts";
import type { CommandClass, Mount } from "../contracts/tool/mod.ts";
import type { ConfigFile } from "./text.ts";
import { type MergedMcp, narrowMcp, NO_MCP, overlayMcp } from "./mcp.ts";
import { type MergedMemory, narrowMemory, NO_MEMORY, overlayMemory } from "./memory.ts";
import { budgetsOf, definedModelsFor, narrowPolicy } from "./narrow.ts";
import { NO_SERVICE, overlayService, type ServiceConfig, serviceNotes } from "./serve.ts";

/** A layer: a file, and whether it may widen. */
export interface Layer {
  readonly file: ConfigFile;
  readonly trusted: boolean;
}

/** A mark on paths, still as globs. */
export type Mark = NonNullable<RemitConfig["marks"]>[number];

/** What the layers come to. */
export interface Merged {
  readonly policy: PolicySource;
  /** From trusted layers only. */
  readonly model: string | undefined;
  readonly models: Readonly<Record<string, ModelEntry>>;
  /** From trusted layers only. */
  readonly embedder: string | undefined;
  /** From every layer: taking out more never widens. */
  readonly redact: readonly RedactRule[];
  /** From trusted layers only: Ed25519 public keys, hex. */
  readonly modelKeys: readonly string[];
  /** From trusted layers only: a persona is words to the system message. */
  readonly agents: Readonly<Record<string, AgentSpec>>;
  readonly mounts: NonNullable<RemitConfig["mounts"]>;
  /** Mounts that untrusted layers want narrower. */
  readonly narrowMounts: readonly NonNullable<RemitConfig["mounts"]>[];
  readonly marks: readonly Mark[];
  /** From trusted layers only: Ed25519 public keys, hex. */
  readonly toolKeys: readonly string[];
  /** From trusted layers only: tools that models are told of from the start. */
  readonly offer: readonly string[];
  /** From trusted layers only. */
  readonly commands: Readonly<Record<string, CommandClass>>;
  /** Chromium and profiles from trusted layers only: one runs a program of the machine, the others sign in. */
  readonly browser: BrowserChoice;
  /** The wiki from trusted layers only. */
  readonly memory: MergedMemory;
  /** From trusted layers only, each name once: the strongest layer's. */
  readonly guards: GuardConfigs;
  /** From every layer: it only narrows what remit.lock says. */
  readonly mcp: MergedMcp;
  /** From trusted layers only. */
  readonly service: ServiceConfig;
  /** What was left out of untrusted layers, for the person: `FILE:LINE: why`. */
  readonly notes: readonly string[];
}

/** Without a word in any layer, and where an untrusted one wants no more. */
const STATIC: BrowserChoice = Object.freeze({ engine: "static", program: "/usr/bin/chromium" });

function definedLimits(limits: RemitConfig["limits"]): Partial<Limits> {
  return Object.fromEntries(
    Object.entries(limits ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<Limits>;
}

function overlayBrowser(have: BrowserChoice, more: BrowserChoice | undefined): BrowserChoice {
  if (more === undefined) return have;
  const profiles = { ...have.profiles, ...more.profiles };
  return Object.keys(profiles).length === 0 ? more : { ...more, profiles };
}

function withGuards(have: GuardConfigs, more: GuardConfigs): GuardConfigs {
  return [...have.filter(({ name }) => more.every((each) => each.name !== name)), ...more];
}

/** Puts a trusted layer in front of a policy. */
function overlayPolicy(policy: PolicySource, file: ConfigFile): PolicySource {
  const { config } = file;
  const rules: readonly PlacedRule[] = [...file.rules, ...policy.rules];
  const clearance: Record<string, Label> = { ...policy.clearance, ...config.clearance };
  const resultBytes: Record<string, number> = { ...policy.resultBytes };
  for (const [tool, { resultBytes: bytes }] of Object.entries(config.tools ?? {})) {
    if (bytes !== undefined) resultBytes[tool] = bytes;
  }
  return {
    rules,
    never: [
      ...policy.never,
      ...(config.never ?? []).map((glob, n) => ({ glob, at: file.at(["never", n]) })),
    ],
    clearance,
    limits: { ...policy.limits, ...definedLimits(config.limits) },
    strict: config.strict ?? policy.strict,
    selfConsent: config.selfConsent ?? policy.selfConsent,
    resultBytes,
    modelsFor: { ...policy.modelsFor, ...definedModelsFor(config.modelsFor) },
    ...budgetsOf(policy, config),
  };
}

/**
 * Merges layers, given from the weakest (the operator's own remit.yaml) to the strongest (the
 * folder's). Layers that are not trusted, and the ceiling, only narrow, whatever their place.
 */
export function mergeLayers(layers: readonly Layer[]): Merged {
  let policy = NO_POLICY;
  let model: string | undefined;
  let models: Record<string, ModelEntry> = {};
  let embedder: string | undefined;
  const redact: RedactRule[] = [];
  const modelKeys = new Set<string>();
  let agents: Record<string, AgentSpec> = {};
  let mounts: NonNullable<RemitConfig["mounts"]> = {};
  const marks: Mark[] = [];
  const toolKeys = new Set<string>();
  const offer = new Set<string>();
  let commands: Record<string, CommandClass> = {};
  let browser = STATIC;
  let memory = NO_MEMORY;
  let guards: GuardConfigs = [];
  let mcp = NO_MCP;
  let service = NO_SERVICE;
  const notes: string[] = [];
  const narrowMounts: NonNullable<RemitConfig["mounts"]>[] = [];
  for (const { file } of layers.filter((each) => each.trusted)) {
    policy = overlayPolicy(policy, file);
    model = file.config.model ?? model;
    models = { ...models, ...file.config.models };
    embedder = file.config.embedder ?? embedder;
    redact.push(...(file.config.redact ?? []));
    for (const key of file.config.modelKeys ?? []) modelKeys.add(key);
    agents = { ...agents, ...file.config.agents };
    mounts = { ...mounts, ...file.config.mounts };
    marks.push(...(file.config.marks ?? []));
    for (const key of file.config.toolKeys ?? []) toolKeys.add(key);
    for (const [tool, { offer: told }] of Object.entries(file.config.tools ?? {})) {
      if (told === true) offer.add(tool);
      else if (told === false) offer.delete(tool);
    }
    commands = { ...commands, ...file.config.commands };
    browser = overlayBrowser(browser, file.config.browser);
    memory = overlayMemory(memory, file.config.memory);
    guards = withGuards(guards, file.config.guards ?? []);
    mcp = overlayMcp(mcp, file.config.mcp);
    service = overlayService(service, file);
  }
  for (const { file } of layers.filter((each) => !each.trusted)) {
    const narrowed = narrowPolicy(policy, file);
    policy = narrowed.policy;
    const remembered = narrowMemory(memory, file);
    memory = remembered.memory;
    const servers = narrowMcp(mcp, file);
    mcp = servers.mcp;
    notes.push(...narrowed.notes, ...remembered.notes, ...servers.notes, ...serviceNotes(file));
    redact.push(...(file.config.redact ?? []));
    if (file.config.browser?.engine === "static") browser = { ...browser, ...STATIC };
    if (file.config.mounts !== undefined) narrowMounts.push(file.config.mounts);
    marks.push(...(file.config.marks ?? []));
  }
  return Object.freeze({
    policy,
    model,
    models,
    embedder,
    redact,
    modelKeys: [...modelKeys],
    agents,
    mounts,
    narrowMounts,
    marks,
    toolKeys: [...toolKeys],
    offer: [...offer],
    commands,
    browser,
    ...{ memory, guards },
    mcp,
    service,
    notes,
  });
}

const MODES = ["rw", "stage", "ro"] as const;

/** Applies marks and untrusted wishes to a mount: colour only falls, label only rises. */
export function narrowMount(mount: Mount, merged: Merged): Mount {
  let { colour, label, mode } = mount;
  for (const wishes of merged.narrowMounts) {
    const wish = Object.entries(wishes).find(([name]) => name === mount.name)?.[1];
    if (wish?.colour !== undefined) colour = mixColour(colour, wish.colour);
    if (wish?.label !== undefined) label = mixLabel(label, wish.label);
    if (wish?.mode !== undefined && MODES.indexOf(wish.mode) > MODES.indexOf(mode)) {
      mode = wish.mode;
    }
  }
  const prefix = `${mount.name}/`;
  const marks = merged.marks.map((mark) => ({
    path: mark.path.startsWith(prefix) ? mark.path.slice(prefix.length) : mark.path,
    ...(mark.colour === undefined ? {} : { colour: mixColour(colour, mark.colour) }),
    ...(mark.label === undefined ? {} : { label: mixLabel(label, mark.label) }),
  }));
  return { ...mount, colour, label, mode, marks: [...mount.marks, ...marks] };
}
