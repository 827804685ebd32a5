/** The real tools of this version for a besieged kernel, built once for a test run. */
import type { Label } from "../../contracts/authority/mod.ts";
import type { PlacedRule } from "../../contracts/policy/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { NO_POLICY } from "../../contracts/policy/mod.ts";
import { provideTools } from "../../tools-wasm/build/mod.ts";
import { cache } from "./siege.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
let built: ReturnType<typeof provideTools> | undefined;

/** The tools in a kernel's configuration. */
export async function realTools(): Promise<KernelConfig["tools"]> {
  built ??= provideTools({ home: ROOT, cache: `${cache()}/tools`, onBuild: () => undefined });
  const { engine, plugins } = await built;
  return { engine, plugins: plugins.map((plugin) => ({ ...plugin, trusted: true })) };
}

/**
 * A policy whose rules grant origins to the web tools without a question, and clear them for
 * text of this label.
 */
export function granting(
  origins: readonly string[],
  clearance: Label = "public",
): KernelConfig["policy"] {
  const rule: PlacedRule = {
    category: "network",
    destination: [...origins],
    mode: "auto",
    at: "remit.yaml:1",
  };
  const cleared = Object.fromEntries(origins.map((origin) => [origin, clearance]));
  return { ...NO_POLICY, rules: [rule], clearance: cleared };
}
