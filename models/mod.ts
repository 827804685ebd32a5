/**
 * Language models as services: a process for each backend, which knows no session, tool or secret of
 * its caller. The format of scenario files is described in scripted/mod.ts.
 *
 * @example
 * ```ts
 * import { makeModelService, openScripted, timer } from "./mod.ts";
 * const service = makeModelService({ tell: () => {} }, {
 *   scripted: () => Promise.resolve((open) => openScripted(open, { timer })),
 * });
 * const text = "scenario: hello\nturns: [{ say: Hello. }]";
 * const config = JSON.stringify({ file: "hello.yaml", text });
 * await service.ask("open", { kind: "scripted", ref: "scripted:hello.yaml", config });
 * ```
 * @module
 */
export { openScripted } from "./scripted/open.ts";
export { makeModelService } from "./service.ts";
export { timer } from "./timer_powers.ts";
