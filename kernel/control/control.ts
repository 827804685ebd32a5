/**
 * The control socket: commands of the operator's own user. Requests are a closed union
 * (control_ops.ts); the first must be `hello`.
 * @module
 */
import {
  CONTROL_VERSION,
  Fault,
  type Json,
  type Port,
  toJson,
  type Welcome,
} from "../../contracts/mod.ts";
import { asJson } from "../../port/as_json.ts";
import { isPaged, makePages, type Pages } from "./pages.ts";
import type { ControlRequest } from "./control_ops.ts";
import { parseControlRequest } from "./control_ops.ts";
import type { PeerWatching } from "../peer/peer_ops.ts";
import type { Watching } from "../log/watch.ts";

/** Operations that are a connection's own: they go on telling after their answer. */
type Following = "more" | "watch" | "peerSend" | "peerWatch" | "peerUnwatch" | "peerDue";

/** One handler for each op. */
export type ControlHandlers = {
  readonly [Op in Exclude<ControlRequest["op"], Following>]: (
    body: Extract<ControlRequest, { op: Op }>["body"],
  ) => unknown;
};

/** What {@link makeControl} is handed. */
export interface ControlParts {
  readonly handlers: ControlHandlers;
  readonly watching: Watching;
  readonly peers: Pick<PeerWatching, "send" | "watch" | "due">;
  welcome(): Welcome;
  /** A line for the kernel's own log: a bug that ended a connection. */
  note(line: string): void;
}

/** The server side of control connections. */
export interface Control {
  /** Serves one connection; `open` joins the handler to a port over it. */
  serve(
    open: (handler: { ask(op: string, body: Json): Promise<Json>; tell(): void }) => Port,
  ): void;
  /** Connections that are open now. */
  connections(): number;
  /** Greets nobody from now on: who comes late looks for the next kernel. */
  close(): void;
}

/** Makes the server side of control connections. */
export function makeControl(parts: ControlParts): Control {
  let connections = 0;
  let closing = false;
  let lastWatch = 0;

  const dispatch = async (
    request: Exclude<ControlRequest, { op: Following }>,
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
      /** Ends with the connection, also when that ended while it began, and with the next of its name. */
      const until = (name: string, stop: () => void): void => {
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
            until(
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
            until(request.body.exchange, stop);
            return answer;
          }
          case "peerUnwatch":
            watches.get(request.body.exchange)?.();
            watches.delete(request.body.exchange);
            return null;
          case "peerDue": {
            const { answer, stop } = await parts.peers.due(request.body.limit, tell);
            until("due", stop);
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
            // What it asked next would find the store closed.
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
          throw new Fault("badFrame", "Cannot serve a command line: it told, and may only ask");
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
  const version = body !== null && typeof body === "object" && !Array.isArray(body)
    ? (body as { version?: unknown }).version
    : undefined;
  if (version !== CONTROL_VERSION) {
    throw new Fault(
      "invalidInput",
      `Cannot talk to this kernel: it speaks control version ${CONTROL_VERSION}, not ${
        JSON.stringify(version ?? null)
      }; end it with "remit stop"`,
    );
  }
}
