/** Both engines as a test calls them: by tool, over a web that the test makes. @module */
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { Fault, type FaultCode, isFaultCode } from "../../contracts/base/fault.ts";
import { toJson } from "../../contracts/base/mod.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { lineOfBrowser } from "../../kernel/core/start/browser_line.ts";
import { makeSpawnPowers } from "../../kernel/core/start/spawn_powers.ts";
import { makePort } from "../../port/mod.ts";
import { makeInstance } from "../../tools-wasm/exec/_fixture/instance.ts";
import { bundleScript } from "../../tools-wasm/sdk/ts/bundle.ts";
import { browserBundle } from "./bundle.ts";

/** The kernel's side of a host function. Throws a Fault. */
export type Host = (fn: string, args: JsonObject) => Json | Promise<Json>;

/** A running engine. */
export interface Engine extends AsyncDisposable {
  /** The tool's text, or for the picture its value. @throws Fault as the tool does */
  call(tool: string, args: JsonObject): Promise<Json>;
  /** Cancels the latest call. */
  cancel(): void;
  /** The operating-system process; 0 for the engine without one. */
  readonly osPid: number;
}

/** Starts an engine. */
export type StartEngine = (host: Host) => Promise<Engine>;

const CHROMIUM = "/usr/lib/chromium/chromium";

/** Whether Chromium is installed: without it its tests are skipped, and fail where CI=true. */
export const HAS_CHROMIUM = isFile(CHROMIUM) || Deno.env.get("CI") === "true";
if (!HAS_CHROMIUM) {
  Deno.stderr.writeSync(
    new TextEncoder().encode("chromium is not installed: its engine is not tested here\n"),
  );
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function programOf(name: string): string {
  return ["/usr/bin", "/bin"].map((folder) => `${folder}/${name}`).find(isFile) ?? name;
}

/** The static engine: the plugin's own script, in QuickJS inside WASM. */
export const startStatic: StartEngine = async (host) => {
  const folder = new URL("../../tools-wasm/browser/", import.meta.url).pathname;
  const instance = await makeInstance(async (fn, args) => {
    if (fn === "random") return { base64: btoa("\u0001\u0002\u0003\u0004") };
    return await host(fn, toJson(args) as JsonObject);
  });
  await instance.call("@load", { source: await bundleScript(folder) });
  return {
    osPid: 0,
    cancel: () => undefined,
    async call(tool, args): Promise<Json> {
      const { ok, value, error } = await instance.call(tool, args);
      if (ok) return toJson(value);
      throw new Fault(codeOf(error?.code ?? ""), error?.message ?? "");
    },
    [Symbol.asyncDispose]: () => instance.close(),
  };
};

/** The chromium engine: the real process with its real walls. */
export const startBrowser: StartEngine = (host) => startWith(host, []);

/** The same without its outer walls, for comparison in a test of these walls. */
export const startOpenBrowser: StartEngine = (host) => startWith(host, ["--share-net"]);

async function startWith(host: Host, sharing: readonly string[]): Promise<Engine> {
  const bundle = await browserBundle();
  const optional = (name: "setpriv" | "nice" | "prlimit") =>
    isFile(programOf(name)) ? { [name]: programOf(name) } : {};
  const programs = {
    ...{ deno: await Deno.realPath(Deno.execPath()), bwrap: programOf("bwrap") },
    ...{ ...optional("setpriv"), ...optional("nice"), ...optional("prlimit") },
  };
  const dir = await Deno.makeTempDir({ prefix: "remit-browser-" });
  makeSpawnPowers().keepFilters(dir);
  const { program, args } = lineOfBrowser({
    ...{ dir, programs },
    bundles: { browser: bundle },
    browser: { program: CHROMIUM },
  }, { bwrap: true, filter: true, setpriv: true, nice: true, prlimit: true, storage: true });
  const child = new Deno.Command(program, {
    args: args.flatMap((each) => each === "--unshare-all" ? [each, ...sharing] : [each]),
    clearEnv: true,
    ...{ stdin: "piped", stdout: "piped", stderr: "null" },
  }).spawn();
  const input = child.stdin.getWriter();
  const port = makePort({
    limits: { frameBytes: WIDE_FRAME_BYTES },
    handler: {
      async ask(op, body): Promise<Json> {
        const { fn, args: given } = body as { fn: string; args: JsonObject };
        if (op !== "host") throw new Fault("badFrame", `Cannot serve "${op}"`);
        return await host(fn, given);
      },
      tell: () => undefined,
    },
    write: (bytes) => {
      input.write(bytes.slice()).catch(() => port.close("the browser takes no input"));
    },
  });
  const pumped = (async () => {
    for await (const bytes of child.stdout) port.feed(bytes);
    port.close("the browser ended");
  })();
  let calls = 0;
  return {
    osPid: child.pid,
    cancel: () => port.tell("cancel", { id: `c${calls}` }),
    async call(tool, given): Promise<Json> {
      const body = { id: `c${++calls}`, plugin: "browser", tool, args: given, bytes: 1_100_000 };
      const answer = await port.ask("call", body) as { value: Json };
      return answer.value;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      try {
        child.kill("SIGKILL");
      } catch {
        // The process has ended already.
      }
      await input.close().catch(() => undefined);
      await pumped;
      await child.status;
      await Deno.remove(dir, { recursive: true }).catch(() => undefined);
    },
  };
}

function codeOf(code: string): FaultCode {
  return isFaultCode(code) ? code : "upstream";
}
