import { BUNDLES, mayImport, mayImportNpm } from "../import_table.ts";
import { packageName } from "./import_rule.ts";
import { breach, type Finding } from "./source.ts";

/**
 * An edge of the module graph as deno resolves it. Files are repository paths, packages `npm:name`.
 */
export type Edge = { readonly from: string; readonly to: string; readonly typeOnly: boolean };

/** The module graph of the repository. */
export type ModuleGraph = readonly Edge[];

type InfoDependency = {
  readonly specifier: string;
  readonly code?: { readonly specifier?: string; readonly error?: string };
  readonly type?: { readonly specifier?: string };
};
type Info = {
  readonly modules: readonly {
    readonly specifier: string;
    readonly error?: string;
    readonly dependencies?: readonly InfoDependency[];
  }[];
};

/**
 * Parses the output of `deno info --json` into edges. `root`: the repository's `file:` URL with a
 * final slash.
 * @throws SyntaxError when the text is not output of `deno info`
 */
export function parseGraph(json: string, root: string): ModuleGraph {
  // TRUST: output of deno itself.
  const info = JSON.parse(json) as Info;
  if (!Array.isArray(info.modules)) {
    throw new SyntaxError("Cannot read the module graph: no modules");
  }
  const short = (specifier: string): string =>
    specifier.startsWith(root)
      ? specifier.slice(root.length)
      : specifier.replace(/^npm:\/?(@?[^@]+)(@.*)?$/, (_all, name: string) =>
        `npm:${packageName(name)}`);
  const edges: Edge[] = [];
  for (const module of info.modules) {
    for (const { code, type } of module.dependencies ?? []) {
      const to = code?.specifier ?? type?.specifier;
      if (to === undefined) continue;
      edges.push({ from: short(module.specifier), to: short(to), typeOnly: code === undefined });
    }
  }
  return edges;
}

/** Checks the graph against the import table, and each bundle against its rule. */
export function graphFindings(graph: ModuleGraph): readonly Finding[] {
  return [
    ...graph.flatMap(edgeFindings),
    ...BUNDLES.flatMap((bundle) => bundleFindings(graph, bundle)),
  ];
}

function edgeFindings({ from, to }: Edge): readonly Finding[] {
  if (!from.endsWith(".ts") || from.includes(":")) return [];
  const why = to.startsWith("npm:")
    ? mayImportNpm(from, to.slice("npm:".length))
    : to.includes(":")
    ? undefined
    : mayImport(from, to);
  return why === undefined ? [] : [breach("graph", from, 1, why)];
}

function bundleFindings(graph: ModuleGraph, bundle: (typeof BUNDLES)[number]): readonly Finding[] {
  const findings: Finding[] = [];
  for (const [reached, path] of reachedByCode(graph, bundle.entry)) {
    const say = (what: string): void => {
      findings.push(
        breach("bundle", bundle.entry, 1, `holds ${what}, through ${path.join(" → ")}`),
      );
    };
    if (reached.startsWith("npm:") && !bundle.npm.includes(reached.slice("npm:".length))) {
      say(`the package "${reached.slice("npm:".length)}"`);
    }
    if (bundle.without.includes(reached)) say(`"${reached}"`);
  }
  return findings;
}

/** Returns every module that runs when `entry` runs, each with the shortest path to it. */
export function reachedByCode(
  graph: ModuleGraph,
  entry: string,
): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, string[]>();
  for (const { from, to, typeOnly } of graph) {
    if (!typeOnly) next.set(from, [...(next.get(from) ?? []), to]);
  }
  const ways = new Map<string, readonly string[]>([[entry, [entry]]]);
  for (const [module, way] of ways) {
    for (const to of next.get(module) ?? []) if (!ways.has(to)) ways.set(to, [...way, to]);
  }
  return ways;
}
