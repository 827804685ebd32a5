/** Starting the command: bin/remit by itself, and with the command line behind it, against a bare `deno run`. @module */
import { quantile } from "./quantile.ts";
import { atMost, type Row, shown } from "./row.ts";
import { timed } from "./world.ts";

const ROUNDS = 20;
const REMIT = new URL("../bin/remit", import.meta.url).pathname;

/** A machine whose Deno is on the PATH, or is only what npx fetched once. */
async function machines(home: string): Promise<Readonly<Record<"path" | "npx", Env>>> {
  const deno = Deno.realPathSync(Deno.execPath());
  const [, folder] = /^npx_folder=(\w+)$/m.exec(await Deno.readTextFile(REMIT)) ?? [];
  const kept = `${home}/npm/_npx/${folder}/node_modules/deno`;
  await Deno.mkdir(kept, { recursive: true });
  await Deno.copyFile(deno, `${kept}/deno`);
  await Deno.chmod(`${kept}/deno`, 0o755);
  const programs = `${home}/programs`;
  await Deno.mkdir(programs);
  const found = (name: string): string => {
    const at = (Deno.env.get("PATH") ?? "").split(":").map((each) => `${each}/${name}`);
    return at.find((each) => isFile(each)) ?? `/bin/${name}`;
  };
  for (const name of ["sh", "head", "tr", "readlink", "basename", "mkdir", "mv"]) {
    await Deno.symlink(found(name), `${programs}/${name}`);
  }
  // It is not asked: what it fetched is there.
  await Deno.writeTextFile(`${programs}/npx`, "#!/bin/sh\nexit 9\n", { mode: 0o755 });
  return {
    path: {
      PATH: `${deno.replace(/\/[^/]+$/, "")}:${Deno.env.get("PATH")}`,
      XDG_CACHE_HOME: `${home}/cache`,
    },
    npx: { PATH: programs, XDG_CACHE_HOME: `${home}/cache2`, npm_config_cache: `${home}/npm` },
  };
}

type Env = Readonly<Record<string, string>>;

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

async function run(program: string, args: readonly string[], env: Env): Promise<void> {
  const { success } = await new Deno.Command(program, {
    ...{ args: [...args], clearEnv: true },
    env: { HOME: Deno.env.get("HOME") ?? "/", ...env },
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
    const { path, npx } = await machines(home);
    const times: [number[], number[], number[], number[]] = [[], [], [], []];
    // In turns, so that a busy machine is as busy for each of them. The first rounds warm what is kept.
    for (let round = -2; round < ROUNDS; round++) {
      const took = [
        await timed(() => run(Deno.execPath(), ["run", empty], path)),
        await timed(() => run(REMIT, ["--version"], path)),
        await timed(() => run(REMIT, ["--version"], npx)),
        await timed(() => runStub(stub, home)),
      ];
      if (round >= 0) times.forEach((all, at) => all.push(took[at] ?? NaN));
    }
    const of = (all: readonly number[]): number => quantile(all, 0.5);
    const [bare, whole, fetched, launcher] = times;
    const row = (name: string, all: readonly number[]): Row =>
      atMost({ name, value: of(all), unit: "ms", baseline: of(bare) }, 1.5, "a bare deno run");
    return [
      row("remit --version through bin/remit", whole),
      row("remit --version where Deno is what npx fetched", fetched),
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
