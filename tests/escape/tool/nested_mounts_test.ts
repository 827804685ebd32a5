/** A folder that is mounted twice, or within another mount, to be reached by its milder name. */
import assert from "node:assert/strict";
import { MountName } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { Mount } from "../../../contracts/tool/mod.ts";
import { makeTaints } from "../../../workspace/host/taint.ts";
import { nestMounts } from "../../../launch/disk/mounts.ts";
import { hostMount } from "../../../kernel/power/toolhost/toolhost.ts";

const mount = (name: string, dir: string, more: Partial<Mount> = {}): Mount => ({
  ...{ name: MountName.parse(name), dir, mode: "stage", colour: "YELLOW", label: "internal" },
  ...{ marks: [] },
  ...more,
});

/** Colour and label of a path of a mount, as a toolhost finds them. */
function taintOf(mounts: readonly Mount[], path: string): readonly [string, string] {
  const [name = "", ...parts] = path.split("/");
  const found = mounts.map((each) => hostMount(each, each.dir));
  const own = found.find((each) => each.name === name);
  assert.ok(own);
  const { colour, label } = makeTaints({ mounts: found }).ofPath(own, parts);
  return [colour, label];
}

Deno.test("a secret mount within another is secret by both names, and so are its marks", () => {
  const marks = [{ path: "mail", colour: "RED" as const }, {
    path: "*.eml",
    colour: "RED" as const,
  }];
  const mounts = nestMounts([
    mount("work", "/w"),
    mount("vault", "/w/a*b/vault", { label: "secret", marks }),
    mount("other", "/w2", { label: "public" }),
  ]);
  assert.deepEqual(taintOf(mounts, "work/a*b/vault/keys.md"), ["YELLOW", "secret"]);
  assert.deepEqual(taintOf(mounts, "work/a*b/vault/mail/x"), ["RED", "secret"]);
  assert.deepEqual(taintOf(mounts, "work/a*b/vault/deep/x.eml"), ["RED", "secret"]);
  assert.deepEqual(taintOf(mounts, "work/a*b/x.md"), ["YELLOW", "internal"]);
  assert.deepEqual(taintOf(mounts, "work/mail/x"), ["YELLOW", "internal"]);
  assert.deepEqual(taintOf(mounts, "other/x"), ["YELLOW", "public"]);
});

Deno.test("one folder under two names has the worse of both colours and labels", () => {
  const mounts = nestMounts([
    mount("a", "/w", { colour: "RED" }),
    mount("b", "/w", { label: "secret" }),
  ]);
  assert.deepEqual([taintOf(mounts, "a/x"), taintOf(mounts, "b/x")], [
    ["RED", "secret"],
    ["RED", "secret"],
  ]);
});

Deno.test("a folder that is read-only, or staged, is not written through a mount around it", () => {
  const tried = (outer: Mount["mode"], inner: Mount["mode"]): string => {
    try {
      nestMounts([mount("o", "/w", { mode: outer }), mount("i", "/w/i", { mode: inner })]);
      return "mounted";
    } catch (error) {
      return error instanceof Fault ? error.code : "crash";
    }
  };
  assert.deepEqual([tried("stage", "ro"), tried("rw", "ro"), tried("rw", "stage")], [
    ...["refused", "refused", "refused"],
  ]);
  assert.deepEqual([tried("ro", "rw"), tried("stage", "rw"), tried("stage", "stage")], [
    ...["mounted", "mounted", "mounted"],
  ]);
});
