/** Shared by the tests of process sessions: a case over a fresh bench, and sleeps of unique length. @module */
import assert from "node:assert/strict";
import { isThere, TASK } from "./command_bench.ts";
import { HAS_BWRAP } from "./small_children.ts";
import { makeSessionBench, type SessionBench } from "./session_bench.ts";

/** Where these tests look for programs. */
export const SH = "/bin/sh", CAT = "/bin/cat", PYTHON = "/usr/bin/python3";

const WITH_PYTHON = isThere(PYTHON);

/** Seconds of sleeps that no other process of this machine sleeps. */
export const long = (n: number): string => `31${n}.${Deno.pid}`;

/** A test over a fresh bench, after which no process and no folder of a session remains. */
export function test(
  name: string,
  work: (bench: SessionBench) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
  identity?: "own",
): void {
  Deno.test({
    name,
    ignore: !HAS_BWRAP || (/python/.test(name) && !WITH_PYTHON),
    async fn(): Promise<void> {
      const bench = await makeSessionBench(files, identity);
      try {
        await work(bench);
        await bench.sessions.close(TASK);
        assert.deepEqual(bench.sessions.osPids(TASK), []);
        assert.deepEqual(roomsOf(bench), []);
      } finally {
        await bench.close();
      }
    },
  });
}

function roomsOf({ world }: SessionBench): readonly string[] {
  try {
    return [...Deno.readDirSync(`${world.dir}/work/${TASK}`)].map(({ name }) => name);
  } catch {
    return [];
  }
}

/** A shell line that leaves three programs in the background, each in a different way. */
export const FLIGHT = (n: number): string =>
  `(setsid nohup sh -c 'trap "" HUP TERM INT; sleep ${long(n)}; sleep ${long(n)}' ` +
  `>/dev/null 2>&1 <&- &); (sh -c 'sleep ${long(n)} &' &); sleep 0.05; echo away`;
