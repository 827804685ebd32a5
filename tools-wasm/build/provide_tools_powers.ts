/** Finds the built tools of these sources, or builds them. @module */
import { basename, join } from "node:path";
import { Fault } from "../../contracts/base/fault.ts";
import { PluginManifest } from "../../contracts/tool/plugin.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { BuiltIndex, type BuiltTools, builtTools, INDEX } from "./built_tools.ts";
import { digestTools, isThere, type PluginFolder, pluginFolders } from "./plugin_folders_powers.ts";
import { buildEnv } from "../../port/build_env.ts";

/** Where the sources lie, where their build goes, and who receives its progress. */
export interface ProvideOptions {
  /** The repository: an absolute folder. */
  readonly home: string;
  /** Absolute folder, created if missing, with one folder for each digest of sources. */
  readonly cache: string;
  /** Called with one line when building starts and one for each plugin; never without a build. */
  readonly onBuild: (text: string) => void;
}

/**
 * Finds the tools built from these sources, or builds them: completely or not at all, also when two
 * processes build at once.
 *
 * @throws Fault `unavailable` with the message of a plugin that fails to build
 */
export async function provideTools(options: ProvideOptions): Promise<BuiltTools> {
  const folder = join(options.cache, digestTools(options.home).slice(0, 32));
  if (!isThere(folder)) await buildInto(folder, options);
  const index = BuiltIndex.parse(JSON.parse(Deno.readTextFileSync(join(folder, INDEX))));
  return builtTools(folder, index);
}

async function buildInto(folder: string, { home, cache, onBuild }: ProvideOptions): Promise<void> {
  Deno.mkdirSync(cache, { recursive: true, mode: 0o700 });
  // Temporary folders have mode 0700.
  const draft = Deno.makeTempDirSync({ dir: cache, prefix: ".building-" });
  try {
    const plugins = pluginFolders(home);
    onBuild(`building ${plugins.length} tool plugins …`);
    // Two processes for two cores: compilers of AssemblyScript and of scripts share nothing.
    const isAssembly = ({ kind }: PluginFolder): boolean => kind === "assembly";
    await Promise.all(
      [plugins.filter(isAssembly), plugins.filter((one) => !isAssembly(one))].map((some) =>
        runBuild({ home, out: draft, folders: some.map((one) => one.folder), onBuild })
      ),
    );
    Deno.writeTextFileSync(join(draft, INDEX), JSON.stringify(indexOf(draft, plugins)), {
      mode: 0o600,
    });
    Deno.renameSync(draft, folder);
  } catch (error) {
    Deno.removeSync(draft, { recursive: true });
    // Another process was faster, with the same sources.
    if (!isThere(join(folder, INDEX))) throw error;
  }
}

function indexOf(draft: string, plugins: readonly PluginFolder[]): BuiltIndex {
  const built = plugins.map(({ name, kind }) => ({
    manifest: PluginManifest.parse(JSON.parse(Deno.readTextFileSync(join(draft, `${name}.json`)))),
    file: `${name}.${kind === "script" ? "js" : "wasm"}`,
  }));
  const engine = built.find(({ manifest }) => manifest.name === "exec");
  if (engine === undefined) {
    throw new Fault("unavailable", "Cannot build the tools: there is no engine for scripts");
  }
  return { v: 1, engine: { sha256: engine.manifest.sha256, file: engine.file }, plugins: built };
}

/**
 * Builds plugin folders in a separate process, which loads the compilers and ends. Each plugin
 * leaves `NAME.json` and `NAME.wasm` or `NAME.js` in `out`.
 *
 * @throws Fault `unavailable` with the message of the first plugin that fails to build
 */
export async function runBuild(
  { home, out, folders, onBuild }: {
    readonly home: string;
    readonly out: string;
    /** Absolute. */
    readonly folders: readonly string[];
    readonly onBuild: (text: string) => void;
  },
): Promise<void> {
  if (folders.length === 0) return;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", "--config", join(home, "deno.json")],
      ...["--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-sys"],
      ...[join(home, "tools-wasm/build/main.ts"), out, ...folders],
    ],
    clearEnv: true,
    env: buildEnv(Deno.env.toObject()),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = new Response(child.stderr).text();
  for await (const line of linesOf(child.stdout)) onBuild(displayText(line));
  if ((await child.status).success) return;
  const [only, ...others] = folders;
  const what = only === undefined || others.length > 0 ? "the tools" : `"${basename(only)}"`;
  throw new Fault("unavailable", `Cannot build ${what}${whyNot((await output).trim())}`);
}

/** Maximum lines of a failed build's output to show. */
const MAX_SHOWN_LINES = 24;

/** A failed build's output, as the rest of a message. Whoever shows the message fits its lines. */
function whyNot(output: string): string {
  const all = output.split("\n");
  const shown = all.slice(0, MAX_SHOWN_LINES).flatMap((line) =>
    displayBlock(line, { prefix: "  │ ", columns: 1_000 })
  );
  const more = all.length > MAX_SHOWN_LINES
    ? [`  and ${all.length - MAX_SHOWN_LINES} more lines`]
    : [];
  const hint = /registry|npm:|jsr:/.test(output)
    ? " (the first build needs the package registry, later ones do not)"
    : "";
  return [hint, ...shown, ...more].join("\n");
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
