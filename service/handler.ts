/** Answers what the gateway of `remit serve` asks. TRUST: the gateway may be hostile. @module */
import { type Mediator, parseAsked } from "./hosts/mod.ts";
import type { PeerMediator } from "./peer/mod.ts";
import * as z from "zod";
import {
  type HookAnswer,
  HookCall,
  type Json,
  PageAnswer,
  PageAsk,
  type PageView,
  type PortHandler,
  toJson,
} from "../contracts/mod.ts";

/** The page, as the gateway asks for it. Faults: contracts/wire_a2a.ts. */
export interface ServedPage {
  open(code: string): Promise<{ readonly session: string; readonly expiresAt: number }>;
  view(ask: PageAsk): Promise<PageView>;
  answer(said: PageAnswer): Promise<void>;
  /** Logs out. */
  leave(session: string): void;
}

/** What a gateway's requests are passed to; an absent part is not served. */
export interface ServiceHandlerParts {
  readonly mcp: Mediator;
  readonly peers?: PeerMediator | undefined;
  readonly page?: ServedPage | undefined;
  hook?: ((call: HookCall) => Promise<HookAnswer>) | undefined;
  /** Undefined while everything is served; else why not. */
  unready(): string | undefined;
  metrics?: (() => Promise<string>) | undefined;
  /** JSON text of the set of keys that sign. */
  readonly keySet: string;
  /** Is told of each request: `mcp`, `a2a`, `hooks`, `page`. */
  counted(surface: string): void;
  /** Is told of each answered request, and how many milliseconds it took. */
  took(surface: string, ms: number): void;
  /** Milliseconds. */
  now(): number;
  /** Throws `unavailable` while the service ends. */
  takesMore(): void;
}

/** A handler that counts the requests under way. */
export interface ServiceHandler extends PortHandler {
  /** Requests that are not answered yet. */
  under(): number;
  close(): Promise<void>;
}

const Code = z.object({ code: z.string().max(128) }).strict();
const Session = z.object({ session: z.string().max(128) }).strict();
/** Ops of MCP that begin something. */
const BEGINS: ReadonlySet<string> = new Set(["session", "call", "task"]);

/** The surface of an op; undefined for an op of no request. */
function surfaceOf(op: string): string | undefined {
  if (op.startsWith("a2a")) return op === "a2aAdmit" ? undefined : "a2a";
  if (op.startsWith("page")) return "page";
  if (op === "hook") return "hooks";
  return BEGINS.has(op) ? "mcp" : undefined;
}

/** Makes the handler of one gateway. */
export function makeServiceHandler(parts: ServiceHandlerParts): ServiceHandler {
  const { mcp, peers, page, hook, metrics } = parts;
  let under = 0;

  const own: Readonly<Record<string, (body: Json) => Promise<Json>>> = {
    ready() {
      const why = parts.unready();
      return Promise.resolve({ ready: why === undefined, why: why ?? "" });
    },
    jwks: () => Promise.resolve({ keys: parts.keySet }),
    ...(metrics === undefined ? {} : { metrics: async () => ({ text: await metrics() }) }),
    ...(hook === undefined ? {} : {
      async hook(body: Json) {
        const call = parseAsked(HookCall, body);
        parts.takesMore();
        return toJson(await hook(call));
      },
    }),
    ...(page === undefined ? {} : {
      pageOpen: async (body: Json) => toJson(await page.open(parseAsked(Code, body).code)),
      pageView: async (body: Json) => toJson(await page.view(parseAsked(PageAsk, body))),
      async pageAnswer(body: Json) {
        await page.answer(parseAsked(PageAnswer, body));
        return null;
      },
      pageClose(body: Json) {
        page.leave(parseAsked(Session, body).session);
        return Promise.resolve(null);
      },
    }),
  };

  const serve = (op: string, body: Json): Promise<Json> => {
    const mine = Object.hasOwn(own, op) ? own[op] : undefined;
    const answer = mine?.(body) ?? peers?.ask(op, body);
    if (answer !== undefined) return answer;
    if (BEGINS.has(op)) parts.takesMore();
    return Promise.resolve(mcp.ask(op, body));
  };

  return Object.freeze<ServiceHandler>({
    async ask(op, body): Promise<Json> {
      under += 1;
      const surface = surfaceOf(op);
      const since = parts.now();
      if (surface !== undefined) parts.counted(surface);
      try {
        return await serve(op, body);
      } finally {
        under -= 1;
        if (surface !== undefined) parts.took(surface, parts.now() - since);
      }
    },
    tell(op, body): void {
      if (peers?.tell(op, body) === true) return;
      mcp.tell(op, body);
    },
    under: () => under,
    async close(): Promise<void> {
      peers?.close();
      await mcp.close();
    },
  });
}
