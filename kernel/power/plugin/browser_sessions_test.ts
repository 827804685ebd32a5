import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { chromiumManifest } from "../../../browser/mod.ts";
import { Pid, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault, type Json, type JsonObject } from "../../../contracts/base/mod.ts";
import type { GrantedCall, ProcessRow, Uses } from "../../../contracts/task/mod.ts";
import { type HostFunction, PluginManifest } from "../../../contracts/tool/mod.ts";
import { makeWorld, realPowers, runs } from "../../_fixture/small_children.ts";
import { lineOfBrowser } from "../../core/start/browser_line.ts";
import { countingPages, makeBrowserSessions } from "./browser_sessions.ts";
import type { PluginHosts } from "./hosts.ts";

const TASK = TaskId.parse("t000000000000");
const OTHER = TaskId.parse("t000000000001");
const ALICE = Pid.parse(2);
const BOB = Pid.parse(3);

/** A browser whose page is a number, and that does what `args.url` says. */
const BROWSER = `
const { stdin, stdout } = Deno; const enc = new TextEncoder(), dec = new TextDecoder();
const send = (frame) => { const b = enc.encode(JSON.stringify(frame) + "\\n"); for (let n = 0; n < b.length;) n += stdout.writeSync(b.subarray(n)); };
let next = 0, visits = 0; const waiting = new Map();
const serve = async ([id, op, body]) => {
  if (id < 0) { const w = waiting.get(-id); waiting.delete(-id); return op === null ? w.resolve(body) : w.reject(Object.assign(new Error(body), { code: op })); }
  if (id === 0 || op === "load") return id === 0 || send([-id, null, null]);
  if (op !== "call") return send([-id, "invalidInput", "Cannot serve: unknown", null]);
  const { tool, args } = body;
  try {
    if (args.url === "spin:") for (;;);
    if (tool === "browser_screenshot") return send([-id, null, { value: { png: "iVBOR" }, logs: [] }]);
    if (args.url === "forged:") body.id = "another";
    const value = await new Promise((resolve, reject) => { waiting.set(++next, { resolve, reject }); send([next, "host", { call: body.id, fn: "http.fetch", args: args.request ?? { url: args.url } }]); });
    send([-id, null, { value: ++visits + " " + value, logs: [] }]);
  } catch (e) { send([-id, e.code ?? "upstream", e.message, null]); }
};
const chunk = new Uint8Array(65536); let rest = "";
for (;;) { const n = await stdin.read(chunk); if (n === null) Deno.exit(0);
  rest += dec.decode(chunk.subarray(0, n), { stream: true }); let i;
  while ((i = rest.indexOf("\\n")) >= 0) { const line = rest.slice(0, i); rest = rest.slice(i + 1); serve(JSON.parse(line)); } }
`;

function manifestOf(name: string): PluginManifest {
  const tool = { description: "Does.", parameters: { type: "object" }, fetches: "url" };
  return PluginManifest.parse({
    ...{ name, version: "1.0.0", licence: "Apache-2.0", engine: "script" },
    ...{ sha256: "0".repeat(64), memoryPages: 16, hostFunctions: ["http.fetch"] },
    tools: [{ ...tool, name: `${name}_open` }, { ...tool, name: `${name}_close` }],
  });
}

const ELSEWHERE: PluginHosts = {
  call: () => Promise.resolve({ value: "a plugin host", logs: [] }),
  freeze: () => undefined,
  thaw: () => undefined,
  osPids: () => [],
  close: () => Promise.resolve(),
};

interface Asked {
  readonly pid?: Pid;
  readonly task?: TaskId;
  readonly tool?: string;
  readonly plugin?: string;
  readonly depth?: number;
  readonly deadlineMs?: number;
  readonly args?: JsonObject;
}

interface Bench {
  readonly hosts: PluginHosts;
  readonly asked: string[];
  /** Processes that have ended. */
  readonly ended: Set<Pid>;
  call(url: string, asked?: Asked): Promise<Json>;
  screenshot(pid: Pid): Promise<Json>;
}

