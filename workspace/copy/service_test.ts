/** A copy service over real folders; what a program does to its copies, the tests do themselves. */
import assert from "node:assert/strict";
import type { PrepareBody } from "../../contracts/tool/command.ts";
import type { Json } from "../../contracts/base/json.ts";
import { breathe, denoFiles, webSha256 } from "../host/fs_powers.ts";
import { denoCopyFiles } from "./copy_powers.ts";
import { makeCopyService } from "./service.ts";

/** A service, its mount and its room. */
interface Bench {
  /** The mount. */
  readonly desk: string;
  /** Copies once more; the folder where the copy of the mount lies. */
  prepare(more?: Partial<PrepareBody["setup"]>, ahead?: boolean): Promise<string>;
  collect(): Promise<{ readonly staged: readonly { readonly path: string }[] }>;
  /** What `prepare` answered last. */
  answer(): Record<string, Json>;
}

/**
 * Milliseconds that the tests' clocks are ahead, the machine's and that of the copies: what was just
 * made was made long ago.
 */
const AHEAD = 60_000;

function test(
  name: string,
  work: (bench: Bench) => Promise<void>,
  { machine = AHEAD, copies = AHEAD } = {},
): void {
  Deno.test({
    name,
    ignore: Deno.build.os !== "linux",
    async fn(): Promise<void> {
      const dir = await Deno.makeTempDir({ prefix: "remit-copy-" });
      const desk = `${dir}/desk`;
      for (const folder of ["desk/sub/deep", "content", "room"]) {
        await Deno.mkdir(`${dir}/${folder}`, { recursive: true });
      }
      for (const path of ["a", "b", "sub/c", "sub/deep/d"]) {
        await Deno.writeTextFile(`${desk}/${path}`, `${path}\n`);
      }
      await Deno.symlink("a", `${desk}/link`);
      const files = denoCopyFiles();
      const service = makeCopyService({
        ...{ files: denoFiles(), sha256: webSha256, breathe, now: () => Date.now() + machine },
        copies: {
          ...files,
          touch(probe) {
            const { modifiedMs, changedMs } = files.touch(probe);
            return { modifiedMs, changedMs: changedMs + copies };
          },
        },
      });
      const ask = async (op: string, body: unknown): Promise<Json> =>
        await service.ask(op, body as Json) as Json;
      let generation = 0;
      let said: Record<string, Json> = {};
      const setup = {
        mounts: [{
          ...{ name: "desk", root: desk, mode: "stage", colour: "YELLOW", label: "internal" },
          marks: [],
        }],
        ...{ content: `${dir}/content`, scratch: `${dir}/content`, never: ["*.env"] },
        ...{ overlay: [], scratchQuota: 0 },
      };
      try {
        await work({
          desk,
          async prepare(more = {}, ahead = false): Promise<string> {
            said = await ask("prepare", {
              ...{ setup: { ...setup, ...more }, mounts: ["desk"], cwd: "desk" },
              ...{ work: `${dir}/room`, generation: ++generation, ahead },
            }) as Record<string, Json>;
            return `${dir}/room/${said["generation"]}/desk`;
          },
          collect: async () =>
            await ask("collect", { colour: "YELLOW", label: "internal" }) as unknown as {
              staged: { path: string }[];
            },
          answer: () => said,
        });
      } finally {
        await Deno.remove(dir, { recursive: true });
      }
    },
  });
}

/** Everything beneath a folder, with the content of files, the targets of links, and modes. */
function tree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const { name } of Deno.readDirSync(`${folder}${path}`)) {
      const at = `${path}/${name}`, full = `${folder}${at}`;
      const { isDirectory, isSymlink, isFile, mode } = Deno.lstatSync(full);
      const what = isSymlink
        ? `-> ${Deno.readLinkSync(full)}`
        : isFile
        ? Deno.readTextFileSync(full)
        : "folder";
      found[at] = isSymlink ? what : `${((mode ?? 0) & 0o777).toString(8)} ${what}`;
      if (isDirectory) walk(at);
    }
  };
  walk("");
  return found;
}

