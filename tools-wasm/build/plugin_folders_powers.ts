/** Finds the plugins' sources, and digests everything that determines their build. @module */
import { basename, join } from "node:path";
import { sha256Hex } from "../../port/digest.ts";

/** How a plugin folder is built. */
export type PluginKind = "assembly" | "script" | "own";

/** A folder that holds a `tool.yaml`. */
export interface PluginFolder {
  readonly name: string;
  /** Absolute. */
  readonly folder: string;
  readonly kind: PluginKind;
}

/** Folders of tools-wasm/ that are not plugins. */
const PARTS: ReadonlySet<string> = new Set(["host", "sdk", "build", "binding"]);

/** Folders that every plugin's build may use. */
const SHARED = ["contracts", "port", "text", "tools-wasm/sdk", "tools-wasm/build"];

/** How the plugin in `folder` is built; undefined when it has no source. */
export function pluginKind(folder: string): PluginKind | undefined {
  if (isThere(join(folder, "build.ts"))) return "own";
  if (isThere(join(folder, "assembly", "index.ts"))) return "assembly";
  return isThere(join(folder, "tool.ts")) ? "script" : undefined;
}

/** The plugins of the repository at `home`, sorted by name. */
export function pluginFolders(home: string): readonly PluginFolder[] {
  const root = join(home, "tools-wasm");
  const found: PluginFolder[] = [];
  for (const entry of Deno.readDirSync(root)) {
    if (!entry.isDirectory || PARTS.has(entry.name)) continue;
    const folder = join(root, entry.name);
    const kind = isThere(join(folder, "tool.yaml")) ? pluginKind(folder) : undefined;
    if (kind !== undefined) found.push({ name: basename(folder), folder, kind });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** SHA-256, hex, of all sources of plugins, kits and builder, the lock file, Deno's version. */
export function digestTools(home: string): string {
  const parts: (string | Uint8Array)[] = [Deno.version.deno, "\0"];
  const folders = [
    ...SHARED.map((name) => join(home, name)),
    ...pluginFolders(home).map(({ folder }) => folder),
  ];
  const files = [
    ...folders.flatMap(sourceFiles),
    ...["deno.json", "deno.lock"].map((file) => join(home, file)),
  ];
  for (const file of files) {
    const bytes = Deno.readFileSync(file);
    parts.push(file.slice(home.length), "\0", String(bytes.length), "\0", bytes);
  }
  return sha256Hex(...parts);
}

/** Whether something exists at `path`. */
export function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw error;
  }
}

function sourceFiles(folder: string): readonly string[] {
  if (!isThere(folder)) return [];
  const found: string[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory && entry.name !== "_fixture") found.push(...sourceFiles(path));
    else if (entry.isFile && !entry.name.endsWith("_test.ts")) found.push(path);
  }
  return found.sort();
}
