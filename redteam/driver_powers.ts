/** A Python program of others that answers a line of JSON with a line of JSON, behind walls. @module */
import { Fault } from "../contracts/base/mod.ts";

/** Most characters of one answer. */
const MAX_ANSWER = 64_000_000;

/** The program, while it runs. Questions are answered in their order. */
export interface Driver {
  /** Rejects with `unavailable` when it has ended, or its answer is no JSON or longer than 64 million characters. */
  ask(request: object): Promise<unknown>;
  /** Ends it. */
  close(): Promise<void>;
}

/** What a Python needs of the machine beside its own folders. */
const SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.conf"];
const WHERE = "import json,sys;print(json.dumps([sys.executable,sys.prefix,sys.base_prefix]))";

/** The interpreter, and the folders that it is in. */
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
 * Starts `program` over the folder `folder`, in bubblewrap: of all files it sees the system's, Python's, itself and that
 * folder, and can write none; there is no network, no socket and no variable of the environment.
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
      // It may have said why before it ended.
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
      // It ends with its input.
      await writer.close().catch(() => undefined);
      await reader.cancel().catch(() => undefined);
      await child.status;
    },
  });
}
