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
} from "../contracts/mod.ts";
import { asJson } from "../port/as_json.ts";
import type { ControlRequest } from "./control_ops.ts";
import { parseControlRequest } from "./control_ops.ts";
import type { Watching } from "./watch.ts";

/** One handler for each op. */
export type ControlHandlers = {
  readonly [Op in Exclude<ControlRequest["op"], "watch">]: (
    body: Extract<ControlRequest, { op: Op }>["body"],
  ) => unknown;
};

/** What {@link makeControl} is handed. */
export interface ControlParts {
  readonly handlers: ControlHandlers;
  readonly watching: Watching;
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

  const dispatch = async (request: Exclude<ControlRequest, { op: "watch" }>): Promise<Json> => {
    // The union's op picks the handler of the same op, so body and handler agree.
    const handler = parts.handlers[request.op] as (body: unknown) => unknown;
    const answer = await handler(request.body);
    return answer === undefined ? null : toJson(answer);
  };

  return Object.freeze({
    serve(open: Parameters<Control["serve"]>[0]): void {
      connections += 1;
      let greeted = false;
      const watches: (() => void)[] = [];
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
          if (request.op !== "watch") return await dispatch(request);
          const { task, from } = request.body;
          watches.push(
            await parts.watching.watch(task, from, (kind, event) => port.tell(kind, asJson(event))),
          );
          return null;
        },
        tell(): void {
          throw new Fault("badFrame", "Cannot serve a command line: it told, and may only ask");
        },
      });
      void port.closed.then((why) => {
        if (why.cause instanceof Error) parts.note(`${why.message}: ${why.cause.stack}`);
        connections -= 1;
        for (const stop of watches) stop();
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
