/** Where a state keeps its log: in its own folder, or in a database that was named once. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { StoreChoice } from "../../contracts/wire/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { parseAddress } from "../../contracts/wire/store_address.ts";
import type { DiskRead, DiskWrite, Environment } from "../disk/machine.ts";
import { makePrivateFolder, type Places } from "../disk/places.ts";

/** File in STATE, 0600: the database's address, with its password. */
const FILE = "store";
/** Default seconds of a kernel's lease. */
const LEASE_S = 15;
const MACHINE_ID = "/etc/machine-id";

type Disk = Pick<DiskRead & DiskWrite, "read" | "write" | "stat" | "makeFolder" | "real">;

function kept(disk: Pick<DiskRead, "read">, places: Places): string | undefined {
  const bytes = disk.read(join(places.state, FILE), { most: 4_096 });
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes).trim();
}

/**
 * Records the database that keeps a state's log; recording the same one again changes nothing.
 * @throws Fault `conflict` where the state has a log already, `invalidInput` for a malformed address
 */
export function keepStore(
  { disk, places, uid }: { readonly disk: Disk; readonly places: Places; readonly uid: number },
  url: string,
): void {
  parseAddress(url);
  const before = kept(disk, places);
  if (before === url) return;
  if (before !== undefined || disk.stat(join(places.kernel, "remit.db")) !== undefined) {
    throw new Fault(
      "conflict",
      "Cannot use another store: this state keeps its log elsewhere already; give --state DIR for a new one",
    );
  }
  makePrivateFolder(disk, places.state, uid);
  disk.write(join(places.state, FILE), `${url}\n`);
}

/** The database of a state; undefined where its log is a file. */
export function storeChoice(
  disk: Pick<DiskRead, "read">,
  places: Places,
  environment: Pick<Environment, "uid">,
): StoreChoice | undefined {
  const url = kept(disk, places);
  if (url === undefined) return undefined;
  const { kernel, lease = LEASE_S, work } = parseAddress(url);
  const id = disk.read(MACHINE_ID, { most: 100 });
  const machine = digestOf({
    machine: id === undefined ? "" : new TextDecoder().decode(id).trim(),
    uid: environment.uid,
  }).slice(0, 12);
  return Object.freeze({
    url,
    kernel: kernel ?? `k-${digestOf({ machine, state: places.state }).slice(0, 12)}`,
    leaseMs: lease * 1_000,
    // Staged files lie in this kernel's own folder, unless several kernels share `work`: only a kernel with access can go on.
    machine: work === undefined ? digestOf({ machine, state: places.state }).slice(0, 12) : machine,
    ...(work === undefined ? {} : { work }),
  });
}
