import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { NOTHING_KNOWN } from "../contracts/memory/content_trust.ts";
import { Fault, type FaultCode } from "../contracts/base/fault.ts";
import { MountName } from "../contracts/authority/ids.ts";
import { sha256Hex } from "../port/digest.ts";
import { makeRig, TASK } from "./_fixture/rig.ts";
import { makeWorkspace } from "./mod.ts";

const fault = (code: FaultCode, pattern?: RegExp) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code &&
  (pattern === undefined || pattern.test(error.message));

Deno.test("alice reads, edits, sees her edit, and the folder has none of it", async () => {
  using rig = makeRig();
  rig.put("notes/a.md", "one\ntwo\nthree\n");
  equal(
    (await rig.call("file_read", { path: "desk/notes/a.md", from: 2, to: 2 })).content,
    "two\n",
  );
  const edited = await rig.call("file_edit", { path: "desk/notes/a.md", old: "two", new: "TWO" });
  match(edited.content, /staged/);
  equal((await rig.call("file_read", { path: "desk/notes/a.md" })).content, "one\nTWO\nthree\n");
  equal(
    (await rig.call("file_read", { path: "desk/notes/a.md", fresh: true })).content,
    "one\ntwo\nthree\n",
  );
  match((await rig.call("file_search", { query: "TWO" })).content, /desk\/notes\/a\.md:2: TWO/);
  match((await rig.call("file_stat", { path: "desk/notes/a.md" })).content, /staged: true/);
  match((await rig.call("file_list", { path: "desk/notes" })).content, /a\.md \[staged\]/);
  equal(rig.text("notes/a.md"), "one\ntwo\nthree\n");
});

Deno.test("alice's whole staging is applied as one patch, and undone as one", async () => {
  using rig = makeRig();
  rig.put("a.md", "old");
  rig.put("gone.md", "farewell");
  const before = rig.tree();
  await rig.call("file_write", { path: "desk/a.md", content: "new" });
  await rig.call("file_write", { path: "desk/deep/er/b.md", content: "b" });
  await rig.call("file_delete", { path: "desk/gone.md" });
  const patch = rig.workspace.patch();
  equal(patch?.changes.length, 3);
  const grant = rig.grant("patch_apply", {});
  equal(grant.resolved.effect, "mutateLocal");
  equal(grant.resolved.digests["patch"], patch?.id);
  const result = await rig.call("patch_apply", {});
  deepEqual(rig.tree(), { "a.md": "new", "deep/": "", "deep/er/": "", "deep/er/b.md": "b" });
  equal(rig.workspace.patch(), undefined);
  equal(rig.workspace.applied().length, 1);
  equal(rig.sent.at(-1)?.options.writable, true);
  equal(result.record !== undefined, true);
  await rig.undo();
  deepEqual(rig.tree(), before);
  equal(rig.workspace.applied().length, 0);
});

Deno.test("a file that changed meanwhile is a conflict report, and nothing is overwritten", async () => {
  using rig = makeRig();
  rig.put("a.md", "a");
  rig.put("b.md", "b");
  await rig.call("file_write", { path: "desk/a.md", content: "A" });
  await rig.call("file_write", { path: "desk/b.md", content: "B" });
  rig.put("b.md", "bob was here");
  await rejects(
    rig.call("patch_apply", {}),
    (error) => {
      if (!(error instanceof Fault) || error.code !== "conflict") return false;
      deepEqual(error.detail?.["conflicts"], [{
        path: "desk/b.md",
        expected: sha256Hex("b"),
        found: sha256Hex("bob was here"),
        why: "changed since",
      }]);
      return true;
    },
  );
  deepEqual(rig.tree(), { "a.md": "a", "b.md": "bob was here" });
  await rig.call("file_write", { path: "desk/b.md", content: "B", fresh: true });
  await rig.call("patch_apply", {});
  deepEqual(rig.tree(), { "a.md": "A", "b.md": "B" });
});

Deno.test("a file that appeared meanwhile is a conflict for a new one", async () => {
  using rig = makeRig();
  await rig.call("file_write", { path: "desk/n.md", content: "alice" });
  rig.put("n.md", "bob");
  await rejects(rig.call("patch_apply", {}), fault("conflict"));
  equal(rig.text("n.md"), "bob");
});

