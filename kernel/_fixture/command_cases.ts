/** Shared by the tests of granted programs: a case over a fresh bench, and sleeps of unique length. @module */
import { HAS_BWRAP } from "./small_children.ts";
import { type CommandBench, isThere, makeBench } from "./command_bench.ts";
import { waitUntil } from "../../tests/fake/wait_until.ts";

/** Where these tests look for programs. */
export const SH = "/bin/sh", PYTHON = "/usr/bin/python3";

/** Seconds of sleeps that no other process of this machine sleeps. */
export const long = (n: number): string => `30${n}.${Deno.pid}`;
/** Seconds of a short sleep. */
export const BRIEF = `0.5${Deno.pid}`;

/** A test over a fresh bench. */
export function test(
  name: string,
  files: Readonly<Record<string, string>>,
  work: (bench: CommandBench) => Promise<void>,
  needs: readonly string[] = [],
): void {
  Deno.test({
    name,
    ignore: !HAS_BWRAP || !needs.every(isThere),
    async fn(): Promise<void> {
      const bench = await makeBench(files);
      try {
        await work(bench);
      } finally {
        await bench.close();
      }
    },
  });
}

/** Arguments of the test's own `sleep`s that run anywhere on this machine. */
export function sleepers(): readonly string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      const [program = "", first = ""] = Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0");
      if (/(^|\/)sleep$/.test(program) && first.endsWith(String(Deno.pid))) found.push(first);
    } catch {
      // The process ended meanwhile.
    }
  }
  return found;
}

/** Waits for an effect of other processes. */
export async function until(holds: () => boolean): Promise<void> {
  await waitUntil("what another process does", () => holds() || undefined);
}
