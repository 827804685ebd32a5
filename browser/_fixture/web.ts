/** A real web for one test: a site on loopback, reached through the real net service. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { toJson } from "../../contracts/base/mod.ts";
import type { NetAnswer, NetRequest } from "../../contracts/wire/wire_net.ts";
import { type NetChild, startNet } from "../../net/_fixture/net_child.ts";
import { type Reply, reply, type Seen, type Site, startSite } from "../../net/_fixture/site.ts";
import type { Engine, StartEngine } from "./engine.ts";

/** Pages by path: HTML, or what the server writes. */
export type Pages = Readonly<Record<string, string | Reply>>;

/** A web with an engine in front of it. */
export interface Web extends AsyncDisposable {
  readonly site: Site;
  readonly origin: string;
  readonly engine: Engine;
  /** Files that were written. */
  readonly written: ReadonlyMap<string, string>;
  /** Calls a tool as the kernel does: its requests reach only the origin of its `url`. */
  call(tool: string, args: JsonObject): Promise<string>;
  /** As {@link Web.call}, for a call that no person approved: no origin at all. */
  look(tool: string, args: JsonObject): Promise<Json>;
}

let bundled: Promise<string> | undefined;

async function netBundle(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "remit-n-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const file = `${folder}/net.js`;
  const main = new URL("../../net/main.ts", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--no-check", "--platform", "deno", "-o", file, main],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return file;
}

export async function startWeb(start: StartEngine, pages: Pages): Promise<Web> {
  bundled ??= netBundle();
  const net: NetChild = startNet(await bundled);
  const site = startSite(({ target }: Seen) => {
    const page = pages[target] ?? pages[target.split("?")[0] ?? ""];
    if (page === undefined) return reply(404, { "content-type": "text/html" }, "<p>No such page");
    return typeof page === "string" ? reply(200, { "content-type": "text/html" }, page) : page;
  });
  const written = new Map<string, string>();
  let origin = "";
  let id = 0;
  const engine = await start(async (fn, args) => {
    if (fn === "fs.write") {
      written.set(String(args["path"]), String(args["text"]));
      return null;
    }
    const url = String(args["url"]);
    if (fn !== "http.fetch" || new URL(url).origin !== origin) {
      throw new Fault("refused", `Cannot fetch ${url}: this call was made for ${origin}`);
    }
    const request: NetRequest = {
      ...{ id: `${++id}`, url, method: (args["method"] ?? "GET") as NetRequest["method"] },
      headers: (args["headers"] ?? {}) as Record<string, string>,
      ...(args["body"] === undefined ? {} : { body: String(args["body"]) }),
      ...{ allow: [{ origin, named: true }], redirects: 5, deadlineMs: 100_000 },
      ...{ requestBytes: 1_000_000, responseBytes: Number(args["bytes"] ?? 1_000_000) },
    };
    return fetched(await net.port.ask("fetch", toJson(request)) as unknown as NetAnswer);
  });
  const look = async (tool: string, args: JsonObject): Promise<Json> => {
    const { url } = args;
    origin = typeof url === "string" ? originOf(url) : "";
    try {
      return await engine.call(tool, args);
    } finally {
      origin = "";
    }
  };
  return {
    ...{ site, origin: site.origin, engine, written, look },
    call: async (tool, args) => String(await look(tool, args)),
    async [Symbol.asyncDispose](): Promise<void> {
      await engine[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
      await net[Symbol.asyncDispose]();
    },
  };
}

function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return "";
  }
}

function fetched({ status, url, headers, body, cut, stopped }: NetAnswer): Json {
  const bytes = Uint8Array.fromBase64(body);
  let text: string | undefined;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    text = undefined; // Not UTF-8.
  }
  return toJson({
    ...{ status, url, headers, cut },
    ...(text === undefined ? { base64: body } : { text }),
    ...(stopped === undefined ? {} : { stopped }),
  });
}

/** The ref of the element with this name in a snapshot. */
export function refOf(snapshot: string, name: string): string {
  const ref = snapshot.split("\n").find((line) => line.includes(` "${name}"`))
    ?.match(/\b(e[0-9]+)\b/)?.[1];
  if (ref === undefined) throw new Error(`no ref for "${name}" in\n${snapshot}`);
  return ref;
}

/** The id of a snapshot. */
export function idOf(snapshot: string): string {
  return /^snapshot (\S+)$/m.exec(snapshot)?.[1] ?? "";
}