const inode = (path: string): number | null => Deno.lstatSync(path).ino;

test("copies that a run left as they were serve the next one where they lie", async (bench) => {
  const first = await bench.prepare();
  const before = tree(first), files = inode(`${first}/sub/c`);
  assert.deepEqual((await bench.collect()).staged, []);
  const second = await bench.prepare();
  assert.deepEqual([second, tree(second), inode(`${second}/sub/c`)], [first, before, files]);
  assert.equal(bench.answer()["files"], 5);
});

test("what changed in the folder meanwhile is copied anew, what went is gone", async (bench) => {
  const { desk } = bench;
  const first = await bench.prepare();
  const kept = inode(`${first}/b`);
  await bench.collect();
  await Deno.writeTextFile(`${desk}/a`, "a changed\n");
  await Deno.remove(`${desk}/link`);
  await Deno.remove(`${desk}/sub`, { recursive: true });
  await Deno.writeTextFile(`${desk}/sub`, "a file now\n");
  await Deno.mkdir(`${desk}/new`);
  await Deno.writeTextFile(`${desk}/new/x`, "x\n");
  const second = await bench.prepare();
  assert.equal(second, first);
  assert.deepEqual(tree(second), {
    "/a": "666 a changed\n",
    "/b": "666 b\n",
    "/new": "777 folder",
    "/new/x": "666 x\n",
    "/sub": "666 a file now\n",
  });
  assert.equal(inode(`${second}/b`), kept);
  assert.deepEqual((await bench.collect()).staged, []);
});

test("what was put on the never-list, or became a second name of it, is not shown again", async (bench) => {
  const { desk } = bench;
  await bench.prepare();
  await bench.collect();
  await Deno.link(`${desk}/a`, `${desk}/a.env`);
  const second = await bench.prepare({ never: ["*.env", "sub/**"] });
  assert.deepEqual(Object.keys(tree(second)).sort(), ["/b", "/link"]);
});

test("contents are told, also of copies that stayed", async (bench) => {
  const first = await bench.prepare();
  const digest = await webSha256(await Deno.readFile(`${first}/b`));
  assert.ok((bench.answer()["contents"] as string[]).includes(digest));
  await bench.collect();
  await bench.prepare();
  assert.ok((bench.answer()["contents"] as string[]).includes(digest));
});

test("staged changes are made, changed and taken back over copies that stay", async (bench) => {
  const first = await bench.prepare();
  await Deno.writeTextFile(`${first}/made`, "one\n");
  await Deno.writeTextFile(`${first}/sub/c`, "one\n");
  const { staged } = await bench.collect() as unknown as {
    staged: PrepareBody["setup"]["overlay"];
  };
  assert.deepEqual(staged.map(({ path }) => path).sort(), ["desk/made", "desk/sub/c"]);
  const second = await bench.prepare({ overlay: staged });
  assert.deepEqual([tree(second)["/made"], tree(second)["/sub/c"]], ["644 one\n", "666 one\n"]);
  await bench.collect();
  const third = await bench.prepare({ overlay: [] });
  assert.equal(third, second);
  assert.deepEqual([tree(third)["/made"], tree(third)["/sub/c"]], [undefined, "666 sub/c\n"]);
});

test("nothing that a hostile program leaves is met by the next: names, folders, links, modes, bytes", async (bench) => {
  const first = await bench.prepare();
  const clean = tree(first);
  // The same bytes in another file, the same file under another name, a link where a folder was.
  await Deno.rename(`${first}/sub`, `${first}/elsewhere`);
  await Deno.symlink("elsewhere", `${first}/sub`);
  await Deno.writeTextFile(`${first}/elsewhere/deep/d`, "hostile\n");
  await Deno.remove(`${first}/a`);
  await Deno.symlink("../../../desk/a", `${first}/a`);
  await Deno.writeTextFile(`${first}/x.env`, "KEY\n");
  await Deno.mkdir(`${first}/empty/deeper`, { recursive: true });
  await Deno.link(`${first}/b`, `${first}/second`);
  await Deno.chmod(`${first}/elsewhere/c`, 0o4755);
  await Deno.utime(`${first}/elsewhere/deep`, 1, 1);
  await bench.collect();
  const second = await bench.prepare();
  assert.notEqual(second, first);
  assert.deepEqual(tree(second), clean);
  assert.equal(Deno.lstatSync(`${second}/b`).nlink, 1);
  assert.notEqual(Deno.lstatSync(`${second}/sub/deep`).mtime?.getTime(), 1_000);
});