async function withBrowsers(
  f: (bench: Bench) => Promise<void>,
  uses?: Uses,
): Promise<void> {
  const world = await makeWorld(BROWSER);
  const ended = new Set<Pid>();
  try {
    const children = await world.children();
    const sessions = makeBrowserSessions({
      children: { browser: (handler) => children.plugin(handler) },
      powers: realPowers(),
      ...(uses === undefined ? {} : { uses }),
      processes: {
        get: (pid) => ({ pid, status: ended.has(pid) ? "ended" : "running" }) as ProcessRow,
      },
    });
    const hosts = sessions.within(ELSEWHERE);
    const asked: string[] = [];
    let ids = 0;
    const { signal } = new AbortController();
    await f({
      ...{ hosts, asked, ended },
      async call(
        url,
        {
          pid = ALICE,
          task = TASK,
          tool = "open",
          plugin = "browser",
          depth = 0,
          args = {},
          deadlineMs = 200_000,
        } = {},
      ) {
        const manifest = chromiumManifest(manifestOf(plugin));
        const named = manifest.tools.find(({ name }) => name === `${plugin}_${tool}`);
        if (named === undefined) throw new Error(tool);
        const { value } = await hosts.call({
          ...{
            task,
            pid,
            id: `id${++ids}`,
            manifest,
            tool: { ...named, deadlineMs },
            file: "/none",
          },
          ...{ trusted: false, depth, args: { url, ...args }, bytes: 10_000, signal },
          serve(fn: HostFunction, args: JsonObject): Promise<Json> {
            asked.push(`${pid} ${fn} ${args["method"] ?? ""}${args["url"]}`);
            return Promise.resolve("page");
          },
        });
        return value;
      },
      screenshot: (pid) =>
        sessions.screenshot({ task: TASK, pid, args: {} } as unknown as GrantedCall, signal),
    });
    await hosts.close(TASK);
    await hosts.close(OTHER);
  } finally {
    await world.close();
  }
}

const fault = (code: string) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

Deno.test("alice's browser lives between her calls, also within a program of hers; other plugins have none", async () => {
  await withBrowsers(async ({ hosts, asked, call }) => {
    equal(await call("a:"), "1 page");
    equal(await call("b:", { depth: 2 }), "2 page");
    equal(await call("c:", { plugin: "text" }), "a plugin host");
    deepEqual(asked, ["2 http.fetch a:", "2 http.fetch b:"]);
    equal(hosts.osPids(TASK).length, 1);
  });
});

Deno.test("bob cannot use the browser that alice holds; when she closes it he gets a profile of its own", async () => {
  await withBrowsers(async ({ hosts, call, ended }) => {
    await call("a:");
    const [first = 0] = hosts.osPids(TASK);
    await rejects(call("a:", { pid: BOB }), fault("conflict"));
    await call("a:", { tool: "close" });
    equal(runs(first), false);
    equal(await call("a:", { pid: BOB }), "1 page");
    ended.add(BOB);
    equal(await call("a:"), "1 page", "a process that has ended holds nothing, and leaves nothing");
    equal(hosts.osPids(TASK).length, 1);
  });
});

Deno.test("mallory's page spins: its browser is ended at the deadline, and the next call has a new one", async () => {
  await withBrowsers(async ({ hosts, call }) => {
    await call("a:");
    const [first = 0] = hosts.osPids(TASK);
    await rejects(call("spin:", { deadlineMs: 80 }), fault("timedOut"));
    equal(await call("a:"), "1 page");
    equal(runs(first), false);
  });
});

Deno.test("a browser asks only for the call that is under way", async () => {
  await withBrowsers(async ({ asked, call }) => {
    await rejects(call("forged:"), fault("unknownCapability"));
    deepEqual(asked, []);
  });
});

Deno.test("a browser that was taken over sends what a person was shown, once, and nothing else", async () => {
  await withBrowsers(async ({ asked, call }) => {
    const post = { method: "POST", url: "a:", body: "x=1" };
    await call("a:", { args: { body: "x=1", request: post } });
    deepEqual(asked, ["2 http.fetch POSTa:"]);
    const others: readonly JsonObject[] = [
      { ...post, body: "x=2" },
      { ...post, url: "b:" },
      { ...post, method: "PUT" },
      { ...post, method: "DELETE" },
    ];
    for (const request of others) {
      await rejects(call("a:", { args: { body: "x=1", request } }), fault("refused"));
    }
    await rejects(call("a:", { args: { request: post } }), fault("refused"), "it was to read");
    equal(asked.length, 1);
  });
});

Deno.test("a picture is taken of the caller's own page, and may ask for nothing", async () => {
  await withBrowsers(async ({ call, screenshot }) => {
    await rejects(screenshot(ALICE), fault("notFound"));
    await call("a:");
    deepEqual(await screenshot(ALICE), { png: "iVBOR" });
    await rejects(screenshot(BOB), fault("notFound"));
  });
});

Deno.test("a kernel has four browsers at most, and a task that ended gives its own back", async () => {
  await withBrowsers(async ({ hosts, call }) => {
    const tasks = [1, 2, 3, 4].map((n) => TaskId.parse(`t00000000001${n}`));
    for (const task of tasks) await call("a:", { task });
    await rejects(call("a:"), fault("rateLimited"));
    await hosts.close(tasks[0] ?? TASK);
    equal(await call("a:"), "1 page");
    for (const task of tasks) await hosts.close(task);
  });
});

