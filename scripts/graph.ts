import { type ModuleGraph, parseGraph } from "./house/mod.ts";
import { denoJson, ROOT } from "./process.ts";

/**
 * Returns the module graph over `paths` (repository paths) as deno resolves it, by one `deno info`
 * over a file that imports all of them.
 * @throws Error with deno's output when deno cannot read the graph
 */
export async function readGraph(paths: readonly string[]): Promise<ModuleGraph> {
  const root = `.build/graph_root.ts`;
  Deno.mkdirSync(`${ROOT}/.build`, { recursive: true });
  Deno.writeTextFileSync(
    `${ROOT}/${root}`,
    paths.map((path) => `import ${JSON.stringify(`../${path}`)};\n`).join(""),
  );
  const { code, output } = await denoJson(["info", "--json", root]);
  if (code !== 0) throw new Error(`Cannot read the module graph: ${output}`);
  const own = new URL("..", import.meta.url).href;
  return parseGraph(output, own).filter(({ from }) => from !== root);
}
