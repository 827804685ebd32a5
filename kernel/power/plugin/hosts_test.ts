import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { Pid, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault, type Json, type JsonObject } from "../../../contracts/base/mod.ts";
import { type HostFunction, PluginManifest, type PluginTool } from "../../../contracts/tool/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { makeWorld, realPowers, runs, type World } from "../../_fixture/small_children.ts";
import { eventually } from "../../_fixture/session_bench.ts";
import { makePluginCode, makePluginHosts, type PluginHosts } from "./hosts.ts";
import type { PluginCall } from "./host.ts";

const TASK = TaskId.parse("t000000000000");
const ALICE = Pid.parse(2);

/** A plugin host that is its plugin: `args.source` runs with the host's own words at hand. */
const HOST = `
const { stdin, stdout } = Deno; const enc = new TextEncoder(), dec = new TextDecoder();
const send = (frame) => { const b = enc.encode(JSON.stringify(frame) + "\\n"); for (let n = 0; n < b.length;) n += stdout.writeSync(b.subarray(n)); };
let next = 0; const waiting = new Map(); globalThis.loads = []; globalThis.cancelled = [];
const host = (call, fn, args) => new Promise((resolve, reject) => { waiting.set(++next, { resolve, reject }); send([next, "host", { call, fn, args }]); });
const serve = async ([id, op, body, ...rest]) => {
  if (id < 0) { const w = waiting.get(-id); waiting.delete(-id); return op === null ? w.resolve(body) : w.reject(Object.assign(new Error(body), { code: op })); }
  if (id === 0) { if (op === "cancel") cancelled.push(body.id); return; }
  if (op === "load") { loads.push(body.plugin); return send([-id, null, null]); }
  if (op === "engine") { loads.push("engine"); return send([-id, null, null]); }
  if (op !== "call") return send([-id, "invalidInput", "Cannot serve: unknown", null]);
  try { const value = await (0, eval)("(async (call, host) => {" + body.args.source + "})")(body.id, host);
    send([-id, null, { value: value ?? null, logs: [], instances: globalThis.made ?? 1 }]); }
  catch (e) { send([-id, e.code ?? "upstream", e.message, null]); }
};
const chunk = new Uint8Array(65536); let rest = "";
for (;;) { const n = await stdin.read(chunk); if (n === null) Deno.exit(0);
  rest += dec.decode(chunk.subarray(0, n), { stream: true }); let i;
  while ((i = rest.indexOf("\\n")) >= 0) { const line = rest.slice(0, i); rest = rest.slice(i + 1); serve(JSON.parse(line)); } }
`;

const CODE = new TextEncoder().encode("code");
const FILE = "/nowhere/code.js";

function manifestOf(name: string): PluginManifest {
  return PluginManifest.parse({
    name,
    version: "1.0.0",
    licence: "Apache-2.0",
    engine: "wasm",
    sha256: sha256Hex(CODE),
    memoryPages: 16,
    hostFunctions: ["tool.call", "fs.read"],
    tools: [{ name: `${name}_run`, description: "Runs.", parameters: { type: "object" } }],
  });
}

interface Bench {
  readonly hosts: PluginHosts;
  call(source: string, changes?: Partial<PluginCall> & { deadlineMs?: number }): Promise<Json>;
}

let ids = 0;

async function withHosts(
  f: (bench: Bench) => Promise<void>,
  code: Uint8Array = CODE,
): Promise<void> {
  const world: World = await makeWorld(HOST);
  try {
    const hosts = makePluginHosts({
      children: await world.children(),
      powers: realPowers(),
      code: makePluginCode(() => Promise.resolve(code)),
    });
    const call = async (
      source: string,
      { deadlineMs, ...changes }: Partial<PluginCall> & { deadlineMs?: number } = {},
    ): Promise<Json> => {
      const manifest = changes.manifest ?? manifestOf("alice");
      // TRUST: the manifest above brings exactly one.
      const tool = manifest.tools[0] as PluginTool;
      const { value } = await hosts.call({
        ...{ task: TASK, pid: ALICE, id: `id${++ids}`, manifest, file: FILE, trusted: true },
        ...{ depth: 0, args: { source }, bytes: 10_000, signal: new AbortController().signal },
        tool: { ...tool, deadlineMs: deadlineMs ?? 200_000 },
        serve: () => Promise.resolve(null),
        ...changes,
      });
      return value;
    };
    await f({ hosts, call });
    await hosts.close(TASK);
  } finally {
    await world.close();
  }
}