Deno.test("the browser's line has no network, no port, no root; without bubblewrap or a filter there is none", () => {
  const config = {
    ...{ dir: "/state", mark: "remit-a-1" },
    programs: { deno: "/d", bwrap: "/usr/bin/bwrap" },
    bundles: { browser: "/b/browser.js" },
    browser: { program: "/usr/bin/chromium" },
  };
  const walls = {
    ...{ bwrap: true, filter: true, storage: true },
    ...{ setpriv: false, prlimit: false, nice: false },
  };
  const { program, args } = lineOfBrowser(config, walls);
  equal(program, "/bin/sh");
  deepEqual(args.slice(2, 8), [
    ...["/state/seccomp-browser", "/usr/bin/bwrap", "--setenv", "REMIT_MARK", "remit-a-1"],
    "--unsetenv",
  ]);
  const line = args.slice(9).join(" ");
  match(
    line,
    /^--seccomp 9 --unshare-all --new-session --die-with-parent --uid 1000 --gid 1000 --cap-drop ALL/,
  );
  ok(!/share-net|allow-net|allow-all|allow-env|no-sandbox/.test(line.replace("--unshare-all", "")));
  match(
    line,
    /--allow-run=\/usr\/lib\/chromium\/chromium --allow-read=\/tmp,\S+ --allow-write=\/tmp/,
  );
  equal(args.at(-1), "/usr/lib/chromium/chromium");
  for (const without of [{ bwrap: false }, { filter: false }]) {
    throws(() => lineOfBrowser(config, { ...walls, ...without }), fault("unavailable"));
  }
});

Deno.test("a page counts while it is open, one that follows it in its place; closed, ended or refused it counts no more", async () => {
  let [pages, memory] = [0, 0];
  const uses: Uses = {
    has: () => true,
    step: () => Promise.reject(new Error("a page is not used by and by")),
    take(_user, { tabs = 0, memoryBytes = 0 }): Promise<() => void> {
      if (pages + tabs > 1) {
        return Promise.reject(new Fault("budgetExhausted", "Cannot open a page"));
      }
      [pages, memory] = [pages + tabs, memory + memoryBytes];
      return Promise.resolve(() => void ([pages, memory] = [pages - tabs, memory - memoryBytes]));
    },
  };
  await withBrowsers(async ({ call, hosts }) => {
    await call("https://a.example/");
    await call("https://b.example/");
    deepEqual([pages, memory], [1, 450_000_000]);
    await rejects(call("https://c.example/", { task: OTHER, pid: BOB }), /Cannot open a page/);
    await hosts.close(OTHER);
    deepEqual([pages, memory], [1, 450_000_000]);
    await call("", { tool: "close" });
    deepEqual([pages, memory], [0, 0]);
    await call("https://c.example/", { task: OTHER, pid: BOB });
    equal(pages, 1);
    await hosts.close(OTHER);
    deepEqual([pages, memory], [0, 0]);
  }, uses);
});

Deno.test("a page of the static browser is a tab as one of Chromium's: one for each process, until it is closed or its task ends", async () => {
  let pages = 0;
  const asked: string[] = [];
  const uses: Uses = {
    has: () => true,
    step: () => Promise.reject(new Error("a page is not used by and by")),
    take(_user, { tabs = 0 }): Promise<() => void> {
      if (pages + tabs > 2) {
        return Promise.reject(new Fault("budgetExhausted", "Cannot open a page"));
      }
      pages += tabs;
      let open = true;
      return Promise.resolve(() => {
        if (open) pages -= tabs;
        open = false;
      });
    },
  };
  const hosts = countingPages({
    ...ELSEWHERE,
    call({ tool }) {
      asked.push(tool.name);
      return Promise.resolve({ value: "a page", logs: [] });
    },
  }, uses);
  const call = async (plugin: string, tool: string, pid = ALICE, task = TASK): Promise<void> => {
    const manifest = manifestOf(plugin);
    const [open, close] = manifest.tools;
    const which = tool === "open" ? open : close;
    ok(which !== undefined);
    await hosts.call({ task, pid, manifest, tool: which } as Parameters<PluginHosts["call"]>[0]);
  };
  await call("browser", "open");
  await call("browser", "open");
  await call("web", "open", BOB);
  equal(pages, 1, "the second page took the place of the first");
  await call("browser", "open", BOB, OTHER);
  await rejects(call("browser", "open", BOB), /Cannot open a page/);
  equal(asked.length, 4, "what is refused is not loaded");
  await hosts.close(OTHER);
  equal(pages, 1);
  await call("browser", "close");
  equal(pages, 0);
});
