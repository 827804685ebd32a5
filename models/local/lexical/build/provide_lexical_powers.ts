/** Finds the lexicon, or builds it: once for a user, when an embedder is first used. @module */
import { join } from "node:path";
import { Fault } from "../../../../contracts/fault.ts";
import { sha256Hex } from "../../../../port/digest.ts";
import { displayBlock } from "../../../../text/mod.ts";
import { LEXICON_BYTES, LEXICON_SHA256 } from "./lexicon_digest.ts";
import { buildEnv } from "../../../../port/build_env.ts";

const MAP = "models/local/lexical/build/wordnet.json";
const ENTRY = "models/local/lexical/build/main.ts";

/** A lexicon on disk, checked. */
export interface BuiltLexicon {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Builds the lexicon of the repository `home` into the file `out`. */
export type BuildLexical = (home: string, out: string) => Promise<void>;

/** Where sources lie, where what is built goes, and who hears of it. */
export interface ProvideLexicalOptions {
  /** The repository: an absolute folder. */
  readonly home: string;
  /** Absolute folder, made if it is missing. */
  readonly cache: string;
  /** Told one line when building starts; never when nothing is to do. */
  readonly onBuild: (text: string) => void;
}

/**
 * Finds the lexicon that these sources pin, or builds it in a process of its own (10 to 20 seconds;
 * the first time WordNet comes from the package registry, 10 MB). Whole or not at all, also when two
 * build at once.
 *
 * @throws Fault `unavailable` when it does not build, or gives other bytes than are pinned
 */
export async function provideLexical(
  options: ProvideLexicalOptions,
  build: BuildLexical = runBuild,
): Promise<BuiltLexicon> {
  const file = join(options.cache, `lexical-${LEXICON_SHA256.slice(0, 32)}.bin`);
  const built = { file, sha256: LEXICON_SHA256, bytes: LEXICON_BYTES };
  if (digestOfFile(file) === LEXICON_SHA256) return built;
  options.onBuild("building the lexicon for embeddings, once: 10 to 20 seconds …");
  Deno.mkdirSync(options.cache, { recursive: true, mode: 0o700 });
  const draft = Deno.makeTempFileSync({ dir: options.cache, prefix: ".building-" });
  try {
    await build(options.home, draft);
    const digest = digestOfFile(draft);
    if (digest !== LEXICON_SHA256) {
      throw new Fault(
        "unavailable",
        `Cannot build the lexicon: it came out as ${digest}, and ${LEXICON_SHA256} is pinned`,
      );
    }
    Deno.renameSync(draft, file);
  } catch (error) {
    Deno.removeSync(draft);
    throw error;
  }
  return built;
}

/**
 * Builds the lexicon into the file `out` in a process of its own, whatever its digest.
 *
 * @throws Fault `unavailable` with what the build said
 */
export async function runBuild(home: string, out: string): Promise<void> {
  // A map of its own: what stands in the repository's is fetched by whoever runs anything.
  const map = join(home, MAP);
  await runDeno(["install", "--quiet", "--config", map]);
  await runDeno([
    ...["run", "--quiet", "--no-prompt", "--no-check", "--config", map],
    ...["--allow-read", `--allow-write=${out}`, join(home, ENTRY), out],
  ]);
}

async function runDeno(args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    clearEnv: true,
    env: buildEnv(Deno.env.toObject()),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return;
  const said = displayBlock(new TextDecoder().decode(stderr), { prefix: "  │ ", maxLines: 12 });
  throw new Fault(
    "unavailable",
    "Cannot build the lexicon (the first build needs the package registry, later ones do not)\n" +
      said.join("\n"),
  );
}

function digestOfFile(path: string): string | undefined {
  try {
    return sha256Hex(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
