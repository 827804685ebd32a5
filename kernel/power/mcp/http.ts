/**
 * Requests of a bridge to its server's own origin. The kernel adds secrets here and removes them from answers, so that
 * a bridge, even one under a stranger's control, sees no secret and reaches no other host. Wired in
 * kernel/main_mcp.ts.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../../contracts/base/fault.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import { type Json, toJson } from "../../../contracts/base/json.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
import { type ImportedServer, mcpHostOf, mcpNet } from "../../../contracts/exchange/mcp.ts";
import { McpHttp, type McpHttpAnswer } from "../../../contracts/wire/wire_mcp.ts";
import type { NetStream } from "../../../contracts/wire/wire_net.ts";
import type { Child } from "../../core/child/child.ts";
import type { McpLog } from "./log.ts";
import type { McpTokens, SecretHeaders } from "./tokens.ts";
import type { NetService } from "../net/net_service.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import { sentBytes } from "../net/fetching.ts";
import { hidden, makeSecretFilter, type SecretFilter, withoutSecrets } from "../net/secret_echo.ts";

/** Concurrent streams of one bridge. */
const MAX_STREAMS = 32;
const REQUEST_BYTES = 8_000_000;
/** Bytes of one answer: a stream of events may last as long as its task. */
const RESPONSE_BYTES = 256 * 1_048_576;
/** Milliseconds; a call's own deadline ends its request long before. */
const HEAD_MS = 660_000;
const IDLE_MS = 660_000;

/** Headers that a bridge may set; all others belong to the kernel or the net service, or are dropped. */
const ALLOWED = /^(?:accept|content-type|last-event-id|mcp-[a-z0-9-]{1,64}|a2a-[a-z0-9-]{1,64})$/;

/** The bridge of a request. */
export interface McpHttpAt {
  readonly task: TaskId;
  readonly server: ImportedServer;
}

/** Requests of all bridges. */
export interface McpHttpService {
  /** Takes a {@link McpHttp}; resolves with the answer's head. Rejects with `refused`, and like the net service. */
  http(at: McpHttpAt, body: Json): Promise<Json>;
  /** Takes `{ id }`; resolves with the next `{ bytes }`, base64, empty at the end. */
  httpRead(at: McpHttpAt, body: Json): Promise<Json>;
  httpCancel(at: McpHttpAt, body: Json): void;
  /** Called when the bridge has ended. */
  ended(at: McpHttpAt): void;
}

/** The net service, tokens, leases and log. */
export interface McpHttpParts {
  readonly net: Pick<NetService, "provide" | "freshId">;
  readonly tokens: Pick<McpTokens, "headers" | "renew">;
  /** Tells whether any process of the task holds a live lease for the scope. */
  isLeased(task: TaskId, scope: Scope): boolean;
  readonly log: Pick<McpLog, "note">;
  /** Budgets of outgoing bytes; absent: there are none. */
  readonly uses?: Uses;
}

interface Open {
  /** The stream's id at the net service. */
  readonly id: string;
  readonly child: Child;
  readonly filter: SecretFilter;
  readonly secrets: SecretHeaders["secrets"];
  /** The next piece, requested ahead of the bridge; only one, so that a bridge that does not read stops the stream. */
  ahead: Promise<Json> | undefined;
  over: boolean;
}

const Head = z.object({
  status: z.int().min(100).max(599),
  headers: z.record(z.string().max(256), z.string().max(16_384)),
});
const Piece = z.object({ bytes: z.string().max(131_072) });
const Named = z.object({ id: z.string().max(64) });

