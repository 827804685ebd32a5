/** Chooses a kernel's plugins: Remit's own, and the operator's whose names are free. @module */
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import type { InstalledPlugin } from "./store.ts";
import type { BuiltPlugins } from "./kit.ts";

/**
 * Joins the plugins for the kernel's configuration. Leaves out an added plugin that would take
 * another tool's name (Remit may have got a tool of that name since), and tells `onRefused`.
 */
export function choosePlugins(
  parts: {
    readonly built: BuiltPlugins;
    readonly installed: readonly InstalledPlugin[];
    /** Names of tools outside plugins. */
    readonly reserved: readonly string[];
    readonly onRefused: (text: string) => void;
  },
): KernelConfig["tools"] {
  const { built, installed } = parts;
  const own = built.plugins.map((plugin) => ({ ...plugin, trusted: true }));
  const names = new Set<string>(own.map(({ manifest }) => manifest.name));
  const taken = new Set<string>([
    ...parts.reserved,
    ...own.flatMap(({ manifest }) => manifest.tools.map(({ name }) => name)),
  ]);
  const added = installed.filter(({ manifest }) => {
    const clash = names.has(manifest.name)
      ? manifest.name
      : manifest.tools.find(({ name }) => taken.has(name))?.name;
    if (clash !== undefined) {
      parts.onRefused(
        `Cannot use plugin "${manifest.name}": there is another "${clash}"; ` +
          `"remit tool remove ${manifest.name}" takes it out`,
      );
      return false;
    }
    for (const { name } of manifest.tools) taken.add(name);
    return true;
  });
  return {
    engine: built.engine,
    plugins: [
      ...own,
      ...added.map(({ manifest, file, signed }) => ({ manifest, file, trusted: signed })),
    ],
  };
}
