import { deepEqual, equal } from "node:assert/strict";
import { MountName } from "../../../contracts/authority/mod.ts";
import { ImportedServer } from "../../../contracts/exchange/mod.ts";
import type { Mount } from "../../../contracts/tool/mod.ts";
import { grantMounts } from "./scope.ts";

function server(
  name: string,
  write: readonly string[],
  files: readonly string[] = [],
): ImportedServer {
  return ImportedServer.parse({
    ...{ name, launch: { kind: "http", url: "https://a.test/" }, env: {}, tools: [] },
    ...{ grants: { read: [], write, net: [] }, files, secretEnv: [], secretHeaders: [] },
    ...{ offers: { resources: false, prompts: false }, samplingTokens: 0, elicitation: false },
    clearance: "internal",
  });
}

function mount(name: string, dir: string, changes: Partial<Mount> = {}): Mount {
  const plain = { mode: "stage", colour: "YELLOW", label: "internal" } as const;
  return { name: MountName.parse(name), dir, marks: [], ...plain, ...changes };
}

Deno.test("what a server may change is staged in the mount around it, and in one of its own where there is none", () => {
  const one = server("one", ["/home/a/desk/notes", "/srv/My Data!"]);
  const two = server("two", ["/srv/My Data!/in", "/var/graph.json"], ["/var/graph.json"]);
  const found = grantMounts({ mounts: [mount("desk", "/home/a/desk")], mcp: [one, two] });
  deepEqual(found.mounts.map(({ name, dir, mode, apart }) => [name, dir, mode, apart]), [
    ["my-data-", "/srv/My Data!", "stage", true],
    ["var", "/var", "stage", true],
  ]);
  const paths = (of: ImportedServer): readonly string[] => found.of(of).map(({ path }) => path);
  deepEqual(paths(one), ["desk/notes", "my-data-"]);
  deepEqual(paths(two), ["my-data-/in", "var/graph.json"]);
  // Of the folder around a file nothing but that file can be changed by a patch.
  deepEqual(found.paths, ["my-data-", "my-data-/in", "var/graph.json"]);
});

Deno.test("the innermost mount says what may be done, and one that is only read makes the grant one to read", () => {
  const one = server("one", ["/home/a/desk/notes"]);
  const desk = mount("desk", "/home/a/desk"),
    notes = mount("notes", "/home/a/desk/notes", { mode: "ro" });
  equal(grantMounts({ mounts: [desk, notes], mcp: [one] }).of(one).length, 0);
  deepEqual(grantMounts({ mounts: [desk, notes], mcp: [one] }).mounts, []);
  equal(grantMounts({ mounts: [desk], mcp: [one] }).of(one)[0]?.path, "desk/notes");
});

Deno.test("names are free ones, and a mount within makes the label of the one around", () => {
  const one = server("one", ["/a/desk", "/b/desk", "/c/scratch", "/d/…"]);
  const inner = mount("desk", "/b/desk/in", { label: "secret" });
  const { mounts } = grantMounts({ mounts: [inner], mcp: [one] });
  deepEqual(mounts.map(({ name, label }) => [name, label]), [
    ["desk-2", "internal"],
    ["desk-3", "secret"],
    ["scratch-2", "internal"],
    ["granted", "internal"],
  ]);
});
