/**
 * remit.yaml as the kernel enforces it.
 *
 * @example
 * ```ts
 * import { RemitConfig } from "./mod.ts";
 * if (RemitConfig.safeParse({ tools: 1 }).success) throw new Error("a wrong file passes");
 * ```
 * @module
 */
export * from "./policy.ts";
export * from "./agent_spec.ts";
export * from "./browser_profile.ts";
export * from "./guard_config.ts";
export * from "./serve_config.ts";
