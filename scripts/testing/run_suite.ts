import { ROOT } from "../process.ts";
import { SEED_VARIABLE } from "./seed.ts";
import type { Suite } from "./suite.ts";
import { type Tally, tallyOf } from "./tally.ts";

/** The result of a suite. `report`: empty when all passed, else deno's report of the failures. */
export type SuiteResult = {
  readonly suite: Suite;
  readonly tally: Tally;
  readonly seconds: number;
  readonly report: string;
};

/** Minutes without output after which a suite is killed and counted as failed. */
const SILENCE = 60;

let suites = 0;

/** How to run a suite. */
export type RunOptions = {
  /** Seed of its random choices. */
  readonly seed: number;
  /** Receives each line as it is printed. */
  onLine(line: string): void;
  /**
   * Kills every process that uses the suite's folder, and removes the folder ({@link GuardedRun}).
   */
  end(folder: string): Promise<void>;
};

/**
 * Runs one suite in a deno of its own. One module imports all its files: deno gives each file on
 * its command line an isolate, and would compile and run shared imports once per file.
 */
export async function runSuite(suite: Suite, options: RunOptions): Promise<SuiteResult> {
  // A short name: paths of sockets beneath it are limited to 107 bytes.
  const folder = `${Deno.env.get("TMPDIR") ?? "/tmp"}/s${Deno.pid}-${++suites}`;
  Deno.mkdirSync(folder, { mode: 0o711 });
  try {
    if (suite.doc) return await run(suite, { args: suite.files, folder }, options);
    const write = (name: string, text: string): void =>
      Deno.writeTextFileSync(`${folder}/${name}`, text);
    const all = ["./seed.ts", ...suite.files.map((file) => `file://${ROOT}/${file}`)];
    write("seed.ts", seedModule(options.seed));
    write("all_test.ts", all.map((file) => `import ${JSON.stringify(file)};\n`).join(""));
    const args = [`${folder}/all_test.ts`];
    if (!suite.many) return await run(suite, { args, folder }, options);
    const { imports } = JSON.parse(Deno.readTextFileSync(`${ROOT}/deno.json`));
    write("fast_check.js", manyRunsModule());
    write("imports.json", manyRunsMap(imports, `file://${folder}/fast_check.js`));
    args.unshift(`--import-map=${folder}/imports.json`);
    return await run(suite, { args, folder }, options);
  } finally {
    await options.end(folder);
  }
}

async function run(
  suite: Suite,
  { args, folder }: { readonly args: readonly string[]; readonly folder: string },
  { seed, onLine, end }: RunOptions,
): Promise<SuiteResult> {
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "-A",
      "--quiet",
      "--no-check",
      `--config=${ROOT}/deno.json`,
      ...(suite.doc ? ["--doc"] : []),
      ...(suite.filter === undefined ? [] : [`--filter=${suite.filter}`]),
      ...args,
    ],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: {
      ...{ NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", TMPDIR: folder },
      [SEED_VARIABLE]: String(seed),
    },
  }).spawn();
  let late = "";
  const hangs = (): void => {
    late = `killed: it said nothing for ${SILENCE} minutes\n`;
    void end(folder);
  };
  const wait = (): ReturnType<typeof setTimeout> | undefined =>
    // An endless run is one test, which prints nothing for hours.
    suite.alone ? undefined : setTimeout(hangs, SILENCE * 60_000);
  let timer = wait();
  const [output, errors, { code }] = await Promise.all([
    readLines(child.stdout, (line) => {
      clearTimeout(timer);
      timer = wait();
      onLine(line);
    }),
    readLines(child.stderr, () => {}),
    child.status,
  ]);
  clearTimeout(timer);
  const tally = tallyOf({ output, code, strict: Deno.env.get("CI") === "true" });
  return {
    suite,
    tally,
    seconds: (performance.now() - started) / 1000,
    report: tally.failed === 0 ? "" : late + failures(output, errors),
  };
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

/** Returns deno's section of errors; without one (a module did not load), the end of the output. */
function failures(output: string, errors: string): string {
  const at = output.indexOf("\n ERRORS \n");
  const section = at < 0 ? output.split("\n").slice(-60).join("\n") : output.slice(at);
  return `${section.trim()}\n${errors.trim()}`.trim();
}

// Modules that a suite is run with, for properties of fast-check.

/** Factor on each property's number of runs, for `--fuzz`. */
const TIMES = 50;
/** Longest time that one property is tried then, in milliseconds. */
const MAX_MS = 30_000;

/** Returns the source of a module imported before a suite's tests, which seeds their properties. */
function seedModule(seed: number): string {
  return `import fc from "fast-check";\nfc.configureGlobal({ seed: ${seed} });\n`;
}

/** Source of a module for fast-check's place: properties run {@link TIMES} times as often. */
function manyRunsModule(): string {
  return `import real from "fast-check";
export * from "fast-check";
const assert = (property, given = {}) => real.assert(property, {
  ...given,
  numRuns: (given.numRuns ?? 100) * ${TIMES},
  interruptAfterTimeLimit: ${MAX_MS},
});
export default { ...real, assert };
`;
}

/**
 * Returns an import map in which tests get `manyRuns` (a URL) for fast-check, while modules beside
 * `manyRuns` get the package itself. `imports`: those of deno.json, including the packages' inner
 * paths.
 */
function manyRunsMap(imports: Readonly<Record<string, string>>, manyRuns: string): string {
  const inner = Object.entries(imports).map(([name, to]) => [
    `${name}/`,
    `${to.replace(/^npm:/, "npm:/")}/`,
  ]);
  return JSON.stringify({
    imports: { ...imports, ...Object.fromEntries(inner), "fast-check": manyRuns },
    scopes: { [new URL(".", manyRuns).href]: { "fast-check": imports["fast-check"] } },
  });
}
