/**
 * A starter for the kit and for our own tests of the protocol: exchanges in memory that do what the id of a message says
 * (`tck-input-required-…`), with the same requests, answers and refusals as `remit serve`. Everything that is asked and
 * answered goes through JSON and the contracts' own schemas.
 */
import type * as z from "zod";
import {
  Exchange,
  type ExchangeEvent,
  type ExchangeState,
  type PeerArtifact,
  type PeerMessage,
  type PeerPart,
  type PushConfig,
} from "../../contracts/exchange/exchange.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { type Json, toJson } from "../../contracts/base/json.ts";
import { PeerList, PeerSay, PushAsk } from "../../contracts/wire/wire_a2a.ts";

/** One thing that an executor does. */
export type Step =
  | {
    readonly do: "state";
    readonly state: ExchangeState;
    readonly say?: string;
    readonly direct?: true;
  }
  | {
    readonly do: "artifact";
    readonly id: string;
    readonly part: PeerPart;
    readonly append?: boolean;
    readonly last?: boolean;
  }
  | { readonly do: "progress"; readonly text: string }
  /** Nothing more until {@link FakeStarter.resume}. */
  | { readonly do: "wait" };

/** What messages whose id begins so do. */
export type Scenarios = Readonly<Record<string, readonly Step[]>>;

/** A starter in memory. */
export interface FakeStarter {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
  /** Who hears what it tells. */
  hear(listener: (op: string, body: Json) => void): void;
  /** Goes on with what waits, once something does. */
  resume(): Promise<void>;
  /** All exchanges of a peer, oldest first. */
  of(peer: string): readonly Exchange[];
  /** Watches that are open. */
  readonly watching: number;
  /** Requests so far, by op. */
  readonly asked: Readonly<Record<string, number>>;
  /** Called with each new state, as `remit serve` delivers it. */
  onChange?: (exchange: Exchange) => void;
}

/** A peer that it knows. */
export interface FakePeer {
  readonly peer: string;
  readonly push?: boolean;
  readonly progress?: boolean;
}

const FINAL: ReadonlySet<string> = new Set(["completed", "failed", "canceled", "rejected"]);

