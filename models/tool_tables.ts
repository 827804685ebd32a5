/** Tables of tools that requests share: sent once, known again by their digest. @module */
import { Fault } from "../contracts/fault.ts";
import type { InferenceRequest } from "../contracts/model.ts";

/** Tables that are kept: more than a kernel's tasks use at a time. */
const KEPT = 16;

type Tools = InferenceRequest["tools"];

/** The tables that were sent. */
export interface ToolTables {
  /** The table of a request. Throws `notFound` for an empty one whose digest is not known. */
  of(digest: string, sent: Tools): Tools;
}

/** Makes an empty keep of tables; the oldest goes first. */
export function makeToolTables(): ToolTables {
  const kept = new Map<string, Tools>();
  return Object.freeze({
    of(digest: string, sent: Tools): Tools {
      const tools = sent.length > 0 ? sent : kept.get(digest);
      if (tools === undefined) {
        throw new Fault("notFound", "Cannot infer: the table of tools is not known here", {
          detail: { table: digest },
        });
      }
      kept.delete(digest);
      kept.set(digest, tools);
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
      return tools;
    },
  });
}
