/** Resolves names of remit.yaml's `models` to references and settings. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { ModelEntry } from "../../contracts/policy/mod.ts";

/** Settings of an entry, without its reference. */
export type ModelSettings = Omit<Exclude<ModelEntry, string>, "ref">;

/** The models of remit.yaml, by name. */
export type Aliases = Readonly<Record<string, ModelEntry>>;

/** A reference with the settings of the names that led to it. */
export interface Named {
  /** The reference, which is no alias. */
  readonly ref: string;
  readonly settings: ModelSettings;
}

function entryOf(aliases: Aliases, name: string): Exclude<ModelEntry, string> | undefined {
  const entry = Object.entries(aliases).find(([each]) => each === name)?.[1];
  return typeof entry === "string" ? { ref: entry } : entry;
}

/**
 * Follows aliases to a reference; outer settings win.
 *
 * @throws Fault `invalidInput` where they lead in a circle
 */
export function followAliases(text: string, aliases: Aliases): Named {
  const seen: string[] = [];
  let settings: ModelSettings = {};
  let ref = text;
  for (let entry = entryOf(aliases, ref); entry !== undefined; entry = entryOf(aliases, ref)) {
    if (seen.includes(ref)) {
      throw new Fault(
        "invalidInput",
        `Cannot use model "${text}": remit.yaml leads in a circle, ${
          [...seen, ref].join(" → ")
        }; let one of them name a model (weights of the store: gguf:NAME)`,
      );
    }
    seen.push(ref);
    const { ref: next, ...own } = entry;
    settings = { ...own, ...settings };
    ref = next;
  }
  return { ref, settings };
}

/**
 * Checks that escalation ends.
 *
 * @throws Fault `invalidInput` where it leads in a circle
 */
export function checkEscalation(text: string, aliases: Aliases): void {
  const seen: string[] = [];
  let at: string | undefined = text;
  while (at !== undefined) {
    const named: Named = followAliases(at, aliases);
    if (seen.includes(named.ref)) {
      throw new Fault(
        "invalidInput",
        `Cannot use model "${text}": its escalation leads in a circle, ${
          [...seen, named.ref].join(" → ")
        }; change "escalate" in remit.yaml`,
      );
    }
    seen.push(named.ref);
    at = named.settings.escalate?.to;
  }
}
