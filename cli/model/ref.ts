/** Resolves a model reference to a task's choice and its needs. @module */
import { cleared, type Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { DEAREST, makeModelClearance } from "../../contracts/model/mod.ts";
import type { PolicySource } from "../../contracts/policy/mod.ts";
import type { ModelChoice, TaskRequest } from "../../contracts/task/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import { checkEscalation, followAliases, type Named } from "./alias.ts";
import type { ModelProgram } from "./powers.ts";
import { type ModelName, parseModelName, PROVIDER_KINDS } from "./name.ts";
import type { ModelFlags, ModelPart, ModelParts } from "./part.ts";
import type { AskedProvider } from "../../contracts/model/mod.ts";
import { providerPart } from "./part_provider.ts";
import { weightsPart } from "./part_weights.ts";
import { absolute } from "../../launch/disk/places.ts";

const MAX_SCRIPT_BYTES = 1_000_000;

/** A resolved model. */
export interface ResolvedModel {
  readonly choice: TaskRequest["model"];
  /** Keys of the environment, for the kernel's memory alone. */
  readonly lends: readonly Secret[];
  readonly programs: readonly ModelProgram[];
  /** Providers beyond this machine, the model's own first. */
  readonly providers: readonly AskedProvider[];
}

/**
 * Resolves a reference, or a name of remit.yaml's `models`, with the models that it escalates to and
 * is shortened by.
 *
 * @throws Fault `invalidInput` that says how it is written, `notFound` for a missing file or name,
 * `unavailable` without a key or an engine, `refused` for weights that are not what was pinned
 */
export async function resolveModel(
  text: string,
  parts: ModelParts,
  flags: ModelFlags = {},
): Promise<ResolvedModel> {
  checkEscalation(text, parts.aliases);
  const named = followAliases(text, parts.aliases);
  const { escalate, summarizer } = named.settings;
  const [own, ...others] = await inOrder(text, named, { parts, flags });
  const next = escalate === undefined
    ? undefined
    : await resolveOne(escalate.to, followAliases(escalate.to, parts.aliases), parts, flags);
  if (next?.choice.ref === own.choice.ref) {
    throw new Fault("invalidInput", `Cannot use model "${text}": it escalates to itself`);
  }
  const short = summarizer === undefined ? undefined : await resolveOne(
    summarizer,
    followAliases(summarizer, parts.aliases),
    parts,
    { noWait: flags.noWait, record: flags.record },
  );
  const all = [own, next, short, ...others].filter((each) => each !== undefined);
  return Object.freeze({
    choice: {
      ...own.choice,
      ...(escalate === undefined || next === undefined
        ? {}
        : { escalate: { after: escalate.after, to: next.choice } }),
      ...(short === undefined ? {} : { summarizer: short.choice }),
      ...(others.length === 0 ? {} : { others: others.map(({ choice }) => choice) }),
    },
    lends: all.flatMap(({ lend }) => lend === undefined ? [] : [lend]),
    programs: [...new Set(all.flatMap(({ program }) => program === undefined ? [] : [program]))],
    providers: all.flatMap(({ provider }) => provider === undefined ? [] : [provider]),
  });
}

/** A model and its alternatives, in the order of its entry. */
async function inOrder(
  text: string,
  named: Named,
  { parts, flags }: { readonly parts: ModelParts; readonly flags: ModelFlags },
): Promise<readonly [ModelPart, ...ModelPart[]]> {
  const { others = [], choose } = named.settings;
  const found: { readonly part: ModelPart; readonly rank: number }[] = [];
  for (const name of [text, ...others]) {
    const each = name === text ? named : followAliases(name, parts.aliases);
    const part = await resolveOne(name, each, parts, flags);
    found.push({ part, rank: choose === undefined ? found.length : rankOf(each, part, choose) });
  }
  const [first, ...rest] = found.sort((a, b) => a.rank - b.rank).map(({ part }) => part);
  if (first === undefined) throw new TypeError("no model is left of one");
  return [first, ...rest.filter(({ choice }) => choice.ref !== first.choice.ref)];
}

/** The lower rank goes first: US dollars for a million tokens in and out, or seconds for a thousand. */
function rankOf(
  { settings }: Named,
  { provider }: ModelPart,
  choose: "cheapest" | "fastest",
): number {
  if (choose === "fastest") return settings.speed === undefined ? Infinity : 1_000 / settings.speed;
  const { price } = settings;
  if (price !== undefined) return price.input + price.output;
  return provider === undefined ? 0 : DEAREST.input + DEAREST.output;
}

async function resolveOne(
  text: string,
  { ref, settings }: Named,
  parts: ModelParts,
  flags: ModelFlags,
): Promise<ModelPart> {
  const name = parseModelName(ref);
  if (flags.record === true && (name.kind === "scripted" || !isProvider(name))) {
    throw new Fault(
      "invalidInput",
      `Cannot record model "${text}": a recording keeps what went to a provider and back, and this ` +
        "model has none",
    );
  }
  switch (name.kind) {
    case "scripted":
      return { choice: scripted(text, name.file, parts) };
    case "gguf":
    case "stored":
      return await weightsPart(text, name, settings, parts, flags);
    default:
      return await providerPart(text, name, settings, parts, flags);
  }
}

function isProvider(name: ModelName): boolean {
  return PROVIDER_KINDS.some((kind) => kind === name.kind);
}

function scripted(
  text: string,
  file: string,
  { environment, disk }: Pick<ModelParts, "environment" | "disk">,
): ModelChoice {
  const path = absolute(environment, file);
  const bytes = disk.read(path);
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot use model "${text}": there is no file "${path}"`);
  }
  if (bytes.length > MAX_SCRIPT_BYTES) {
    throw new Fault(
      "tooLarge",
      `Cannot use model "${text}": longer than ${MAX_SCRIPT_BYTES} bytes`,
    );
  }
  const config = JSON.stringify({ file, text: new TextDecoder().decode(bytes) });
  return { ref: `scripted:${file}`, config };
}

/**
 * The lowest clearance among the models beyond this machine; `secret` without any. A task's wiki shows no
 * more than this, unless remit.yaml sets `memory: { clearance }`: a page above it would only end the
 * conversation. The kernel checks each inference by itself.
 */
export function modelClearance(
  { providers }: Pick<ResolvedModel, "providers">,
  { clearance }: Pick<PolicySource, "clearance">,
): Label {
  const clearanceOf = makeModelClearance(clearance);
  const labels = providers.map(({ ref, host }) => clearanceOf({ ref, host, remote: true }).label);
  return labels.reduce((low, label) => cleared(label, low) ? label : low, "secret");
}
