/**
 * `deno task bench [--only NAME] [--json]`: runs each `*_bench.ts` of this folder in turn and prints one table.
 * A bench file exports functions that take nothing and give rows; each is run once. Each row brings its baseline
 * from the same run, and a target of time is a ratio to it, which means the same on any machine. Ends with 1 when a
 * bench fails; a missed target is marked and does not fail, because a shared machine is not a judge. What a bench
 * starts ends with this run, however it ends.
 *
 * @module
 */
import { guardRun } from "../scripts/testing/guard.ts";
import type { Row } from "./row.ts";
import { tableLines } from "./table.ts";

const FOLDER = new URL(".", import.meta.url);

type Failure = { readonly bench: string; readonly error: string };

function isBench(value: unknown): value is () => readonly Row[] | Promise<readonly Row[]> {
  return typeof value === "function" && value.length === 0;
}

/** Which benches there are: file names without `_bench.ts`. `only` keeps those it is a part of. */
function benchNames(only: string | undefined): readonly string[] {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name);
  return names.filter((name) => name.endsWith("_bench.ts"))
    .map((name) => name.slice(0, -"_bench.ts".length))
    .filter((name) => only === undefined || name.includes(only)).sort();
}

async function runBench(name: string): Promise<readonly Row[]> {
  const module: Record<string, unknown> = await import(new URL(`${name}_bench.ts`, FOLDER).href);
  const rows: Row[] = [];
  for (const bench of Object.values(module)) if (isBench(bench)) rows.push(...await bench());
  if (rows.length === 0) throw new Error(`Cannot run bench "${name}": it gives no rows`);
  return rows;
}

function say(stream: typeof Deno.stdout, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}

const json = Deno.args.includes("--json");
const at = Deno.args.indexOf("--only");
const names = benchNames(at < 0 ? undefined : Deno.args[at + 1]);
const rows: Row[] = [];
const failures: Failure[] = [];
const run = await guardRun();
for (const name of names) {
  const started = performance.now();
  try {
    rows.push(...await runBench(name));
  } catch (error) {
    failures.push({ bench: name, error: error instanceof Error ? error.message : String(error) });
  }
  say(Deno.stderr, `${name}: ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
}
await run[Symbol.asyncDispose]();
if (json) say(Deno.stdout, `${JSON.stringify({ rows, failures })}\n`);
else {
  say(Deno.stdout, `${tableLines(rows).join("\n")}\n`);
  for (const { bench, error } of failures) say(Deno.stdout, `FAILED ${bench}: ${error}\n`);
  const met = rows.filter(({ ok }) => ok).length;
  say(
    Deno.stdout,
    `${rows.length} rows: ${met} met, ${rows.length - met} missed; ` +
      `${failures.length} benches failed\n`,
  );
}
Deno.exit(failures.length === 0 && names.length > 0 ? 0 : 1);
