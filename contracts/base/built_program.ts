/** What the builder and the starter of a child's program must agree on. docs/decision/0028. @module */

/**
 * Maximum WebAssembly memory of each kind of child, in pages of 64 KiB. V8 accepts compiled code
 * from its cache only if the code was compiled with the same maximum.
 */
export const WASM_PAGES = Object.freeze({
  worker: 1_024,
  toolhost: 4_096,
  model: 1_024,
  plugin: 4_096,
  net: 64,
  store: 64,
  wiki: 1_024,
  mcp: 64,
  mcpTree: 64,
  a2a: 64,
  mcpServer: 4_096,
  remote: 64,
  /** The size of the weights is added. */
  local: 4_096,
  native: 64,
});

/** Flags of `deno run` for each of Remit's programs, before its permissions. */
export const CHILD_FLAGS: readonly string[] = Object.freeze([
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
]);

/**
 * DENO_DIR with the compiled code of a program: a folder beside its bundle, filled at build time so
 * that starts are fast.
 */
export function cacheBeside(bundle: string): string {
  return `${bundle.slice(0, bundle.lastIndexOf("/"))}/deno`;
}
