/** Starts a foreign agent in its namespace, with a home and a way to the relay's socket. @module */
import type { AgentHandover } from "../../../contracts/tool/foreign_agent.ts";
import { AgentFailure, handOver, type Wire } from "./messages.ts";

/** Characters of a line of the agent, at most. */
const MAX_LINE = 16 * 1024 * 1024;
/** Last characters of the agent's log that are printed when it fails. */
const MAX_LOG = 4_000;
/** Concurrent connections to the provider. */
const MAX_CONNECTIONS = 64;
const HOME = "/tmp/home";
const GIT = "/usr/bin/git";
/** The history is dropped after the run, so it need not survive a power loss (`core.fsync=none`). */
const GIT_SETTINGS = ["user.name=before", "user.email=before@localhost", "core.fsync=none"]
  .flatMap((each) => ["-c", each]);

/** Handles one request; resolves with the exit code. `own`: the command line of this program. */
export async function work(own: readonly string[]): Promise<number> {
  const handover = JSON.parse(await new Response(Deno.stdin.readable).text()) as AgentHandover;
  const base = handover.socket === undefined ? "" : await relayTo(handover.socket);
  const filled = (text: string): string => text.replaceAll("${BASE}", base);
  for (const [name, text] of Object.entries(handover.files)) {
    const path = `${HOME}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, filled(text));
  }
  await Deno.mkdir(HOME, { recursive: true });
  const env = {
    ...{ PATH: "/usr/local/bin:/usr/bin:/bin", HOME, TMPDIR: "/tmp", LANG: "C.UTF-8" },
    ...{ TERM: "dumb", NO_COLOR: "1", SHELL: "/bin/sh", USER: "agent", NO_PROXY: "127.0.0.1" },
    ...Object.fromEntries(Object.entries(handover.env).map(([name, text]) => [name, filled(text)])),
  };
  // The repository is written while the agent starts: both take about as long.
  const repository = startRepository(handover.cwd, env);
  // Awaited below; without this handler an earlier rejection would end the process.
  repository.catch(() => undefined);
  try {
    const url = handover.tools === undefined ? undefined : `${base}${handover.tools}`;
    const tools = url === undefined ? undefined : { url, words: [...own, url] };
    return await converse({ ...handover, tools, ready: repository }, env);
  } finally {
    if (await repository) {
      await Deno.remove(`${handover.cwd}/.git`, { recursive: true }).catch(gone);
    }
  }
}

async function converse(
  handover: Omit<AgentHandover, "tools"> & Pick<Parameters<typeof handOver>[1], "tools" | "ready">,
  env: Record<string, string>,
): Promise<number> {
  const [program = "", ...args] = handover.words;
  const child = new Deno.Command(program, {
    ...{ args, env, clearEnv: true, cwd: handover.cwd },
    ...{ stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  let log = "";
  const logged = (async () => {
    for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
      log = (log + piece).slice(-MAX_LOG);
    }
  })();
  const input = child.stdin.getWriter();
  const wire: Wire = {
    lines: linesOf(child.stdout),
    send: (line) => input.write(new TextEncoder().encode(`${line}\n`)),
  };
  try {
    const stopped = await handOver(wire, handover, {
      text: (piece) => write(Deno.stdout, piece),
      step: (line) => write(Deno.stderr, `${line}\n`),
    });
    if (stopped === "end_turn") return 0;
    write(Deno.stderr, `stopped: ${stopped}\n`);
    return 1;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const why = error instanceof AgentFailure
      ? error.message
      : `it cannot be asked: ${error.message}`;
    try {
      child.kill("SIGKILL");
    } catch (gone) {
      // The agent ended by itself.
      if (!(gone instanceof TypeError)) throw gone;
    }
    await logged;
    write(Deno.stderr, `the agent failed: ${why}\n${log}\n`);
    return 1;
  }
}

/** Posts messages from standard input to a URL and prints the answers: tools for an agent without HTTP. */
export async function passMessages(url: string): Promise<void> {
  for await (const line of linesOf(Deno.stdin.readable)) {
    if (line.trim() === "") continue;
    const answer = await fetch(url, {
      ...{ method: "POST", body: line, headers: { "content-type": "application/json" } },
    });
    const text = await answer.text();
    if (text !== "") write(Deno.stdout, `${text}\n`);
  }
}

function write(to: typeof Deno.stdout | typeof Deno.stderr, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}

async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let line = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (line + piece).split("\n");
    line = parts.pop() ?? "";
    if (line.length > MAX_LINE) throw new AgentFailure("one of its messages is too long");
    yield* parts;
  }
}

/** The agent may have removed the file. */
function gone(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/**
 * Starts a git repository for the agent beside its copy of the folder. It is never released, since
 * nothing in `.git` is. Resolves with false without git.
 */
async function startRepository(cwd: string, env: Record<string, string>): Promise<boolean> {
  const git = async (...args: readonly string[]): Promise<boolean> => {
    try {
      const { success } = await new Deno.Command(GIT, {
        args: [...GIT_SETTINGS, ...args],
        ...{ cwd, env, clearEnv: true, stdin: "null", stdout: "null", stderr: "null" },
      }).output();
      return success;
    } catch (error) {
      // Without git the agent has no history.
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  };
  if (!await git("init", "-q", "--template=", `--separate-git-dir=${HOME}/.repository`)) {
    return false;
  }
  if (await git("add", "-A")) await git("commit", "-q", "--no-verify", "-m", "before");
  return true;
}

/** Relays connections from the namespace's loopback to the socket; resolves with the address. */
async function relayTo(socket: string): Promise<string> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const under = new Set<Promise<void>>();
  const accept = async (): Promise<void> => {
    for await (const inner of listener) {
      const joined = join(inner, socket).finally(() => under.delete(joined));
      under.add(joined);
      if (under.size >= MAX_CONNECTIONS) await Promise.race(under);
    }
  };
  void accept();
  return await Promise.resolve(`http://127.0.0.1:${listener.addr.port}`);
}

async function join(inner: Deno.Conn, socket: string): Promise<void> {
  let outer: Deno.UnixConn;
  try {
    outer = await Deno.connect({ transport: "unix", path: socket });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The relay has ended: close the connection.
    inner.close();
    return;
  }
  await Promise.allSettled([
    inner.readable.pipeTo(outer.writable),
    outer.readable.pipeTo(inner.writable),
  ]);
}
