/** Makes text of documents that may be hostile. @module */
import type { ParseAsk, Parsed } from "../../../contracts/mod.ts";

/** Reads documents in processes without permissions, one process for each. */
export interface WikiParser {
  /**
   * Throws a Fault: `invalidInput` for what is damaged or none of its kind, `tooLarge`, `timedOut`
   * after the deadline, `upstream` when its process ended (out of memory, a crash). After each of
   * them the next document is read as if nothing had been.
   */
  parse(ask: ParseAsk): Promise<Parsed>;
  /** Ends every process of it at once; what is being parsed fails with `gone`. Idempotent. */
  close(): Promise<void>;
}
