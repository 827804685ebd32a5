import assert from "node:assert/strict";
import { join } from "node:path";
import { NAMESPACE, namespace } from "../../../kernel/core/start/line_parts.ts";
import { findPrograms } from "../../../launch/program/programs_powers.ts";
import { insidePath, wikiLine } from "./line.ts";

/** Tells of each path that it is given: `read` and `written`, or why not. */
const PROBE = `
const tell = (f) => { try { return f(); } catch (error) { return error.name; } };
console.log(JSON.stringify(Deno.args.map((path) => [
  tell(() => Deno.readTextFileSync(path)),
  tell(() => (Deno.writeTextFileSync(path, "changed"), "written")),
])));
console.log(JSON.stringify([tell(() => Deno.env.get("HOME")), tell(() => Deno.hostname()),
  tell(() => new Deno.Command("/bin/true").outputSync().code)]));
`;

interface Rig {
  readonly root: string;
  path(name: string): string;
}

function makeRig(): Rig & Disposable {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "remit-line-" }));
  const path = (name: string): string => join(root, name);
  for (const folder of ["w,iki", "state", "docs, old", "other", "dd"]) Deno.mkdirSync(path(folder));
  for (const file of ["w,iki/a", "state/a", "docs, old/a", "other/a"]) {
    Deno.writeTextFileSync(path(file), file);
  }
  Deno.writeTextFileSync(path("probe.js"), PROBE);
  return { root, path, [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }) };
}

async function probe(rig: Rig, walled: boolean, names: readonly string[]): Promise<unknown[]> {
  const found = await findPrograms();
  const { bwrap: _, ...without } = found;
  const comma = (name: string): string => walled ? name : name.replaceAll(",", "");
  const line = wikiLine({
    ...{ namespace, inside: NAMESPACE, denoDir: rig.path("dd"), bundle: rig.path("probe.js") },
    programs: walled ? found : without,
    folder: rig.path(comma("w,iki")),
    stateFolder: rig.path("state"),
    reads: [rig.path(comma("docs, old"))],
  });
  const paths = names.map((name) => insidePath(line.aliases, rig.path(comma(name))));
  const { stdout, stderr } = await new Deno.Command(line.program, {
    args: [...line.args, ...paths],
    clearEnv: true,
    env: { ...line.env },
    cwd: "/",
  }).output();
  const text = new TextDecoder().decode(stdout).trim();
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  return text.split("\n").map((each) => JSON.parse(each));
}

const NAMES = ["w,iki/a", "state/a", "docs, old/a", "other/a"];

Deno.test({
  name: "a wiki's process writes its own two folders, reads what it is given, and has nothing else",
  async fn(): Promise<void> {
    using rig = makeRig();
    for (const name of ["wiki", "docs old"]) {
      Deno.mkdirSync(rig.path(name));
      Deno.writeTextFileSync(rig.path(`${name}/a`), name);
    }
    const [files, powers] = await probe(rig, false, NAMES);
    assert.deepEqual(files, [
      ["wiki", "written"],
      ["state/a", "written"],
      ["docs old", "NotCapable"],
      ["NotCapable", "NotCapable"],
    ]);
    assert.deepEqual(powers, [null, "NotCapable", "NotCapable"]);
  },
});

const { bwrap } = await findPrograms();

Deno.test({
  name: "in a namespace folders with commas have other names, and what was not given is not there",
  ignore: bwrap === undefined,
  async fn() {
    using rig = makeRig();
    const [files] = await probe(rig, true, NAMES);
    assert.deepEqual(files, [
      ["w,iki/a", "written"],
      ["state/a", "written"],
      ["docs, old/a", "NotCapable"],
      ["NotCapable", "NotCapable"],
    ]);
    assert.equal(Deno.readTextFileSync(rig.path("docs, old/a")), "docs, old/a");
  },
});

Deno.test({
  name: "a link out of what may be read leads nowhere in a namespace",
  ignore: bwrap === undefined,
  async fn() {
    using rig = makeRig();
    Deno.symlinkSync(rig.path("other/a"), rig.path("docs, old/link"));
    const [files] = await probe(rig, true, ["docs, old/link"]) as [string[][]];
    assert.doesNotMatch(files[0]?.[0] ?? "", /other/);
  },
});

Deno.test("a comma is refused where no namespace gives the folder another name", () => {
  assert.throws(
    () =>
      wikiLine({
        ...{ namespace, inside: NAMESPACE, denoDir: "/d", bundle: "/b.js" },
        ...{ programs: { deno: "/deno" }, folder: "/a,b", stateFolder: "/s", reads: [] },
      }),
    /has a comma in it/,
  );
  const aliases = new Map([["/a,b", "/wiki/folder"], ["/a,b/c,d", "/wiki/read/0"]]);
  assert.equal(insidePath(aliases, "/a,b/c,d/e"), "/wiki/read/0/e");
  assert.equal(insidePath(aliases, "/a,b/c"), "/wiki/folder/c");
  assert.equal(insidePath(aliases, "/a,bc"), "/a,bc");
});