test("what a program left alone is moved, not copied, beside what it touched", async (bench) => {
  const first = await bench.prepare();
  const kept = inode(`${first}/sub/deep/d`);
  await Deno.writeTextFile(`${first}/cache.env`, "x\n");
  await bench.collect();
  const second = await bench.prepare();
  assert.notEqual(second, first);
  assert.equal(inode(`${second}/sub/deep/d`), kept);
  // What was moved is known: a change of it is seen.
  await Deno.writeTextFile(`${second}/sub/deep/d`, "changed\n");
  assert.deepEqual((await bench.collect()).staged.map(({ path }) => path), ["desk/sub/deep/d"]);
});

test("a file that has just been written is read again: its times may not tell", async (bench) => {
  const first = await bench.prepare();
  await bench.collect();
  // Nobody can, when all that ran has ended: it tells a copy that stayed from one that was made.
  await Deno.writeTextFile(`${first}/b`, "stayed\n");
  const second = await bench.prepare();
  assert.deepEqual([second, tree(second)["/b"]], [first, "666 b\n"]);
}, { machine: 0 });

test("after a step that failed nothing more is prepared, nor between prepare and collect", async (bench) => {
  await bench.prepare();
  await assert.rejects(bench.prepare(), { code: "badFrame" });
  await assert.rejects(bench.collect(), { code: "badFrame" });
});

test("a program that writes over a file, byte for byte as long, has changed it", async (bench) => {
  const first = await bench.prepare();
  await Deno.writeTextFile(`${first}/b`, "x\n");
  assert.deepEqual((await bench.collect()).staged.map(({ path }) => path), ["desk/b"]);
});

test("a program may change a file of any name, and makes none that no tool would make", async (bench) => {
  await Deno.writeTextFile(`${bench.desk}/e\u0301`, "old\n");
  const first = await bench.prepare();
  await Deno.writeTextFile(`${first}/e\u0301`, "new\n");
  await Deno.writeTextFile(`${first}/a\u0301`, "new\n");
  assert.deepEqual((await bench.collect()).staged.map(({ path }) => path), ["desk/e\u0301"]);
});

test(
  "what was made in the second in which a program began is made again: it could hide a change",
  async (bench) => {
    const first = await bench.prepare();
    const { mtime } = Deno.lstatSync(`${first}/b`);
    await Deno.writeTextFile(`${first}/b`, "x\n");
    await Deno.utime(`${first}/b`, Date.now() / 1_000, (mtime?.getTime() ?? 0) / 1_000);
    await bench.collect();
    const second = await bench.prepare();
    assert.deepEqual([second === first, tree(second)["/b"]], [false, "666 b\n"]);
  },
  { copies: -AHEAD },
);

test(
  "copies that were made ahead are those of the next run, whenever they were made",
  async (bench) => {
    await bench.prepare();
    await bench.collect();
    const ahead = await bench.prepare({}, true);
    await Deno.writeTextFile(`${bench.desk}/a`, "a changed\n");
    const second = await bench.prepare();
    assert.deepEqual([second, tree(second)["/a"]], [ahead, "666 a changed\n"]);
  },
  { copies: -AHEAD },
);

