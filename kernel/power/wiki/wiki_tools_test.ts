import { deepEqual, doesNotThrow, equal, ok, rejects, throws } from "node:assert/strict";
import { Pid, type Scope, TaskId, ToolName } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { AgentSpec } from "../../../contracts/policy/mod.ts";
import type {
  GrantedCall,
  ProcessRow,
  Resolved,
  TaskMemory,
  ToolBinding,
} from "../../../contracts/task/mod.ts";
import { grantedScopes } from "../../task/granted_scopes.ts";
import { guardWikis, isInherited, makeWikiTools, memoryOf, memoryScopes } from "./wiki_tools.ts";

const MEMORY: TaskMemory = {
  ...{ folder: "/w", stateFolder: "/s", access: "propose", user: "write" },
  ...{ review: [], retention: {}, clearance: "secret" },
};
const text = ({ right, path }: Scope): string => `${right} ${path}`;
const agent = (memory?: AgentSpec["memory"]): AgentSpec =>
  AgentSpec.parse({
    ...{ name: "clerk", labels: {}, persona: "", limits: {}, env: {} },
    ...(memory === undefined ? {} : { memory }),
  });

Deno.test("a task without a wiki holds no scope of memory, and one with it exactly what its request says", () => {
  deepEqual(memoryScopes({ profile: "operator" }), []);
  deepEqual(memoryScopes({ profile: "operator", memory: MEMORY }).map(text), [
    ...["read wiki", "read log", "write wiki", "write log", "read user/agent", "write user/agent"],
  ]);
  const reads: TaskMemory = { ...MEMORY, access: "read", user: "none" };
  deepEqual(memoryScopes({ profile: "operator", memory: reads }).map(text), [
    ...["read wiki", "read log"],
  ]);
});

Deno.test("an agent narrows and never widens, and its notes about a person are its own", () => {
  const request = { profile: "operator", memory: MEMORY } as const;
  const reader = agent({ wiki: "read", user: "read", clearance: "internal" });
  deepEqual(memoryScopes({ ...request, agent: reader }).map(text), [
    ...["read wiki", "read log", "read user/clerk"],
  ]);
  equal(memoryOf({ ...request, agent: reader })?.clearance, "internal");
  equal(memoryOf({ ...request, agent: agent({ wiki: "none", user: "write" }) }), undefined);
  const narrow: TaskMemory = { ...MEMORY, access: "read", user: "none", clearance: "public" };
  const wide = agent({ wiki: "propose", user: "write", clearance: "secret" });
  deepEqual(memoryOf({ ...request, memory: narrow, agent: wide }), narrow);
});

Deno.test("guests see no secret page and nothing about the operator, strangers only what is public", () => {
  for (const [profile, clearance] of [["guest", "internal"], ["anonymous", "public"]] as const) {
    const memory = memoryOf({ profile, memory: MEMORY });
    deepEqual([memory?.clearance, memory?.user], [clearance, "none"]);
  }
});

Deno.test("a child inherits the wiki and no notes about the person", () => {
  const inherited = memoryScopes({ profile: "operator", memory: MEMORY }).filter(isInherited);
  deepEqual(inherited.map(text), ["read wiki", "read log", "write wiki", "write log"]);
});

Deno.test("a rule for a memory opens no network", () => {
  const rules = [{ mode: "auto", destination: "memory:wiki" }] as const;
  const scopes = grantedScopes({ mounts: [], profile: "operator" }, { rules, network: new Set() });
  deepEqual(scopes.filter(({ resource }) => resource === "net"), []);
});

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

Deno.test("what an agent writes to a wiki counts in budgets of its index before it is written, what it reads does not", async () => {
  const taken: unknown[] = [], done: string[] = [];
  const named = (name: string, category: "read" | "stage"): ToolBinding => {
    const made = tool(name, {});
    return {
      ...made,
      descriptor: { ...made.descriptor, category },
      invoke(): ReturnType<ToolBinding["invoke"]> {
        done.push(name);
        return Promise.reject(new Fault("gone", "Cannot go on: enough was seen"));
      },
    };
  };
  const wikis = makeWikiTools({
    wikis: { hold: () => ({ ask: () => Promise.reject(new Error("not asked")), release() {} }) },
    memory: {
      descriptors: [],
      bind: () => ({
        bindings: [named("wiki_propose", "stage"), named("wiki_search", "read")],
        prepare: () => Promise.resolve(),
        query: () => Promise.reject(new Error("not asked")),
      }),
    },
    redeem: () => undefined,
    now: () => 0,
    stale: () => Promise.resolve(undefined),
    uses: {
      take({ task }, amounts, doing) {
        taken.push([task, amounts, doing]);
        return taken.length === 1
          ? Promise.resolve(() => undefined)
          : Promise.reject(new Fault("budgetExhausted", "Cannot write to the wiki: used up"));
      },
    },
  });
  const task = TaskId.parse("t000000000001");
  const call = {
    task,
    pid: Pid.parse(2),
    args: { page: "a", text: "\u00e9" },
  } as unknown as GrantedCall;
  const { signal } = new AbortController();
  const [propose, search] = wikis.of(task, { memory: MEMORY, profile: "operator" })?.bindings ?? [];
  ok(propose !== undefined && search !== undefined);
  await rejects(propose.invoke(call, signal), /enough was seen/);
  await rejects(propose.invoke(call, signal), /used up/);
  await rejects(search.invoke(call, signal), /enough was seen/);
  deepEqual(done, ["wiki_propose", "wiki_search"]);
  const bytes = new TextEncoder().encode('{"page":"a","text":"\u00e9"}').length;
  deepEqual(taken[0], [task, { indexBytes: bytes }, "write to the wiki"]);
});
