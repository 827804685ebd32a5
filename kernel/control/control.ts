/**
 * The control socket: operations of the operator's own user. Requests are a closed union
 * (control_ops.ts); the first must be `hello`. Served by kernel/serve_control.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, toJson } from "../../contracts/base/json.ts";
import { CONTROL_VERSION, type KernelConfig } from "../../contracts/wire/wire_control.ts";
import type { Digest } from "../../contracts/authority/mod.ts";
import type { Json, Port } from "../../contracts/base/mod.ts";
import type { Welcome } from "../../contracts/wire/mod.ts";
import { asJson } from "../../port/as_json.ts";
import { digestOf } from "../../port/digest.ts";
import type { Watching } from "../core/log/watch.ts";
import type { PeerWatching } from "../power/peer/peer_ops.ts";
import { CONTROL_OPS, type ControlRequest, parseControlRequest } from "./control_ops.ts";
import { isPaged, makePages, type Pages } from "./pages.ts";

/** Operations that need the state of their connection: its watches, or the pages it reads. */
type ConnectionOp = "more" | "watch" | "peerSend" | "peerWatch" | "peerUnwatch" | "peerDue";

/** One handler for each op. */
export type ControlHandlers = {
  readonly [Op in Exclude<ControlRequest["op"], ConnectionOp>]: (
    body: Extract<ControlRequest, { op: Op }>["body"],
  ) => unknown;
};

/** The handlers, and the notifications of a control socket. */
export interface ControlParts {
  readonly handlers: ControlHandlers;
  readonly watching: Watching;
  readonly peers: Pick<PeerWatching, "send" | "watch" | "due">;
  welcome(): Welcome;
  /** Writes a line to the kernel's own log: a bug that ended a connection. */
  note(line: string): void;
}

/** The server side of control connections. */
export interface Control {
  /** Serves one connection; `open` joins the handler to a port over it. */
  serve(
    open: (handler: { ask(op: string, body: Json): Promise<Json>; tell(): void }) => Port,
  ): void;
  /** Number of open connections. */
  connections(): number;
  /** Refuses new connections, whose command lines then look for the next kernel. */
  close(): void;
}

/** Makes the server side of control connections. */
export function makeControl(parts: ControlParts): Control {
  let connections = 0;
  let closing = false;
  let lastWatch = 0;

  const dispatch = async (
    request: Exclude<ControlRequest, { op: ConnectionOp }>,
    pages: Pages,
  ): Promise<Json> => {
    // The union's op picks the handler of the same op, so body and handler agree.
    const handler = parts.handlers[request.op] as (body: unknown) => unknown;
    const answer = await handler(request.body);
    if (isPaged(answer)) return await pages.open(answer);
    return answer === undefined ? null : toJson(answer);
  };

  return Object.freeze({
    serve(open: Parameters<Control["serve"]>[0]): void {
      connections += 1;
      let greeted = false;
      let ended = false;
      const watches = new Map<string, () => void>();
      const pages = makePages();
      /** Registers `stop` under `name`: called when the connection ends, at once if it has ended, or when the name is reused. */
      const atEnd = (name: string, stop: () => void): void => {
        watches.get(name)?.();
        watches.set(name, stop);
        if (ended) stop();
      };
      const follow = async (request: ControlRequest): Promise<Json> => {
        const tell = (op: string, body: Json): void => port.tell(op, body);
        switch (request.op) {
          case "watch": {
            const { task, from } = request.body;
            const name = `${task} ${++lastWatch}`;
            atEnd(
              name,
              await parts.watching.watch(task, from, (kind, event) => tell(kind, asJson(event))),
            );
            return null;
          }
          case "peerSend": {
            const { watch, ...sent } = request.body;
            const { exchange, answer } = await parts.peers.send(sent);
            if (watch === undefined) return answer;
            return await follow({
              op: "peerWatch",
              body: { peer: sent.peer, exchange, progress: watch.progress },
            });
          }
          case "peerWatch": {
            const { answer, stop } = await parts.peers.watch(request.body, tell);
            atEnd(request.body.exchange, stop);
            return answer;
          }
          case "peerUnwatch":
            watches.get(request.body.exchange)?.();
            watches.delete(request.body.exchange);
            return null;
          case "peerDue": {
            const { answer, stop } = await parts.peers.due(request.body.limit, tell);
            atEnd("due", stop);
            return answer;
          }
          case "more":
            return await pages.next();
          default:
            return await dispatch(request, pages);
        }
      };
      const port = open({
        async ask(op: string, body: Json): Promise<Json> {
          if (op === "hello") {
            // The next request would find the store closed.
            if (closing) throw new Fault("gone", "Cannot greet: this kernel is ending");
            greet(body);
            greeted = true;
            return toJson(parts.welcome());
          }
          if (!greeted) throw new Fault("invalidInput", `Cannot serve "${op}": say "hello" first`);
          const request = parseControlRequest(op, body);
          return await follow(request);
        },
        tell(): void {
          throw new Fault(
            "badFrame",
            "Cannot serve a command line: it may send requests, not notifications",
          );
        },
      });
      void port.closed.then((why) => {
        if (why.cause instanceof Error) parts.note(`${why.message}: ${why.cause.stack}`);
        connections -= 1;
        ended = true;
        pages.close();
        for (const stop of watches.values()) stop();
      });
    },
    connections: () => connections,
    close(): void {
      closing = true;
    },
  });
}

function greet(body: Json): void {
  const version = isObject(body) ? body["version"] : undefined;
  if (version !== CONTROL_VERSION) {
    throw new Fault(
      "invalidInput",
      `Cannot talk to this kernel: it speaks control version ${CONTROL_VERSION}, not ${
        JSON.stringify(version ?? null)
      }; end it with "remit stop"`,
    );
  }
}

interface MaintenanceParts {
  readonly damage: Fault;
  verify(head: Digest | undefined): Promise<object>;
  repair(): Promise<object>;
  stop(): void;
}

/**
 * The handlers over a damaged log, which refuse everything but `auditVerify`, `auditRepair` and `stop`. They do not cover
 * the operations of {@link ConnectionOp}: kernel/main.ts hands `makeControl` watches and peers that are empty.
 */
export function damagedHandlers(parts: MaintenanceParts): ControlHandlers {
  const refuse = (): never => {
    throw new Fault(
      "storeCorrupt",
      `${parts.damage.message}. Nothing runs over a damaged log: see "remit audit verify", then "remit audit repair"`,
    );
  };
  const all = Object.fromEntries(Object.keys(CONTROL_OPS).map((op) => [op, refuse]));
  return Object.freeze({
    ...all as unknown as ControlHandlers,
    auditVerify: ({ head }: { head?: Digest | undefined }) => parts.verify(head),
    auditRepair: () => parts.repair(),
    stop: () => parts.stop(),
  });
}

/**
 * The digest of the policy that the command line merged, with the granted foreign agents: a kernel
 * that could not run an agent does not resume its tasks.
 */
export function rulesDigest(
  { policy, commands }: Pick<KernelConfig, "policy" | "commands">,
): Digest {
  const agents = commands.flatMap(({ agent }) => agent === undefined ? [] : [agent]);
  return digestOf(toJson(agents.length === 0 ? policy : { policy, agents }));
}