const fault = (code: string) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

Deno.test("a plugin is loaded once for its host, and hosts are told apart by trust", async () => {
  await withHosts(async ({ hosts, call }) => {
    deepEqual(await call("return loads"), ["alice"]);
    deepEqual(await call("return loads"), ["alice"]);
    deepEqual(await call("return loads", { manifest: manifestOf("bob") }), ["alice", "bob"]);
    const apart = { manifest: manifestOf("mallory"), trusted: false };
    deepEqual(await call("return loads", apart), ["mallory"]);
    deepEqual(await call("return loads", { depth: 1 }), ["alice"]);
    equal(hosts.osPids(TASK).length, 3);
  });
});

Deno.test("a host that has made many instances is ended after its last call, and new ones have another", async () => {
  await withHosts(async ({ hosts, call }) => {
    equal(await call("globalThis.made = 399; return 1"), 1);
    const [first = 0] = hosts.osPids(TASK);
    const { promise, resolve } = Promise.withResolvers<Json>();
    const asked = Promise.withResolvers<void>();
    const serve = (): Promise<Json> => (asked.resolve(), promise);
    const slow = call("return await host(call, 'fs.read', {})", { serve });
    await asked.promise;
    const bob = { manifest: manifestOf("bob") };
    equal(await call("globalThis.made = 400; return 2", bob), 2);
    // Alice's call is under way in the old one; bob's next has a new one.
    equal(await call("return globalThis.made ?? 0", bob), 0);
    resolve("read");
    equal(await slow, "read");
    await eventually(() => !runs(first));
    equal(await call("return globalThis.made ?? 0"), 0);
  });
});

Deno.test("mallory's plugin spins: it is ended at its deadline, and the next call has a new host", async () => {
  await withHosts(async ({ hosts, call }) => {
    await call("return 1");
    const [first = 0] = hosts.osPids(TASK);
    await rejects(call("for (;;) {}", { deadlineMs: 60 }), fault("timedOut"));
    equal(await call("return 2"), 2);
    equal(runs(first), false);
  });
});

Deno.test("time in a called tool does not count, time before and after it does", async () => {
  await withHosts(async ({ call }) => {
    const { promise, resolve } = Promise.withResolvers<Json>();
    // TIMER: longer than the deadline, which stands still meanwhile.
    setTimeout(() => resolve("late"), 3_300);
    const waits = { deadlineMs: 1_000, serve: () => promise };
    const patient = { ...waits, deadlineMs: 3_000 };
    equal(await call("return await host(call, 'tool.call', {})", patient), "late");
    await rejects(
      call("await host(call, 'tool.call', {}); for (;;) {}", waits),
      fault("timedOut"),
    );
    const never = { deadlineMs: 100, serve: () => new Promise<Json>(() => {}) };
    await rejects(call("return await host(call, 'fs.read', {})", never), fault("timedOut"));
  });
});

Deno.test("time in which a person thinks about a change does not count either", async () => {
  await withHosts(async ({ call }) => {
    const ask = (name: string, fn: string): Promise<Json> =>
      call(`return await host(call, '${fn}', {})`, {
        ...{ manifest: manifestOf(name), deadlineMs: 3_000 },
        // TIMER: longer than the deadline, which stands still meanwhile.
        serve: () => new Promise((resolve) => setTimeout(() => resolve(fn), 3_300)),
      });
    const all = await Promise.all([ask("alice", "fs.write"), ask("bob", "fs.delete")]);
    deepEqual(all, ["fs.write", "fs.delete"]);
  });
});

