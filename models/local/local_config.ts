/** Reads the configuration of a local model: the kernel parsed it, so that this only takes it apart. @module */
import { Fault } from "../../contracts/fault.ts";
import type { LocalConfig } from "../../contracts/model_config.ts";

/** What of {@link LocalConfig} an engine is opened with. */
export type LocalSettings = Omit<LocalConfig, "engine" | "weights"> & {
  /** SHA-256, hex. */
  readonly weights: string;
};

/** Throws `invalidInput` when `config` is not the JSON of a {@link LocalConfig}. */
export function readLocalConfig(config: string): LocalSettings {
  const wrong = (why: string): Fault =>
    new Fault("invalidInput", `Cannot open the local model: its configuration ${why}`);
  let fields: Partial<Record<keyof LocalConfig, unknown>>;
  try {
    const parsed: unknown = JSON.parse(config);
    if (typeof parsed !== "object" || parsed === null) throw new SyntaxError("no object");
    fields = parsed;
  } catch (cause) {
    throw new Fault("invalidInput", wrong("is no JSON object").message, { cause });
  }
  const { name, weights, bytes } = fields;
  if (typeof name !== "string" || typeof bytes !== "number") {
    throw wrong("lacks `name` or `bytes`");
  }
  if (typeof weights !== "string" || !/^(sha256:)?[0-9a-f]{64}$/.test(weights)) {
    throw wrong("has no digest of weights");
  }
  const number = (key: "contextTokens" | "outputTokens" | "temperature" | "seed") => {
    const value = fields[key];
    if (value === undefined) return {};
    if (typeof value !== "number") throw wrong(`has a \`${key}\` that is no number`);
    return { [key]: value };
  };
  return {
    name,
    bytes,
    weights: weights.replace("sha256:", ""),
    ...number("contextTokens"),
    ...number("outputTokens"),
    ...number("temperature"),
    ...number("seed"),
    ...(Array.isArray(fields.dialect) ? { dialect: fields.dialect } : {}),
  };
}
