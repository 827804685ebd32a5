/** Digests of Remit's own sources, by which built programs are cached. @module */
import { join } from "node:path";
import { sha256Hex } from "../../port/digest.ts";

/** Folders whose sources may be part of a program built for the kernel. */
export const DIGESTED = [
  "agents",
  "bridges/mcp/review",
  "broker",
  "browser",
  "contracts",
  "kernel",
  "memory-wiki",
  "models",
  "net",
  "planned",
  "port",
  "runner",
  "store",
  "text",
  "tools-wasm/binding",
  "tools-wasm/command",
  "tools-wasm/host",
  "workspace",
];

/** Digests already computed in this process, by absolute path of the folder. */
export type SourceDigests = Map<string, string>;

function sourceFiles(folder: string): string[] {
  const found: string[] = [];
  try {
    for (const entry of Deno.readDirSync(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory) found.push(...sourceFiles(path));
      else if (entry.name.endsWith(".ts") && !entry.name.endsWith("_test.ts")) found.push(path);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort();
}

function digestFiles(home: string, files: readonly string[]): string {
  const parts: (string | Uint8Array)[] = [];
  for (const file of files) {
    try {
      const bytes = Deno.readFileSync(file);
      parts.push(file.slice(home.length), "\0", String(bytes.length), "\0", bytes);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return sha256Hex(...parts);
}

/**
 * SHA-256 over all sources that a bundle can hold (or only `folders`), the lock file, and Deno's version; hex. Folders in
 * `known` are not read again.
 */
export function digestSources(
  home: string,
  folders: readonly string[] = DIGESTED,
  known: SourceDigests = new Map(),
): string {
  const each = folders.map((folder) => {
    const path = join(home, folder);
    const digest = known.get(path) ?? digestFiles(home, sourceFiles(path));
    known.set(path, digest);
    return digest;
  });
  const settings = digestFiles(home, [join(home, "deno.json"), join(home, "deno.lock")]);
  return sha256Hex(Deno.version.deno, "\0", ...each, settings);
}
