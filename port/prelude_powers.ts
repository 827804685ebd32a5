/**
 * First import of a child's main, except where its libraries make Request, Response, Headers or
 * Blob. Before any library is evaluated, it
 *
 * - hides the globals that libraries probe for. Each makes Deno load a lazy module in 1.5 to 4 ms;
 * - removes the stores and channels that children of one DENO_DIR would share. This is no security boundary: a program's
 *   process and permissions contain it.
 * @module
 */

/** Probed as values, so set to undefined. */
const ABSENT = ["Buffer", "process"];
/** Probed with `instanceof` or as constructors, so replaced by empty classes without instances. */
const EMPTY = ["Request", "Response", "Headers", "Blob", "WebSocket"];
/** Give access to storage, threads or other processes without a permission. */
const SHARED = [
  "localStorage",
  "sessionStorage",
  "Storage",
  "caches",
  "CacheStorage",
  "Cache",
  "BroadcastChannel",
  "Worker",
  "EventSource",
  "WebSocketStream",
  "alert",
  "confirm",
  "prompt",
];

for (const name of ABSENT) replace(name, undefined);
for (const name of EMPTY) replace(name, class {});
for (const name of SHARED) Reflect.deleteProperty(globalThis, name);
// The getter is on the prototype; a read of it would load WebGPU.
Reflect.deleteProperty(Navigator.prototype, "gpu");

function replace(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
