/**
 * Performs the gateway's requests for peers within what remit.yaml gives them. TRUST: the gateway
 * may be hostile, and peers are. Only the credential decides whose request it is; only remit.yaml
 * decides profile, folders, model and limits. contracts/wire/wire_a2a.ts.
 * @module
 */
import * as z from "zod";
import { type Label, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import {
  Fault,
  type FaultCode,
  type Json,
  toJson,
  toJsonObject,
} from "../../contracts/base/mod.ts";
import {
  type Exchange,
  type ExchangeEvent,
  ExchangeId,
  type PeerSend,
  type PushConfig,
} from "../../contracts/exchange/mod.ts";
import type { PeerConfig } from "../../contracts/policy/mod.ts";
import type { Ingress, TaskRequest } from "../../contracts/task/mod.ts";
import {
  PeerCredential,
  type PeerHolder,
  PeerList,
  PeerSay,
  PeerWatchAsk,
  PushAsk,
} from "../../contracts/wire/mod.ts";
import { parseAsked } from "../hosts/mod.ts";
import { readTraceparent, type TraceLink } from "../trace/mod.ts";
import type { KnownPeer } from "./credential.ts";
import type { PeerWatch, PeerWatches } from "./watches.ts";

/** Codes that peers may learn, in words that reveal nothing else; others are `unavailable`. */
const WORDS: Readonly<Partial<Record<FaultCode, string>>> = {
  denied: "Cannot let the peer in: its credential is not known",
  notFound: "Cannot find the task: there is none of that name",
  conflict: "Cannot do that: the task's state does not allow it",
  rateLimited: "Cannot take more now: try again later",
  budgetExhausted: "Cannot take more now: try again later",
  invalidInput: "Cannot take the request: it does not parse",
  tooLarge: "Cannot take the request: it is too large",
  refused: "Cannot do that: it is not offered to this peer",
};

/** Runs `work`; turns a fault into one that a peer may learn, and notes any other. */
async function inPeerWords<T>(
  work: () => Promise<T>,
  note: (text: string) => void,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const words = WORDS[error.code];
    const code = error.code === "budgetExhausted" ? "rateLimited" : error.code;
    if (words === undefined) note(`a peer was not served: ${error.message}`);
    throw words === undefined
      ? new Fault("unavailable", "Cannot serve the peer now: try again later", { cause: error })
      : new Fault(code, words, { cause: error });
  }
}

/** UTF-16 units of an exchange that passes whole; the pipe takes 12 MiB. */
const MAX_EXCHANGE = 3_500_000;

/**
 * An exchange that fits through the gateway's pipe: above the limit without its history, and if
 * still above without its artifacts.
 */
export function fitting(exchange: Json): Json {
  if (typeof exchange !== "object" || exchange === null || Array.isArray(exchange)) return exchange;
  let fits: Json = exchange;
  for (const part of ["history", "artifacts"]) {
    if (JSON.stringify(fits).length <= MAX_EXCHANGE) return fits;
    fits = { ...fits, [part]: [] };
  }
  return fits;
}

const MAX_OPEN = 16;
const MAX_PER_DAY = 200;
const MAX_PER_MINUTE = 600;
const CLEARANCE: Label = "public";
/** The request of a task where remit.yaml names none. */
const REQUEST = "A peer sent you the message below. Answer it.";
/** The agent of a peer for which remit.yaml names none. */
const PLAIN_AGENT = "agent";

/** Makes the tasks of one peer, as remit.yaml settles them. */
export interface PeerTasks {
  request(
    text: string,
    by: Ingress & { readonly session: SessionId; readonly interactive: boolean },
  ): TaskRequest;
}

/** The powers of {@link makePeerMediator}. */
export interface PeerMediatorParts {
  /** The peer that a credential proves; undefined for every wrong one. */
  whose(token: string | null): Promise<KnownPeer | undefined>;
  settled(peer: string): PeerTasks;
  /** The card for a peer, or the public one. */
  card(peer: KnownPeer | undefined): Json;
  ask(op: string, body: Json): Promise<Json>;
  readonly watches: PeerWatches;
  tell(op: "exchange", body: Json): void;
  /** Throws `unavailable` while the service shuts down. */
  takesMore(): void;
  note(text: string): void;
  now(): number;
  id(prefix: string): string;
  /** Called when a peer's task began on behalf of another trace. */
  began?(task: TaskId, link: TraceLink): void;
}

/** Serves the ops `a2a…` of a gateway. */
export interface PeerMediator {
  /** Undefined for an op that is not a peer's. */
  ask(op: string, body: Json): Promise<Json> | undefined;
  /** Handles `a2aUnwatch`; returns false for any other op. */
  tell(op: string, body: Json): boolean;
  /** Ends everything that this gateway watches. */
  close(): void;
}

const Token = z.object({ token: PeerCredential }).strict();
const One = z.object({ token: PeerCredential, exchange: ExchangeId }).strict();
const Watch = One.extend({ watch: PeerWatchAsk.shape.id, progress: z.boolean() }).strict();
const Unwatch = z.object({ watch: z.string().max(128) }).strict();