Deno.test("undo does not overwrite what was changed after the patch", async () => {
  using rig = makeRig();
  rig.put("a.md", "a");
  await rig.call("file_write", { path: "desk/a.md", content: "A" });
  await rig.call("patch_apply", {});
  rig.put("a.md", "carol's own words");
  await rejects(rig.undo(), fault("conflict"));
  equal(rig.text("a.md"), "carol's own words");
});

Deno.test("only the named paths are applied, and an unstaged one is refused", async () => {
  using rig = makeRig();
  await rig.call("file_write", { path: "desk/a.md", content: "A" });
  await rig.call("file_write", { path: "desk/b.md", content: "B" });
  throws(() => rig.grant("patch_apply", { paths: ["desk/c.md"] }), fault("notFound"));
  await rig.call("patch_apply", { paths: ["desk/b.md"] });
  deepEqual(rig.tree(), { "b.md": "B" });
  equal(rig.workspace.overlay().length, 1);
});

Deno.test("what was decided is applied, not what was staged while a person was thinking", async () => {
  using rig = makeRig();
  await rig.call("file_write", { path: "desk/a.md", content: "decided" });
  const grant = rig.grant("patch_apply", {});
  await rig.call("file_write", { path: "desk/a.md", content: "smuggled" });
  const binding = rig.binding(grant.tool);
  const result = await binding.invoke(grant, new AbortController().signal);
  binding.committed?.(grant, result);
  equal(rig.text("a.md"), "decided");
  equal(rig.workspace.overlay().length, 1);
  const forged = {
    ...grant,
    resolved: { ...grant.resolved, changes: rig.workspace.overlay() },
  };
  await rejects(binding.invoke(forged, new AbortController().signal), fault("refused"));
});

Deno.test("an edit must match exactly once, and against the version that was read", async () => {
  using rig = makeRig();
  rig.put("a.md", "x y x");
  const edit = (args: Record<string, string>) =>
    rig.call("file_edit", { path: "desk/a.md", ...args });
  await rejects(edit({ old: "x", new: "z" }), fault("conflict", /more than once/));
  await rejects(edit({ old: "q", new: "z" }), fault("conflict", /does not occur/));
  await rejects(
    edit({ old: "y", new: "z", base: sha256Hex("other") }),
    fault("conflict", /version/),
  );
  await edit({ old: "y", new: "z", base: sha256Hex("x y x") });
  const overlapping = makeRig();
  overlapping.put("o.md", "aaa");
  await rejects(
    overlapping.call("file_edit", { path: "desk/o.md", old: "aa", new: "b" }),
    fault("conflict", /more than once/),
  );
  overlapping[Symbol.dispose]();
});

