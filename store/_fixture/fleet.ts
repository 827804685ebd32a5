/** Stores of several kernels on one database, without their kernels. @module */
import { Digest } from "../../contracts/authority/ids.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { EventRow } from "../../contracts/task/store.ts";
import type { FleetAsk } from "../../contracts/wire/wire_store.ts";
import { type Engine, openEngine } from "../postgres/engine_powers.ts";
import { makeFleet } from "../postgres/fleet.ts";
import { openPostgresStore, type PostgresStore } from "../postgres/store.ts";

/** One kernel's end of the database. */
export interface FleetEnd {
  readonly engine: Engine;
  readonly store: PostgresStore;
  ask(ask: FleetAsk): Promise<Json>;
  beat(): Promise<Json>;
  close(): Promise<void>;
}

/** Opens a kernel's store on a database that has the schema. */
export async function openEnd(
  url: string,
  kernel: string,
  { leaseMs = 60_000, machine = "m" }: { readonly leaseMs?: number; readonly machine?: string } =
    {},
): Promise<FleetEnd> {
  const engine = openEngine(url);
  const store = await openPostgresStore({ engine, kernel, leaseMs, machine });
  const serve = makeFleet({
    ...{ engine, store },
    enroll: () => Promise.resolve(""),
    tell: () => undefined,
  });
  const ask = (what: FleetAsk): Promise<Json> => serve(what as unknown as Json);
  const about = { address: "", version: "1", publicKey: kernel, mounts: [machine] };
  const beat = (): Promise<Json> => ask({ kind: "beat", leaseMs, about });
  await beat();
  return { engine, store, ask, beat, close: () => store.close() };
}

/** An event that no log made: the store does not inspect it. */
export function plainEvent(task: string, n: number, kind = "message"): EventRow {
  return { task, n, kind, at: 1, body: `{"n":${n}}`, hash: Digest.parse("ab".repeat(32)) };
}
