import { deepEqual, doesNotThrow, equal, throws } from "node:assert/strict";
import {
  Fault,
  type ProcessRow,
  type Resolved,
  type Scope,
  type ToolBinding,
  ToolName,
} from "../../contracts/mod.ts";
import { guardWikis } from "./guard.ts";

const caller = {} as ProcessRow;

/** A tool whose call touches these scopes and changes. */
function tool(name: string, resolved: Partial<Resolved>): ToolBinding {
  return {
    descriptor: {
      ...{ name: ToolName.parse(name), description: "…", interfaceId: "x", methodName: "x" },
      ...{ paramSchema: "{}", permission: "auto", category: "stage" },
    },
    ...{ effect: "stage", deadlineMs: 1, resultBytes: 1 },
    resolve: () => ({
      ...{ scopes: [], effect: "stage", digests: {}, summary: "", idempotent: true },
      ...resolved,
    }),
    invoke: () => Promise.reject(new Error("not called")),
  };
}

const scope = (right: Scope["right"], path: string): Scope => ({ resource: "mount", right, path });
const guard = (binding: ToolBinding, dir = "/home/carol"): ToolBinding =>
  guardWikis({ mounts: [{ name: "desk", dir }], wikis: ["/home/carol/notes/wiki"] }).guard(binding);
const refused = (error: unknown): boolean =>
  error instanceof Fault && error.code === "refused" && /wiki_propose/.test(error.message);
const writes = (path: string, dir?: string) => () =>
  guard(tool("file_write", { scopes: [scope("read", path)] }), dir).resolve({}, caller);

Deno.test("mallory's agent stages no page, raw source, index, log or instruction file past the memory's tools", () => {
  for (
    const own of [
      "pages/a.md",
      "raw/a.0123456789ab.md",
      "index.md",
      "log.md",
      "AGENTS.md",
      "Pages/a",
    ]
  ) {
    throws(writes(`desk/notes/wiki/${own}`), refused, own);
  }
  throws(writes("desk/a.md", "/home/carol/notes/wiki/pages"), refused, "a mount within the wiki");
});

Deno.test("she removes no folder that holds a wiki, and applies no patch that touches one", () => {
  for (const path of ["desk", "desk/notes", "desk/notes/wiki"]) {
    throws(
      () => guard(tool("file_delete", { scopes: [scope("read", path)] })).resolve({}, caller),
      refused,
      path,
    );
  }
  const changes = [{
    ...{ path: "desk/notes/wiki/pages/a.md", colour: "RED", label: "public" } as const,
    ...{ kind: "modify" } as object,
  }] as unknown as NonNullable<Resolved["changes"]>;
  throws(() => guard(tool("patch_apply", { changes })).resolve({}, caller), refused);
});

Deno.test("a page that is read as a file would lose its colour and label: it is not", () => {
  for (const path of ["raw/a.md", "pages", "pages/a.md", "index.md", "log.md", "PAGES/a.md"]) {
    const scopes = [scope("read", `desk/notes/wiki/${path}`)];
    throws(() => guard(tool("file_read", { scopes })).resolve({}, caller), refused, path);
    throws(() => guard(tool("json_query", { scopes })).resolve({}, caller), refused, path);
  }
});

Deno.test("what lies beside a wiki is written and read, and a folder above it is looked through", () => {
  doesNotThrow(writes("desk/notes/plan.md"));
  doesNotThrow(writes("desk/notes/wiki/drafts/a.md"));
  for (const path of ["desk", "desk/notes/wiki", "desk/notes/wiki/AGENTS.md"]) {
    const read = tool("file_search", { scopes: [scope("read", path)] });
    equal(guard(read).resolve({}, caller).scopes.length, 1);
  }
});

Deno.test("the never-list of a task's processes names a wiki's own in every mount that holds or lies in one", () => {
  const mounts = [
    { name: "home", dir: "/home/carol" },
    { name: "wiki", dir: "/home/carol/notes/wiki" },
    { name: "pages", dir: "/home/carol/notes/wiki/pages/old" },
    { name: "other", dir: "/home/carol/notes/wiki2" },
  ];
  const { globs, ownOf } = guardWikis({ mounts, wikis: ["/home/carol/notes/wiki"] });
  deepEqual(globs, [
    ...["raw", "pages", "index.md", "log.md"].map((own) => `home/notes/wiki/${own}`),
    ...["raw", "pages", "index.md", "log.md"].map((own) => `wiki/${own}`),
    "pages",
  ]);
  equal(ownOf("other/pages/a.md"), undefined);
  equal(ownOf("wiki/pages/a.md"), "wiki/pages");
  deepEqual(guardWikis({ mounts, wikis: [] }).globs, []);
});
