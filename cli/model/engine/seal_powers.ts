/** The seal beside an engine's files: what was fetched, and the digest of each file. @module */
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { ENGINE_VERSION, type EngineBuild } from "./builds.ts";

const SEAL = "remit.json";
/** Bytes read at a time: a library of CUDA has hundreds of megabytes. */
const PIECE = 4 * 1024 * 1024;

const Seal = z.object({
  version: z.literal(1),
  package: z.string(),
  /** Of all packages, with a space between. */
  integrity: z.string(),
  /** Path beneath the folder → SHA-256 of every file. */
  files: z.record(z.string(), z.string()),
}).strict();

/** What is fetched, as people read it. */
export function packagesText({ packages }: EngineBuild): string {
  return packages.map(({ name }) => `${name}@${ENGINE_VERSION}`).join(" and ");
}

function integrityOf({ packages }: EngineBuild): string {
  return packages.map(({ integrity }) => integrity).join(" ");
}

/** Every file beneath a folder, as paths beneath it, without the seal. */
function filesBeneath(folder: string, under = ""): string[] {
  return [...Deno.readDirSync(join(folder, under))].flatMap((entry) => {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory) return filesBeneath(folder, path);
    return path === SEAL ? [] : [path];
  });
}

function digestOfFile(path: string): string {
  using file = Deno.openSync(path, { read: true });
  const hash = createHash("sha256");
  const piece = new Uint8Array(PIECE);
  for (let read = file.readSync(piece); read !== null; read = file.readSync(piece)) {
    hash.update(piece.subarray(0, read));
  }
  return hash.digest("hex");
}

/** Seals the files of a folder. Gives how many there are, and their bytes. */
export function seal(
  folder: string,
  build: EngineBuild,
): { readonly files: number; readonly bytes: number } {
  const names = filesBeneath(folder);
  const text = JSON.stringify(
    {
      version: 1,
      package: packagesText(build),
      integrity: integrityOf(build),
      files: Object.fromEntries(names.map((name) => [name, digestOfFile(join(folder, name))])),
    },
    null,
    2,
  );
  Deno.writeTextFileSync(join(folder, SEAL), `${text}\n`);
  const sizes = names.map((name) => Deno.statSync(join(folder, name)).size);
  return { files: names.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Whether a folder holds what was sealed for this build, byte by byte, and `needed` among it. */
export function isSealed(folder: string, build: EngineBuild, needed: string): boolean {
  try {
    const { integrity, files } = Seal.parse(
      JSON.parse(Deno.readTextFileSync(join(folder, SEAL))),
    );
    const names = filesBeneath(folder);
    return integrity === integrityOf(build) && names.includes(needed) &&
      names.length === Object.keys(files).length &&
      names.every((name) => files[name] === digestOfFile(join(folder, name)));
  } catch (error) {
    const gone = error instanceof Deno.errors.NotFound || error instanceof SyntaxError ||
      error instanceof z.ZodError;
    if (gone) return false;
    throw error;
  }
}
