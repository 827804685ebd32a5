/** An exchange as it fits through the gateway's pipe: a peer's and an agent's contents may be more than one frame. @module */
import type { Json } from "../../../contracts/mod.ts";

/** UTF-16 units of an exchange that goes through whole; the pipe takes 12 MiB. */
const MOST = 3_500_000;

/** The same exchange; past the bound without its history, and still past it without its artifacts. */
export function fitting(exchange: Json): Json {
  if (typeof exchange !== "object" || exchange === null || Array.isArray(exchange)) return exchange;
  let fits: Json = exchange;
  for (const part of ["history", "artifacts"]) {
    if (JSON.stringify(fits).length <= MOST) return fits;
    fits = { ...fits, [part]: [] };
  }
  return fits;
}