/** Makes one for these tokens. */
export function fakeStarter(setting: {
  readonly tokens: Readonly<Record<string, FakePeer>>;
  readonly scenarios: Scenarios;
  card(
    token: string | null,
  ): { readonly card: string; readonly etag: string; readonly modified: number };
  now(): number;
}): FakeStarter {
  const { tokens, scenarios, now } = setting;
  const rows = new Map<string, Exchange>();
  const watches = new Map<string, string>();
  const waiting: (() => void)[] = [];
  const asked: Record<string, number> = {};
  let listener: (op: string, body: Json) => void = () => undefined;
  let n = 0;

  const id = (letter: string): string => `${letter}${(++n).toString(36).padStart(24, "0")}`;
  const whose = (token: string | null): FakePeer => {
    const peer = token === null ? undefined : tokens[token];
    if (peer === undefined) throw new Fault("denied", "Cannot let the peer in");
    return peer;
  };
  const own = (token: string | null, exchange: string): Exchange => {
    const row = rows.get(exchange);
    if (row === undefined || row.peer !== whose(token).peer) {
      throw new Fault("notFound", "Cannot find the exchange");
    }
    return row;
  };

  const broadcast = (exchange: string, event: ExchangeEvent): void => {
    for (const [watch, name] of watches) {
      if (name === exchange) listener("exchange", toJson({ watch, event }));
    }
  };

  const change = (exchange: string, next: (row: Exchange) => Partial<Exchange>): Exchange => {
    const row = rows.get(exchange);
    if (row === undefined) throw new Error("there is no such exchange");
    const changed = Exchange.parse(toJson({
      ...row,
      ...next(row),
      version: row.version + 1,
      updatedAt: now(),
    }));
    rows.set(exchange, changed);
    return changed;
  };

  const set = (exchange: string, next: (row: Exchange) => Partial<Exchange>): void => {
    const changed = change(exchange, next);
    broadcast(exchange, { kind: "state", version: changed.version, exchange: changed });
    starter.onChange?.(changed);
  };

  const saying = (text: string | undefined): Partial<Exchange> =>
    text === undefined ? {} : { status: agentSays(id("s"), text, now()) };

  const play = (exchange: string, steps: readonly Step[]): void => {
    const [step, ...rest] = steps;
    const row = rows.get(exchange);
    if (step === undefined || row === undefined || FINAL.has(row.state)) return;
    const go = (): void => play(exchange, rest);
    switch (step.do) {
      case "wait":
        waiting.push(go);
        return;
      case "progress":
        broadcast(exchange, { kind: "progress", text: step.text });
        break;
      case "state":
        set(exchange, () => ({
          ...{ state: step.state, ...saying(step.say) },
          ...step.direct === true ? { direct: true as const } : {},
        }));
        break;
      case "artifact": {
        const { append = false, last = true, part } = step;
        const piece = artifactOf(step.id, part);
        const changed = change(exchange, ({ artifacts }) => ({
          artifacts: append
            ? artifacts.map((each) =>
              each.id === step.id ? { ...each, parts: [...each.parts, part] } : each
            )
            : [...artifacts, piece],
        }));
        broadcast(exchange, {
          ...{ kind: "artifact", version: changed.version, artifact: piece, append, last },
        });
        break;
      }
    }
    inAWhile(go);
  };

  const send = (body: Json): Exchange => {
    const said = PeerSay.parse(body);
    const { peer } = whose(said.token);
    const message: PeerMessage = { ...said.message, role: "peer", at: now() };
    const push = said.push === undefined ? [] : [said.push];
    const prefix = Object.keys(scenarios).toSorted((a, b) => b.length - a.length)
      .find((each) => message.id.startsWith(each)) ?? "";
    const steps = scenarios[prefix] ?? [];
    if (said.exchange !== undefined) {
      const row = own(said.token, said.exchange);
      if (said.context !== undefined && said.context !== row.context) {
        throw new Fault("invalidInput", "Cannot go on: the context is another");
      }
      if (FINAL.has(row.state)) throw new Fault("conflict", "Cannot go on: it is over");
      set(row.id, ({ history }) => ({ state: "working", history: [...history, message] }));
      inAWhile(() => play(row.id, steps));
      return own(said.token, row.id);
    }
    const row = Exchange.parse(toJson({
      ...{ id: id("x"), context: said.context ?? id("c"), peer, agent: "tester" },
      ...{ state: "submitted", entry: "m000000000001", history: [message], artifacts: [] },
      ...{ pushes: push, metadata: said.metadata, version: 1, createdAt: now(), updatedAt: now() },
    }));
    rows.set(row.id, row);
    inAWhile(() => play(row.id, steps));
    return row;
  };

  const list = (body: Json): unknown => {
    const { token, query } = PeerList.parse(body);
    const { peer } = whose(token);
    const all = [...rows.values()].filter((row) =>
      row.peer === peer && (query.context === undefined || row.context === query.context) &&
      (query.state === undefined || row.state === query.state) &&
      (query.since === undefined || row.updatedAt >= query.since)
    ).toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1));
    const at = query.page === undefined ? 0 : all.findIndex((row) => row.id === query.page) + 1;
    if (query.page !== undefined && at === 0) {
      throw new Fault("invalidInput", "Cannot list: no page");
    }
    const exchanges = all.slice(at, at + query.size);
    const next = at + query.size < all.length ? exchanges.at(-1)?.id ?? "" : "";
    return { exchanges, total: all.length, next };
  };

  const cancel = (token: string | null, exchange: string): Exchange => {
    const row = own(token, exchange);
    if (FINAL.has(row.state)) throw new Fault("conflict", "Cannot cancel: it is over");
    set(row.id, () => ({ state: "canceled" }));
    return own(token, exchange);
  };

  const push = (body: Json): readonly PushConfig[] => {
    const { token, exchange, op } = PushAsk.parse(body);
    const row = own(token, exchange);
    if (whose(token).push !== true) throw new Fault("refused", "Cannot deliver");
    const keep = (pushes: readonly PushConfig[]): void =>
      void change(row.id, () => ({ pushes: [...pushes] }));
    switch (op.kind) {
      case "set":
        keep([...row.pushes.filter((each) => each.id !== op.config.id), op.config]);
        return [op.config];
      case "get": {
        const found = row.pushes.filter((each) => each.id === op.id);
        if (found.length === 0) throw new Fault("notFound", "Cannot find the delivery");
        return found;
      }
      case "delete":
        keep(row.pushes.filter((each) => each.id !== op.id));
        return [];
      case "list":
        return row.pushes;
    }
  };

  const answer = (op: string, body: Json): unknown => {
    const read = body as { token: string | null; exchange: string; watch: string };
    switch (op) {
      case "a2aCard":
        if (read.token !== null) whose(read.token);
        return setting.card(read.token);
      case "a2aAdmit": {
        const { peer, push: pushes = false, progress = false } = whose(read.token);
        return { peer, perMinute: 1_000_000, progress, push: pushes };
      }
      case "a2aSend": {
        const row = send(body);
        const { watch } = PeerSay.parse(body);
        if (watch !== undefined) watches.set(watch.id, row.id);
        return row;
      }
      case "a2aGet":
        return own(read.token, read.exchange);
      case "a2aList":
        return list(body);
      case "a2aCancel":
        return cancel(read.token, read.exchange);
      case "a2aWatch": {
        const row = own(read.token, read.exchange);
        watches.set(read.watch, row.id);
        return row;
      }
      case "a2aPush":
        return push(body);
      default:
        throw new Fault("invalidInput", `Cannot serve "${op}"`);
    }
  };

  const starter: FakeStarter = {
    async ask(op, body): Promise<Json> {
      asked[op] = (asked[op] ?? 0) + 1;
      // As over a pipe: nothing is answered in the same turn.
      await Promise.resolve();
      return toJson(answer(op, toJson(body)));
    },
    tell(op, body): void {
      if (op === "a2aUnwatch") watches.delete((body as { watch: string }).watch);
    },
    hear: (given) => void (listener = given),
    async resume(): Promise<void> {
      while (waiting.length === 0) await Promise.resolve();
      for (const go of waiting.splice(0)) go();
    },
    of: (peer) => [...rows.values()].filter((row) => row.peer === peer),
    get watching(): number {
      return watches.size;
    },
    asked,
  };
  return starter;
}

/** Later than whoever is answered now needs to ask again, and without a clock. */
function inAWhile(then: () => void, turns = 64): void {
  queueMicrotask(() => turns === 0 ? then() : inAWhile(then, turns - 1));
}

/** Something that an agent says. */
function agentSays(
  id: string,
  text: string,
  at: number,
): z.input<typeof Exchange>["status"] & PeerMessage {
  return { id, role: "agent", parts: [{ kind: "text", text }], extensions: [], references: [], at };
}

function artifactOf(id: string, part: PeerPart): PeerArtifact {
  return { id, name: id, description: "", parts: [part] };
}
