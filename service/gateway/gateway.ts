/** Answers the starter's requests to the gateway process. contracts/wire/wire_serve.ts. @module */
import * as z from "zod";
import { Fault, type Json, type Port, type PortHandler } from "../../contracts/base/mod.ts";
import { Exchange, type ExchangeEvent } from "../../contracts/exchange/mod.ts";
import { SERVE_PIECE, ServeOpen } from "../../contracts/wire/mod.ts";
import { makeStarter, type Starter, type StarterSession } from "./starter.ts";

/** One MCP host over a pipe. */
export interface PipeHost {
  feed(text: string): void;
  close(): Promise<void>;
}

/** An HTTP server. */
export interface Listening {
  /** `host:port`. */
  readonly address: string;
  /** Receives what the starter tells about peers. */
  heard(op: string, body: Json): void;
  /** Accepts no new request and finishes those in progress within some seconds. */
  stop(): Promise<void>;
}

/** The gateway's protocols, and its one power: to listen at an address. */
export interface GatewayParts {
  overStdio(
    session: StarterSession,
    pipe: { readonly version: string; write(text: string): void; note(text: string): void },
  ): PipeHost;
  overHttp(starter: Starter, open: ServeOpen): Listening;
  /** The body of a delivery to a peer. */
  render(exchange: Exchange, event: ExchangeEvent | null): string;
}

const Piece = z.object({ text: z.string().max(SERVE_PIECE) }).strict();
// TRUST: from the starter, which received it from the kernel.
const Rendered = z.object({
  exchange: Exchange,
  event: z.custom<ExchangeEvent>((value) => typeof value === "object").nullable(),
});
/** A pipe has one host, which introduces itself only within its session. */
const PIPE = { token: null, client: { name: "host", version: "0" } } as const;

/** Makes the handler of a gateway's port. */
export function makeGateway(port: Pick<Port, "ask" | "tell">, parts: GatewayParts): PortHandler {
  const starter = makeStarter(port);
  let host: PipeHost | undefined;
  let session: StarterSession | undefined;
  let listening: Listening | undefined;
  let opened = false;
  /** Serializes what is sent to the host. */
  let sent: Promise<unknown> = Promise.resolve();

  const write = (text: string): void => {
    for (let at = 0; at < text.length; at += SERVE_PIECE) {
      const piece = text.slice(at, at + SERVE_PIECE);
      sent = sent.then(() => port.ask("send", { text: piece })).catch(() => undefined);
    }
  };

  const open = async (body: Json): Promise<Json> => {
    if (opened) throw new Fault("conflict", "Cannot open the gateway: it is open");
    opened = true;
    const given = ServeOpen.parse(body);
    if (given.transport === "http") {
      listening = parts.overHttp(starter, given);
      return { address: listening.address };
    }
    session = await starter.open(PIPE);
    const { version } = given;
    host = parts.overStdio(session, { version, write, note: starter.note });
    return { address: "" };
  };

  return Object.freeze<PortHandler>({
    async ask(op, body): Promise<Json> {
      switch (op) {
        case "open":
          return await open(body);
        case "bytes":
          host?.feed(Piece.parse(body).text);
          return null;
        case "a2aRender": {
          const { exchange, event } = Rendered.parse(body);
          return { body: parts.render(exchange, event) };
        }
        case "stop":
          await host?.close();
          await listening?.stop();
          await session?.end();
          await sent;
          return null;
        default:
          throw new Fault("invalidInput", `Cannot serve "${op}": unknown to a gateway`);
      }
    },
    tell(op, body): void {
      starter.heard(op, body);
      listening?.heard(op, body);
    },
  });
}