test("copies have the times of their files; what is staged is newer, and a program stays one", async (bench) => {
  const old = new Date("2020-02-03T04:05:06Z"), ahead = new Date(Date.now() + 3_600_000);
  await Deno.utime(`${bench.desk}/a`, old, old);
  await Deno.utime(`${bench.desk}/b`, ahead, ahead);
  await Deno.chmod(`${bench.desk}/sub/c`, 0o755);
  const first = await bench.prepare();
  assert.equal(Deno.statSync(`${first}/a`).mtime?.getTime(), old.getTime());
  await Deno.writeTextFile(`${first}/sub/c`, "changed\n");
  const { staged } = await bench.collect() as unknown as {
    staged: PrepareBody["setup"]["overlay"];
  };
  // Another task's service has no copies yet.
  await Deno.remove(`${first}/sub/c`);
  const second = await bench.prepare({ overlay: staged });
  const { mode, mtime } = Deno.statSync(`${second}/sub/c`);
  assert.equal((mode ?? 0) & 0o777, 0o777);
  assert.ok((mtime?.getTime() ?? 0) > ahead.getTime());
  assert.equal(Deno.statSync(`${second}/b`).mtime?.getTime(), ahead.getTime());
});

test("what a program made and was staged is met again with its time and its mode", async (bench) => {
  const old = new Date("2021-02-03T04:05:06Z");
  const first = await bench.prepare();
  await Deno.writeTextFile(`${first}/tool`, "#!/bin/sh\n");
  await Deno.chmod(`${first}/tool`, 0o755);
  await Deno.utime(`${first}/tool`, old, old);
  const { staged } = await bench.collect() as unknown as {
    staged: PrepareBody["setup"]["overlay"];
  };
  assert.deepEqual(staged.map(({ path, executable }) => [path, executable]), [["desk/tool", true]]);
  const second = await bench.prepare({ overlay: staged });
  const { mode, mtime } = Deno.statSync(`${second}/tool`);
  assert.deepEqual([(mode ?? 0) & 0o777, mtime?.getTime()], [0o755, old.getTime()]);
});

test("what a program did and is not kept is told, a line each", async (bench) => {
  await Deno.mkdir(`${bench.desk}/empty`);
  const tries: Readonly<Record<string, [(at: string) => void, RegExp]>> = {
    program: [(at) => Deno.chmodSync(`${at}/a`, 0o777), /^desk\/a: its executable bit is not kept/],
    made: [
      (at) => Deno.writeTextFileSync(`${at}/new`, "x", { mode: 0o755 }),
      /^desk\/new: of its mode the executable bit alone/,
    ],
    folder: [
      (at) => Deno.mkdirSync(`${at}/logs/deep`, { recursive: true }),
      /^desk\/logs: an empty/,
    ],
    gone: [(at) => Deno.removeSync(`${at}/empty`), /^desk\/empty: the folder stays/],
    moved: [(at) => Deno.renameSync(`${at}/sub`, `${at}/lib`), /^desk\/sub: the folder stays/],
    link: [
      (at) => {
        Deno.removeSync(`${at}/link`);
        Deno.symlinkSync("b", `${at}/link`);
      },
      /^desk\/link: links are not staged/,
    ],
    type: [
      (at) => {
        Deno.removeSync(`${at}/b`);
        Deno.mkdirSync(`${at}/b`);
        Deno.writeTextFileSync(`${at}/b/x`, "x");
      },
      /^desk\/b: a folder took a file's place/,
    ],
    other: [
      (at) => {
        Deno.removeSync(`${at}/sub/deep`, { recursive: true });
        Deno.writeTextFileSync(`${at}/sub/deep`, "x");
      },
      /^desk\/sub\/deep: what took a folder's place/,
    ],
  };
  for (const [name, [act, line]] of Object.entries(tries)) {
    act(await bench.prepare());
    const { staged, left } = await bench.collect() as unknown as {
      staged: readonly { path: string }[];
      left: readonly string[];
    };
    assert.equal(left.filter((each) => line.test(each)).length, 1, `${name}: ${left.join("; ")}`);
    assert.ok(!staged.some(({ path }) => /^desk\/(b|sub\/deep)$/.test(path)), name);
  }
});
