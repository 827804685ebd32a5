/**
 * Browsers of tasks: the tools of the plugin `browser`, served by a process that drives Chromium.
 * The process speaks the plugin wire protocol, so grants, deadlines (SIGKILL of the namespace),
 * cancelling and freezing work as for plugins. A session is an exclusive lease of one process.
 * docs/decision/0010. Used by kernel/task/task_tools.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { PluginManifest } from "../../../contracts/tool/plugin.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { Json } from "../../../contracts/base/json.ts";
import type { PortHandler } from "../../../contracts/base/port.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";
import type { Powers, ProcessKeeper } from "../../../contracts/task/process.ts";
import type { PluginCallAnswer } from "../../../contracts/wire/wire_plugin.ts";
import type { Child } from "../../core/child/child.ts";
import { makePluginHosts, type PluginCode, type PluginHosts } from "./hosts.ts";
import type { PluginCall } from "./host.ts";
import type { Uses } from "../../../contracts/task/spending.ts";

/** The plugin whose calls go to a browser, and its tools that open and close it. */
const BROWSER = "browser";
const OPEN = "browser_open", CLOSE = "browser_close";
/** Maximum browsers of all tasks: each takes some 450 MB. */
const MAX_BROWSERS = 4;
/** Bytes that budgets count for each browser. */
const BROWSER_BYTES = 450_000_000;

/** The parts of {@link makeBrowserSessions}. */
export interface BrowserSessionsParts {
  readonly children: { browser(handler: PortHandler): Promise<Child> };
  readonly powers: Pick<Powers, "now" | "after" | "token">;
  readonly processes: Pick<ProcessKeeper, "get">;
  /** Budgets of pages and memory; absent: there are none. */
  readonly uses?: Uses;
}

/** The browsers of all tasks. */
export interface BrowserSessions {
  /** Wraps `hosts` so that calls of the plugin `browser` go to browsers. */
  within(hosts: PluginHosts): PluginHosts;
  /** A screenshot of the caller's open page. Rejects like a plugin call. */
  screenshot(call: GrantedCall, signal: AbortSignal): Promise<Json>;
}

/** The screenshot as a tool of a plugin without host functions. */
const PICTURE = PluginManifest.parse({
  name: "browser_screenshot",
  version: "1.0.0",
  licence: "Apache-2.0",
  engine: "wasm",
  sha256: "0".repeat(64),
  memoryPages: 1,
  tools: [{
    name: "browser_screenshot",
    description: "Takes a picture.",
    parameters: { type: "object" },
    colour: "RED",
  }],
});
const MAX_PICTURE_BYTES = 1_100_000;

/** Browser processes bring their own code. */
const NO_CODE: PluginCode = Object.freeze({
  base64: () => Promise.resolve(""),
  text: () => Promise.resolve(""),
});

const noRelease = (): void => undefined;

/**
 * Wraps `hosts` so that budgets count the pages of the static browser, which loads pages without
 * Chromium: at most one open page for each process.
 */
export function countingPages(hosts: PluginHosts, uses: Uses | undefined): PluginHosts {
  if (uses === undefined) return hosts;
  const pages = new Map<TaskId, Map<Pid, () => void>>();
  const leave = (task: TaskId, pid: Pid): void => {
    pages.get(task)?.get(pid)?.();
    pages.get(task)?.delete(pid);
  };
  return Object.freeze<PluginHosts>({
    ...{ freeze: hosts.freeze, thaw: hosts.thaw, osPids: hosts.osPids },
    async call(asked) {
      const { manifest, tool, task, pid } = asked;
      const name = manifest.name === BROWSER ? tool.name : "";
      if (name === OPEN) {
        // The new page replaces the open one.
        leave(task, pid);
        const own = pages.get(task) ?? new Map<Pid, () => void>();
        pages.set(task, own);
        const page = await uses.take({ task, pid }, { tabs: 1 }, "open a page");
        leave(task, pid);
        own.set(pid, page);
        // The task has ended meanwhile.
        if (pages.get(task) !== own) page();
      }
      const answer = await hosts.call(asked);
      if (name === CLOSE) leave(task, pid);
      return answer;
    },
    async close(task) {
      try {
        await hosts.close(task);
      } finally {
        for (const page of pages.get(task)?.values() ?? []) page();
        pages.delete(task);
      }
    },
  });
}

