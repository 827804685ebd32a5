/** What Deno remembers of a tree's code between starts: beside the tree, and no part of its hash. @module */
import { dirname, join } from "node:path";
import type { McpTree } from "../../../contracts/mod.ts";
import type { DiskRead, DiskWrite } from "../../hands.ts";
import type { Places } from "../../disk/places.ts";

/** STATE/mcp/warm: a folder for each npm tree, which the kernel binds as DENO_DIR beneath the tree's own files. */
export function warmFolder({ mcpTrees }: Pick<Places, "mcpTrees">): string {
  return join(dirname(mcpTrees), "warm");
}

/** Makes a tree's, unless it is there. A first look fills it; in tasks it is read-only. */
export function provideWarm(
  disk: Pick<DiskRead & DiskWrite, "makeFolder" | "write">,
  places: Pick<Places, "mcpTrees">,
  { id }: Pick<McpTree, "id">,
): void {
  const folder = join(warmFolder(places), id);
  // Where the tree's own are bound.
  disk.makeFolder(join(folder, "npm"), 0o700);
  disk.write(join(folder, "deno.lock"), "", { fresh: true });
  // A file where Deno would keep what a process stores: localStorage then fails in each.
  disk.write(join(folder, "location_data"), "Remit: no server keeps anything here.\n", {
    fresh: true,
  });
}
