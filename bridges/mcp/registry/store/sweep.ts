/** Removes trees that no server uses, and makes the folders for warm caches. @module */
import { dirname, join } from "node:path";
import type { RegistryPowers } from "./store.ts";
import { openMcpLock } from "../lock.ts";
import type { McpTree } from "../../../../contracts/exchange/mod.ts";
import type { DiskRead, DiskWrite } from "../../../../launch/disk/machine.ts";
import type { Places } from "../../../../launch/disk/places.ts";

/** Names of drafts, into which packages are fetched. */
const DRAFT = /^\.new-/;
/** Age of an abandoned draft in milliseconds; a fetch ends long before. */
const DRAFT_MS = 3_600_000;

/** Removes the drafts of interrupted fetches; returns their names. */
export function sweepDrafts(
  { disk, store, environment, places }: RegistryPowers,
): readonly string[] {
  const gone = disk.list(places.mcpTrees).filter((name) =>
    DRAFT.test(name) &&
    environment.now() - (store.changedAt(join(places.mcpTrees, name)) ?? 0) > DRAFT_MS
  );
  for (const name of gone) store.drop(join(places.mcpTrees, name));
  return gone;
}

/** Removes trees without a server in remit.lock, and abandoned drafts; returns their names. */
export function sweepTrees(powers: RegistryPowers): readonly string[] {
  const { disk, store, places } = powers;
  const used = new Set(
    openMcpLock(powers).list().flatMap(({ launch }) =>
      launch.kind !== "http" && launch.tree !== undefined ? [launch.tree.id] : []
    ),
  );
  const drafts = sweepDrafts(powers);
  const gone = disk.list(places.mcpTrees).filter((name) => !DRAFT.test(name) && !used.has(name));
  for (const name of gone) store.drop(join(places.mcpTrees, name));
  const warm = warmFolder(places);
  for (const name of disk.list(warm)) if (!used.has(name)) store.drop(join(warm, name));
  return [...drafts, ...gone];
}

/** STATE/mcp/warm: a folder for each npm tree, which the kernel binds as DENO_DIR beneath the tree's own files. */
export function warmFolder({ mcpTrees }: Pick<Places, "mcpTrees">): string {
  return join(dirname(mcpTrees), "warm");
}

/** Makes a tree's warm folder if it is missing. A first look fills it; in tasks it is read-only. */
export function provideWarm(
  disk: Pick<DiskRead & DiskWrite, "makeFolder" | "write">,
  places: Pick<Places, "mcpTrees">,
  { id }: Pick<McpTree, "id">,
): void {
  const folder = join(warmFolder(places), id);
  // The tree's own files are bound here.
  disk.makeFolder(join(folder, "npm"), 0o700);
  disk.write(join(folder, "deno.lock"), "", { fresh: true });
  // A file in place of Deno's storage folder makes localStorage fail in every process.
  disk.write(join(folder, "location_data"), "Remit: no server keeps anything here.\n", {
    fresh: true,
  });
}