/** Makes the table of browsers; each starts with the first call of a process. */
export function makeBrowserSessions(
  { children, powers, processes, uses }: BrowserSessionsParts,
): BrowserSessions {
  const browsers = makePluginHosts({
    children: { plugin: (handler) => children.browser(handler) },
    powers,
    code: NO_CODE,
  });
  const holders = new Map<TaskId, Pid>();
  /** Functions that give back the budgets of an open browser: memory, and one page. */
  const counted = new Map<TaskId, { memory: () => void; page: () => void }>();

  const release = (task: TaskId): void => {
    const { memory, page } = counted.get(task) ?? { memory: noRelease, page: noRelease };
    counted.delete(task);
    memory();
    page();
  };
  const isLive = (pid: Pid): boolean => {
    const status = processes.get(pid)?.status;
    return status !== undefined && status !== "ended";
  };

  /** Leases the task's browser. @throws Fault `conflict` if another process has it, `rateLimited` */
  const lease = async (task: TaskId, pid: Pid): Promise<void> => {
    const holder = holders.get(task);
    if (holder === pid) return;
    if (holder !== undefined && isLive(holder)) {
      throw new Fault(
        "conflict",
        `Cannot use the browser: process ${holder} of this task holds it until it calls ` +
          `${CLOSE} or ends`,
      );
    }
    if (holder === undefined && holders.size >= MAX_BROWSERS) {
      throw new Fault(
        "rateLimited",
        `Cannot open a browser: ${MAX_BROWSERS} are open, and no task has more than its share`,
      );
    }
    // INVARIANT: no process finds another's leftovers (test: "… gets a profile of its own").
    holders.set(task, pid);
    if (holder !== undefined) await browsers.close(task);
    release(task);
    const open = { memory: noRelease, page: noRelease };
    counted.set(task, open);
    try {
      const memory = await uses?.take(
        { task, pid },
        { memoryBytes: BROWSER_BYTES },
        "open a browser",
      );
      open.memory = memory ?? noRelease;
    } catch (error) {
      if (holders.get(task) === pid) holders.delete(task);
      counted.delete(task);
      throw error;
    }
    if (counted.get(task) !== open) open.memory();
  };

  const call = async (asked: PluginCall): Promise<PluginCallAnswer> => {
    const { task, pid } = asked;
    await lease(task, pid);
    const open = counted.get(task);
    if (asked.tool.name === OPEN && open !== undefined) {
      // The new page replaces the open one.
      open.page();
      open.page = noRelease;
      const page = await uses?.take({ task, pid }, { tabs: 1 }, "open a page") ?? noRelease;
      open.page();
      open.page = page;
      // The browser was closed meanwhile.
      if (counted.get(task) !== open) page();
    }
    // A process has one browser, also for the calls of its programs.
    const serve = sendingOnlyShown(asked);
    const answer = await browsers.call({ ...asked, serve, trusted: true, depth: 0 });
    if (asked.tool.name === CLOSE) await end(asked.task);
    return answer;
  };

  const end = async (task: TaskId): Promise<void> => {
    holders.delete(task);
    release(task);
    await browsers.close(task);
  };

  return Object.freeze<BrowserSessions>({
    within: (hosts) =>
      Object.freeze<PluginHosts>({
        call: (asked) => asked.manifest.name === BROWSER ? call(asked) : hosts.call(asked),
        freeze(pid) {
          hosts.freeze(pid);
          browsers.freeze(pid);
        },
        thaw(pid) {
          hosts.thaw(pid);
          browsers.thaw(pid);
        },
        osPids: (task) => [...hosts.osPids(task), ...browsers.osPids(task)],
        async close(task) {
          await Promise.all([hosts.close(task), end(task)]);
        },
      }),
    async screenshot({ task, pid, args }, signal): Promise<Json> {
      const [tool] = PICTURE.tools;
      if (tool === undefined || holders.get(task) !== pid) {
        throw new Fault(
          "notFound",
          "Cannot take a picture: this process has no page open; open one with browser_open",
        );
      }
      const { value } = await browsers.call({
        ...{ task, pid, args, signal, tool, manifest: PICTURE, file: "", trusted: true, depth: 0 },
        ...{ id: powers.token(), bytes: MAX_PICTURE_BYTES },
        serve: () =>
          Promise.reject(new Fault("refused", "Cannot fetch for a picture: it only looks")),
      });
      return value;
    },
  });
}

/**
 * Limits a call to one POST of exactly the URL and body that a person was shown: a hostile page or
 * browser can send nothing else. Reads within the call's origin are not limited further.
 */
function sendingOnlyShown({ tool, args: shown, serve }: PluginCall): PluginCall["serve"] {
  let sent = false;
  return async (fn, args) => {
    const { method = "GET", url, body } = args;
    if (fn === "http.fetch" && method !== "GET" && method !== "HEAD") {
      const same = shown["body"] !== undefined && url === shown["url"] && body === shown["body"];
      if (sent || method !== "POST" || !same) {
        throw new Fault("refused", `Cannot send this: "${tool.name}" was let through for another`);
      }
      sent = true;
    }
    return await serve(fn, args);
  };
}
