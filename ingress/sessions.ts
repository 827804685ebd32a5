/** Sessions of hosts, as the starter keeps them: what they ask goes over the port. @module */
import * as z from "zod";
import {
  Fault,
  type Json,
  type Port,
  ServeHolder,
  ServeResult,
  ServeSession,
  toJson,
  ToolDescriptor,
} from "../contracts/mod.ts";

/** How long a call lives, and who hears of it. */
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
  /** Calls `listener` once when the starter ended it. */
  onGone(listener: () => void): void;
  end(): Promise<void>;
}

/** What asks the starter. */
export interface Starter {
  /** Whose a token is. Rejects with `denied`. */
  admit(token: string): Promise<ServeHolder>;
  open(
    host: {
      readonly token: string | null;
      readonly client: { readonly name: string; readonly version: string };
    },
  ): Promise<StarterSession>;
  note(text: string): void;
  /** Hears what the starter tells. */
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

/** Makes the starter's side over a port. */
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
