/** A Python program that answers a line of JSON with a line of JSON, walled: no network, nothing to write. @module */
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

/**
 * Starts `program` over the folder `folder`: with bubblewrap all files can be read, none written, and there is no network.
 * @throws Fault `unavailable` where bubblewrap or Python is missing
 */
export function startDriver(program: string, folder: string): Driver {
  const wall = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"];
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("bwrap", {
      args: [...wall, "--die-with-parent", "--new-session", "--", "python3", "-I", program, folder],
      ...{ stdin: "piped", stdout: "piped", stderr: "null" },
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
    return JSON.parse(await line());
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
