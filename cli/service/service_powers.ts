/** The powers of `remit serve`, with this process's own rights. @module */
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { makePort } from "../../port/mod.ts";
import { connectSocket } from "../../launch/kernel/socket_powers.ts";
import type { ServicePowers } from "./powers.ts";

/** Limits for commands at other terminals, which ask for little. */
const LIMITS = { frameBytes: 65_536, pending: 16 };

/** Makes the powers of a service. */
export function makeServicePowers(): ServicePowers {
  return Object.freeze<ServicePowers>({
    lock(path): Disposable | undefined {
      const file = Deno.openSync(path, { create: true, write: true, mode: 0o600 });
      if (file.tryLockSync(true)) return { [Symbol.dispose]: () => file.close() };
      file.close();
      return undefined;
    },
    door,
    async askService(path, op, body): Promise<Json | undefined> {
      const wire = await connectSocket(path);
      if (wire === undefined) return undefined;
      const port = makePort({
        limits: LIMITS,
        write: (bytes) => wire.write(bytes),
        handler: {
          ask: () => Promise.reject(new Fault("refused", "Cannot serve: a command asks only")),
          tell: () => undefined,
        },
      });
      wire.onBytes((bytes) => port.feed(bytes), () => port.close("the service has ended"));
      try {
        return await port.ask(op, body);
      } finally {
        port.close("done");
        wire.close();
      }
    },
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    hangup(run) {
      // With nohup, the service outlives its terminal.
      const attended = hasTerminal() && !ignoresHangup();
      const heard = (): void => {
        if (attended && !hasTerminal()) Deno.kill(Deno.pid, "SIGTERM");
        else run();
      };
      Deno.addSignalListener("SIGHUP", heard);
      return () => Deno.removeSignalListener("SIGHUP", heard);
    },
    random: () => Math.random(),
  });
}

/** Whether this process was started with SIGHUP ignored; false where the system does not say. */
function ignoresHangup(): boolean {
  try {
    // An ignored signal is inherited, and Deno cannot read /proc/self/status.
    const { stdout } = new Deno.Command("grep", {
      args: ["SigIgn", "/proc/self/status"],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).outputSync();
    const [, last = "0"] = /([0-9a-f])\s*$/.exec(new TextDecoder().decode(stdout)) ?? [];
    return (Number.parseInt(last, 16) & 1) === 1;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function hasTerminal(): boolean {
  try {
    Deno.openSync("/dev/tty").close();
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

function door(
  path: string,
  serve: (op: string, body: Json) => Promise<Json>,
): Disposable {
  try {
    // Only the holder of the lock listens here.
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const listener = Deno.listen({ transport: "unix", path });
  Deno.chmodSync(path, 0o600);
  void (async (): Promise<void> => {
    for await (const connection of listener) void talk(connection, serve);
  })();
  return {
    [Symbol.dispose](): void {
      listener.close();
      try {
        Deno.removeSync(path);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    },
  };
}

async function talk(
  connection: Deno.Conn,
  serve: (op: string, body: Json) => Promise<Json>,
): Promise<void> {
  const writer = connection.writable.getWriter();
  const port = makePort({
    limits: LIMITS,
    // The command may have ended.
    write: (bytes) => void writer.write(bytes.slice()).catch(() => undefined),
    handler: { ask: serve, tell: () => undefined },
  });
  void port.closed.then(() => writer.close().catch(() => undefined));
  try {
    for await (const chunk of connection.readable) port.feed(chunk);
  } catch (error) {
    if (
      !(error instanceof Deno.errors.ConnectionReset) &&
      !(error instanceof Deno.errors.Interrupted) &&
      !(error instanceof Deno.errors.BadResource)
    ) throw error;
  } finally {
    port.close("the command has gone");
  }
}
