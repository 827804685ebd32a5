/** Plugins of mallory's: nobody signed them, and what they do is what a test writes. */
import { type HostFunction, PluginManifest } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { besiege } from "../fake/siege.ts";
import { realTools } from "../fake/tools.ts";

type Plugin = KernelConfig["tools"]["plugins"][number];

/** A script plugin of one tool that evaluates its argument `code`, with `path` to be read. */
async function evaluator(
  dir: string,
  name: string,
  hostFunctions: readonly HostFunction[],
): Promise<Plugin> {
  const result = name === "numbers" ? { result: { type: "number" } } : {};
  const source = `globalThis.__tools = { ${name}: async (args, remit) => {
    const f = new Function("remit", "return (async () => {" + args.code + "})()");
    return await f(remit); } };`;
  const file = `${dir}/${name}.js`;
  await Deno.writeTextFile(file, source);
  const text = { type: "string", maxLength: 10_000 };
  const manifest = PluginManifest.parse({
    ...{ name, version: "1.0.0", licence: "Apache-2.0", engine: "script", memoryPages: 2_048 },
    sha256: sha256Hex(source),
    hostFunctions: [...hostFunctions],
    tools: [{
      name,
      description: "Evaluates.",
      parameters: {
        type: "object",
        properties: { code: text, path: text, out: text },
        required: ["code"],
        additionalProperties: false,
      },
      reads: ["path"],
      writes: ["out"],
      ...result,
    }],
  });
  return { manifest, file, trusted: false };
}

type Functions = Readonly<Record<string, readonly HostFunction[]>>;

/**
 * The real tools, and these plugins, while `f` runs: each a tool that evaluates its argument `code`, as
 * `async (remit) => { … }`, and may read `path` and change `out`.
 */
export async function withOwn(
  of: Functions,
  f: (tools: KernelConfig["tools"]) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "remit-plugins-" });
  try {
    const { engine, plugins } = await realTools();
    const own = await Promise.all(
      Object.entries(of).map(([name, functions]) => evaluator(dir, name, functions)),
    );
    await f({ plugins: [...plugins, ...own], ...(engine === undefined ? {} : { engine }) });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Runs `f` over a kernel with the tools of {@link withOwn}. */
export async function withPlugins(
  of: Functions,
  f: Parameters<typeof besiege>[0],
): Promise<void> {
  await withOwn(of, (tools) => besiege(f, { config: { tools } }));
}
