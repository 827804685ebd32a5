/** Chooses a run's model: by flags, then by the caller, then by remit.yaml. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { Command } from "../command.ts";
import type { TaskRequest } from "../../contracts/task/mod.ts";
import type { Merged } from "../../config/layers.ts";
import { foundLines } from "./found.ts";
import { readRecording } from "./recording/recording.ts";
import type { ModelFlags, ModelParts } from "./part.ts";
import { type ResolvedModel, resolveModel } from "./ref.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { absolute, preparePlaces } from "../../launch/disk/places.ts";
import { bytesText, listWeights } from "../../models/weights/mod.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import type { Basic } from "../powers.ts";

/** The inputs for resolving a command's references. */
export function modelParts(command: Command<Basic | "models">, config: Merged): ModelParts {
  const { powers, places } = command;
  const { disk, environment, screen, models } = powers;
  return {
    ...{ disk, environment, screen, models, places },
    aliases: config.models,
    redact: config.redact,
    modelKeys: config.modelKeys,
    prepare: () => preparePlaces(disk, places, environment.uid),
    kept(): ReturnType<ModelParts["kept"]> {
      return disk.real(places.person) === undefined ? [] : openSecretKeep(disk, places).list();
    },
  };
}

function numberFlag(
  command: Command,
  name: string,
  fits: { readonly most: number; readonly whole: boolean },
): number | undefined {
  const given = flag(command.parsed, name);
  if (given === undefined) return undefined;
  const value = given.trim() === "" ? Number.NaN : Number(given);
  const right = value >= 0 && value <= fits.most && (!fits.whole || Number.isInteger(value));
  if (right) return value;
  throw new Fault(
    "invalidInput",
    `Cannot read --${name} "${given}": it is a ${
      fits.whole ? "whole " : ""
    }number from 0 to ${fits.most}`,
  );
}

/** The flags about the model. Throws `invalidInput`. */
function modelFlags(command: Command): ModelFlags {
  return {
    temperature: numberFlag(command, "temperature", { most: 2, whole: false }),
    seed: numberFlag(command, "seed", { most: 4_294_967_295, whole: true }),
    noWait: has(command.parsed, "no-wait"),
    record: has(command.parsed, "record"),
  };
}

function replayed(command: Command, file: string): ResolvedModel {
  for (const name of ["model", "temperature", "seed", "record"]) {
    if (has(command.parsed, name)) {
      throw new Fault(
        "invalidInput",
        `Cannot replay with --${name}: the recording says which model it was, and how it was asked`,
      );
    }
  }
  const { disk, environment } = command.powers;
  const choice = readRecording(disk, absolute(environment, file), file);
  return { choice, lends: [], programs: ["remote"], providers: [] };
}

/** The fault without a chosen model: what is available and how to choose it. */
async function noModel(command: Command<Basic | "models">): Promise<Fault> {
  const found = await foundLines(command);
  return new Fault(
    "invalidInput",
    [
      'Cannot start an agent: no model is chosen; add --model REF, or "remit model use NAME" once',
      ...(found.length === 0 ? await localLines(command) : found),
    ].join("\n"),
  );
}

/** Advice without keys and servers: weights in the store, else the first of the catalogue. */
async function localLines(
  { powers: { disk, environment }, places }: Command<Basic | "models">,
): Promise<readonly string[]> {
  const [kept] = listWeights(disk, places);
  const run = `${environment.command} run -p "…" --mount notes=DIR --model`;
  if (kept !== undefined) return [`  in your store; to use it:`, `    ${run} ${kept.name}`];
  const { readCatalogue } = await import("../../models/weights/pull/mod.ts");
  const first = readCatalogue(disk, environment.home).find(({ embeds }) => embeds === undefined);
  return [
    "  there is no key of a provider in the environment, no Ollama on this machine, and nothing in the store",
    ...(first === undefined ? [] : [
      `  ${first.title} calls tools and runs on this machine (${
        bytesText(first.about)
      }, ${first.licence}):`,
      `    ${environment.command} model pull ${first.name}`,
      `    ${run} ${first.name}`,
    ]),
    '  "remit model list" shows what else there is',
  ];
}

/**
 * Chooses and resolves the model of a command.
 *
 * @throws Fault `invalidInput` when none is chosen, and as `resolveModel`
 */
export async function chooseModel(
  command: Command<Basic | "models">,
  fixed: { readonly model?: string | undefined; readonly play?: string | undefined },
  config: Merged,
): Promise<ResolvedModel> {
  if (fixed.play !== undefined) {
    const played = JSON.stringify({ file: "terminal", text: fixed.play });
    const choice = { ref: "scripted:terminal", config: played };
    return { choice, lends: [], programs: [], providers: [] };
  }
  const replay = flag(command.parsed, "replay");
  if (replay !== undefined) return replayed(command, replay);
  const ref = flag(command.parsed, "model") ?? fixed.model ?? config.model;
  if (ref === undefined) throw await noModel(command);
  return await resolveModel(ref, modelParts(command, config), modelFlags(command));
}

/**
 * The models of a run's guards beside its own. Rejects as `resolveModel`, and names the guard.
 */
export async function withGuardModels(
  command: Command<Basic | "models">,
  config: Merged,
  own: ResolvedModel,
): Promise<{
  readonly resolved: ResolvedModel;
  readonly guards: NonNullable<TaskRequest["guards"]>;
}> {
  const parts = modelParts(command, config);
  const guards: NonNullable<TaskRequest["guards"]> = [];
  let resolved = own;
  for (const { model, ...rule } of config.guards) {
    const found = await resolveModel(model, parts).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      const why = error.message.replace(/^Cannot /, "");
      throw new Fault(error.code, `Cannot ask guard "${rule.name}": cannot ${why}`);
    });
    guards.push({ ...rule, model: { ref: found.choice.ref, config: found.choice.config } });
    resolved = {
      ...resolved,
      lends: [...resolved.lends, ...found.lends],
      programs: [...new Set([...resolved.programs, ...found.programs])],
      providers: [...resolved.providers, ...found.providers],
    };
  }
  return { resolved, guards };
}
