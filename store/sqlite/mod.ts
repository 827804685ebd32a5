/**
 * The embedded store: one SQLite file in WAL mode, with every commit synced and events append-only.
 *
 * @example
 * ```ts
 * import { openSqliteStore } from "./mod.ts";
 * const store = openSqliteStore({ path: `${Deno.makeTempDirSync()}/log.db` });
 * if ((await store.heads()).length !== 0) throw new Error("a new store has no events");
 * await store.close();
 * ```
 * @module
 */
export { openContentStore } from "./contents_powers.ts";
export { openSqliteStore, type SqliteStore } from "./store.ts";
export { checkSqliteFile, replaceSqliteFile } from "./contents_powers.ts";
