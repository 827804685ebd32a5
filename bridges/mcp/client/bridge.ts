/**
 * A bridge: handles the kernel's requests (contracts/wire/wire_mcp.ts) for one MCP server. Used by
 * main.ts and pretended_server.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { isObject, type Json } from "../../../contracts/base/json.ts";
import type { Port, PortHandler } from "../../../contracts/base/port.ts";
import type { McpOpen, McpReady, McpRoot } from "../../../contracts/wire/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import { serveAsks } from "./ask/server_requests.ts";
import { type Clock, makeCalls } from "./calls.ts";
import { type Connecting, type Connection, startConnection } from "./connect.ts";
import { type KernelSide, makeKernelSide } from "./kernel_side.ts";
import { cutText, makeReport, type ReportViolation } from "./limits.ts";
import { makeAsk } from "./requests.ts";
import { makeServerOps } from "./server_ops.ts";
import type { Client } from "@modelcontextprotocol/client";

/** What a bridge needs beside its port. */
export interface BridgePowers {
  readonly clock: Clock;
  /** Restores the global web classes that the SDK's HTTP transport needs. */
  readonly restoreWeb: () => void;
  /** Sends the SDK's warnings to `to`. */
  readonly hearWarnings: (to: (text: string) => void) => void;
}

/** Makes the port handler of a bridge whose server is not open yet. */
export function makeBridge(
  port: Pick<Port, "ask" | "tell">,
  { clock, restoreWeb, hearWarnings }: BridgePowers,
): PortHandler {
  const kernel = makeKernelSide(port);
  const report = makeReport(kernel.report, clock);
  const calls = makeCalls(clock);
  hearWarnings(report);
  let roots: readonly McpRoot[] = [];
  let level: string | undefined;
  let name: string | undefined;
  let elicitation = false;
  let connecting: Connecting | undefined;
  let connection: Connection | undefined;
  /** Why the connection ended; undefined while it lives. */
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
      ...{ kernel, calls, clock, report, restoreWeb },
      serve(client) {
        client.onclose = () => over ??= "the connection ended";
        serveAsks(client, { open: asked, kernel, report, roots: () => roots, call: calls.latest });
        hearAnnouncements(client, { kernel, clock });
      },
    });
    connection = await connecting.connected;
    listenForChanges(connection, { clock, report });
    const { protocol, server } = connection.introduction;
    return { protocol, server: { name: server.name, version: server.version } };
  }

  async function close(): Promise<null> {
    await connection?.forget().catch(() => {});
    await connection?.client.close().catch(() => {});
    return null;
  }

  function setLogLevel(given: string): void {
    level = given;
    const { modern, capabilities } = connected();
    // Since revision 2026-07-28 each request carries the log level.
    if (modern || capabilities["logging"] === undefined) return;
    const { signal } = new AbortController();
    ask("logging/setLevel", { level: given }, { signal, verb: "set the log level" }).catch(() =>
      report("It did not take the log level")
    );
  }

  function setRoots(given: readonly McpRoot[]): void {
    roots = given;
    if (connection === undefined || connection.modern) return;
    connection.client.sendRootsListChanged().catch(() => {});
  }

  return Object.freeze<PortHandler>({
    // TRUST: bodies come from the kernel, which has parsed them.
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
      if (op === "roots") setRoots(body as readonly McpRoot[]);
      if (op === "level" && connection !== undefined) {
        setLogLevel((body as { readonly level: string }).level);
      }
    },
  });
}

/** Further changes within these milliseconds are announced together. */
const TOGETHER_MS = 100;
const MAX_LOG_UNITS = 2_000;

/** Registers handlers for the server's notifications, before the handshake. The guard limits their rate. */
function hearAnnouncements(
  client: Client,
  { kernel, clock }: {
    readonly kernel: Pick<KernelSide, "log" | "changed" | "updated">;
    readonly clock: Pick<Clock, "after">;
  },
): void {
  for (const what of ["tools", "resources", "prompts"] as const) {
    // The first change is announced at once, so that no changed tool is called; later ones
    // together.
    let quiet = false, more = false;
    const tell = (): void => {
      kernel.changed(what);
      [quiet, more] = [true, false];
      clock.after(TOGETHER_MS, () => {
        quiet = false;
        if (more) tell();
      });
    };
    client.setNotificationHandler(`notifications/${what}/list_changed`, () => {
      if (quiet) more = true;
      else tell();
    });
  }
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
    const from = logger === undefined ? "" : `${cutText(logger, 64)}: `;
    kernel.log(level, cutText(`${from}${text}`, MAX_LOG_UNITS));
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => {
    if (uri.length <= 4_096) kernel.updated(uri);
  });
  // Registered so that the SDK does not report it; nothing follows from it.
  client.setNotificationHandler("notifications/elicitation/complete", () => {});
}

/** Milliseconds between two subscriptions, and how often a subscription is renewed. */
const AGAIN_MS = 1_000;
const MAX_RENEWALS = 5;

/**
 * Subscribes to changes of the lists for which the server promised announcements: needed since
 * revision 2026-07-28; older servers announce changes without a subscription.
 */
function listenForChanges(
  { client, capabilities, modern }: Connection,
  { clock, report }: { readonly clock: Pick<Clock, "after">; readonly report: ReportViolation },
): void {
  if (!modern) return;
  const tells = (name: string): boolean => {
    const offered = capabilities[name];
    return isObject(offered) && offered["listChanged"] === true;
  };
  const lists = ["tools", "prompts", "resources"].filter(tells);
  if (lists.length === 0) return;
  const filter = Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true]));
  const listen = async (left: number): Promise<void> => {
    const { closed } = await client.listen(filter);
    const how = await closed;
    if (how === "remote" && left > 0) clock.after(AGAIN_MS, () => begin(left - 1));
  };
  const begin = (left: number): void => {
    listen(left).catch(() => report("It does not tell of changed lists, although it promised to"));
  };
  begin(MAX_RENEWALS);
}
