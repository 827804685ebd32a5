/** Starting the command: bin/remit by itself, and with the command line behind it, against a bare `deno run`. @module */
import { quantile } from "./quantile.ts";
import { atMost, type Row, shown } from "./row.ts";
import { timed } from "./world.ts";

const ROUNDS = 10;
const REMIT = new URL("../bin/remit", import.meta.url).pathname;

async function run(program: string, args: readonly string[], home: string): Promise<void> {
  const path = `${Deno.execPath().replace(/\/[^/]+$/, "")}:${Deno.env.get("PATH")}`;
  const { success } = await new Deno.Command(program, {
    args: [...args],
    env: { PATH: path, XDG_CACHE_HOME: `${home}/cache` },
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).output();
  if (!success) throw new Error(`Cannot time ${program}: it failed`);
}

/** Gives `remit --version` with everything warm, and the launcher with a program in place of Deno that ends at once. */
export async function launchBench(): Promise<Row[]> {
  const home = await Deno.makeTempDir({ prefix: "remit-bench-" });
  try {
    const empty = `${home}/empty.ts`;
    await Deno.writeTextFile(empty, "");
    // A launcher of its own, whose record names a program that does nothing.
    await Deno.mkdir(`${home}/stub/bin`, { recursive: true });
    await Deno.copyFile(REMIT, `${home}/stub/bin/remit`);
    await Deno.chmod(`${home}/stub/bin/remit`, 0o755);
    await Deno.writeTextFile(`${home}/stub/deno.lock`, "{}");
    await Deno.writeTextFile(`${home}/stub/deno`, STUB, { mode: 0o755 });
    const stub = `${home}/stub/bin/remit`;
    const [bare, whole, launcher]: [number[], number[], number[]] = [[], [], []];
    // In turns, so that a busy machine is as busy for each of them. The first rounds warm what is kept.
    for (let round = -2; round < ROUNDS; round++) {
      const times = [
        await timed(() => run(Deno.execPath(), ["run", empty], home)),
        await timed(() => run(REMIT, ["--version"], home)),
        await timed(() => runStub(stub, home)),
      ];
      if (round < 0) continue;
      [bare, whole, launcher].forEach((all, at) => all.push(times[at] ?? NaN));
    }
    const of = (all: readonly number[]): number => quantile(all, 0.5);
    const name = "remit --version through bin/remit";
    return [
      atMost({ name, value: of(whole), unit: "ms", baseline: of(bare) }, 1.5, "a bare deno run"),
      shown({
        ...{ name: "bin/remit by itself, up to where Deno starts", unit: "ms" },
        ...{ value: of(launcher), baseline: of(bare) },
      }),
    ];
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** Answers what the launcher asks of a Deno, and does nothing else. */
const STUB = '#!/bin/sh\ncase $1 in --version) echo deno 2.9.6 ;; eval) echo "$0" ;; esac\n';

async function runStub(stub: string, home: string): Promise<void> {
  const { success } = await new Deno.Command(stub, {
    env: { PATH: `${home}/stub:/usr/bin:/bin`, XDG_CACHE_HOME: `${home}/cache` },
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).output();
  if (!success) throw new Error("Cannot time bin/remit: it failed");
}
