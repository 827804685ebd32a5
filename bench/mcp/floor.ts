/**
 * The processes of a gated call with nothing decided in them: an agent asks a relay, the relay hands the call to a client
 * of the SDK in a process of its own and carries that one's bytes to the server and back, keeps one row, and answers.
 * What is quicker than this keeps no record before it answers, or lets the process that reads a stranger's bytes start
 * programs. docs/decision/0022.
 *
 * As a program: `client` is the process of the SDK, anything else (the server's line) the relay.
 *
 * @module
 */
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { DatabaseSync } from "node:sqlite";

/** A relay with its client and its server. */
export interface FloorClient extends AsyncDisposable {
  call(tool: string, args: Record<string, unknown>): Promise<string>;
}

const SELF = new URL(import.meta.url).pathname;

/** Starts the three of them. `line` is the server's. */
export async function floorStdio(line: readonly string[]): Promise<FloorClient> {
  const relay = started([Deno.execPath(), "run", "--quiet", "-A", SELF, ...line]);
  await relay.next();
  return {
    async call(tool, args): Promise<string> {
      await relay.say({ tool, args });
      const { text } = await relay.next() as { readonly text: string };
      return text;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await relay.end();
    },
  };
}

interface Called {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

interface Lines {
  say(value: unknown): Promise<void>;
  next(): Promise<unknown>;
}

function lines(from: ReadableStream<Uint8Array>, to: WritableStream<Uint8Array>): Lines {
  const writer = to.getWriter();
  const reader = from.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  return {
    say: (value) => writer.write(new TextEncoder().encode(`${JSON.stringify(value)}\n`)),
    async next(): Promise<unknown> {
      while (!said.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error("Cannot read a line: its writer has ended");
        said += value;
      }
      const end = said.indexOf("\n");
      const first = said.slice(0, end);
      said = said.slice(end + 1);
      return JSON.parse(first);
    },
  };
}

function started([program = "", ...args]: readonly string[]): Lines & { end(): Promise<void> } {
  const child = new Deno.Command(program, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  return {
    ...lines(child.stdout, child.stdin),
    async end(): Promise<void> {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** Says `{ out }` of what the server is to hear, hears `{ in }`, answers each `{ call }` with `{ done }`. */
async function client(): Promise<void> {
  const relay = lines(Deno.stdin.readable, Deno.stdout.writable);
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => relay.say({ out: message }),
    close: () => Promise.resolve(),
  };
  const sdk = new Client({ name: "floor", version: "1.0.0" });
  const work = async ({ tool, args }: Called): Promise<void> => {
    const { content } = await sdk.callTool({ name: tool, arguments: args });
    const [part] = content;
    await relay.say({ done: part?.type === "text" ? part.text : "" });
  };
  void sdk.connect(transport).then(() => relay.say({ ready: true }));
  for (;;) {
    const heard = await relay.next() as { readonly in: JSONRPCMessage } | { readonly call: Called };
    if ("in" in heard) transport.onmessage?.(heard.in);
    else void work(heard.call);
  }
}

async function relay(line: readonly string[]): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "bench-floor-" });
  const db = new DatabaseSync(`${dir}/rows`);
  db.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE rows(body TEXT)");
  const keep = db.prepare("INSERT INTO rows VALUES(?)");
  const agent = lines(Deno.stdin.readable, Deno.stdout.writable);
  const sdk = started([Deno.execPath(), "run", "--quiet", "-A", SELF, "client"]);
  const server = started(line);
  const back = async (): Promise<void> => {
    for (;;) await sdk.say({ in: await server.next() });
  };
  const forth = async (): Promise<void> => {
    for (;;) {
      const said = await sdk.next() as Record<string, unknown>;
      if ("out" in said) await server.say(said["out"]);
      else if ("ready" in said) await agent.say({ ready: true });
      else {
        keep.run(JSON.stringify(said));
        await agent.say({ text: said["done"] });
      }
    }
  };
  void back();
  void forth();
  for (;;) await sdk.say({ call: await agent.next() });
}

if (import.meta.main) await (Deno.args[0] === "client" ? client() : relay(Deno.args));
