import { deepEqual, equal } from "node:assert/strict";
import { watchForLeft } from "./left_behind.ts";
import { makeSpawnPowers } from "./spawn_powers.ts";
import { makeWorld } from "../../_fixture/small_children.ts";
import { kill9, processesNaming } from "../../../tests/fake/processes.ts";
import { waitUntil } from "../../../tests/fake/wait_until.ts";

/** Two marks of one folder, and one of another. */
function marks(): readonly [earlier: string, own: string, other: string] {
  const folder = crypto.randomUUID(), other = crypto.randomUUID();
  return [`remit-${folder}-a`, `remit-${folder}-b`, `remit-${other}-a`];
}

/** A process with a mark that waits for ever, whose parent has ended. */
async function orphan(mark: string): Promise<void> {
  await new Deno.Command("/bin/sh", {
    args: ["-c", '"$@" & exit', "sh", "/bin/sh", "-c", "sleep 86395; :", mark],
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).output();
}

const left = async (mark: string): Promise<number> => (await processesNaming(mark)).length;

async function withWatch(
  mark: string,
  f: (watch: NonNullable<ReturnType<typeof watchForLeft>>) => Promise<void>,
): Promise<void> {
  const world = await makeWorld();
  const programs = { ...world.config.programs, bwrap: "/usr/bin/bwrap" };
  const watch = watchForLeft({ programs, mark }, makeSpawnPowers());
  try {
    if (watch === undefined) throw new TypeError("Cannot test: nobody watches");
    await f(watch);
  } finally {
    await watch?.close();
    await world.close();
  }
}

async function endAll(...all: readonly string[]): Promise<void> {
  for (const mark of all) {
    for (const { pid } of await processesNaming(mark)) kill9(pid);
  }
}

Deno.test("a kernel ends what an earlier one of its folder left, and nothing of another folder's", async () => {
  const [earlier, own, other] = marks();
  await orphan(earlier);
  await orphan(other);
  for (const mark of [earlier, other]) {
    await waitUntil("it waits", async () => (await left(mark)) === 1 || undefined);
  }
  try {
    await withWatch(own, async () => {
      await waitUntil("it is gone", async () => (await left(earlier)) === 0 || undefined);
      equal(await left(other), 1);
    });
  } finally {
    await endAll(earlier, other);
  }
});

Deno.test("a kernel that is asked to look ends its orphans, and none of its children", async () => {
  const [, own] = marks();
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", "read -r _; :", own],
    ...{ stdin: "piped", stdout: "null", stderr: "null" },
  }).spawn();
  try {
    await withWatch(own, async (watch) => {
      await orphan(own);
      await waitUntil("both wait", async () => (await left(own)) === 2 || undefined);
      watch.look();
      await waitUntil("the orphan is gone", async () => {
        const found = await processesNaming(own);
        return found.length === 1 || undefined;
      });
      deepEqual((await processesNaming(own)).map(({ pid }) => pid), [child.pid]);
    });
  } finally {
    await child.stdin.close();
    await child.status;
    await endAll(own);
  }
});

Deno.test("a child that becomes its program while the kernel looks for earlier ones is let live", async () => {
  const [, own] = marks();
  const begun = Array.from({ length: 120 }, (_, n) =>
    new Deno.Command("/bin/sh", {
      args: ["-c", `sleep ${n / 60}; exec "$@"`, own, "/bin/sleep", "0.3"],
      ...{ stdin: "null", stdout: "null", stderr: "null" },
    }).spawn().status);
  await withWatch(own, async () => void await Promise.all(begun));
  const signals = (await Promise.all(begun)).map(({ signal }) => signal);
  deepEqual(signals.filter((signal) => signal !== null), []);
});