export function makePeerMediator(parts: PeerMediatorParts): PeerMediator {
  /** Streams of this gateway, by the gateway's names. */
  const watching = new Map<string, symbol>();

  const admit = async (token: string | null): Promise<KnownPeer> => {
    const peer = await parts.whose(token);
    if (peer === undefined) throw new Fault("denied", "Cannot let the peer in: not known");
    return peer;
  };
  const of = async (body: Json, op: string): Promise<Json> => {
    const { token, exchange } = parseAsked(One, body);
    const { name } = await admit(token);
    return fitting(await parts.ask(op, { peer: name, exchange }));
  };

  const send = async (body: Json): Promise<Json> => {
    const { token, message, push, watch, trace, ...more } = parseAsked(PeerSay, body);
    const { name, config } = await admit(token);
    parts.takesMore();
    if (push !== undefined) mayPush(push, config.push);
    const sent: Omit<PeerSend, "watch"> = {
      ...more,
      peer: name,
      agent: config.agent ?? PLAIN_AGENT,
      message: { ...message, role: "peer", at: parts.now() },
      accept: config.accept ?? "ask",
      request: parts.settled(name).request(config.request ?? REQUEST, {
        ...{ channel: "a2a", principal: `peer:${name}`, colour: "RED", label: "public" },
        ...{ session: SessionId.parse(parts.id("s")), interactive: true },
      }),
      clearance: config.clearance ?? CLEARANCE,
      most: { open: config.open ?? MAX_OPEN, perDay: config.perDay ?? MAX_PER_DAY },
      ...(push === undefined ? {} : { push }),
    };
    const asked = toJsonObject(sent);
    // A continued exchange was begun on behalf of another trace, or of none.
    const link = more.exchange === undefined ? readTraceparent(trace) : undefined;
    if (watch === undefined) {
      const stood = await parts.ask("peerSend", asked);
      if (link !== undefined) began(stood, link);
      return fitting(stood);
    }
    const stood = await followed(
      watch.id,
      () => parts.watches.send(watcher(watch, config), asked),
    );
    if (link !== undefined) began(stood, link);
    return fitting(stood);
  };

  /** A message that waits for approval has no task yet, so its trace is not kept. */
  const began = (exchange: Json, link: TraceLink): void => {
    const task = TaskId.safeParse(Object(exchange).task);
    if (task.success) parts.began?.(task.data, link);
  };

  const watcher = ({ id, progress }: PeerWatchAsk, config: PeerConfig): PeerWatch => ({
    ...{ id, progress: progress && config.progress === true },
    tell: (event) => parts.tell("exchange", { watch: id, event: fittingEvent(event) }),
  });

  /** Registers a stream before it exists: the gateway may end it, or disappear, meanwhile. */
  const followed = async (id: string, begin: () => Promise<Exchange>): Promise<Json> => {
    if (watching.has(id)) {
      throw new Fault("conflict", "Cannot watch the exchange: the stream's name is taken");
    }
    const own = Symbol(id);
    watching.set(id, own);
    try {
      return toJson(await begin());
    } catch (error) {
      if (watching.get(id) === own) watching.delete(id);
      throw error;
    }
  };

  const watch = async (body: Json): Promise<Json> => {
    const { token, exchange, watch: id, progress } = parseAsked(Watch, body);
    const { name, config } = await admit(token);
    return fitting(
      await followed(
        id,
        () => parts.watches.begin(watcher({ id, progress }, config), { peer: name, exchange }),
      ),
    );
  };

  const push = async (body: Json): Promise<Json> => {
    const { token, exchange, op } = parseAsked(PushAsk, body);
    const { name, config } = await admit(token);
    if ((config.push ?? []).length === 0) {
      throw new Fault("refused", "Cannot deliver: remit.yaml names no origin for this peer");
    }
    if (op.kind === "set") mayPush(op.config, config.push);
    return await parts.ask("peerPush", toJson({ peer: name, exchange, op }));
  };

  const ops: Readonly<Record<string, (body: Json) => Promise<Json>>> = {
    async a2aCard(body) {
      const { token } = parseAsked(Token, body);
      return parts.card(token === null ? undefined : await admit(token));
    },
    async a2aAdmit(body) {
      const { name, config } = await admit(parseAsked(Token, body).token);
      const holder: PeerHolder = {
        peer: name,
        perMinute: config.perMinute ?? MAX_PER_MINUTE,
        progress: config.progress === true,
        push: (config.push ?? []).length > 0,
      };
      return toJson(holder);
    },
    a2aSend: send,
    a2aGet: (body) => of(body, "peerGet"),
    a2aCancel: (body) => of(body, "peerCancel"),
    async a2aList(body) {
      const { token, query } = parseAsked(PeerList, body);
      const { name } = await admit(token);
      return await parts.ask("peerList", toJson({ ...query, peer: name }));
    },
    a2aWatch: watch,
    a2aPush: push,
  };

  return Object.freeze<PeerMediator>({
    ask(op, body): Promise<Json> | undefined {
      const serve = Object.hasOwn(ops, op) ? ops[op] : undefined;
      return serve === undefined ? undefined : inPeerWords(() => serve(body), parts.note);
    },
    tell(op, body): boolean {
      if (op !== "a2aUnwatch") return false;
      const { watch: id } = parseAsked(Unwatch, body);
      if (watching.delete(id)) parts.watches.end(id);
      return true;
    },
    close(): void {
      for (const id of watching.keys()) parts.watches.end(id);
      watching.clear();
    },
  });
}

function fittingEvent(event: ExchangeEvent): Json {
  return event.kind === "state"
    ? { ...event, exchange: fitting(toJson(event.exchange)) }
    : toJson(event);
}

/** Throws `refused` for an address that remit.yaml does not name for this peer. */
export function mayPush(config: Pick<PushConfig, "url">, origins: readonly string[] = []): void {
  const url = URL.canParse(config.url) ? new URL(config.url) : undefined;
  const fits = url !== undefined && url.username === "" && url.password === "" &&
    origins.some((each) => URL.canParse(each) && new URL(each).origin === url.origin);
  if (!fits) {
    throw new Fault("refused", "Cannot deliver there: remit.yaml does not name the origin");
  }
}