/** Makes the request service of all bridges. */
export function makeMcpHttp(parts: McpHttpParts): McpHttpService {
  const { net, tokens, log } = parts;
  const open = new Map<string, Map<string, Open>>();
  const keyOf = ({ task, server }: McpHttpAt): string => `${task} ${server.name}`;
  const streamsOf = (at: McpHttpAt): Map<string, Open> => {
    const streams = open.get(keyOf(at)) ?? new Map<string, Open>();
    open.set(keyOf(at), streams);
    return streams;
  };

  const cancel = (streams: Map<string, Open>, id: string): void => {
    const stream = streams.get(id);
    streams.delete(id);
    if (stream !== undefined && !stream.over) stream.child.port.tell("cancel", { id: stream.id });
  };

  /** Checks a request's address. @throws Fault `refused`, `leaseRevoked` */
  const target = (at: McpHttpAt, url: string): URL => {
    const { launch, name } = at.server;
    const base = launch.kind === "http" ? new URL(launch.url) : undefined;
    const to = URL.canParse(url) ? new URL(url) : undefined;
    if (
      base === undefined || to === undefined || to.origin !== base.origin ||
      to.username !== "" || to.password !== ""
    ) {
      const where = to === undefined ? "" : to.origin;
      log.note(at, "proxied", { allowed: false, host: where || url.slice(0, 200) });
      throw new Fault(
        "refused",
        `Cannot ask ${JSON.stringify(where)}: "${name}" reaches its own origin and no other`,
      );
    }
    const scope = mcpNet(name, mcpHostOf(to.href));
    if (parts.isLeased(at.task, scope)) return to;
    throw new Fault("leaseRevoked", `Cannot ask "${name}": its lease on ${to.origin} has ended`);
  };

  const send = async (
    at: McpHttpAt,
    asked: McpHttp,
    { url, given }: { readonly url: URL; readonly given: SecretHeaders },
  ): Promise<{ readonly head: z.infer<typeof Head>; readonly stream: Open }> => {
    const sends = sentBytes({
      ...{ method: asked.method, url: url.href, headers: asked.headers, body: asked.body ?? "" },
    });
    await parts.uses?.take({ task: at.task }, { egressBytes: sends }, `ask "${at.server.name}"`);
    const child = await net.provide();
    const id = net.freshId();
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(asked.headers)) {
      const lower = name.toLowerCase();
      if (ALLOWED.test(lower)) headers[lower] = value;
    }
    const sent: NetStream = {
      ...{ id, method: asked.method, url: url.href, headers: { ...headers, ...given.headers } },
      ...(asked.body === undefined ? {} : { body: asked.body }),
      // The operator named exactly this origin, so it may be a private address.
      allow: [{ origin: url.origin, named: true }],
      ...{ requestBytes: REQUEST_BYTES, responseBytes: RESPONSE_BYTES },
      ...{ headMs: HEAD_MS, idleMs: IDLE_MS },
    };
    const { secrets } = given;
    const stream: Open = {
      ...{ id, child, secrets, filter: makeSecretFilter(secrets), ahead: undefined, over: false },
    };
    streamsOf(at).set(asked.id, stream);
    try {
      const head = Head.parse(await child.port.ask("stream", toJson(sent)));
      return { head, stream };
    } catch (error) {
      streamsOf(at).delete(asked.id);
      const code = error instanceof Fault ? error.code : "upstream";
      log.note(at, "proxied", { method: asked.method, failed: code, host: url.host });
      if (!(error instanceof Fault)) {
        throw new Fault("upstream", "Cannot use the net service's answer: it does not parse", {
          cause: error,
        });
      }
      throw new Fault(code === "gone" ? "upstream" : code, hidden(error.message, secrets));
    }
  };

  const dropped = (at: McpHttpAt, id: string): void => cancel(streamsOf(at), id);

  return Object.freeze<McpHttpService>({
    async http(at, body): Promise<Json> {
      // TRUST: from a bridge, which reads a stranger's bytes.
      const asked = parsed(McpHttp, body);
      const streams = streamsOf(at);
      if (streams.has(asked.id)) {
        throw new Fault("conflict", "Cannot make a request: its id is under way");
      }
      if (streams.size >= MAX_STREAMS) {
        throw new Fault("rateLimited", `Cannot make a request: ${MAX_STREAMS} are under way`);
      }
      const url = target(at, asked.url);
      let given = await tokens.headers(at.server);
      let { head, stream } = await send(at, asked, { url, given });
      if (head.status === 401 && await tokens.renew(at.server, given)) {
        dropped(at, asked.id);
        target(at, asked.url);
        given = await tokens.headers(at.server);
        ({ head, stream } = await send(at, asked, { url, given }));
      }
      const { status } = head;
      log.note(at, "proxied", { method: asked.method, status, host: url.host });
      if (status >= 300 && status < 400 && status !== 304) {
        dropped(at, asked.id);
        throw new Fault(
          "refused",
          `Cannot ask "${at.server.name}": it redirects elsewhere, which is never followed`,
        );
      }
      stream.ahead = nextOf(stream);
      const answer: McpHttpAnswer = { status, headers: head.headers };
      return withoutSecrets(toJson(answer), stream.secrets);
    },
    async httpRead(at, body): Promise<Json> {
      const { id } = parsed(Named, body);
      const streams = streamsOf(at);
      const stream = streams.get(id);
      if (stream === undefined) {
        throw new Fault("unknownCapability", "Cannot read an answer: there is none of this id");
      }
      for (;;) {
        if (stream.over) {
          streams.delete(id);
          return { bytes: "" };
        }
        const piece = stream.ahead ?? nextOf(stream);
        stream.ahead = undefined;
        const { bytes } = parsed(Piece, await piece);
        if (bytes === "") stream.over = true;
        else stream.ahead = nextOf(stream);
        const passed = bytes === ""
          ? stream.filter.end()
          : stream.filter.pass(Uint8Array.fromBase64(bytes));
        // An empty piece means the end, so a piece that the filter holds back completely waits for the next one
        if (passed.length > 0) return { bytes: passed.toBase64() };
      }
    },
    httpCancel(at, body): void {
      cancel(streamsOf(at), parsed(Named, body).id);
    },
    ended(at): void {
      const streams = open.get(keyOf(at));
      open.delete(keyOf(at));
      for (const id of streams?.keys() ?? []) cancel(streams ?? new Map(), id);
    },
  });
}

function nextOf({ child, id }: Open): Promise<Json> {
  const piece = child.port.ask("streamRead", { id });
  // A reader gets the failure by awaiting the piece; an abandoned stream has no reader.
  piece.catch(() => undefined);
  return piece;
}

interface Parser<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

function parsed<T>(schema: Parser<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Fault("badFrame", "Cannot serve a bridge: what it asks does not parse");
}
