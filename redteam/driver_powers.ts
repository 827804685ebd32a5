/**
 * A third-party Python program in a sandbox that answers each line of JSON with a line of JSON.
 * @module
 */
import { Fault } from "../contracts/base/mod.ts";

/** Most characters of one answer. */
const MAX_ANSWER = 64_000_000;

/** The program while it runs. Questions are answered in order. */
export interface Driver {
  /**
   * Sends a request. Rejects with `unavailable` when the program has ended, or its answer is not
   * JSON or longer than 64 million characters.
   */
  ask(request: object): Promise<unknown>;
  /** Ends the program. */
  close(): Promise<void>;
}

/** Paths that a Python needs beside its own folders. */
const SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf"];
const WHERE = "import json,sys;print(json.dumps([sys.executable,sys.prefix,sys.base_prefix]))";

/** Returns the interpreter and the folders that hold it. */
function findPython(): readonly string[] {
  try {
    const { stdout } = new Deno.Command("python3", { args: ["-I", "-c", WHERE] }).outputSync();
    return JSON.parse(new TextDecoder().decode(stdout)) as string[];
  } catch (cause) {
    throw new Fault("unavailable", "Cannot start the suite's own code: there is no python3", {
      cause,
    });
  }
}

/**
 * Starts `program` over the folder `folder` in bubblewrap. It sees, read-only, the system's files,
 * Python's, itself and that folder. It has no network, no sockets and no environment variables.
 * @throws Fault `unavailable` where bubblewrap or Python is missing
 */
export function startDriver(program: string, folder: string): Driver {
  const [python = "", ...prefixes] = findPython();
  const seen = [...SYSTEM, ...prefixes, folder, program];
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("bwrap", {
      args: [
        ...seen.flatMap((path) => ["--ro-bind-try", path, path]),
        ...["--dev", "/dev", "--proc", "/proc", "--unshare-all", "--cap-drop", "ALL"],
        ...["--die-with-parent", "--new-session", "--", python, "-I", program, folder],
      ],
      ...{ clearEnv: true, stdin: "piped", stdout: "piped", stderr: "null" },
    }).spawn();
  } catch (cause) {
    throw new Fault("unavailable", "Cannot start the suite's own code: bwrap is not installed", {
      cause,
    });
  }
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let held: string[] = [], last = Promise.resolve<unknown>(undefined);
  const line = async (): Promise<string> => {
    for (let size = 0;;) {
      const { value, done } = await reader.read();
      if (done) throw new Fault("unavailable", "Cannot ask the suite's own code: it ended");
      const end = value.indexOf("\n");
      held.push(end === -1 ? value : value.slice(0, end));
      size += value.length;
      if (size > MAX_ANSWER) {
        child.kill("SIGKILL");
        throw new Fault("unavailable", "Cannot ask the suite's own code: its answer is too long");
      }
      if (end === -1) continue;
      const whole = held.join("");
      held = [value.slice(end + 1)];
      return whole;
    }
  };
  const once = async (request: object): Promise<unknown> => {
    try {
      await writer.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
    } catch {
      // The program may have written a reason before it ended.
    }
    const text = await line();
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new Fault("unavailable", "Cannot ask the suite's own code: its answer is no JSON", {
        cause,
      });
    }
  };
  return Object.freeze<Driver>({
    ask(request): Promise<unknown> {
      const answer = last.then(() => once(request));
      last = answer.catch(() => undefined);
      return answer;
    },
    async close(): Promise<void> {
      // The program ends when its input closes.
      await writer.close().catch(() => undefined);
      await reader.cancel().catch(() => undefined);
      await child.status;
    },
  });
}
