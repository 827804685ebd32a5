/** Results as the server sent them: the SDK's schemas would refuse a whole page for one odd tool. @module */
import type { JsonObject } from "../../../contracts/json.ts";

/** A Standard Schema that everything fits. The guard has held the message against its limits. */
export const RAW: {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "remit";
    readonly validate: (value: unknown) => { readonly value: JsonObject };
    readonly types?: { readonly input: unknown; readonly output: JsonObject };
  };
} = Object.freeze({
  "~standard": {
    version: 1,
    vendor: "remit",
    // TRUST: from the server, an object: the guard lets no other result through.
    validate: (value) => ({ value: value as JsonObject }),
  },
});
