/** What whoever builds a child's program and whoever starts it agree on. docs/decision/0028. @module */

/**
 * Pages of 64 KiB that WebAssembly may take in each kind of child. V8 takes compiled code from the cache only where it
 * was compiled with as many.
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
  /** Without the weights, whose size is added. */
  local: 4_096,
  native: 64,
});

/** How each program of ours is run, apart from its permissions. */
export const CHILD_FLAGS: readonly string[] = Object.freeze([
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--cached-only",
]);

/** DENO_DIR of a program that is built apart from the kernel's own: beside it, warmed. Without it a start takes longer. */
export function cacheBeside(bundle: string): string {
  return `${bundle.slice(0, bundle.lastIndexOf("/"))}/deno`;
}
