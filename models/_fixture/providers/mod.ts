/**
 * Providers on loopback for tests: as strict as the real ones and scripted by the test, and hostile ones.
 *
 * @example
 * ```ts
 * import { serveOllama } from "./mod.ts";
 * await using ollama = serveOllama({ answers: [{ text: ["Hello", "."] }] });
 * const answer = await fetch(`${ollama.url}/api/version`);
 * await answer.text();
 * if (ollama.received[0]?.path !== "/api/version") throw new Error("it did not come");
 * ```
 * @module
 */
export {
  ANTHROPIC_KEY,
  anthropicEvent,
  type AnthropicOptions,
  serveAnthropic,
} from "./anthropic.ts";
export { ANTHROPIC_ERRORS, anthropicFailed } from "./anthropic_check.ts";
export {
  deltaOf,
  type Hostile,
  type HostileProtocol,
  nobody,
  serveCut,
  serveEndless,
  serveEndlessComments,
  serveEndlessNothing,
  serveGigabyte,
  serveGigabyteError,
  serveHalf,
  serveHostile,
  serveMalformed,
  serveNotUtf8,
  serveRedirect,
  serveReset,
  serveSlow,
} from "./hostile.ts";
export { ollamaLine, type OllamaModel, type OllamaOptions, serveOllama } from "./ollama.ts";
export { OLLAMA_ERRORS } from "./ollama_check.ts";
export {
  OPENAI_KEY,
  openaiEvent,
  type OpenaiOptions,
  type OpenaiVariant,
  serveOpenai,
} from "./openai.ts";
export { OPENAI_ERRORS, openaiFailed } from "./openai_errors.ts";
export type { Provider } from "./provider.ts";
export {
  type Answer,
  type Failed,
  inBytes,
  inPieces,
  type Piece,
  type Raw,
  type Said,
  type SaidCall,
} from "./script.ts";
export type { Loopback, Received } from "./server.ts";
