/**
 * Reads remit.yaml again while the service runs: all of it takes effect, or nothing. The settings
 * that kernel and gateway were started with stay the same. docs/decision/0021.
 * @module
 */
import { Fault, toJson } from "../../contracts/base/mod.ts";
import type { ServeConfig } from "../../contracts/policy/mod.ts";
import { digestOf } from "../../port/digest.ts";
import type { RunSetting } from "../run/run_setting.ts";
import type { ServiceConfig } from "../../config/serve.ts";
import type { ServiceSetting } from "./setting.ts";

/** Rules of a service. */
export interface ServiceRules {
  readonly setting: ServiceSetting;
  readonly config: ServiceConfig;
}

/** The powers of {@link makeReload}, and the rules in force. */
export interface ReloadParts {
  /** The rules in force now. */
  readonly first: ServiceRules;
  /** Settles the present files. Throws for the first entry that does not settle. */
  settle(): Promise<ServiceSetting>;
  /** Puts rules in force, or rejects without any change. */
  replace(rules: ServiceRules): Promise<void>;
  note(text: string): void;
}

/** Reads remit.yaml again; resolves once it is in force or refused, with a note to the operator. */
export type Reload = () => Promise<void>;

type Fixed = Exclude<keyof ServeConfig, "name" | "description" | "provider" | "skills">;

/** Keys that the gateway, the page and the daily round were started with. */
const FIXED: Readonly<Record<Fixed, true>> = {
  ...{ listen: true, url: true, hosts: true, origins: true, mcp: true, a2a: true, page: true },
  ...{ metrics: true, fleet: true, retentionDays: true, drainMs: true, otlp: true },
};

/** Makes the reload; readings do not overlap. */
export function makeReload({ first, settle, replace, note }: ReloadParts): Reload {
  let { setting, config } = first;
  let last: Promise<void> = Promise.resolve();

  const once = async (): Promise<void> => {
    try {
      const next = await settle();
      mayReplace(setting.calls, next.calls);
      const { serve, late } = keptServe(config.serve, next.calls.config.service.serve);
      const rules = { setting: next, config: { ...next.calls.config.service, serve } };
      await replace(rules);
      ({ setting, config } = rules);
      note(`remit.yaml was read again: ${tally(config)}`);
      for (const key of late) note(`"serve.${key}" holds after the next start`);
    } catch (error) {
      // A running service continues, whatever is wrong.
      if (!(error instanceof Error)) throw error;
      note(`remit.yaml is not taken, what was read before holds: ${error.message}`);
    }
  };
  let waiting: Promise<void> | undefined;
  return () => {
    // A waiting reading serves all later signals: a storm of them is two readings.
    waiting ??= last = last.then(() => {
      waiting = undefined;
      return once();
    });
    return waiting;
  };
}

/** Throws `conflict` for changes that need another kernel. */
function mayReplace(before: RunSetting, after: RunSetting): void {
  const [was, is] = [kernelParts(before), kernelParts(after)];
  const changed = Object.keys({ ...was, ...is }).filter((key) => was[key] !== is[key]);
  if (changed.length === 0) return;
  throw new Fault(
    "conflict",
    `the kernel was started with other "${changed.join('", "')}"; start the service again`,
  );
}

/** A value without the places in files of a list's entries. */
function placeless(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((each: unknown) =>
    typeof each === "object" && each !== null ? { ...each, at: undefined } : each
  );
}

/** Digests of the settings that a kernel is started with. */
function kernelParts({ config, mounts }: RunSetting): Readonly<Record<string, string>> {
  const { policy, toolKeys, commands, browser } = config;
  const parts = {
    ...policy,
    ...{ toolKeys: [...toolKeys].sort(), commands, browser },
    mounts: mounts.map(({ dir }) => dir).sort(),
  };
  return Object.fromEntries(
    Object.entries(parts).filter(([, value]) => value !== undefined).map(([key, value]) => {
      return [key, digestOf(toJson(JSON.parse(JSON.stringify(placeless(value)))))];
    }),
  );
}

/** The new configuration with the old values of fixed keys, and which of those differ. */
function keptServe(
  before: ServeConfig,
  after: ServeConfig,
): { readonly serve: ServeConfig; readonly late: readonly string[] } {
  const fixed = Object.keys(FIXED);
  const of = (serve: ServeConfig, kept: boolean): [string, unknown][] =>
    Object.entries(serve).filter(([key]) => fixed.includes(key) === kept);
  const [was, is] = [new Map(of(before, true)), new Map(of(after, true))];
  const late = fixed.filter((key) => JSON.stringify(was.get(key)) !== JSON.stringify(is.get(key)));
  return { serve: Object.fromEntries([...of(after, false), ...was]), late };
}

function tally({ peers, webhooks, schedules }: ServiceConfig): string {
  const kinds = { peers, webhooks, schedules };
  return Object.entries(kinds).map(([kind, each]) => `${Object.keys(each).length} ${kind}`).join(
    ", ",
  );
}
