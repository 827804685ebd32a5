/**
 * First import of a child's main (not of one whose libraries make Request, Response, Headers or
 * Blob). Two things, both before any library is evaluated:
 *
 * - hides the globals that libraries probe for. Each makes Deno load a lazy layer of 1.5 to 4 ms.
 * - takes away the stores and channels that children of one DENO_DIR would share. This is tidiness,
 *   not a wall: what contains a program are its process and its permissions.
 * @module
 */

/** Probed as values: absent. */
const ABSENT = ["Buffer", "process"];
/** Probed with `instanceof` or as constructors: empty classes, of which nothing is an instance. */
const EMPTY = ["Request", "Response", "Headers", "Blob", "WebSocket"];
/** Reach storage, threads or other processes without asking for a permission. */
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
// The prototype holds the getter; reading it would load WebGPU.
Reflect.deleteProperty(Navigator.prototype, "gpu");

function replace(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}
