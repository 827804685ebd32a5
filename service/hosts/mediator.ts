/**
 * Performs the gateway's requests within what its starter allows. TRUST: the gateway may be
 * hostile. It names sessions and calls; their profile, folders, wiki and clearance are decided
 * here. contracts/wire/wire_serve.ts.
 * @module
 */
import * as z from "zod";
import { Fault, type Json, type PortHandler, toJson } from "../../contracts/base/mod.ts";
import type { Profile } from "../../contracts/task/mod.ts";
import type { ToolDescriptor } from "../../contracts/tool/mod.ts";
import {
  ServeAnswer,
  ServeCall,
  type ServeHolder,
  ServeHost,
  type ServeResult,
  ServeTask,
} from "../../contracts/wire/mod.ts";

/** Parses a request of the gateway. Throws `invalidInput` without repeating any of it. */
export function parseAsked<T>(schema: z.ZodType<T>, body: Json): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    throw new Fault("invalidInput", "Cannot serve the gateway: what it asks does not parse");
  }
  return parsed.data;
}

/** Maximum sessions of one gateway. */
export const MAX_SESSIONS = 128;

/** A host's session, as the mediator holds it. */
export interface MediatedSession {
  /** What the gateway is told about the session. */
  readonly info: Json;
  tools(): Promise<readonly ToolDescriptor[]>;
  call(asked: ServeCall): Promise<ServeResult>;
  task(asked: ServeTask): Promise<ServeResult>;
  answer(said: ServeAnswer): Promise<void>;
  cancel(call: string): Promise<void>;
  close(): Promise<void>;
}

/** The powers of {@link makeMediator}. */
export interface MediatorParts {
  /** The holder of a token; undefined for a wrong token. `null` is the host over a pipe. */
  holderOf(token: string | null): ServeHolder | undefined;
  /** Opens a session under an id. */
  open(id: string, holder: ServeHolder): MediatedSession | Promise<MediatedSession>;
  /** A fresh, unguessable id. */
  id(): string;
  /** Bytes for the host of a pipe. */
  send(text: string): void;
  note(text: string): void;
}

/** The mediator of one gateway. */
export interface Mediator extends PortHandler {
  /** Ends all sessions. */
  close(): Promise<void>;
}

const Named = z.object({ session: z.string().max(64) }).strict();
const Token = z.object({ token: z.string().max(512) }).strict();
const Text = z.object({ text: z.string().max(2_000_000) }).strict();
const Cancel = z.object({ session: z.string().max(64), call: z.string().max(128) }).strict();

/** Makes the handler of a gateway's port. */
export function makeMediator(parts: MediatorParts): Mediator {
  const sessions = new Map<string, Promise<MediatedSession>>();
  let closed = false;

  const sessionOf = async (id: string): Promise<MediatedSession> => {
    const found = sessions.get(id);
    if (found === undefined) throw new Fault("gone", "Cannot go on: there is no such session");
    return await found;
  };
  const holderOf = (token: string | null): ServeHolder => {
    const holder = parts.holderOf(token);
    if (holder === undefined) {
      throw new Fault("denied", "Cannot let the host in: its token is not known");
    }
    return holder;
  };

  const open = async (body: Json): Promise<Json> => {
    const holder = holderOf(parseAsked(ServeHost, body).token);
    if (closed) throw new Fault("gone", "Cannot open a session: the gateway is ending");
    if (sessions.size >= MAX_SESSIONS) {
      throw new Fault("rateLimited", `Cannot open a session: there are ${MAX_SESSIONS}`);
    }
    const id = parts.id();
    const opening = Promise.resolve(parts.open(id, holder));
    sessions.set(id, opening);
    try {
      return (await opening).info;
    } catch (error) {
      sessions.delete(id);
      throw error;
    }
  };

  const serve = async (op: string, body: Json): Promise<Json> => {
    switch (op) {
      case "admit":
        return toJson(holderOf(parseAsked(Token, body).token));
      case "session":
        return await open(body);
      case "sessionEnd": {
        const { session } = parseAsked(Named, body);
        const found = sessions.get(session);
        sessions.delete(session);
        await (await found)?.close();
        return null;
      }
      case "tools":
        return toJson(await (await sessionOf(parseAsked(Named, body).session)).tools());
      case "call": {
        const asked = parseAsked(ServeCall, body);
        return toJson(await (await sessionOf(asked.session)).call(asked));
      }
      case "task": {
        const asked = parseAsked(ServeTask, body);
        return toJson(await (await sessionOf(asked.session)).task(asked));
      }
      case "answer": {
        const said = parseAsked(ServeAnswer, body);
        await (await sessionOf(said.session)).answer(said);
        return null;
      }
      case "send":
        parts.send(parseAsked(Text, body).text);
        return null;
      default:
        throw new Fault("badFrame", `Cannot serve the gateway: it asks "${op.slice(0, 32)}"`);
    }
  };

  return Object.freeze<Mediator>({
    ask: serve,
    tell(op, body): void {
      if (op === "note") return parts.note(parseAsked(Text, body).text);
      if (op !== "cancel") {
        throw new Fault("badFrame", "Cannot serve the gateway: it tells what there is not");
      }
      const { session, call } = parseAsked(Cancel, body);
      // The call may have ended meanwhile.
      sessions.get(session)?.then((found) => found.cancel(call)).catch((error: unknown) => {
        if (!(error instanceof Fault)) throw error;
      });
    },
    async close(): Promise<void> {
      closed = true;
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.allSettled(all.map(async (each) => (await each).close()));
    },
  });
}

/** Whether a host that comes over a network address may have this profile. */
export function mayHave(
  profile: Profile,
  listen: { readonly hostname: string } | undefined,
): boolean {
  return profile !== "operator" || listen === undefined ||
    ["127.0.0.1", "::1", "localhost"].includes(listen.hostname);
}
