/**
 * The store on PostgreSQL, as a kernel sees it: the process that speaks to the database is at the other end of a port.
 *
 * @example
 * ```ts
 * import { openRemoteStore } from "./mod.ts";
 * if (openRemoteStore.length !== 2) throw new Error("it takes a port and what to open");
 * ```
 * @module
 */
export { openRemoteStore, type RemoteStore } from "./client.ts";
