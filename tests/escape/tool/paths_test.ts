import assert from "node:assert/strict";
import { needs } from "../../needs.ts";
import { besiege } from "../../fake/siege.ts";
import { calling, cameOf, type Try } from "../_calls.ts";
import { holding } from "../../fake/files_beneath.ts";
import { yesToAll } from "../../fake/yes_to_all.ts";

const OUTSIDE = "walnut-harbour-4402";

/** Paths that lead out of the mount, or to something that is no file. */
const PATHS = [
  "../outside/secret.txt",
  "desk/../outside/secret.txt",
  "desk/notes/../../outside/secret.txt",
  "desk/..%2foutside/secret.txt",
  "desk/%2e%2e/outside/secret.txt",
  "desk/%c0%ae%c0%ae/outside/secret.txt",
  "desk/..\\outside\\secret.txt",
  "desk/\u2024\u2024/outside/secret.txt",
  "desk/\uff0e\uff0e/outside/secret.txt",
  "desk/..\u0000/outside/secret.txt",
  "desk/notes/plan.md\u0000.txt",
  "/etc/passwd",
  "//etc/passwd",
  "desk//etc/passwd",
  "file:///etc/passwd",
  "~/.ssh/id_ed25519",
  "desk/out/secret.txt",
  "desk/out.txt",
  "desk/absolute.txt",
  "desk/passwd",
  "desk/environ",
  "desk/fd/0",
  "desk/loop",
  "desk/fifo",
  "desk/device",
  "desk/socket",
  "desk/notes",
  "m/desk/notes/plan.md",
  "content/x",
  "outbox/x",
  ".",
  "",
  "desk",
  `desk/${"a/".repeat(100)}b`,
  `desk/${"a".repeat(300)}`,
];

for (const mode of ["stage", "rw"] as const) {
  Deno.test(`a path out of the mount or to no file would have been followed, with the mount ${mode}`, async () => {
    if (!needs("mkfifo")) return;
    await besiege(async (siege) => {
      const { desk, dir } = siege;
      await Deno.mkdir(`${dir}/outside`);
      await Deno.writeTextFile(`${dir}/outside/secret.txt`, OUTSIDE);
      await Deno.symlink("../outside", `${desk}/out`);
      await Deno.symlink("../outside/secret.txt", `${desk}/out.txt`);
      await Deno.symlink(`${dir}/outside/secret.txt`, `${desk}/absolute.txt`);
      await Deno.symlink("/etc/passwd", `${desk}/passwd`);
      await Deno.symlink("/proc/self/environ", `${desk}/environ`);
      await Deno.symlink("/dev/fd", `${desk}/fd`);
      await Deno.symlink("loop", `${desk}/loop`);
      using _socket = Deno.listen({ transport: "unix", path: `${desk}/socket` });
      await new Deno.Command("mkfifo", { args: [`${desk}/fifo`] }).output();
      if (Deno.uid() === 0) {
        await new Deno.Command("mknod", { args: [`${desk}/device`, "c", "1", "5"] }).output();
      }
      const tries = PATHS.flatMap((path): Try[] => [
        ["file_read", { path }],
        ["file_search", { query: "walnut", path }],
        ["file_edit", { path, old: "walnut", new: "MALLORY" }],
        ["outbox_publish", { path }],
        ["file_write", { path, content: "MALLORY" }],
        ["file_delete", { path }],
      ]);
      const mallory = await siege.run({
        program: calling([...tries, ["file_search", { query: "walnut" }], ["patch_apply", {}]]),
        mounts: [siege.mount({ mode })],
        onQuestion: "ask",
        limits: { questions: 1_000, toolCalls: 1_000 },
      });
      yesToAll(siege, mallory);
      const came = await cameOf(mallory);
      const followed = came.flatMap(({ outcome, content }, i) => {
        const [tool, args] = tries[i] ?? [];
        const quiet = tool === "file_search" || tool === undefined;
        return outcome === "ok" && !(quiet && !content.includes(OUTSIDE))
          ? [[tool, args, content]]
          : [];
      });
      // Staging, and taking it back, is only a wish: what it would do to a link is refused when it is applied.
      assert.deepEqual(
        followed.filter(([tool]) => tool !== "file_write" && tool !== "file_delete"),
        [],
      );
      assert.equal(await Deno.readTextFile(`${dir}/outside/secret.txt`), OUTSIDE);
      assert.deepEqual([...Deno.readDirSync(`${dir}/outside`)].map(({ name }) => name), [
        "secret.txt",
      ]);
      for (const name of ["out", "out.txt", "absolute.txt", "passwd"]) {
        assert.equal((await Deno.lstat(`${desk}/${name}`)).isSymlink, true, name);
      }
      assert.deepEqual(await holding(siege.config.dir, OUTSIDE), []);
    });
  });
}
