/** One child: an operating-system process at the other end of a port. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { MCP_PORT_LIMITS } from "../../../contracts/wire/wire_mcp.ts";
import { WIDE_FRAME_BYTES } from "../../../contracts/wire/wire_plugin.ts";
import { STORE_PORT_LIMITS } from "../../../contracts/wire/wire_store.ts";
import { WIKI_PORT_LIMITS } from "../../../contracts/wire/wire_wiki.ts";
import type { Port, PortHandler } from "../../../contracts/base/mod.ts";
import { joinBytes } from "../../../port/join_bytes.ts";
import { makePort } from "../../../port/mod.ts";
import type { LeftWatch } from "../start/left_behind.ts";
import type { Role, StartLine } from "../start/line_parts.ts";
import { type ExitStatus, howEnded, type SpawnPowers } from "../start/spawn.ts";

/** Bytes of standard error that are kept. */
const MAX_STDERR_BYTES = 65_536;
/** UTF-16 units of the last line of standard error that appear in a message. */
const MAX_LAST_LINE = 500;
/** Roles whose frames carry whole files or pages. */
const WIDE_ROLES: ReadonlySet<Role> = new Set([
  "toolhost",
  "plugin",
  "net",
  "browser",
  "remote",
  "local",
  "native",
]);

/** A child process as the kernel holds it. */
export interface Child {
  readonly role: Role;
  readonly osPid: number;
  /** Closed once the child has ended. */
  readonly port: Port;
  /** Sends SIGKILL; resolves once the process is reaped. Idempotent. */
  kill(): Promise<void>;
  readonly exited: Promise<ExitStatus>;
  /** The first 64 KiB of the child's standard error: untrusted text. */
  stderr(): string;
  /** Resolves once the child has ended, with `ended (SIGKILL): LAST LINE OF STANDARD ERROR`. Untrusted text. */
  end(): Promise<string>;
}

interface ChildParts {
  readonly role: Role;
  readonly line: StartLine;
  readonly handler: PortHandler;
  readonly spawn: Pick<SpawnPowers, "start">;
  /** Clock in milliseconds, for the port's limit of frames per second. */
  readonly now: () => number;
  /** Looks for leftover processes when the child was killed before its first output. */
  readonly left?: Pick<LeftWatch, "look"> | undefined;
}

/** Starts a process with a port on its standard input and output. A protocol error on the port kills the process. */
export function startChild({ role, line, handler, spawn, now, left }: ChildParts): Child {
  const errors: Uint8Array[] = [];
  let errorBytes = 0, heard = false;
  const process = spawn.start({
    ...line,
    onOutput(chunk): void {
      heard = true;
      port.feed(chunk);
    },
    killed: () => heard ? undefined : left?.look(),
    onStderr(chunk): void {
      const kept = chunk.slice(0, MAX_STDERR_BYTES - errorBytes);
      errorBytes += kept.length;
      if (kept.length > 0) errors.push(kept);
    },
  });
  const port = makePort({
    write: (bytes) => process.write(bytes),
    handler,
    now,
    limits: role === "wiki"
      ? WIKI_PORT_LIMITS
      : role === "store"
      ? STORE_PORT_LIMITS
      : role === "mcp"
      ? MCP_PORT_LIMITS
      : WIDE_ROLES.has(role)
      ? { frameBytes: WIDE_FRAME_BYTES }
      : {},
  });
  void process.exited.then(() => port.close("the child has ended"));
  // A child that broke the protocol is killed at once, without a request to end.
  void port.closed.then(() => process.kill());
  const stderr = (): string => new TextDecoder().decode(joinBytes(errors));
  return Object.freeze({
    role,
    osPid: process.pid,
    port,
    exited: process.exited,
    async kill(): Promise<void> {
      process.kill();
      await process.exited;
    },
    stderr,
    async end(): Promise<string> {
      const how = `ended (${howEnded(await process.exited)})`;
      const last = stderr().trim().split("\n").at(-1)?.slice(0, MAX_LAST_LINE) ?? "";
      return last === "" ? how : `${how}: ${last}`;
    },
  });
}

/** The kernel's side of a child that holds no capability: every request is refused. */
export const SERVES_NOTHING: PortHandler = Object.freeze<PortHandler>({
  ask(op: string): never {
    throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": not handed over`);
  },
  tell: () => undefined,
});

/** Waits for `wait`, or rejects with `cancelled` when `signal` aborts; `what` names the asked side in the message. */
export function unlessAborted<T>(wait: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Fault("cancelled", `Cannot ask ${what}: cancelled`));
    signal.addEventListener("abort", stop, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/**
 * The reason of a failed request: `error`, or the process's end. Only a closed port means the end,
 * since a process may answer with any fault.
 */
export async function causeOf(
  { port, exited }: Pick<Child, "port" | "exited">,
  error: unknown,
  words: (how: string) => string,
): Promise<unknown> {
  const closed = port.closed.then(() => true);
  const ended = await Promise.race([closed, Promise.resolve().then(() => false)]);
  if (!(error instanceof Fault) || !ended) return error;
  return new Fault("upstream", words(howEnded(await exited)), { cause: error });
}
