/** Which plugins a kernel is given: Remit's own, and those of the operator whose names are free. @module */
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import type { InstalledPlugin } from "./store.ts";
import type { BuiltPlugins } from "./kit.ts";

/**
 * Joins them for the kernel's configuration. An added plugin that would take the name of another tool (Remit got one
 * of that name since) is left out, and told to `onRefused`.
 */
export function choosePlugins(
  parts: {
    readonly built: BuiltPlugins;
    readonly installed: readonly InstalledPlugin[];
    /** Names of tools that are no plugin's. */
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
