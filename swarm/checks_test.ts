/** What the checks of a swarm take from the base, and what of a change they see. */
import assert from "node:assert/strict";
import { type Checked, makeCheck } from "./checks.ts";
import type { TreeFile } from "./tree_files.ts";

type Parts = Parameters<typeof makeCheck>[0];
type Tree = Readonly<Record<string, string>>;

const filesOf = (tree: Tree): readonly TreeFile[] =>
  Object.entries(tree).map(([path, blob]) => ({ path, blob, mode: "100644", bytes: 1 }));

/** Checks `change` over `base`; gives what came of it, and the files that the program saw. */
async function checked(
  { command, keep = [], base, change }: {
    readonly command: readonly string[];
    readonly keep?: readonly string[];
    readonly base: Tree;
    readonly change: Tree;
  },
): Promise<{ readonly came: Checked; readonly seen: Tree | undefined }> {
  let seen: Tree | undefined;
  const check = makeCheck({
    powers: {
      async plant(_, files): Promise<void> {
        seen = Object.fromEntries(
          (await Array.fromAsync(files)).map((file) => Object.values(file) as [string, string]),
        );
      },
      clear: () => Promise.resolve(),
      check: () => Promise.resolve({ code: 0, stdout: new Uint8Array(), stderr: "" }),
    },
    mirror: {
      tree: (name) =>
        Promise.resolve({ files: filesOf(name === "base" ? base : change), left: [] }),
      planted: (files) =>
        files.map(({ path, blob }) => ({ path, blob })) as unknown as ReturnType<
          Parts["mirror"]["planted"]
        >,
    },
    plan: { checks: [{ name: "c", command: [...command], seconds: 1 }], keep: [...keep] },
    ...{ base: "base", mount: "repo", rooms: "/rooms" },
  });
  const paths = [...new Set([...Object.keys(base), ...Object.keys(change)])];
  const changed = paths.filter((path) => base[path] !== change[path]);
  return { came: await check("change", changed), seen };
}
const BASE = { "src/a.ts": "1", "tests/a_test.ts": "2", "check.sh": "3", "src/b.ts": "4" };

Deno.test("a folder in a check's command is the change's own: it is what is checked", async () => {
  const { came, seen } = await checked({
    ...{ command: ["deno", "check", "src/", "./check.sh"], base: BASE },
    change: { ...BASE, "src/a.ts": "broken", "check.sh": "true" },
  });
  assert.equal(came.ok, true);
  assert.deepEqual(seen, { ...BASE, "src/a.ts": "broken" });
  const folder = await checked({
    ...{ command: ["deno", "check", "src"], base: BASE },
    change: { ...BASE, "src/a.ts": "broken" },
  });
  assert.equal(folder.seen?.["src/a.ts"], "broken");
});

Deno.test("what the plan keeps is the base's, folders too", async () => {
  const { seen } = await checked({
    ...{ command: ["run", "tests"], keep: ["tests/"], base: BASE },
    change: { ...BASE, "src/a.ts": "new", "tests/a_test.ts": "true", "tests/b_test.ts": "true" },
  });
  assert.deepEqual(seen, { ...BASE, "src/a.ts": "new" });
});

for (
  const [what, change] of [
    ["changes", { ...BASE, "check.sh": "true" }],
    ["adds", { ...BASE, "tests/b_test.ts": "true" }],
    ["removes", { "src/a.ts": "1", "src/b.ts": "4", "check.sh": "3" }],
  ] as const
) {
  Deno.test(`a change that only ${what} files of the checks is refused: no check sees it`, async () => {
    const { came, seen } = await checked({
      ...{ command: ["sh", "check.sh"], keep: ["tests"], base: BASE, change },
    });
    assert.equal(came.ok, false);
    assert.match(came.said, /the checks do not see the change/);
    assert.equal(seen, undefined);
  });
}
