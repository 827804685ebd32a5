import { deepEqual, equal } from "node:assert/strict";
import { AgentSpec, type Scope, type TaskMemory } from "../../contracts/mod.ts";
import { grantedScopes } from "../task/granted_scopes.ts";
import { isInherited, memoryOf, memoryScopes } from "./task_memory.ts";

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
