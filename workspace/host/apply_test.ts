import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import fc from "fast-check";
import { Fault, type FaultCode } from "../../contracts/base/fault.ts";
import { changeJson } from "../patch.ts";
import { makeRig, type Rig } from "../_fixture/rig.ts";
import { type Files, FsTrouble } from "./files.ts";

const fault = (code: FaultCode) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

/** Files that fail at the n-th change of a mount, in one way. */
function failing(at: { left: number }, only: RegExp): (real: Files) => Files {
  return (real: Files): Files => {
    const guard =
      <A extends readonly string[], R>(name: string, method: (...args: A) => R) =>
      (...args: A): R => {
        const touches = only.test(name) && args.some((arg) => String(arg).includes("/desk/"));
        if (touches && at.left-- === 0) throw new FsTrouble("noSpace", new Error("full"));
        return method(...args);
      };
    return {
      ...real,
      create: (path, bytes, mode) => guard("create", (to) => real.create(to, bytes, mode))(path),
      rename: guard("rename", real.rename),
      makeFolder: guard("makeFolder", real.makeFolder),
    };
  };
}

async function stageMuch(rig: Rig): Promise<void> {
  rig.put("a.md", "a");
  rig.put("b/c.md", "c");
  rig.put("gone.md", "gone");
  Deno.chmodSync(`${rig.desk}/a.md`, 0o640);
  await rig.call("file_write", { path: "desk/a.md", content: "A" });
  await rig.call("file_write", { path: "desk/b/c.md", content: "C" });
  await rig.call("file_write", { path: "desk/new/deep/d.md", content: "D" });
  await rig.call("file_delete", { path: "desk/gone.md" });
}

Deno.test("a disk that fills up at any step leaves the folder as it was, and says so", async () => {
  let failures = 0;
  for (let step = 0; step < 20; step++) {
    const at = { left: -1 };
    using rig = makeRig({ files: failing(at, /create|rename|makeFolder/) });
    await stageMuch(rig);
    const before = rig.tree();
    at.left = step;
    try {
      await rig.call("patch_apply", {});
      break;
    } catch (error) {
      ok(error instanceof Fault && error.code === "storeFull", String(error));
      failures++;
      deepEqual(rig.tree(), before, `step ${step}`);
      equal((Deno.statSync(`${rig.desk}/a.md`).mode ?? 0) & 0o777, 0o640);
    }
    await rig.call("patch_apply", {});
    equal(rig.text("new/deep/d.md"), "D");
  }
  equal(failures, 2 + 3 + 4);
});

Deno.test("a file keeps its permission bits through apply and undo", async () => {
  using rig = makeRig();
  rig.put("run.sh", "#!/bin/sh");
  Deno.chmodSync(`${rig.desk}/run.sh`, 0o751);
  await rig.call("file_write", { path: "desk/run.sh", content: "#!/bin/sh\ntrue" });
  const mode = (): number => (Deno.statSync(`${rig.desk}/run.sh`).mode ?? 0) & 0o777;
  await rig.call("patch_apply", {});
  equal(mode(), 0o751);
  await rig.undo();
  equal(mode(), 0o751);
});

Deno.test("a new program that was staged may be run, also after an edit, and undo takes it away", async () => {
  using rig = makeRig();
  await rig.call("file_write", { path: "desk/tool.sh", content: "#!/bin/sh\n" });
  const staged = rig.workspace.overlay().map((change) => ({
    ...changeJson(change),
    executable: true,
  }));
  rig.workspace.fold({ staged });
  await rig.call("file_edit", { path: "desk/tool.sh", old: "sh\n", new: "sh\ntrue\n" });
  await rig.call("patch_apply", {});
  equal((Deno.statSync(`${rig.desk}/tool.sh`).mode ?? 0) & 0o777, 0o755);
  await rig.undo();
  equal(rig.text("tool.sh"), undefined);
});

for (const mode of ["stage", "rw"] as const) {
  Deno.test(`a file that was deleted comes back with its permission bits (${mode})`, async () => {
    using rig = makeRig({ mode });
    rig.put("private", "alice's own");
    Deno.chmodSync(`${rig.desk}/private`, 0o600);
    await rig.call("file_delete", { path: "desk/private" });
    if (mode === "stage") await rig.call("patch_apply", {});
    deepEqual(rig.tree(), {});
    rig.restartHost();
    await rig.undo();
    deepEqual(rig.tree(), { private: "alice's own" });
    equal((Deno.statSync(`${rig.desk}/private`).mode ?? 0) & 0o777, 0o600);
  });
}