Deno.test("mallory's host names calls that are not under way, and is given nothing", async () => {
  await withHosts(async ({ call }) => {
    const asked: [HostFunction, JsonObject][] = [];
    const serve = (fn: HostFunction, args: JsonObject): Promise<Json> => {
      asked.push([fn, args]);
      return Promise.resolve("secret");
    };
    const forged = `const tried = [];
      for (const id of ["", "id1", "nobody", call + " ", "__proto__"]) {
        try { tried.push(await host(id, "fs.read", {})); } catch (e) { tried.push(e.code); }
      }
      return tried`;
    const answers = await call(forged, { serve });
    deepEqual(answers, Array(5).fill("unknownCapability"));
    deepEqual(asked, []);
    equal(await call("return await host(call, 'fs.read', { path: 'x' })", { serve }), "secret");
  });
});

Deno.test("mallory's host keeps a call's id, and it is worth nothing once the call is over", async () => {
  await withHosts(async ({ call }) => {
    await call("globalThis.kept = call; return 1");
    const later = "try { return await host(kept, 'fs.read', {}); } catch (e) { return e.code; }";
    equal(await call(later, { serve: () => Promise.resolve("secret") }), "unknownCapability");
  });
});

Deno.test("mallory's host speaks another language: it is ended, the call is `upstream`", async () => {
  await withHosts(async ({ call }) => {
    for (
      const bad of [
        "send([99, 'spawn', {}]); await new Promise(() => {})",
        "send([99, 'host', { call, fn: 'run', args: {} }]); await new Promise(() => {})",
        "send([0, 'event', 1]); await new Promise(() => {})",
        "stdout.writeSync(enc.encode('no json\\n')); await new Promise(() => {})",
        "Deno.exit(7)",
      ]
    ) await rejects(call(bad), fault("upstream"), bad);
    equal(await call("return 3"), 3);
  });
});

Deno.test("a call that is cancelled ends, also when the plugin does not listen", async () => {
  await withHosts(async ({ call }) => {
    const abort = new AbortController();
    const spinning = call("await host(call, 'tool.call', {}); for (;;) {}", {
      signal: abort.signal,
      serve(): Promise<Json> {
        queueMicrotask(() => abort.abort());
        return Promise.resolve(null);
      },
    });
    await rejects(spinning, fault("cancelled"));
    equal(await call("return 4"), 4);
  });
});

Deno.test("a question that was queued ends the call with it, whatever the plugin makes of it", async () => {
  await withHosts(async ({ call }) => {
    const queued = new Fault("needsApproval", "Cannot go on: question waits", {
      detail: { question: "q000000000000" },
    });
    await rejects(
      call("try { await host(call, 'tool.call', {}); } catch {} return 'went on'", {
        serve: () => Promise.reject(queued),
      }),
      (error) => error === queued,
    );
  });
});

Deno.test("code that is not what was reviewed is not loaded", async () => {
  await withHosts(async ({ call }) => {
    await rejects(
      call("return 1"),
      (error) =>
        error instanceof Fault && error.code === "refused" && /remit tool add/.test(error.message),
    );
  }, new TextEncoder().encode("changed"));
});

Deno.test("the deadlines of a process that is stopped stand still", async () => {
  await withHosts(async ({ hosts, call }) => {
    await call("return 1");
    hosts.freeze(ALICE);
    let over = false;
    const late = call("await new Promise((f) => setTimeout(f, 150)); return 5", { deadlineMs: 50 })
      .finally(() => over = true);
    equal(await late, 5);
    ok(over);
    hosts.thaw(ALICE);
    await rejects(call("for (;;) {}", { deadlineMs: 50 }), fault("timedOut"));
  });
});

Deno.test("the end of a task ends its hosts", async () => {
  await withHosts(async ({ hosts, call }) => {
    await call("return 1");
    await call("return 1", { depth: 1 });
    const pids = hosts.osPids(TASK);
    equal(pids.length, 2);
    await hosts.close(TASK);
    for (const pid of pids) equal(runs(pid), false);
  });
});
