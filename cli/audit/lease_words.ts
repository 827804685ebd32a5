/** Describes leases that were granted together. @module */
import type { SeenEvent } from "./event_fields.ts";

/** `read mount notes l4…, use model l5…`; empty for other events. Untrusted text. */
export function leaseWords({ body, private: secret }: SeenEvent): string {
  const { leases } = body;
  const paths = Array.isArray(secret["paths"]) ? secret["paths"] : [];
  if (!Array.isArray(leases)) return "";
  return leases.map((each, i) => {
    const { right, resource, lease } = Object(each);
    return [right, resource, paths[i], lease]
      .filter((word) => typeof word === "string" && word !== "").join(" ");
  }).join(", ");
}
