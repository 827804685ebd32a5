/**
 * The gateway's connection to its starter: sessions of MCP hosts, peers, webhooks, the page.
 * contracts/wire/wire_serve.ts, contracts/wire/wire_a2a.ts.
 * @module
 */
import * as z from "zod";
import { Fault, type Json, type Port, toJson } from "../../contracts/base/mod.ts";
import { ToolDescriptor } from "../../contracts/tool/mod.ts";
import {
  FleetAnswer,
  HookAnswer,
  type HookCall,
  type PageAnswer,
  type PageAsk,
  PageView,
  PeerHolder,
  ServeHolder,
  ServeResult,
  ServeSession,
} from "../../contracts/wire/mod.ts";

/** How long a call may take, and who receives its progress. */
export interface Life {
  readonly signal: AbortSignal;
  onProgress(text: string): void;
  readonly waitMs: number;
}

/** A session with the starter. */
export interface StarterSession {
  readonly info: ServeSession;
  tools(): Promise<readonly ToolDescriptor[]>;
  call(
    asked: { readonly call: string; readonly tool: string; readonly args: Json },
    life: Life,
  ): Promise<ServeResult>;
  task(
    asked: { readonly call: string; readonly request: string; readonly agent?: string },
    life: Life,
  ): Promise<ServeResult>;
  answer(
    said: { readonly call: string; readonly question: string; readonly allow: boolean },
  ): Promise<void>;
  onTools(listener: () => void): () => void;
  /** Calls `listener` once when the starter has ended the session. */
  onGone(listener: () => void): void;
  end(): Promise<void>;
}

/** The starter, as the hosts' protocols use it. */
export interface Starter {
  /** The holder of a token. Rejects `denied`. */
  admit(token: string): Promise<ServeHolder>;
  open(
    host: {
      readonly token: string | null;
      readonly client: { readonly name: string; readonly version: string };
    },
  ): Promise<StarterSession>;
  note(text: string): void;
  /** Receives what the starter tells. */
  heard(op: string, body: Json): void;
}

interface Live {
  readonly calls: Map<string, (text: string) => void>;
  readonly tools: Set<() => void>;
  readonly gone: Set<() => void>;
}

const Told = z.object({
  session: z.string(),
  call: z.string().optional(),
  text: z.string().optional(),
});

/** Asks a starter over its port. */
export function makeStarter(port: Pick<Port, "ask" | "tell">): Starter {
  const live = new Map<string, Live>();

  const during = async (
    op: "call" | "task",
    session: string,
    asked: { readonly call: string },
    life: Life,
  ): Promise<ServeResult> => {
    const { signal } = life;
    const calls = live.get(session)?.calls;
    if (calls === undefined) throw new Fault("gone", "Cannot call: the session is over");
    const cancel = (): void => port.tell("cancel", { session, call: asked.call });
    if (signal.aborted) throw new Fault("cancelled", "Cannot call: it was cancelled");
    signal.addEventListener("abort", cancel, { once: true });
    calls.set(asked.call, life.onProgress);
    try {
      const body = toJson({ session, ...asked, waitMs: life.waitMs });
      return ServeResult.parse(await port.ask(op, body));
    } finally {
      calls.delete(asked.call);
      signal.removeEventListener("abort", cancel);
    }
  };

  return Object.freeze<Starter>({
    admit: async (token) => ServeHolder.parse(await port.ask("admit", { token })),
    async open(host): Promise<StarterSession> {
      const info = ServeSession.parse(await port.ask("session", toJson(host)));
      const { session } = info;
      const own: Live = { calls: new Map(), tools: new Set(), gone: new Set() };
      live.set(session, own);
      return Object.freeze<StarterSession>({
        info,
        tools: async () => z.array(ToolDescriptor).parse(await port.ask("tools", { session })),
        call: (asked, life) => during("call", session, asked, life),
        task: (asked, life) => during("task", session, asked, life),
        answer: async (said) => void await port.ask("answer", { session, ...said }),
        onTools(listener): () => void {
          own.tools.add(listener);
          return () => void own.tools.delete(listener);
        },
        onGone: (listener) => void own.gone.add(listener),
        async end(): Promise<void> {
          if (!live.delete(session)) return;
          await port.ask("sessionEnd", { session });
        },
      });
    },
    note: (text) => port.tell("note", { text: text.slice(0, 2_000) }),
    heard(op, body): void {
      const told = Told.safeParse(body);
      if (!told.success) return;
      const { session, call = "", text = "" } = told.data;
      const own = live.get(session);
      if (op === "progress") own?.calls.get(call)?.(text);
      if (op === "toolsChanged") { for (const listener of own?.tools ?? []) listener(); }
      if (op === "gone" && own !== undefined) {
        live.delete(session);
        for (const listener of own.gone) listener();
      }
    },
  });
}

const PageSession = z.object({
  /** The cookie's new value: 256 random bits. */
  session: z.string().regex(/^[A-Za-z0-9_-]{32,128}$/),
  /** Milliseconds since 1970. */
  expiresAt: z.int().min(0).max(8.64e15),
}).strict();
/** A person's session at the page. */
export type PageSession = z.infer<typeof PageSession>;

const Ready = z.object({ ready: z.boolean(), why: z.string().max(2_000) }).strict();
const Text = z.object({ text: z.string().max(4_000_000) }).strict();
const Keys = z.object({ keys: z.string().max(262_144) }).strict();

/** The starter, as peers, webhooks and the page use it. */
export type ServiceAsks = ReturnType<typeof makeServiceAsks>;

/**
 * Asks a starter over its port and parses every answer. Every function rejects with the faults of
 * contracts/wire/wire_a2a.ts.
 */
export function makeServiceAsks(port: Pick<Port, "ask">) {
  const ask = (op: string, body: object | null): Promise<Json> => port.ask(op, toJson(body));
  return Object.freeze({
    a2aAdmit: async (token: string) => PeerHolder.parse(await ask("a2aAdmit", { token })),
    hook: async (call: HookCall) => HookAnswer.parse(await ask("hook", call)),
    /** Opens a session with a one-time code. */
    pageOpen: async (code: string) => PageSession.parse(await ask("pageOpen", { code })),
    pageView: async (asked: PageAsk) => PageView.parse(await ask("pageView", asked)),
    async pageAnswer(said: PageAnswer): Promise<void> {
      await ask("pageAnswer", said);
    },
    async pageClose(session: string): Promise<void> {
      await ask("pageClose", { session });
    },
    ready: async () => Ready.parse(await ask("ready", null)),
    metrics: async () => Text.parse(await ask("metrics", null)).text,
    jwks: async () => Keys.parse(await ask("jwks", null)).keys,
    /** Asks all kernels for a person with a token. Rejects `denied` for a wrong token. */
    fleet: async (asked: { readonly token: string; readonly op: string; readonly body: Json }) =>
      FleetAnswer.parse(await ask("fleet", asked)),
  });
}
