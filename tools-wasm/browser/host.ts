/** The host functions that this plugin uses. @module */
import type { Remit } from "../sdk/mod.ts";

/** One request. */
export type WebRequest = Parameters<Remit["http"]["fetch"]>[0];

/** The host. */
export interface Host extends Pick<Remit, "http" | "random"> {
  readonly fs: Pick<Remit["fs"], "write">;
}
