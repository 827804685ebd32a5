import { equal, match, notEqual, ok, throws } from "node:assert/strict";
import { Fault } from "../../../contracts/base/mod.ts";
import { digestTree, makeTreeChecks, TREE_DISK, type TreeDisk } from "./mod.ts";
import { makeTreeService } from "./check.ts";

async function withTree(f: (root: string) => void | Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "remit-tree-" });
  try {
    await Deno.mkdir(`${root}/npm/a`, { recursive: true });
    await Deno.writeTextFile(`${root}/npm/a/index.js`, "export {}\n", { mode: 0o644 });
    await Deno.writeTextFile(`${root}/deno.lock`, "{}\n", { mode: 0o600 });
    await Deno.symlink("a/index.js", `${root}/npm/main`);
    await f(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const counting = (): { readonly disk: TreeDisk; read(): number } => {
  let read = 0;
  return {
    disk: {
      ...TREE_DISK,
      hash(path) {
        read += 1;
        return TREE_DISK.hash(path);
      },
    },
    read: () => read,
  };
};

Deno.test("a tree's digest is of its files' modes, bytes and names, the same wherever it lies", async () => {
  await withTree(async (first) => {
    const { sha256, files, bytes } = digestTree(first, TREE_DISK);
    equal(files, 3);
    equal(bytes, 13);
    await withTree((second) => equal(digestTree(second, TREE_DISK).sha256, sha256));
    const changes: readonly ((root: string) => Promise<void>)[] = [
      (root) => Deno.writeTextFile(`${root}/deno.lock`, "{} \n"),
      (root) => Deno.chmod(`${root}/deno.lock`, 0o700),
      (root) => Deno.writeTextFile(`${root}/npm/b`, ""),
      (root) => Deno.rename(`${root}/deno.lock`, `${root}/deno.lock2`),
      async (root) => {
        await Deno.remove(`${root}/npm/main`);
        await Deno.symlink("a", `${root}/npm/main`);
      },
    ];
    for (const change of changes) {
      await withTree(async (root) => {
        await change(root);
        notEqual(digestTree(root, TREE_DISK).sha256, sha256);
      });
    }
  });
});

Deno.test("a tree with a link that leads out, a pipe, or a name that would forge a line is refused", async () => {
  const refused = (words: RegExp) => (error: unknown): boolean =>
    error instanceof Fault && error.code === "refused" && words.test(error.message);
  for (const to of ["/etc/passwd", "../../secret", "a/../../../x"]) {
    await withTree(async (root) => {
      await Deno.symlink(to, `${root}/npm/out`);
      throws(() => digestTree(root, TREE_DISK), refused(/leads out/), to);
    });
  }
  await withTree(async (root) => {
    await Deno.writeTextFile(`${root}/npm/a\n100644 x`, "");
    throws(() => digestTree(root, TREE_DISK), refused(/control character/));
  });
  await withTree(async (root) => {
    const made = await new Deno.Command("mkfifo", { args: [`${root}/pipe`] }).output();
    ok(made.success);
    throws(() => digestTree(root, TREE_DISK), refused(/neither/));
  });
});

Deno.test("a tree that was checked is not read again until a file of it is touched, added or removed", async () => {
  await withTree(async (root) => {
    const { sha256 } = digestTree(root, TREE_DISK);
    const { disk, read } = counting(), checks = makeTreeChecks(disk);
    equal(checks.check(root, sha256), undefined);
    equal(read(), 2);
    equal(checks.check(root, sha256), undefined);
    equal(read(), 2);
    // Of another length: two writes within one tick of the file system's clock have one time.
    await Deno.writeTextFile(`${root}/deno.lock`, "[1]\n");
    match(checks.check(root, sha256) ?? "", /digest/);
    await Deno.writeTextFile(`${root}/deno.lock`, "{}\n");
    equal(checks.check(root, sha256), undefined, "as it was");
    await Deno.writeTextFile(`${root}/npm/a/new.js`, "");
    match(checks.check(root, sha256) ?? "", /4 files/);
    await Deno.remove(`${root}/npm/a/new.js`);
    await Deno.remove(`${root}/npm/a/index.js`);
    match(checks.check(root, sha256) ?? "", /2 files/);
    match(checks.check(`${root}/nowhere`, sha256) ?? "", /cannot be read/);
  });
});

Deno.test("the tree process takes an id for a tree and nothing that leads elsewhere", async () => {
  await withTree(async (root) => {
    const { sha256 } = digestTree(`${root}/npm`, TREE_DISK);
    const service = makeTreeService(TREE_DISK, root);
    equal(await service.ask("check", { id: "npm", sha256 }), null);
    for (const id of ["../etc", "npm/a", ".", "", "/etc"]) {
      throws(() => service.ask("check", { id, sha256 }), /unknown/, id);
    }
    const lock = TREE_DISK.hash(`${root}/deno.lock`).sha256;
    equal(await service.ask("program", { path: `${root}/deno.lock`, sha256: lock }), null);
    match(String(await service.ask("program", { path: `${root}/deno.lock`, sha256 })), /reviewed/);
  });
});
