/** Kills a kernel at random moments in which it starts programs behind their walls, and counts what is left of them. */
import assert from "node:assert/strict";
import { findPrograms } from "../../launch/program/programs_powers.ts";
import { lineOfCommand } from "../../kernel/core/start/command_line.ts";
import { probeCommandWalls } from "../../kernel/core/start/walls.ts";
import { watchForLeft } from "../../kernel/core/start/left_behind.ts";
import { makeSpawnPowers } from "../../kernel/core/start/spawn_powers.ts";
import { kill9, processesNaming } from "../fake/processes.ts";
import { waitUntil } from "../fake/wait_until.ts";

/** Programs that are being started at a time. */
const STARTS = 4;
/** Milliseconds within which the kill falls: some starts. */
const WITHIN = 60;

/** What stands for a kernel is told. */
interface Standing {
  readonly dir: string;
  readonly mark: string;
}

/** Stands for a kernel: it starts programs that would sleep for ever, ends each at once, and starts the next. */
async function stand({ dir, mark }: Standing): Promise<never> {
  const programs = await findPrograms(), spawn = makeSpawnPowers();
  const config = { dir, mark, programs };
  const walls = await probeCommandWalls(config, spawn);
  if (walls.kind === "none") throw new TypeError(`Cannot stand for a kernel: ${walls.why}`);
  const watcher = watchForLeft(config, spawn);
  const sleep = await Deno.realPath("/bin/sleep");
  const line = lineOfCommand(config, {
    ...{ identity: walls.identity, work: "", mounts: [], cwd: ".", env: {} },
    ...{ pin: sleep, program: sleep, args: ["86397"] },
  });
  const hear = { onOutput: () => undefined, onStderr: () => undefined };
  Deno.stdout.writeSync(new TextEncoder().encode(`${watcher?.pid ?? 0}\n`));
  const once = async (): Promise<never> => {
    for (let n = 0;; n++) {
      const started = spawn.start({ ...line, ...hear, killed: () => watcher?.look() });
      // TIMER: each is ended at another stage of its start.
      await new Promise((resolve) => setTimeout(resolve, n % 20));
      started.kill();
      await started.exited;
    }
  };
  return await Promise.race(Array.from({ length: STARTS }, once));
}

/** Kills so many of them, and throws where a process is left once nobody looks for them any more. */
export async function nothingIsLeft(count: number): Promise<void> {
  const seed = Number(Deno.env.get("REMIT_SEED") ?? Date.now() % 1_000_000);
  assert.equal(await killStarting(count, seed), 0, `with REMIT_SEED=${seed}`);
}

/** Kills so many of them; resolves with how many processes were left. */
async function killStarting(count: number, seed: number): Promise<number> {
  const dir = await Deno.makeTempDir({ prefix: "remit-starts-" });
  // The generator of Park and Miller: the same kills for the same seed, as far as the machine goes along.
  let state = seed % 2_147_483_646 + 1;
  const random = (): number => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647;
  let left = 0;
  try {
    for (let n = 0; n < count; n++) {
      const mark = `remit-${crypto.randomUUID()}-1`;
      const kernel = new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-check", "-A", import.meta.url],
        env: { REMIT_STANDING: JSON.stringify({ dir, mark } satisfies Standing) },
        ...{ stdin: "null", stdout: "piped", stderr: "inherit" },
      }).spawn();
      const { value } = await kernel.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
      // TIMER: the moment of the kill is what is tried.
      await new Promise((resolve) => setTimeout(resolve, random() * WITHIN));
      kernel.kill("SIGKILL");
      await kernel.status;
      const watcher = Number(value);
      assert.ok(watcher > 0, "somebody watches");
      await waitUntil("the watcher has done its work", () => isGone(watcher) || undefined);
      const found = await processesNaming(mark);
      left += found.length;
      for (const { pid } of found) kill9(pid);
    }
    return left;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function isGone(pid: number): boolean {
  try {
    return !Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return true;
  }
}

if (import.meta.main) await stand(JSON.parse(Deno.env.get("REMIT_STANDING") ?? "{}"));
