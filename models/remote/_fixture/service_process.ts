/** The real remote model service as the kernel starts it, except for the namespace. @module */
import type { Json } from "../../../contracts/base/json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { WIDE_FRAME_BYTES } from "../../../contracts/wire/wire_plugin.ts";
import { makePort, type Port } from "../../../port/mod.ts";

/** A running service, and its notices. */
export interface ServiceProcess extends AsyncDisposable {
  readonly port: Port;
  readonly chunks: Json[];
  readonly exchanges: string[];
  /** Everything that the service wrote to its end of the port, byte by byte as text. */
  readonly wrote: () => string;
  /** Ends the service, and gives its stderr and exit code. */
  end(): Promise<{ readonly stderr: string; readonly code: number }>;
  /** Peak memory in KiB; Linux only. */
  readonly peak: () => number | undefined;
}

/** Starts `file` (bundled) with permission to connect only to the origin of `url`. */
export function startService(file: string, url: string): ServiceProcess {
  const { hostname, port: number, protocol } = new URL(url);
  const host = `${hostname}:${number === "" ? (protocol === "https:" ? 443 : 80) : number}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"],
      ...["--cached-only", `--allow-net=${host}`, "--deny-read", "--deny-write", "--deny-env"],
      ...["--deny-run", "--deny-sys", "--deny-ffi", "--deny-import"],
      ...["--v8-flags=--max-old-space-size=256,--wasm-max-mem-pages=64", file],
    ],
    clearEnv: true,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const chunks: Json[] = [];
  const exchanges: string[] = [];
  let wrote = "";
  const port = makePort({
    limits: { frameBytes: WIDE_FRAME_BYTES },
    handler: {
      ask: () => {
        throw new Fault("refused", "Cannot serve a model: it may ask for nothing");
      },
      tell: (op, body) => {
        if (op === "chunk") chunks.push(body);
        if (op === "wire") exchanges.push((body as unknown as { exchange: string }).exchange);
      },
    },
    write: (bytes) => {
      input.write(bytes.slice()).catch(() => port.close("the child takes no input"));
    },
  });
  const decoder = new TextDecoder();
  const pumped = (async () => {
    for await (const bytes of child.stdout) {
      wrote += decoder.decode(bytes, { stream: true });
      port.feed(bytes);
    }
    port.close("the child ended");
  })();
  const errors = new Response(child.stderr).text();
  let ended: Promise<{ readonly stderr: string; readonly code: number }> | undefined;
  const end = () =>
    ended ??= (async () => {
      await input.close().catch(() => undefined);
      await pumped;
      return { stderr: await errors, code: (await child.status).code };
    })();
  return {
    port,
    chunks,
    exchanges,
    wrote: () => wrote,
    end,
    peak: () => {
      const status = Deno.readTextFileSync(`/proc/${child.pid}/status`);
      const kib = /^VmHWM:\s+(\d+) kB/m.exec(status)?.[1];
      return kib === undefined ? undefined : Number(kib);
    },
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}
