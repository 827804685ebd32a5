/** The server with one of everything, in each form that a bridge supports. @module */
import type { TestServer } from "./bridge_process.ts";

/** A running server, until it is disposed of. */
export interface RunningServer extends AsyncDisposable {
  readonly server: TestServer;
  /** What an HTTP server printed as errors; those of a stdio server are with its bridge. */
  errors(): string;
}

const file = (name: string): string => new URL(name, import.meta.url).pathname;
const CONFIG = file("../../../deno.json");
const FLAGS = ["run", "--quiet", "--no-check", "--no-prompt", "-A", "--config", CONFIG];

/** Over stdio; the server starts with its bridge. */
export function stdioEcho(old: boolean): RunningServer {
  const line = [Deno.execPath(), ...FLAGS, file("echo.ts"), ...(old ? ["old"] : [])];
  return { server: { line }, errors: () => "", [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Over Streamable HTTP, at a loopback port. */
export async function httpEcho(old: boolean, token?: string): Promise<RunningServer> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...[...FLAGS, file("echo_http.ts"), ...(old ? ["old"] : [])],
      ...(token === undefined ? [] : ["--token", token]),
    ],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let errors = "";
  const heard = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) errors += text;
  })();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await output.read();
  if (value === undefined) throw new Error(`Cannot start the HTTP server: ${errors}`);
  return {
    server: { url: `http://127.0.0.1:${value.trim()}/mcp` },
    errors: () => errors,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await output.cancel();
      await heard;
    },
  };
}
