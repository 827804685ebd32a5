/** Which rules a kernel has, as one digest: tasks of others are not carried on under them unasked. @module */
import { type Digest, type PolicySource, toJson } from "../../contracts/mod.ts";
import { digestOf } from "../../port/digest.ts";

/** The digest of a policy as the command line merged it. */
export function rulesOf(policy: PolicySource): Digest {
  return digestOf(toJson(policy));
}