Deno.test("the new version of a private file is private while it is written", async () => {
  const modes: number[] = [];
  using rig = makeRig({
    files: (real) => ({
      ...real,
      create(path, bytes, mode): void {
        // Asked for the bytes once the file is there, and before the last of them is written.
        const watched = Object.assign(bytes.slice(), {
          subarray(from: number): Uint8Array {
            if (path.startsWith(`${rig.desk}/`)) modes.push((Deno.statSync(path).mode ?? 0) & 0o77);
            return bytes.subarray(from);
          },
        });
        real.create(path, watched, mode);
      },
    }),
  });
  rig.put("private", "alice's own");
  Deno.chmodSync(`${rig.desk}/private`, 0o600);
  await rig.call("file_write", { path: "desk/private", content: "alice's newer own" });
  await rig.call("patch_apply", {});
  equal(rig.text("private"), "alice's newer own");
  deepEqual(modes, [0]);
});

Deno.test("a file that is changed between verifying and replacing is kept, and all else is put back", async () => {
  let meddle = (): void => {};
  using rig = makeRig({ reach: (point) => point === "swapped" ? meddle() : undefined });
  rig.put("a", "a");
  rig.put("b", "b");
  await rig.call("file_write", { path: "desk/a", content: "A" });
  await rig.call("file_write", { path: "desk/b", content: "B" });
  meddle = () => rig.put("b", "bob's own");
  await rejects(rig.call("patch_apply", {}), fault("conflict"));
  deepEqual(rig.tree(), { a: "a", b: "bob's own" });
});

Deno.test("applying twice is applying once", async () => {
  using rig = makeRig();
  await stageMuch(rig);
  const grant = rig.grant("patch_apply", {});
  const signal = new AbortController().signal;
  const first = await rig.binding("patch_apply").invoke(grant, signal);
  const after = rig.tree();
  const second = await rig.binding("patch_apply").invoke(grant, signal);
  deepEqual(rig.tree(), after);
  deepEqual(second.record, first.record);
});

Deno.test("a content that is not what its name says is not applied", async () => {
  using rig = makeRig();
  rig.put("a", "a");
  await rig.call("file_write", { path: "desk/a", content: "A" });
  const next = rig.workspace.overlay()[0]?.next;
  Deno.writeTextFileSync(`${rig.root}/content/${next}`, "B");
  await rejects(rig.call("patch_apply", {}), fault("storeCorrupt"));
  deepEqual(rig.tree(), { a: "a" });
});

const name = fc.constantFrom("a", "b", "d/a", "d/e/f", "g/h");
const text = fc.string({ maxLength: 20 });
const step = fc.oneof(
  fc.record({ tool: fc.constant("file_write"), path: name, content: text }),
  fc.record({ tool: fc.constant("file_delete"), path: name }),
);

Deno.test("undo after apply is nothing, for every folder and every staging", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, text, { maxKeys: 4 }),
      fc.array(step, { maxLength: 6 }),
      async (files, steps) => {
        using rig = makeRig();
        for (const [path, content] of Object.entries(files)) rig.put(path, content);
        const before = rig.tree();
        for (const { tool, path, ...rest } of steps) {
          try {
            await rig.call(tool, { path: `desk/${path}`, ...rest });
          } catch (error) {
            if (!(error instanceof Fault)) throw error;
          }
        }
        deepEqual(rig.tree(), before);
        if (rig.workspace.patch() === undefined) return;
        const expected = new Map(Object.entries(files));
        for (const { tool, path, ...rest } of steps) {
          if ("content" in rest && tool === "file_write") expected.set(path, rest.content);
          else expected.delete(path);
        }
        await rig.call("patch_apply", {});
        const now = Object.entries(rig.tree()).filter(([path]) => !path.endsWith("/"));
        deepEqual(new Map(now), new Map([...expected].sort(([a], [b]) => a < b ? -1 : 1)));
        await rig.undo();
        deepEqual(rig.tree(), before);
      },
    ),
    { numRuns: 60 },
  );
});
