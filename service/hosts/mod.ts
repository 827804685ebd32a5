/**
 * Hosts of the Model Context Protocol: their tokens, their sessions with the kernel, and the
 * mediator that serves a gateway's requests for them.
 *
 * @example
 * ```ts
 * import { mayHave } from "./mod.ts";
 * if (mayHave("operator", { hostname: "0.0.0.0" })) throw new Error("an operator over the network");
 * ```
 * @module
 */
export { type HostParts, openHost } from "./host.ts";
export type { HostKernel } from "./lane.ts";
export {
  makeMediator,
  mayHave,
  type MediatedSession,
  type Mediator,
  parseAsked,
} from "./mediator.ts";
export {
  KEPT_TOKEN,
  type KeptToken,
  openTokenBook,
  openTokens,
  type TokenBook,
  type TokenParts,
} from "./token_book.ts";
