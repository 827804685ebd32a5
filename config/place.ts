/**
 * Rewrites paths in a folder's remit.yaml: people write `MOUNT/…` or paths beneath the folder; the kernel knows only
 * `MOUNT/…`. Used by files.ts.
 * @module
 */
import type { PlacedRule, RemitConfig } from "../contracts/policy/mod.ts";
import type { ConfigFile } from "./text.ts";

/** A mount's name and its real folder. */
export interface MountPlace {
  readonly name: string;
  readonly dir: string;
}

/** The path of `inner` beneath `outer`: "" for the same folder, undefined when `inner` lies elsewhere. */
function relative(inner: string, outer: string): string | undefined {
  if (inner === outer) return "";
  const prefix = outer === "/" ? "/" : `${outer}/`;
  return inner.startsWith(prefix) ? inner.slice(prefix.length) : undefined;
}

function placeGlob(glob: string, folder: string, mounts: readonly MountPlace[]): string[] {
  if (glob.startsWith("!")) {
    return placeGlob(glob.slice(1), folder, mounts).map((placed) => `!${placed}`);
  }
  const plain = glob.replace(/^\.\//, "");
  const [first = ""] = plain.split("/");
  // Names without a folder, and `**`, match in every mount.
  if (!plain.includes("/") || first === "**") return [plain];
  const placed = mounts.flatMap(({ name, dir }) => {
    const above = relative(folder, dir);
    if (above !== undefined) return [[name, above, plain].filter((part) => part !== "").join("/")];
    const beneath = relative(dir, folder);
    if (beneath === undefined) return [];
    const rest = relative(plain, beneath);
    return rest === undefined ? [] : [rest === "" ? name : `${name}/${rest}`];
  });
  // A folder may have a mount's name: then the glob means both, so that no forbid misses either.
  const named = mounts.some((each) => each.name === first);
  return named || placed.length === 0 ? [...new Set([plain, ...placed])] : placed;
}

function placeRule(
  rule: PlacedRule,
  folder: string,
  mounts: readonly MountPlace[],
): PlacedRule {
  if (rule.path === undefined) return rule;
  return { ...rule, path: [rule.path].flat().flatMap((glob) => placeGlob(glob, folder, mounts)) };
}

/** Rewrites a file's globs for the mounts of a run. `folder` is where the file lies. */
export function placeConfig(
  file: ConfigFile,
  folder: string,
  mounts: readonly MountPlace[],
): ConfigFile {
  const { config } = file;
  const never = (config.never ?? []).flatMap((glob, n) =>
    placeGlob(glob, folder, mounts).map((placed) => ({ placed, n }))
  );
  const placed: RemitConfig = {
    ...config,
    ...(config.never === undefined ? {} : { never: never.map((each) => each.placed) }),
    ...(config.marks === undefined ? {} : {
      marks: config.marks.flatMap((mark) =>
        placeGlob(mark.path, folder, mounts).map((path) => ({ ...mark, path }))
      ),
    }),
  };
  return Object.freeze({
    ...file,
    config: placed,
    rules: file.rules.map((rule) => placeRule(rule, folder, mounts)),
    at(path: readonly PropertyKey[]): string {
      const [list, n] = path;
      // One written glob may have become several, all from the same line.
      const origin = list === "never" && typeof n === "number" ? never[n]?.n ?? n : undefined;
      return file.at(origin === undefined ? path : ["never", origin]);
    },
  });
}
