/** What a gateway is told of a refusal: its code, in words that hold nothing of ours. @module */
import { Fault, type FaultCode } from "../../../contracts/mod.ts";

/** Codes that peers may learn; everything else is `unavailable`. contracts/wire_a2a.ts. */
const WORDS: Readonly<Partial<Record<FaultCode, string>>> = {
  denied: "Cannot let the peer in: its credential is not known",
  notFound: "Cannot find the task: there is none of that name",
  conflict: "Cannot do that: the task's state does not allow it",
  rateLimited: "Cannot take more now: try again later",
  budgetExhausted: "Cannot take more now: try again later",
  invalidInput: "Cannot take the request: it does not parse",
  tooLarge: "Cannot take the request: it is too large",
  refused: "Cannot do that: it is not offered to this peer",
};

/**
 * Does `work`; a refusal is thrown on in words for the gateway, and what a peer may not learn is noted for the operator.
 * Bugs are thrown as they are.
 */
export async function inPeerWords<T>(
  work: () => Promise<T>,
  note: (text: string) => void,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const words = WORDS[error.code];
    const code = error.code === "budgetExhausted" ? "rateLimited" : error.code;
    if (words === undefined) note(`a peer was not served: ${error.message}`);
    throw words === undefined
      ? new Fault("unavailable", "Cannot serve the peer now: try again later", { cause: error })
      : new Fault(code, words, { cause: error });
  }
}
