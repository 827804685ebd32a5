/** The bridge: what the kernel may ask of the client of one MCP server. contracts/wire_mcp.ts. @module */
import { Fault } from "../../../contracts/fault.ts";
import type { Json } from "../../../contracts/json.ts";
import type { Port, PortHandler } from "../../../contracts/port.ts";
import type { McpOpen, McpReady, McpRoot } from "../../../contracts/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import { hearAnnouncements } from "./notifications.ts";
import { serveAsks } from "./ask/server_requests.ts";
import { makeCalls } from "./calls.ts";
import type { Clock } from "./clock.ts";
import { type Connecting, type Connection, startConnection } from "./connect.ts";
import { makeKernelSide } from "./kernel_side.ts";
import { makeOdd } from "./violations.ts";
import { makeAsk } from "./requests.ts";
import { makeServerOps } from "./server_ops.ts";
import { listenForChanges } from "./subscription.ts";

/** What a bridge is made of, beside its port. */
export interface BridgePowers {
  readonly clock: Clock;
  /** Gives the SDK the web classes that its HTTP transport needs. */
  readonly restoreWeb: () => void;
  /** Where warnings of the SDK go. */
  readonly hearWarnings: (to: (text: string) => void) => void;
}

/** Makes the handler of a bridge. */
export function makeBridge(
  port: Pick<Port, "ask" | "tell">,
  { clock, restoreWeb, hearWarnings }: BridgePowers,
): PortHandler {
  const kernel = makeKernelSide(port);
  const odd = makeOdd(kernel.odd, clock);
  const calls = makeCalls(clock);
  hearWarnings(odd);
  let roots: readonly McpRoot[] = [];
  let level: string | undefined;
  let name: string | undefined;
  let elicitation = false;
  let connecting: Connecting | undefined;
  let connection: Connection | undefined;
  /** Why there is no connection any more. */
  let over: string | undefined;

  const connected = (): Connection => {
    if (connection !== undefined && over === undefined) return connection;
    throw new Fault("gone", `Cannot ask the server: ${over ?? "it is not open"}`);
  };
  const ask = makeAsk({ connection: connected, name: () => name, level: () => level });
  const ops = makeServerOps({
    ...{ connection: connected, kernel, calls, clock, ask, elicitation: () => elicitation },
  });

  async function open(asked: McpOpen): Promise<McpReady> {
    if (connecting !== undefined) throw new Fault("conflict", "Cannot open: it is open");
    roots = asked.roots;
    name = asked.name;
    elicitation = asked.elicitation;
    connecting = startConnection({
      open: asked,
      ...{ kernel, calls, clock, odd, restoreWeb },
      serve(client) {
        client.onclose = () => over ??= "the connection ended";
        serveAsks(client, { open: asked, kernel, odd, roots: () => roots, call: calls.latest });
        hearAnnouncements(client, { kernel, clock });
      },
    });
    connection = await connecting.connected;
    listenForChanges(connection, { clock, odd });
    const { protocol, server } = connection.introduction;
    return { protocol, server: { name: server.name, version: server.version } };
  }

  async function close(): Promise<null> {
    await connection?.forget().catch(() => {});
    await connection?.client.close().catch(() => {});
    return null;
  }

  function wish(given: string): void {
    level = given;
    const { modern, capabilities } = connected();
    // Since 2026 each request carries it.
    if (modern || capabilities["logging"] === undefined) return;
    const { signal } = new AbortController();
    ask("logging/setLevel", { level: given }, { signal, verb: "set the log level" }).catch(() =>
      odd("It did not take the log level")
    );
  }

  function reroot(given: readonly McpRoot[]): void {
    roots = given;
    if (connection === undefined || connection.modern) return;
    connection.client.sendRootsListChanged().catch(() => {});
  }

  return Object.freeze<PortHandler>({
    // TRUST: bodies are the kernel's own, which made them.
    ask(op, body: unknown): Json | Promise<Json> {
      switch (op) {
        case "bytes":
          connecting?.lines?.take((body as { readonly text: string }).text);
          return null;
        case "ended": {
          const { why } = body as { readonly why: string };
          over = `the server ended: ${why}`;
          calls.endAll(new Fault("gone", `Cannot finish the call: ${over}`));
          connecting?.transport.end(why);
          return null;
        }
        case "open":
          return open(body as McpOpen).then(asJson);
        case "close":
          return close();
        default:
          return ops(op, body).then(asJson);
      }
    },
    tell(op, body: unknown) {
      if (op === "cancel") calls.cancel((body as { readonly id: string }).id);
      if (op === "roots") reroot(body as readonly McpRoot[]);
      if (op === "level" && connection !== undefined) {
        wish((body as { readonly level: string }).level);
      }
    },
  });
}
