/** Merges the layers of configuration into one policy. @module */
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
import type { CommandClass, Mount } from "../contracts/tool/mod.ts";
import type { ConfigFile } from "./text.ts";
import { type MergedMcp, narrowMcp, NO_MCP, overlayMcp } from "./mcp.ts";
import { type MergedMemory, narrowMemory, NO_MEMORY, overlayMemory } from "./memory.ts";
import { budgetsOf, defined, narrowPolicy } from "./narrow.ts";
import { NO_SERVICE, overlayService, type ServiceConfig, serviceNotes } from "./serve.ts";

/** One configuration file, and whether it may widen the policy. */
export interface Layer {
  readonly file: ConfigFile;
  readonly trusted: boolean;
}

/** A mark on paths, still as globs. */
export type Mark = NonNullable<RemitConfig["marks"]>[number];

/** The merged configuration of all layers. "Trusted" below: the value comes from trusted layers only. */
export interface Merged {
  readonly policy: PolicySource;
  /** Trusted. */
  readonly model: string | undefined;
  readonly models: Readonly<Record<string, ModelEntry>>;
  /** Trusted. */
  readonly embedder: string | undefined;
  /** From every layer: more redaction never widens. */
  readonly redact: readonly RedactRule[];
  /** Trusted. Ed25519 public keys, hex. */
  readonly modelKeys: readonly string[];
  /** Trusted: a persona becomes part of the system message. */
  readonly agents: Readonly<Record<string, AgentSpec>>;
  readonly mounts: NonNullable<RemitConfig["mounts"]>;
  /** Narrower mounts that untrusted layers ask for. */
  readonly narrowMounts: readonly NonNullable<RemitConfig["mounts"]>[];
  readonly marks: readonly Mark[];
  /** Trusted. Ed25519 public keys, hex. */
  readonly toolKeys: readonly string[];
  /** Trusted: tools that models see from the start. */
  readonly offer: readonly string[];
  /** Trusted. */
  readonly commands: Readonly<Record<string, CommandClass>>;
  /** Chromium and profiles are trusted: one runs a program of this machine, the others are signed in. */
  readonly browser: BrowserChoice;
  /** Which wiki is used is trusted. */
  readonly memory: MergedMemory;
  /** Trusted; a stronger layer replaces a guard of the same name. */
  readonly guards: GuardConfigs;
  /** From every layer: only narrows remit.lock. */
  readonly mcp: MergedMcp;
  /** Trusted. */
  readonly service: ServiceConfig;
  /** What was left out of untrusted layers, for the operator: `FILE:LINE: why`. */
  readonly notes: readonly string[];
}

/** The default, and what an untrusted layer may narrow to. */
const STATIC: BrowserChoice = Object.freeze({ engine: "static", program: "/usr/bin/chromium" });

function withGuards(base: GuardConfigs, more: GuardConfigs = []): GuardConfigs {
  return [...base.filter(({ name }) => more.every((each) => each.name !== name)), ...more];
}

/** Replaces the choice; profiles of both are kept, and of equal names the stronger layer's. */
function overlayBrowser(base: BrowserChoice, more: BrowserChoice | undefined): BrowserChoice {
  if (more === undefined) return base;
  const profiles = { ...base.profiles, ...more.profiles };
  return Object.keys(profiles).length === 0 ? more : { ...more, profiles };
}

/** Puts a trusted layer's rules before those of a policy, and its settings over them. */
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
    limits: { ...policy.limits, ...defined(config.limits) },
    strict: config.strict ?? policy.strict,
    selfConsent: config.selfConsent ?? policy.selfConsent,
    resultBytes,
    modelsFor: { ...policy.modelsFor, ...defined(config.modelsFor) },
    ...budgetsOf(policy, config),
  };
}

/**
 * Merges layers, given from the weakest (the operator's own remit.yaml) to the strongest (the folder's). Untrusted layers
 * and the ceiling only narrow, wherever they stand.
 */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const trusted = layers.filter((each) => each.trusted).map(({ file }) => file);
  const others = layers.filter((each) => !each.trusted).map(({ file }) => file);
  const configs = trusted.map(({ config }) => config);
  const every = [...configs, ...others.map(({ config }) => config)];
  const joined = <T>(
    part: (config: RemitConfig) => Readonly<Record<string, T>> | undefined,
  ): Readonly<Record<string, T>> =>
    Object.fromEntries(configs.flatMap((config) => Object.entries(part(config) ?? {})));
  let policy = trusted.reduce((base, file) => overlayPolicy(base, file), NO_POLICY);
  let memory = configs.reduce((base, config) => overlayMemory(base, config.memory), NO_MEMORY);
  let mcp = configs.reduce((base, config) => overlayMcp(base, config.mcp), NO_MCP);
  const browser = configs.reduce((base, config) => overlayBrowser(base, config.browser), STATIC);
  const notes: string[] = [];
  for (const file of others) {
    const narrowed = narrowPolicy(policy, file);
    const remembered = narrowMemory(memory, file);
    const servers = narrowMcp(mcp, file);
    ({ policy } = narrowed);
    ({ memory } = remembered);
    ({ mcp } = servers);
    notes.push(...narrowed.notes, ...remembered.notes, ...servers.notes, ...serviceNotes(file));
  }
  const staticAsked = others.some(({ config }) => config.browser?.engine === "static");
  return Object.freeze({
    policy,
    model: configs.findLast(({ model }) => model !== undefined)?.model,
    models: joined((config) => config.models),
    embedder: configs.findLast(({ embedder }) => embedder !== undefined)?.embedder,
    redact: every.flatMap((config) => config.redact ?? []),
    modelKeys: [...new Set(configs.flatMap((config) => config.modelKeys ?? []))],
    agents: joined((config) => config.agents),
    mounts: joined((config) => config.mounts),
    narrowMounts: others.flatMap(({ config }) => config.mounts ?? []),
    marks: every.flatMap((config) => config.marks ?? []),
    toolKeys: [...new Set(configs.flatMap((config) => config.toolKeys ?? []))],
    offer: offered(configs),
    commands: joined((config) => config.commands),
    browser: { ...browser, ...(staticAsked ? STATIC : {}) },
    memory,
    guards: configs.reduce<GuardConfigs>((base, config) => withGuards(base, config.guards), []),
    mcp,
    service: trusted.reduce((base, file) => overlayService(base, file), NO_SERVICE),
    notes,
  });
}

/** The tools that the last layer that mentions their `offer` offers. */
function offered(configs: readonly RemitConfig[]): string[] {
  const names = new Set<string>();
  for (const [tool, { offer }] of configs.flatMap(({ tools }) => Object.entries(tools ?? {}))) {
    if (offer === true) names.add(tool);
    else if (offer === false) names.delete(tool);
  }
  return [...names];
}

const MODES = ["rw", "stage", "ro"] as const;

/** Applies marks and the requests of untrusted layers to a mount: colours only fall, labels only rise. */
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
