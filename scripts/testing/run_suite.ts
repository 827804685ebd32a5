import { ROOT } from "../process.ts";
import { manyRunsMap, manyRunsModule, seedModule } from "./property_modules.ts";
import { SEED_VARIABLE } from "./seed.ts";
import type { Suite } from "./suite.ts";
import { type Tally, tallyOf } from "./tally.ts";

/** How a suite went. `report` is what a reader needs: nothing when all passed, else deno's report of the failures. */
export type SuiteResult = {
  readonly suite: Suite;
  readonly tally: Tally;
  readonly seconds: number;
  readonly report: string;
};

/** A suite that runs longer than this is killed and counted as failed. Minutes. */
const SUITE_DEADLINE = 20;

/** What a suite is run with. */
export type RunOptions = {
  /** What is random in it follows from this. */
  readonly seed: number;
  /** Gets each line as it comes. */
  onLine(line: string): void;
};

/**
 * Runs one suite in a deno of its own.
 *
 * Its files are imported by one module: deno gives each file that it is told of an isolate, and what they all import
 * would be compiled and run once for each.
 */
export async function runSuite(suite: Suite, options: RunOptions): Promise<SuiteResult> {
  if (suite.doc) return await run(suite, suite.files, options);
  const folder = Deno.makeTempDirSync({ prefix: "remit-suite-" });
  try {
    const write = (name: string, text: string): void =>
      Deno.writeTextFileSync(`${folder}/${name}`, text);
    const all = ["./seed.ts", ...suite.files.map((file) => `file://${ROOT}/${file}`)];
    write("seed.ts", seedModule(options.seed));
    write("all_test.ts", all.map((file) => `import ${JSON.stringify(file)};\n`).join(""));
    if (!suite.many) return await run(suite, [`${folder}/all_test.ts`], options);
    const { imports } = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`));
    write("fast_check.js", manyRunsModule());
    write("imports.json", manyRunsMap(imports, `file://${folder}/fast_check.js`));
    const map = `--import-map=${folder}/imports.json`;
    return await run(suite, [map, `${folder}/all_test.ts`], options);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function run(
  suite: Suite,
  files: readonly string[],
  { seed, onLine }: RunOptions,
): Promise<SuiteResult> {
  const started = performance.now();
  const deadline = AbortSignal.timeout(SUITE_DEADLINE * 60_000);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "-A",
      "--quiet",
      "--no-check",
      `--config=${ROOT}/deno.json`,
      ...(suite.doc ? ["--doc"] : []),
      ...(suite.filter === undefined ? [] : [`--filter=${suite.filter}`]),
      ...files,
    ],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", [SEED_VARIABLE]: String(seed) },
  }).spawn();
  deadline.addEventListener("abort", () => kill(child));
  const [output, errors, { code }] = await Promise.all([
    readLines(child.stdout, onLine),
    readLines(child.stderr, () => {}),
    child.status,
  ]);
  const tally = tallyOf({ output, code, strict: Deno.env.get("CI") === "true" });
  const late = deadline.aborted ? `killed after ${SUITE_DEADLINE} minutes\n` : "";
  return {
    suite,
    tally,
    seconds: (performance.now() - started) / 1000,
    report: tally.failed === 0 ? "" : late + failures(output, errors),
  };
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // it has ended already
  }
}

async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLine: (line: string) => void,
): Promise<string> {
  let all = "";
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    all += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onLine);
  }
  return all;
}

/** deno's section of errors; when there is none (a module did not load), the end of all it wrote. */
function failures(output: string, errors: string): string {
  const at = output.indexOf("\n ERRORS \n");
  const section = at < 0 ? output.split("\n").slice(-60).join("\n") : output.slice(at);
  return `${section.trim()}\n${errors.trim()}`.trim();
}
