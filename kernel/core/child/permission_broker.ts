/**
 * Decides the permissions of children while they run. Deno asks before every access, over one
 * socket per child. The socket's path is the child's identity, so the path is unlinked as soon as
 * the child has connected. Used by children.ts and mcp_children.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { answerPermission, type Judge, parsePermission, strictly } from "./permission_line.ts";
import type { SocketConnection, SocketListener, SpawnPowers } from "../start/spawn.ts";

/** UTF-16 units of the longest request: a path has at most 4,096 bytes, and JSON escapes make that six times as long. */
const MAX_LINE = 65_536;
const CHUNK = 4_096;

/** The session with one child. */
export interface BrokerSession {
  /** The socket to hand to the child, until it has connected. */
  readonly path: string;
  /** Resolves with the reason when the session is over: the child can get no more permissions and must end. */
  readonly lost: Promise<Fault>;
  /** Ends the session and frees the path. Idempotent. */
  close(): void;
}

/** The rules of one session. */
export interface BrokerOptions {
  /** Wraps the judge with fixed rules; absent: `strictly`. */
  readonly within?: (judge: Judge) => Judge;
  /** No request is decided before this resolves; the session ends when it rejects. */
  readonly after?: Promise<void>;
}

/** Hands out sessions over a fixed set of socket paths. */
export interface PermissionBroker {
  /** Waits until a path is free. */
  open(judge: Judge, options?: BrokerOptions): Promise<BrokerSession>;
}

/** Makes a broker over `paths`, unix socket paths on which this process may listen. */
export function makePermissionBroker(
  paths: readonly string[],
  spawn: Pick<SpawnPowers, "listen" | "remove">,
): PermissionBroker {
  const free = [...paths];
  const waiting: ((path: string) => void)[] = [];

  const release = (path: string): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(path);
    else next(path);
  };

  return Object.freeze({
    async open(
      judge: Judge,
      { within = strictly, after }: BrokerOptions = {},
    ): Promise<BrokerSession> {
      if (paths.length === 0) {
        throw new Fault("unavailable", "Cannot decide permissions: no broker socket was granted");
      }
      const path = free.shift() ??
        await new Promise<string>((resolve) => waiting.push(resolve));
      try {
        return serve(path, spawn, { judge: within(judge), after, release: () => release(path) });
      } catch (error) {
        release(path);
        throw error;
      }
    },
  });
}

function serve(
  path: string,
  spawn: Pick<SpawnPowers, "listen" | "remove">,
  { judge, after, release }: {
    readonly judge: Judge;
    readonly after: Promise<void> | undefined;
    release(): void;
  },
): BrokerSession {
  const listener: SocketListener = spawn.listen(path);
  const lost = Promise.withResolvers<Fault>();
  let connection: SocketConnection | undefined;
  let listening = true;
  let closed = false;

  // INVARIANT: only the first connection ever reaches this listener (test: "… second …").
  const stopListening = (): void => {
    if (!listening) return;
    listening = false;
    listener.close();
    spawn.remove(path);
    release();
  };
  const end = (why: string, cause?: unknown): void => {
    stopListening();
    if (closed) return;
    closed = true;
    connection?.close();
    lost.resolve(new Fault("gone", `Cannot decide permissions: ${why}`, { cause }));
  };

  const run = async (): Promise<void> => {
    connection = await listener.accept();
    stopListening();
    if (closed) return connection.close();
    await after;
    await answerAll(connection, judge);
    end("the child hung up");
  };
  run().catch((cause) => end("the session broke", cause));

  return Object.freeze({ path, lost: lost.promise, close: () => end("closed") });
}

async function answerAll(connection: SocketConnection, judge: Judge): Promise<void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const encoder = new TextEncoder();
  const chunk = new Uint8Array(CHUNK);
  let rest = "";
  for (;;) {
    const length = await connection.read(chunk);
    if (length === null) return;
    rest += decoder.decode(chunk.subarray(0, length), { stream: true });
    let answers = "";
    let start = 0;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", start)) {
      const ask = parsePermission(rest.slice(start, end));
      answers += answerPermission(ask.id, judge(ask.permission, ask.value));
      start = end + 1;
    }
    rest = rest.slice(start);
    if (rest.length > MAX_LINE) {
      throw new Fault("tooLarge", `Cannot read a permission request: longer than ${MAX_LINE}`);
    }
    if (answers !== "") await connection.write(encoder.encode(answers));
  }
}
