import assert from "node:assert/strict";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import type { GrantedCall } from "../../../contracts/task/power.ts";
import type { PluginCall } from "./host.ts";
import { makePluginTools, type PluginRun, type PluginToolsParts } from "./plugin_tools.ts";

const SHOP = "https://shop.example.org", EVIL = "https://evil.example";
const TASK = "t000000000000" as TaskId, PID = 7 as Pid;
const row = { pid: PID, task: TASK, colour: "BLUE", label: "public", snapshot: { id: "snap" } };

Deno.test("the page that is open is the one that the browser's answer shows; a call within a call carries no profile", async () => {
  const heard: string[] = [];
  const pages = new Map([[`${EVIL}/lure`, `page ${EVIL}/lure (status 200)\nsnapshot 1`]]);
  const runs = new Map<string, (run: PluginRun, signal: AbortSignal) => Promise<unknown>>();
  const open = (id: string, tool: string, url: string) =>
    runs.get(tool)?.({
      manifest: { name: tool === "outer" ? "outer" : "browser" },
      tool: { name: tool, ...(tool === "outer" ? {} : { fetches: "url" }) },
      granted: {
        ...{ task: TASK, pid: PID, callId: id, args: { url }, resultBytes: 100 },
        resolved: { effect: "outboundRead" },
      } as unknown as GrantedCall,
      grants: { functions: new Set(["tool.call"]), reads: [], writes: [], origin: SHOP },
    } as unknown as PluginRun, new AbortController().signal);
  const { bindings } = makePluginTools({
    plugins: ["browser", "outer"].map((name) => ({
      ...{ file: "", trusted: true },
      manifest: {
        name,
        tools: (name === "outer" ? ["outer"] : ["browser_open", "browser_download"]).map((
          each,
        ) => ({
          name: each,
        })),
      },
    })),
    hosts: {
      async call({ tool, args, serve }: PluginCall) {
        const { url = "" } = args;
        if (url === `${SHOP}/fails`) throw new Error("it did not come");
        if (tool.name !== "outer") return { value: pages.get(String(url)) ?? "saved", logs: [] };
        await serve("tool.call" as never, { name: "browser_open", args: { url } });
        return { value: null, logs: [] };
      },
    },
    processes: { get: () => row, taint: () => undefined },
    powers: { token: () => "0" },
    gateOf: () => ({
      async call(_pid: Pid, call: { id: string; name: string; arguments: string }) {
        const { url } = JSON.parse(call.arguments);
        await open(call.id, call.name, url);
        return { outcome: "ok", content: "", colour: "BLUE", label: "public" };
      },
    }),
    profiles: {
      seen: () => undefined,
      begin: (_row: unknown, url: string, { opensPage }: { opensPage: boolean }) =>
        Promise.resolve(void heard.push(`begin ${url}${opensPage ? "" : ", no page"}`)),
      turned: (_row: unknown, page: JsonObject) => void heard.push(JSON.stringify(page)),
    },
    binding: {
      descriptor: () => ({}),
      bind: (
        { tool }: { tool: { name: string } },
        { run }: { run(run: PluginRun, signal: AbortSignal): Promise<Json> },
      ) => (runs.set(tool.name, run), { resolve: () => ({}) }),
    },
    onProgress: () => undefined,
  } as unknown as PluginToolsParts);
  bindings({} as never);
  const told = async (tool: string, url: string): Promise<readonly string[]> => {
    await open("call-1", tool, url)?.catch(() => undefined);
    return heard.splice(0);
  };
  const asked = { asked: SHOP };
  assert.deepEqual(await told("browser_open", `${EVIL}/lure`), [
    `begin ${EVIL}/lure`,
    JSON.stringify({ ...asked, shown: EVIL }),
  ]);
  for (const path of ["/robots.txt", "/fails"]) {
    assert.deepEqual(await told("browser_open", SHOP + path), [
      `begin ${SHOP}${path}`,
      JSON.stringify(asked),
    ]);
  }
  assert.deepEqual(await told("browser_download", `${EVIL}/file`), [`begin ${EVIL}/file, no page`]);
  const unknown = JSON.stringify({ asked: "", shown: "" });
  assert.deepEqual(await told("outer", `${SHOP}/`), [unknown, unknown]);
});
