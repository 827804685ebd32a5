/** Prepares a task's models: builds their programs, lends their keys to the kernel. @module */
import * as z from "zod";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { LocalConfig, RemoteConfig } from "../../contracts/model/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import type { Command } from "../command.ts";
import { readSeen } from "../audit/event_fields.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import type { ModelProgram } from "./powers.ts";
import { readKey } from "./keys.ts";
import { PROVIDER_KINDS } from "./name.ts";
import { knownProvider } from "./providers.ts";

/** The programs and keys that a task's models need. */
export interface ModelNeeds {
  readonly programs: readonly ModelProgram[];
  readonly lends: readonly Secret[];
}

/**
 * Builds missing programs: for the kernel behind `link`, else for this version.
 * Throws `unavailable`, and `conflict` for a kernel of another version that has no such program.
 */
export async function provideModelPrograms(
  command: Command<Basic | "models">,
  { programs }: Pick<ModelNeeds, "programs">,
  link?: Pick<KernelLink, "harness">,
): Promise<void> {
  for (const program of programs) {
    await command.powers.models.provideProgram(program, link?.harness);
  }
}

/** Lends keys of the environment to the kernel, over the socket; the keys are stored nowhere. */
export async function lendKeys(
  link: Pick<KernelLink, "ask">,
  { lends }: Pick<ModelNeeds, "lends">,
): Promise<void> {
  for (const secret of lends) await link.ask("lend", toJson(secret));
}

/** Prepares an older task to go on. Throws as `provideModelPrograms`. */
export async function readyAgain(
  command: Command<Basic | "models">,
  link: Pick<KernelLink, "ask" | "harness">,
  past: readonly Json[],
): Promise<void> {
  const needs = needsOfPast(command, past);
  await provideModelPrograms(command, needs, link);
  await lendKeys(link, needs);
}

const One = z.object({ ref: z.string(), config: z.string() });
const Asked = z.object({
  request: z.object({
    model: One.extend({
      escalate: z.object({ to: One }).optional(),
      summarizer: One.optional(),
      others: One.array().optional(),
    }),
    guards: z.object({ model: One }).array().optional(),
  }),
});

/** The configurations of a task's models, from its log. */
function modelsOf(past: readonly Json[]): readonly z.infer<typeof One>[] {
  for (const told of past) {
    const seen = readSeen(told);
    if (seen?.kind !== "event" || seen.event.event !== "taskCreated") continue;
    const parsed = Asked.safeParse(seen.event.private);
    if (!parsed.success) return [];
    const { model, guards = [] } = parsed.data.request;
    const { escalate, summarizer, others = [] } = model;
    return [model, escalate?.to, summarizer, ...others, ...guards.map((each) => each.model)]
      .filter((each) => each !== undefined);
  }
  return [];
}

/**
 * The needs of an older task, from its log. Keys of the environment are read again, since the
 * kernel that held them may have ended.
 */
export function needsOfPast(command: Command, past: readonly Json[]): ModelNeeds {
  const programs = new Set<ModelProgram>();
  const lends: Secret[] = [];
  const { env } = command.powers.environment;
  for (const { ref, config } of modelsOf(past)) {
    const kind = PROVIDER_KINDS.find((each) => each === ref.split(":", 1)[0]);
    const value: unknown = JSON.parse(config);
    if (kind === undefined) {
      const local = LocalConfig.safeParse(value);
      if (local.success) programs.add(local.data.engine === "native" ? "native" : "local");
      continue;
    }
    programs.add("remote");
    const remote = RemoteConfig.safeParse(value);
    if (!remote.success || remote.data.replay !== undefined) continue;
    const { url, secret } = remote.data;
    const provider = knownProvider(url);
    if (provider === undefined || secret !== `env-${provider.name}`) continue;
    const variable = provider.variables.find((name) => (env(name) ?? "").trim() !== "");
    if (variable === undefined) continue;
    lends.push(readKey({ kind, url }, { kind: "environment", secret, variable }, env));
  }
  return { programs: [...programs], lends };
}
