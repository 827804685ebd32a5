/** The result of building the tools, and its index. @module */
import * as z from "zod";
import { Digest } from "../../contracts/authority/ids.ts";
import { PluginManifest } from "../../contracts/tool/plugin.ts";

/** The index file in a folder of built tools. */
export const INDEX = "manifest.json";

/** One built plugin: its pinned manifest, and the absolute path of its module or script. */
export interface BuiltPlugin {
  readonly manifest: PluginManifest;
  readonly file: string;
}

/** All tools of Remit, built. */
export interface BuiltTools {
  /** Absolute folder with all files below. */
  readonly folder: string;
  /** The module that runs scripts: also the plugin `exec`. */
  readonly engine: { readonly sha256: string; readonly file: string };
  /** Sorted by name. */
  readonly plugins: readonly BuiltPlugin[];
}

/** Name of a built file beside the index. */
const FileName = z.string().regex(/^[a-z][a-z0-9_]{0,31}\.(wasm|js)$/);

/** The index of a folder of built tools; file names are relative to the folder. */
export const BuiltIndex = z.object({
  v: z.literal(1),
  engine: z.object({ sha256: Digest, file: FileName }).strict(),
  plugins: z.array(z.object({ manifest: PluginManifest, file: FileName }).strict()),
}).strict();
export type BuiltIndex = z.infer<typeof BuiltIndex>;

/** The built tools that `index` lists, with files in `folder` (absolute, without a final slash). */
export function builtTools(folder: string, index: BuiltIndex): BuiltTools {
  const at = (file: string): string => `${folder}/${file}`;
  return Object.freeze({
    folder,
    engine: Object.freeze({ sha256: index.engine.sha256, file: at(index.engine.file) }),
    plugins: Object.freeze(
      index.plugins.map(({ manifest, file }) => Object.freeze({ manifest, file: at(file) })),
    ),
  });
}