Deno.test("a file whose name no tool would make is edited, deleted and undone where it is", async () => {
  for (const mode of ["stage", "rw"] as const) {
    using rig = makeRig({ mode });
    const names = ["e\u0301.md", "trailing ", "zero\u200bwidth"];
    for (const name of names) rig.put(name, "old");
    const before = rig.tree();
    const [first = "", second = ""] = names;
    await rig.call("file_edit", { path: `desk/${first}`, old: "old", new: "new" });
    await rig.call("file_write", { path: `desk/${second}`, content: "new" });
    await rig.call("file_delete", { path: `desk/${names[2]}` });
    if (mode === "stage") await rig.call("patch_apply", {});
    deepEqual(rig.tree(), { [first]: "new", [second]: "new" });
    while (rig.workspace.applied().length > 0) await rig.undo();
    deepEqual(rig.tree(), before);
    for (const name of ["a\u0301.md", "other ", "zero\u200b"]) {
      await rejects(
        rig.call("file_write", { path: `desk/${name}`, content: "new" }),
        fault("invalidArguments", /a new (file's )?name must/),
      );
    }
    deepEqual(rig.tree(), before);
  }
});

Deno.test("a change back to the folder's content is no change", async () => {
  using rig = makeRig();
  rig.put("a.md", "a");
  await rig.call("file_write", { path: "desk/a.md", content: "b" });
  await rig.call("file_write", { path: "desk/a.md", content: "a" });
  equal(rig.workspace.patch(), undefined);
  await rig.call("file_write", { path: "desk/new.md", content: "a" });
  await rig.call("file_delete", { path: "desk/new.md" });
  equal(rig.workspace.patch(), undefined);
});

Deno.test("a deleted file is gone for the agent, and a host that restarts knows it still", async () => {
  using rig = makeRig();
  rig.put("a.md", "needle");
  await rig.call("file_delete", { path: "desk/a.md" });
  rig.restartHost();
  await rejects(rig.call("file_read", { path: "desk/a.md" }), fault("notFound", /deletion/));
  match((await rig.call("file_list", { path: "desk" })).content, /\[empty\]/);
  match((await rig.call("file_search", { query: "needle" })).content, /nothing found/);
  equal(rig.text("a.md"), "needle");
});

Deno.test("on an rw mount each write is made at once, is mutateLocal, and is undoable", async () => {
  using rig = makeRig({ mode: "rw" });
  rig.put("a.md", "a b");
  const grant = rig.grant("file_edit", { path: "desk/a.md", old: "a", new: "A" });
  equal(grant.resolved.effect, "mutateLocal");
  deepEqual(grant.resolved.scopes.map(({ right }) => right), ["read", "write"]);
  const binding = rig.binding(grant.tool);
  const result = await binding.invoke(grant, new AbortController().signal);
  // The kernel dies here: the outcome was not committed, and the same call runs again.
  rig.restartHost();
  deepEqual((await binding.invoke(grant, new AbortController().signal)).record, result.record);
  binding.committed?.(grant, result);
  equal(rig.text("a.md"), "A b");
  equal(rig.workspace.applied().length, 1);
  equal(rig.sent.at(-1)?.options.writable, true);
});

Deno.test("a read-only mount is refused, with how to ask", async () => {
  using rig = makeRig({ mode: "ro" });
  rig.put("a.md", "a");
  throws(
    () => rig.grant("file_write", { path: "desk/a.md", content: "b" }),
    fault("refused", /--mount desk=DIR:stage/),
  );
  await rejects(rig.host("file_write", { path: "desk/a.md", content: "b" }), fault("refused"));
  const forged = {
    path: "desk/a.md",
    next: sha256Hex("b"),
    bytes: 1,
    colour: "BLUE",
    label: "public",
  };
  await rejects(
    rig.host("patch_apply", { patch: sha256Hex("p"), changes: [forged] }),
    fault("refused"),
  );
});

Deno.test("scratch is written, appended to, read and listed, and enters no patch", async () => {
  using rig = makeRig({ quota: 100 });
  await rig.call("scratch_write", { path: "scratch/n/a.txt", content: "one " });
  await rig.call("scratch_write", { path: "scratch/n/a.txt", content: "two", append: true });
  rig.restartHost();
  equal((await rig.call("file_read", { path: "scratch/n/a.txt" })).content, "one two");
  match((await rig.call("file_list", { path: "scratch/n" })).content, /scratch\/n\/a\.txt/);
  equal(rig.workspace.patch(), undefined);
  deepEqual(rig.workspace.overlay(), []);
  await rejects(
    rig.call("scratch_write", { path: "scratch/b", content: "x".repeat(94) }),
    fault("budgetExhausted"),
  );
  await rejects(
    rig.call("scratch_write", { path: "scratch/n/a.txt/b", content: "" }),
    fault("conflict"),
  );
  deepEqual(rig.tree(), {});
});

Deno.test("the outbox takes a copy with its colour, and quarantines it", async () => {
  using rig = makeRig({ colour: "RED" });
  rig.put("report.md", "report");
  const result = await rig.call("outbox_publish", { path: "desk/report.md" });
  rig.put("report.md", "changed afterwards");
  const [artifact] = rig.workspace.artifacts();
  equal(artifact?.state, "quarantined");
  equal(artifact?.colour, "RED");
  equal(artifact?.name, "report.md");
  equal(Deno.readTextFileSync(`${rig.root}/content/${artifact?.digest}`), "report");
  equal(result.colour, "RED");
});

Deno.test("colour and label come from mount and marks, and staging keeps the worst", async () => {
  using rig = makeRig({
    colour: "BLUE",
    marks: [{ path: "inbox", colour: "RED" }, { path: "*.priv", label: "secret" }],
    caller: { colour: "YELLOW", label: "public" },
  });
  rig.put("a.md", "a");
  rig.put("inbox/mail.txt", "mail");
  rig.put("x.priv", "p");
  const read = async (path: string): Promise<string> => {
    const { colour, label } = await rig.call("file_read", { path: `desk/${path}` });
    return `${colour} ${label}`;
  };
  equal(await read("a.md"), "BLUE internal");
  equal(await read("inbox/mail.txt"), "RED internal");
  equal(await read("x.priv"), "BLUE secret");
  // What is known of contents is mixed in by the kernel, which is told which ones were read.
  deepEqual((await rig.host("file_read", { path: "desk/a.md" })).contents, [sha256Hex("a")]);
  const found = await rig.host("file_search", { path: "desk", query: "mail" });
  deepEqual(found.contents, [sha256Hex("mail")]);
  await rig.call("file_write", { path: "desk/a.md", content: "b" });
  await rig.call("file_edit", { path: "desk/inbox/mail.txt", old: "mail", new: "m" });
  deepEqual(rig.workspace.overlay().map(({ colour, label }) => `${colour} ${label}`), [
    "YELLOW internal",
    "RED internal",
  ]);
  const apply = rig.grant("patch_apply", {}).resolved;
  equal(`${apply.colour} ${apply.label}`, "RED internal");
  equal((await rig.call("file_list", { path: "desk", depth: 2 })).colour, "RED");
  equal((await rig.call("file_list", { path: "desk", depth: 2 })).label, "secret");
});

Deno.test("a link's own mark is not lost by reading its target, nor the target's by the link", async () => {
  using rig = makeRig({ colour: "BLUE", marks: [{ path: "red", colour: "RED" }] });
  rig.put("plain.md", "p");
  rig.put("red/r.md", "r");
  Deno.symlinkSync("../plain.md", `${rig.desk}/red/link.md`);
  Deno.symlinkSync("red/r.md", `${rig.desk}/clean.md`);
  equal((await rig.call("file_read", { path: "desk/red/link.md" })).colour, "RED");
  equal((await rig.call("file_read", { path: "desk/clean.md" })).colour, "RED");
});

Deno.test("a file that later executes is named in the patch", async () => {
  using rig = makeRig();
  await rig.call("file_write", { path: "desk/package.json", content: "{}" });
  deepEqual(rig.grant("patch_apply", {}).resolved.executes, ["desk/package.json"]);
});

Deno.test("a child with fewer mounts cannot name its parent's", () => {
  using rig = makeRig();
  const binding = rig.binding("file_read");
  const mallory = { mounts: [], colour: "BLUE", label: "public" } as never;
  throws(() => binding.resolve({ path: "desk/a.md" }, mallory), fault("notFound", /no mount/));
});

Deno.test("where there is no mount, a look at all of them says so", () => {
  using rig = makeRig();
  const alone = { mounts: [], colour: "BLUE", label: "public" } as never;
  for (const [tool, args] of [["file_list", {}], ["file_search", { query: "x" }]] as const) {
    throws(
      () => rig.binding(tool).resolve(args, alone),
      fault("notFound", /there is no mount$/),
    );
  }
});

Deno.test("a mount named scratch is refused", () => {
  using rig = makeRig();
  const mount = { name: MountName.parse("scratch"), dir: rig.desk, mode: "ro" as const, marks: [] };
  throws(() =>
    makeWorkspace({
      task: TASK,
      mounts: [{ ...mount, colour: "BLUE", label: "public" }],
      host: { call: () => Promise.reject(new TypeError("not reached")) },
      powers: { now: () => 0, id: (prefix) => prefix },
      redeem(): void {},
      contents: NOTHING_KNOWN,
      executes: () => false,
    }), fault("invalidInput"));
});

Deno.test("folding the committed records again gives the same workspace", async () => {
  using rig = makeRig();
  rig.put("a.md", "a");
  const records = [
    await rig.call("file_write", { path: "desk/a.md", content: "b" }),
    await rig.call("file_write", { path: "desk/c.md", content: "c" }),
    await rig.call("patch_apply", { paths: ["desk/a.md"] }),
    await rig.call("scratch_write", { path: "scratch/s", content: "s" }),
    await rig.call("outbox_publish", { path: "desk/c.md" }),
  ].map((result) => result.record);
  using other = makeRig();
  for (const record of records) other.workspace.fold(JSON.parse(JSON.stringify(record)));
  deepEqual(other.workspace.overlay(), rig.workspace.overlay());
  deepEqual(other.workspace.applied(), rig.workspace.applied());
  deepEqual(other.workspace.artifacts(), rig.workspace.artifacts());
});
