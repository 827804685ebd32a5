/** Digests a folder's tree, to tell whether a package is still the one that was added. @module */
import { createHash } from "node:crypto";
import { Fault } from "../../contracts/base/mod.ts";
import type { TreeFacts } from "./machine.ts";

/** Most entries of a tree. */
const MAX_ENTRIES = 200_000;
const CHUNK = 1024 * 1024;

/** Walks a tree. @throws Fault `tooLarge`; an error of the system for an unreadable entry */
export function readTreeFacts(root: string): TreeFacts {
  const files: string[] = [];
  // `seen` holds sizes and times, a quick sign of changes; `shape` the kinds of entries, part of the digest that decides.
  const seen = createHash("sha256"), shape = createHash("sha256");
  let entries = 0, bytes = 0;
  const walk = (folder: string, name: string): void => {
    for (const entry of [...Deno.readDirSync(folder)].sort((a, b) => a.name < b.name ? -1 : 1)) {
      entries += 1;
      if (entries > MAX_ENTRIES) {
        throw new Fault(
          "tooLarge",
          `Cannot pin "${root}": it holds more than ${MAX_ENTRIES} files`,
        );
      }
      const path = `${folder}/${entry.name}`, own = `${name}/${entry.name}`;
      const { size, mtime, ctime, ino, mode } = Deno.lstatSync(path);
      const times = `${mtime?.getTime()} ${ctime?.getTime()} ${ino}`;
      if (entry.isDirectory) {
        shape.update(`${own}\0folder\n`);
        walk(path, own);
      } else if (entry.isSymlink) {
        shape.update(`${own}\0link ${Deno.readLinkSync(path)}\n`);
      } else {
        const runs = (mode ?? 0) & 0o111;
        shape.update(`${own}\0file ${size} ${runs}\n`);
        seen.update(`${own}\0${size} ${times} ${runs}\n`);
        bytes += size;
        files.push(path);
      }
    }
  };
  walk(root, "");
  const shapeDigest = shape.digest("hex");
  return Object.freeze<TreeFacts>({
    ...{ files: files.length, bytes },
    seen: createHash("sha256").update(`${shapeDigest} ${seen.digest("hex")}`).digest("hex"),
    digest(): string {
      const all = createHash("sha256").update(`${shapeDigest}\n`);
      const buffer = new Uint8Array(CHUNK);
      for (const path of files) {
        using file = Deno.openSync(path);
        for (let read = file.readSync(buffer); read !== null; read = file.readSync(buffer)) {
          all.update(buffer.subarray(0, read));
        }
      }
      return all.digest("hex");
    },
  });
}
