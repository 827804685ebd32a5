/** A bridge in its real process, without any permission, and a test that plays its kernel. @module */
import assert from "node:assert/strict";
import type { Json, PortHandler } from "../../../contracts/base/mod.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import {
  MCP_PORT_LIMITS,
  type McpCall,
  type McpCallResult,
  type McpElicit,
  type McpElicited,
  type McpHttp,
  type McpHttpAnswer,
  type McpOpen,
  type McpReady,
  type McpSample,
  type McpSampled,
} from "../../../contracts/wire/wire_mcp.ts";
import type { ServerListing } from "../../../contracts/exchange/mcp.ts";
import { makePort, type Port } from "../../../port/mod.ts";
import { makeTestNet } from "./test_net.ts";

const FLAGS = [
  ...["--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"],
  ...["--cached-only", "--deny-read", "--deny-write", "--deny-net", "--deny-env", "--deny-run"],
  ...["--deny-sys", "--deny-ffi", "--deny-import"],
];

let built: Promise<string> | undefined;

async function build(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "remit-bridge-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const file = `${folder}/bridge.js`;
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--config", config, "--platform", "browser"],
      ...["--minify", "--keep-names", "-o", file],
      new URL("../client/main.ts", import.meta.url).pathname,
    ],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return file;
}

/** Path of the bundled program: built once, removed with the test process. */
export function bridgeProgram(): Promise<string> {
  built ??= build();
  return built;
}

/** One notice or request of the bridge, in order. */
export interface Said {
  readonly op: string;
  readonly body: Json;
}

/** The test's answers in the kernel's place. Absent: refused. */
export interface KernelAnswers {
  readonly elicit?: (asked: McpElicit) => McpElicited | Promise<McpElicited>;
  readonly sample?: (asked: McpSample) => McpSampled | Promise<McpSampled>;
  /** Headers that are added to each request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each HTTP request before it is made. */
  readonly onHttp?: (request: McpHttp) => void;
  /** Called with the headers of each answer. */
  readonly onHttpAnswer?: (answer: McpHttpAnswer) => void;
}

