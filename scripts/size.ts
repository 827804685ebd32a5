/**
 * `deno task size`: the size of the code against its budgets: files, lines, median and largest file
 * of each folder, and what each process loads. `deno task ok` fails where a budget is exceeded.
 *
 * @module
 */
import { readGraph } from "./graph.ts";
import { breach, type Finding, type ModuleGraph, reachedByCode } from "./house/mod.ts";
import { readTree, type TextFile } from "./house/tree.ts";
import { isAssembly } from "./import_table.ts";
import { print, ROOT } from "./process.ts";
import { BUDGET } from "./size_budget.ts";

/** Line width for counting: a longer line counts as the lines that it would fill. */
const WIDTH = 100;
const NOT_COUNTED =
  /_test\.ts$|_endless\.ts$|\/_fixture\/|^tests\/|^bench\/|\/testing\/|^examples\//;

/** Files and lines of a folder, or of what a process loads. */
export interface Size {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
  readonly median: number;
  readonly largest: string;
}

/** Counts the lines of a text at {@link WIDTH}. */
export function linesOf(text: string): number {
  return text.replace(/\n$/, "").split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / WIDTH)), 0);
}

function sizeOf(name: string, files: readonly (readonly [string, number])[]): Size {
  const sorted = files.toSorted((a, b) => a[1] - b[1]);
  const [path = "", lines = 0] = sorted.at(-1) ?? [];
  return {
    name,
    files: files.length,
    lines: files.reduce((sum, [, each]) => sum + each, 0),
    median: sorted[Math.floor(sorted.length / 2)]?.[1] ?? 0,
    largest: `${path} ${lines}`,
  };
}

/** Measures all, top folders and what each `main.ts` loads; no tests, fixtures, examples. */
export function measure(
  tree: readonly TextFile[],
  graph: ModuleGraph,
): {
  readonly house: Size;
  readonly folders: readonly Size[];
  readonly processes: readonly Size[];
} {
  const counted = new Map(
    tree.filter(({ path }) => path.endsWith(".ts") && !NOT_COUNTED.test(path))
      .map(({ path, text }) => [path, linesOf(text)] as const),
  );
  const folders = Map.groupBy(counted, ([path]) => path.split("/", 1)[0] ?? "");
  const entries = [...counted.keys()].filter((path) => path.endsWith("main.ts"));
  return {
    house: sizeOf("house", [...counted]),
    folders: [...folders].map(([name, files]) => sizeOf(name, files)),
    processes: entries.map((entry) =>
      sizeOf(
        entry,
        [...reachedByCode(graph, entry).keys()].flatMap((path) => {
          const lines = counted.get(path);
          return lines === undefined ? [] : [[path, lines] as const];
        }),
      )
    ),
  };
}

/** Returns a finding for each exceeded budget, and for each folder or process without one. */
export function sizeFindings(sizes: ReturnType<typeof measure>): readonly Finding[] {
  const all = [sizes.house, ...sizes.folders, ...sizes.processes];
  return all.flatMap(({ name, files, lines, largest }) => {
    const budget = BUDGET[name];
    const say = (message: string): Finding =>
      breach("budget", "scripts/size_budget.ts", 1, message);
    if (budget === undefined) {
      return [say(`"${name}" has no budget: it has ${files} files, ${lines} lines`)];
    }
    const [maxFiles, maxLines] = budget;
    return files <= maxFiles && lines <= maxLines ? [] : [
      say(
        `"${name}" has ${files} files and ${lines} lines, its budget is ${maxFiles} and ${maxLines}: ` +
          `remove or reuse something (largest: ${largest})`,
      ),
    ];
  });
}

if (import.meta.main) {
  const tree = readTree(ROOT);
  const sources = tree.map(({ path }) => path)
    .filter((path) => path.endsWith(".ts") && !isAssembly(path));
  const sizes = measure(tree, await readGraph(sources));
  const row = ({ name, files, lines, median, largest }: Size): string => {
    const [maxFiles = 0, maxLines = 0] = BUDGET[name] ?? [];
    return `${name.padEnd(34)} ${`${files}/${maxFiles}`.padStart(11)} ${
      `${lines}/${maxLines}`.padStart(15)
    } ${String(median).padStart(6)}  ${largest}\n`;
  };
  print(`${"".padEnd(34)} ${"files".padStart(11)} ${"lines".padStart(15)} median  largest\n`);
  for (const each of [sizes.house, ...sizes.folders, ...sizes.processes]) print(row(each));
  const findings = sizeFindings(sizes);
  for (const { message } of findings) print(`${message}\n`);
  if (findings.length > 0) Deno.exit(1);
}
