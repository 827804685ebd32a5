/** The inputs and the result of resolving one model. @module */
import { Fault, present } from "../../contracts/base/mod.ts";
import type { AskedProvider, LocalConfig, RedactRule } from "../../contracts/model/mod.ts";
import type { ModelChoice } from "../../contracts/task/mod.ts";
import type { Secret } from "../../contracts/wire/mod.ts";
import type { DiskRead, DiskWrite, Environment } from "../../launch/disk/machine.ts";
import type { Aliases, ModelSettings } from "./alias.ts";
import type { ModelPowers, ModelProgram } from "./powers.ts";
import type { SecretPlace } from "../../config/secret/rules.ts";
import type { WeightsParts } from "../../models/weights/mod.ts";

/** Flags about the model. */
export interface ModelFlags {
  readonly temperature?: number | undefined;
  readonly seed?: number | undefined;
  readonly noWait?: boolean | undefined;
  readonly record?: boolean | undefined;
}

/** The inputs for resolving references. */
export interface ModelParts extends Omit<WeightsParts, "environment" | "disk" | "models"> {
  readonly disk: DiskRead & DiskWrite;
  readonly environment: Environment;
  readonly models: ModelPowers;
  readonly aliases: Aliases;
  readonly redact: readonly RedactRule[];
  /** Kept secrets, without values. */
  kept(): readonly SecretPlace[];
  /** Makes the state's folders before something is stored. */
  prepare(): void;
}

/** One resolved model: the choice, and its needs before use. */
export interface ModelPart {
  readonly choice: ModelChoice;
  readonly lend?: Secret;
  readonly program?: ModelProgram;
  readonly provider?: AskedProvider;
}

/** Settings common to both kinds of configuration; flags win. */
export function knobs(settings: ModelSettings, flags: ModelFlags): Partial<LocalConfig> {
  const { contextTokens, outputTokens, dialect } = settings;
  const temperature = flags.temperature ?? settings.temperature;
  const seed = flags.seed ?? settings.seed;
  return present<Partial<LocalConfig>>({ contextTokens, outputTokens, dialect, temperature, seed });
}

/** Parses a configuration. Throws `invalidInput` that names the setting. */
export function parseSettings<T>(
  text: string,
  schema: {
    safeParse(value: unknown): { success: true; data: T } | {
      success: false;
      error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] };
    };
  },
  value: unknown,
): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault(
    "invalidInput",
    `Cannot use model "${text}": ${issue?.path.join(".") ?? ""} is wrong: ${issue?.message ?? ""}`,
  );
}
