/** What the gateway asks its starter for peers, webhooks and the page. contracts/wire_a2a.ts. @module */
import * as z from "zod";
import {
  HookAnswer,
  type HookCall,
  type Json,
  type PageAnswer,
  type PageAsk,
  PageView,
  PeerHolder,
  type Port,
  toJson,
} from "../contracts/mod.ts";

/** The starter, as these routes see it. Faults are as wire_a2a.ts lists them. */
export interface ServiceAsks {
  a2aAdmit(token: string): Promise<PeerHolder>;
  hook(call: HookCall): Promise<HookAnswer>;
  /** Opens a session with a one-time code. */
  pageOpen(code: string): Promise<PageSession>;
  pageView(ask: PageAsk): Promise<PageView>;
  pageAnswer(said: PageAnswer): Promise<void>;
  pageClose(session: string): Promise<void>;
  ready(): Promise<{ readonly ready: boolean; readonly why: string }>;
  metrics(): Promise<string>;
  jwks(): Promise<string>;
}

const PageSession = z.object({
  /** What a person's browser shows from now on: 256 bits that nobody guesses. */
  session: z.string().regex(/^[A-Za-z0-9_-]{32,128}$/),
  /** Milliseconds since 1970. */
  expiresAt: z.int().min(0).max(8.64e15),
}).strict();
/** A person's session at the page. */
export type PageSession = z.infer<typeof PageSession>;

const Ready = z.object({ ready: z.boolean(), why: z.string().max(2_000) }).strict();
const Text = z.object({ text: z.string().max(4_000_000) }).strict();
const Keys = z.object({ keys: z.string().max(262_144) }).strict();

/** Makes it over a port. */
export function makeServiceAsks(port: Pick<Port, "ask">): ServiceAsks {
  const ask = (op: string, body: object | null): Promise<Json> => port.ask(op, toJson(body));
  return Object.freeze<ServiceAsks>({
    a2aAdmit: async (token) => PeerHolder.parse(await ask("a2aAdmit", { token })),
    hook: async (call) => HookAnswer.parse(await ask("hook", call)),
    pageOpen: async (code) => PageSession.parse(await ask("pageOpen", { code })),
    pageView: async (asked) => PageView.parse(await ask("pageView", asked)),
    pageAnswer: async (said) => void await ask("pageAnswer", said),
    pageClose: async (session) => void await ask("pageClose", { session }),
    ready: async () => Ready.parse(await ask("ready", null)),
    metrics: async () => Text.parse(await ask("metrics", null)).text,
    jwks: async () => Keys.parse(await ask("jwks", null)).keys,
  });
}
