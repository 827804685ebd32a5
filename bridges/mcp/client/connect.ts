/** Connects the SDK's client to a server: behind our guard, over our transports. @module */
import {
  Client,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { Fault } from "../../../contracts/base/fault.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type { McpOpen } from "../../../contracts/wire/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import { type Calls, type Clock, OPENING } from "./calls.ts";
import { cutText, type ReportViolation } from "./limits.ts";
import { type Guard, makeGuard } from "./guard.ts";
import { makeKernelFetch } from "./http/kernel_fetch.ts";
import type { KernelSide } from "./kernel_side.ts";
import {
  guarded,
  type GuardedTransport,
  type LineTransport,
  makeLineTransport,
} from "./transports.ts";
import { upstreamFault } from "./requests.ts";
import type { Introduction } from "./listing/listing.ts";

interface ConnectParts {
  readonly open: McpOpen;
  readonly kernel: KernelSide;
  readonly calls: Calls;
  readonly clock: Clock;
  readonly report: ReportViolation;
  /** Restores the global web classes that the SDK's HTTP transport needs. */
  readonly restoreWeb: () => void;
  /** Registers handlers for the server's requests and notifications, before the handshake. */
  readonly serve: (client: Client) => void;
}

/** An established connection. */
export interface Connection {
  readonly client: Client;
  readonly guard: Guard;
  readonly introduction: Introduction;
  /** Revision 2026-07-28 or later: no session, no requests of the server. */
  readonly modern: boolean;
  readonly capabilities: JsonObject;
  /** Over HTTP: arguments may be repeated in headers. */
  readonly http: boolean;
  /** Ends the session that a server at a URL keeps. */
  forget(): Promise<void>;
}

/** A handshake in progress: it needs the server's bytes before `connected` resolves. */
export interface Connecting {
  readonly transport: GuardedTransport;
  /** The transport of a server that speaks in lines. */
  readonly lines: LineTransport | undefined;
  readonly connected: Promise<Connection>;
}

/** An old server may ignore the probe: after this time the old handshake is tried. HTTP servers all answer. */
const PROBE_MS = 10_000;
const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 5,
};

/** The SDK would compile a server's schemas, patterns included: `schema_check.ts` checks results instead. */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/** Starts the handshake. `connected` rejects with `timedOut`, `upstream`, `gone`. */
export function startConnection(parts: ConnectParts): Connecting {
  const { open, kernel, calls, clock, report } = parts;
  const serves = new Set([
    "roots/list",
    ...(open.elicitation ? ["elicitation/create"] : []),
    ...(open.sampling ? ["sampling/createMessage"] : []),
  ]);
  const guard = makeGuard({ report, clock, calling: calls.busy, serves });
  const http = open.transport === "http" ? makeHttp(parts, open.url ?? "") : undefined;
  const lines = http === undefined
    ? makeLineTransport({ guard, report, send: kernel.send })
    : undefined;
  const transport = http === undefined ? lines : guarded(http, guard);
  if (transport === undefined) throw new TypeError("Cannot connect: no transport");
  const timeoutMs = http === undefined && open.newest !== true
    ? Math.min(PROBE_MS, Math.ceil(open.deadlineMs / 2))
    : open.deadlineMs;
  const client = new Client({ name: "remit", version: "1.0.0", title: "Remit" }, {
    versionNegotiation: open.old === true
      ? { mode: "legacy" }
      : { mode: "auto", probe: { timeoutMs } },
    capabilities: {
      roots: { listChanged: true },
      ...(open.elicitation ? { elicitation: { form: {}, url: {} } } : {}),
      ...(open.sampling ? { sampling: {} } : {}),
    },
    jsonSchemaValidator: NO_VALIDATOR,
    inputRequired: { maxRounds: 8 },
  });
  client.onerror = (error) => report(cutText(error.message, 200));
  parts.serve(client);
  const connected = calls.run(
    { id: OPENING, deadlineMs: open.deadlineMs, verb: "open the MCP server" },
    async ({ signal }) => {
      try {
        await client.connect(transport, { timeout: open.deadlineMs, signal });
      } catch (error) {
        throw upstreamFault("open the MCP server", error, open.name);
      }
      return introduced(client, guard, http);
    },
  ).catch((error) => {
    throw lines?.endedUnheard === true ? endedAtProbe(error) : error;
  });
  return { transport, lines, connected };
}

function endedAtProbe(cause: unknown): Fault {
  const why = "it ended, or was silent, when it was asked for its revisions";
  return new Fault("gone", `Cannot open the MCP server: ${why}`, {
    cause,
    detail: { probed: true },
  });
}

function makeHttp(
  { kernel, report, restoreWeb }: ConnectParts,
  url: string,
): StreamableHTTPClientTransport {
  restoreWeb();
  const address = new URL(url);
  return new StreamableHTTPClientTransport(address, {
    fetch: makeKernelFetch({ kernel, origin: address.origin, report }),
    reconnectionOptions: RECONNECTION,
  });
}

function introduced(
  client: Client,
  guard: Guard,
  http: StreamableHTTPClientTransport | undefined,
): Connection {
  const capabilities = asJson(client.getServerCapabilities() ?? {}) as JsonObject;
  const modern = client.getProtocolEra() === "modern";
  guard.promised(capabilities, modern);
  const server = client.getServerVersion();
  const instructions = client.getInstructions();
  return {
    client,
    guard,
    capabilities,
    http: http !== undefined,
    modern,
    async forget() {
      await http?.terminateSession();
    },
    introduction: {
      protocol: cutText(client.getNegotiatedProtocolVersion() ?? "", 32),
      server: {
        name: cutText(server?.name ?? "", 256),
        version: cutText(server?.version ?? "", 128),
        ...(server?.title === undefined ? {} : { title: cutText(server.title, 256) }),
      },
      ...(instructions === undefined ? {} : { instructions: cutText(instructions, 65_536) }),
      capabilities: Object.keys(capabilities).filter((name) => name.length <= 64).slice(0, 32),
    },
  };
}
