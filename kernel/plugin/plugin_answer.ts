/** Parses what a plugin host answers. TRUST: it runs hostile code. @module */
import { Fault, type Json, type PluginCallAnswer } from "../../contracts/mod.ts";

const MOST_LINES = 10_000;

/** Parses; throws `upstream` for anything but `{value, logs, instances}`, the last of which may lack. */
export function parsePluginAnswer(raw: Json, tool: string): PluginCallAnswer {
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw) && "value" in raw) {
    const { value, logs, instances = 0 } = raw;
    if (
      value !== undefined && Array.isArray(logs) && logs.length <= MOST_LINES &&
      logs.every((line) => typeof line === "string") && typeof instances === "number"
    ) return { value, logs, instances };
  }
  throw new Fault("upstream", `Cannot use the answer of "${tool}": it does not parse`);
}
