/**
 * The worker side of an agent: the tool-use loop and the agent programs. A worker reaches its port and nothing else.
 *
 * @example
 * ```ts
 * import { makePort, type Port } from "../port/mod.ts";
 * import { makeWorker } from "./mod.ts";
 * const worker: Port = makePort({
 *   write: (bytes) => kernel.feed(bytes),
 *   handler: makeWorker({ ask: (op, body) => worker.ask(op, body), tell: (op, body) => worker.tell(op, body) }),
 * });
 * const kernel: Port = makePort({
 *   write: (bytes) => worker.feed(bytes),
 *   handler: { ask: () => null, tell: () => {} },
 * });
 * ```
 * @module
 */
export { makeWorker } from "./worker.ts";