/** A program with its arguments; it runs with this test's rights. */
export interface LineServer {
  readonly line: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The server whose client the bridge is. */
export type TestServer =
  | LineServer
  | { readonly url: string }
  /** No server: the test feeds the bytes itself. */
  | { readonly by: "hand"; readonly onSend?: (text: string) => void | Promise<void> };

/** A bridge's process, and our end of its port. */
export interface BridgeProcess extends AsyncDisposable {
  readonly port: Port;
  readonly pid: number;
  /** Every notice of the bridge, in order. */
  readonly told: readonly Said[];
  /** What the server has printed as errors. */
  errors(): string;
  open(options?: Partial<McpOpen>): Promise<McpReady>;
  words(): Promise<ServerListing>;
  call(
    tool: string,
    args?: Readonly<Record<string, unknown>>,
    options?: Partial<McpCall>,
  ): Promise<McpCallResult>;
  ask(op: string, body: unknown): Promise<unknown>;
  tell(op: string, body: unknown): void;
  /** Resolves when the bridge has sent a notice that `fits`. */
  until(fits: (said: Said) => boolean): Promise<Said>;
  /** The sentences of all oddities. */
  odd(): readonly string[];
  /** Sends SIGKILL to the server. */
  killServer(): void;
}

/** Starts a bridge beside a server. Opens nothing. */
export async function startBridge(
  server: TestServer,
  answers: KernelAnswers = {},
  options: { readonly pooled?: boolean; readonly program?: string; readonly denoDir?: string } = {},
): Promise<BridgeProcess> {
  const program = options.program ?? await bridgeProgram();
  const bridge = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, program, ...(options.pooled ? ["pooled"] : [])],
    clearEnv: true,
    env: {
      ...{ NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      ...(options.denoDir === undefined ? {} : { DENO_DIR: options.denoDir }),
    },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const toBridge = bridge.stdin.getWriter();
  const told: Said[] = [];
  const watchers = new Set<(said: Said) => void>();
  const process = "line" in server ? startServer(server) : undefined;
  const net = makeTestNet(answers.headers ?? {});
  let calls = 0;

  const send = async (text: string): Promise<void> => {
    if (process !== undefined) await process.write(text);
    else if ("by" in server) await server.onSend?.(text);
  };
  const handler: PortHandler = {
    async ask(op, body): Promise<Json> {
      // TRUST: a test reads what its own bridge sends.
      const given = body as unknown;
      told.push({ op, body });
      if (op === "send") {
        await send((given as { readonly text: string }).text);
        return null;
      }
      if (op === "http") {
        answers.onHttp?.(given as McpHttp);
        const answer = await net.start(given as McpHttp);
        answers.onHttpAnswer?.(answer);
        return answer as unknown as Json;
      }
      if (op === "httpRead") return await net.read((given as { id: string }).id) as unknown as Json;
      if (op === "elicit" && answers.elicit !== undefined) {
        return await answers.elicit(given as McpElicit) as unknown as Json;
      }
      if (op === "sample" && answers.sample !== undefined) {
        return await answers.sample(given as McpSample) as unknown as Json;
      }
      throw new Fault("refused", `Cannot serve ${op}: not in this test`);
    },
    tell(op, body) {
      told.push({ op, body });
      // The end is reported elsewhere.
      if (op === "send") void send((body as unknown as { text: string }).text).catch(() => {});
      if (op === "httpCancel") net.cancel((body as unknown as { id: string }).id);
      for (const watcher of [...watchers]) watcher({ op, body });
    },
  };
  const port = makePort({
    handler,
    limits: MCP_PORT_LIMITS,
    write: (bytes) => {
      toBridge.write(bytes.slice()).catch(() => port.close("the process takes no input"));
    },
  });
  const pumped = (async () => {
    for await (const bytes of bridge.stdout) port.feed(bytes);
    port.close("the process ended");
  })();
  const relayed = process?.relay(
    async (text) => void await port.ask("bytes", { text }).catch(() => undefined),
    async (why) => void await port.ask("ended", { why }).catch(() => undefined),
  );
  const ask = async (op: string, body: unknown): Promise<unknown> =>
    await port.ask(op, JSON.parse(JSON.stringify(body)));
  return {
    ...{ port, told, pid: bridge.pid, ask },
    errors: () => process?.errors() ?? "",
    open: async (over = {}) =>
      await ask("open", {
        ...("url" in server ? { transport: "http", url: server.url } : { transport: "stdio" }),
        ...{ roots: [], elicitation: answers.elicit !== undefined },
        ...{ sampling: answers.sample !== undefined, deadlineMs: 200_000, ...over },
      }) as McpReady,
    words: async () => await ask("words", null) as ServerListing,
    call: async (tool, args = {}, over = {}) =>
      await ask("call", {
        ...{ id: `c${++calls}`, tool, args, deadlineMs: 200_000, ...over },
      }) as McpCallResult,
    tell: (op, body) => port.tell(op, JSON.parse(JSON.stringify(body))),
    until(fits) {
      const found = told.find(fits);
      if (found !== undefined) return Promise.resolve(found);
      return new Promise((resolve) => {
        const watcher = (said: Said): void => {
          if (!fits(said)) return;
          watchers.delete(watcher);
          resolve(said);
        };
        watchers.add(watcher);
      });
    },
    odd: () =>
      told.flatMap(({ op, body }) => op === "odd" ? [(body as { what: string }).what] : []),
    killServer: () => process?.kill(),
    async [Symbol.asyncDispose]() {
      process?.kill();
      net.close();
      await relayed;
      await toBridge.close().catch(() => undefined);
      await pumped;
      await bridge.status;
      port.close("the test is over");
    },
  };
}

interface ServerProcess {
  write(text: string): Promise<void>;
  relay(take: (text: string) => Promise<void>, end: (why: string) => Promise<void>): Promise<void>;
  errors(): string;
  kill(): void;
}

function startServer({ line, env = {} }: LineServer): ServerProcess {
  const [program = "", ...args] = line;
  const child = new Deno.Command(program, {
    args,
    env: { ...env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const encoder = new TextEncoder();
  let errors = "";
  const heard = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) errors += text;
  })();
  return {
    write: async (text) => void await input.write(encoder.encode(text)).catch(() => undefined),
    async relay(take, end) {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) await take(text);
      const { code, signal } = await child.status;
      await heard;
      await end(signal === null ? `it exited with ${code}` : `it was ended by ${signal}`);
      await input.abort().catch(() => undefined);
    },
    errors: () => errors,
    kill() {
      try {
        child.kill("SIGKILL");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
    },
  };
}
