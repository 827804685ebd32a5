/**
 * A kernel's client of the store on PostgreSQL: a separate process, behind a port, has the connection to the database.
 *
 * @example
 * ```ts
 * import { openRemoteStore } from "./mod.ts";
 * if (openRemoteStore.length !== 2) throw new Error("it takes a port and what to open");
 * ```
 * @module
 */
export { openRemoteStore, type RemoteStore } from "./client.ts";
