/** The log under kill -9 and on a full disk: real processes, a real small filesystem. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { killWriter } from "./_fixture/kill_writer.ts";

const WRITER = fileURLToPath(new URL("./_fixture/writer_powers.ts", import.meta.url));
const WRITE = [Deno.execPath(), "run", "-A", "--quiet", "--no-check", WRITER];

async function inFolder(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "remit-crash-" });
  try {
    await body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Counted as skipped where a system program is missing; a failure in CI. */
async function runs(command: string, args: readonly string[]): Promise<boolean> {
  const ended = new Promise<boolean>((resolve) => {
    const child = spawn(command, args, { stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("close", (code) => resolve(code === 0));
  });
  const works = await ended;
  if (!works) assert.notEqual(Deno.env.get("CI"), "true", `${command} ${args.join(" ")} must work`);
  return works;
}

const canMount = await runs("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]);
const canLimit = await runs("prlimit", ["--fsize=1000000:unlimited", "true"]);

/** Speaks with a writer in `full` mode; `makeRoom` runs once it said that the disk is full. */
async function fillAndRecover(
  child: ChildProcess,
  makeRoom: (child: ChildProcess) => Promise<void>,
): Promise<readonly string[]> {
  const said: string[] = [];
  assert.ok(child.stdout && child.stdin);
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (!line.startsWith("full")) continue;
    await makeRoom(child);
    child.stdin.end("room\n");
  }
  return said;
}

const EXPECTED = [
  "full storeFull storeFull storeFull true true intact intact",
  "room ok ok ok intact intact",
  "closed true",
];

Deno.test("log: nothing acknowledged is lost by kill -9 in the middle of commits", async () => {
  await inFolder(async (dir) => {
    const count = Number(Deno.env.get("REMIT_FAULT_KILLS") ?? 20);
    const seed = Number(Deno.env.get("REMIT_SEED") ?? 1);
    const calls = await killWriter({ deno: Deno.execPath(), path: `${dir}/log.db`, count, seed });
    assert.ok(calls >= count * 2, `${calls} calls were acknowledged`);
  });
});

Deno.test({
  name: "log: a full filesystem refuses new events, keeps the old, and goes on with room",
  ignore: !canMount,
  fn: () =>
    inFolder(async (dir) => {
      const mount = 'mount -t tmpfs -o size=1500k,mode=0700 none "$0" && exec "$@"';
      const inside = ["-rm", "sh", "-c", mount, dir, ...WRITE, `${dir}/log.db`, "full"];
      const child = spawn("unshare", inside, { stdio: ["pipe", "pipe", "inherit"] });
      assert.deepEqual(await fillAndRecover(child, () => Promise.resolve()), EXPECTED);
    }),
});

Deno.test({
  name:
    "log: a device that refuses a write is as a full disk, and the log goes on once it takes it",
  ignore: !canLimit,
  fn: () =>
    inFolder(async (dir) => {
      // SIGXFSZ ignored, so that a write past the limit fails as one on a broken device does.
      const limited = "trap '' XFSZ; exec prlimit --fsize=900000:unlimited \"$@\"";
      const child = spawn("sh", ["-c", limited, "sh", ...WRITE, `${dir}/log.db`, "full"], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      const makeRoom = async ({ pid }: ChildProcess): Promise<void> => {
        assert.ok(await runs("prlimit", ["--pid", `${pid}`, "--fsize=unlimited:unlimited"]));
      };
      assert.deepEqual(await fillAndRecover(child, makeRoom), EXPECTED);
    }),
});
