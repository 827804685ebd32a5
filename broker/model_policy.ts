/**
 * Which session may send text to which model: by profile, by where the model runs, and by label.
 * Colour does not matter: what a model reads cannot act.
 *
 * `modelsFor` in remit.yaml limits each profile: `none`, `local` (text stays on this machine) or
 * `remote`. A remote model is chosen by naming it, which a folder's own remit.yaml cannot do until it
 * is trusted. In addition the label of what the process has read must be within the model's clearance.
 * Keys in `clearance`; the first match decides:
 *
 * 1. `model:REF`, the reference as in `--model` or under an alias;
 * 2. `model:HOST` (`model:HOST:PORT` for an unusual port), every model of that provider.
 *
 * There is no pattern by kind: `openai:` names a protocol that any host may speak. Used by policy.ts
 * and kernel/main_work.ts.
 * @module
 */
import { cleared } from "../contracts/authority/colour.ts";
import { makeModelClearance } from "../contracts/model/model_clearance.ts";
import { Profile } from "../contracts/task/task.ts";
import type { Label } from "../contracts/authority/mod.ts";
import type { ModelSink } from "../contracts/model/mod.ts";
import type { PolicySource } from "../contracts/policy/mod.ts";
import type { ProcessRow } from "../contracts/task/mod.ts";

/** Whether text may go to a model, and the rule that decides. */
export interface ModelRuling {
  readonly allowed: boolean;
  /** `built-in: …` or `remit.yaml: KEY`. */
  readonly rule: string;
  /** What to do about a refusal. */
  readonly why?: string;
}

/** Judges a model for a session of this profile whose text has this label. Also for embedders. */
export type JudgeModel = (profile: Profile, model: ModelSink, label: Label) => ModelRuling;

/** Default of `modelsFor` for each profile. */
const BY_DEFAULT = Object.freeze({ operator: "remote", guest: "local", anonymous: "local" });

/** Makes the model part of the policy. */
export function makeModelPolicy(
  source: Pick<PolicySource, "clearance" | "modelsFor">,
): JudgeModel {
  const clearanceOf = makeModelClearance(source.clearance);
  const reaches = new Map(
    Profile.options.map((profile) => [profile, source.modelsFor[profile]]),
  );

  return (profile, model, label) => {
    const written = reaches.get(profile);
    const reach = written ?? BY_DEFAULT[profile];
    if (reach === "none" || (reach === "local" && model.remote)) {
      return tooFar(profile, reach, written !== undefined);
    }
    const { label: limit, sink } = clearanceOf(model);
    const where = model.remote ? "remote" : "local";
    const rule = sink === undefined
      ? `built-in: ${where} models are cleared for ${limit}`
      : `remit.yaml: clearance of model:${sink}`;
    if (cleared(label, limit)) return { allowed: true, rule };
    const key = model.host ?? model.ref;
    const why =
      `the conversation is ${label}, this model is cleared for ${limit}; choose a local ` +
      `model, or raise clearance of "model:${key}" in remit.yaml`;
    return { allowed: false, rule, why };
  };
}

/** Why a process may not send its text to a model; undefined if it may. */
export function whyModelRefused(
  judge: JudgeModel,
  row: Pick<ProcessRow, "profile" | "label">,
  model: ModelSink,
): string | undefined {
  const { allowed, why = "forbidden", rule } = judge(row.profile, model, row.label);
  return allowed ? undefined : `${why} (${rule})`;
}

function tooFar(profile: Profile, reach: "none" | "local", isWritten: boolean): ModelRuling {
  const most = reach === "none" ? "no model" : "local models only";
  const rule = isWritten
    ? `remit.yaml: modelsFor.${profile} is ${reach}`
    : `built-in: ${profile} sessions use ${most}`;
  const why = reach === "none"
    ? `this session may use no model; the operator can allow one with modelsFor.${profile} in ` +
      "their own remit.yaml"
    : "choose a local model with --model, or ask the operator, who can allow remote ones with " +
      `modelsFor.${profile} in their own remit.yaml`;
  return { allowed: false, rule, why };
}
