/** The host functions that need no kernel: `log`, `clock`, `random`. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { HostFunction } from "../../contracts/tool/plugin.ts";
import { RANDOM_BYTES } from "./bounds.ts";
import type { LogBook } from "./log_book.ts";

export interface LocalPowers {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Random bytes, at most 65,536, in base64. */
  readonly random: (bytes: number) => string;
}

/**
 * Serves a granted function locally; undefined when the kernel must serve it.
 * @throws {Fault} `invalidInput` for its arguments
 */
export function serveLocally(
  fn: HostFunction,
  args: JsonObject,
  powers: LocalPowers & { readonly logs: LogBook },
): { readonly value: Json } | undefined {
  if (fn === "clock") return { value: { now: powers.now() } };
  if (fn === "log") {
    if (typeof args["text"] !== "string") throw bad(`Cannot log: "text" is not a text`);
    powers.logs.add(args["text"]);
    return { value: null };
  }
  if (fn !== "random") return undefined;
  const { bytes } = args;
  if (typeof bytes !== "number" || !Number.isInteger(bytes) || bytes < 1 || bytes > RANDOM_BYTES) {
    throw bad(`Cannot give random bytes: "bytes" is not a number from 1 to ${RANDOM_BYTES}`);
  }
  return { value: { base64: powers.random(bytes) } };
}

function bad(message: string): Fault {
  return new Fault("invalidInput", message);
}
