/** Serves peers: one front for a service, one mediator for each gateway. Used by service/running_service.ts. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import type { PeerConfig, ServeConfig } from "../../contracts/policy/mod.ts";
import { detachedJws, makeCard, openCardTimes, type ServiceSigner, signCard } from "./card.ts";
import {
  type KeyFetch,
  type KnownPeer,
  makeKeySets,
  makePeerDoor,
  openPeerTokens,
} from "./credential.ts";
import type { PushCounts, TraceLink } from "../trace/mod.ts";
import type { TokenParts } from "../hosts/mod.ts";
import { makePeerMediator, type PeerMediator, type PeerTasks } from "./mediator.ts";
import { makePeerWatches } from "./watches.ts";
import { type Pushes, startPushes } from "./pushes.ts";

/** The parts of remit.yaml about peers. */
export interface PeerRules {
  readonly config: {
    readonly peers: Readonly<Record<string, PeerConfig>>;
    readonly serve: ServeConfig;
  };
  readonly setting: { settled(kind: "peer", name: string): PeerTasks };
}

/** The powers of {@link openPeerFront}, and its first rules. */
export interface PeerFrontParts extends PeerRules, TokenParts {
  /** A separate connection, on which the kernel reports watched exchanges. */
  readonly link: {
    ask(op: string, body: Json): Promise<Json>;
    onTell(listener: (op: string, body: Json) => void): void;
  };
  readonly signer: ServiceSigner;
  /** Fetches issuers' key sets. */
  readonly keys: KeyFetch & { close(): Promise<void> };
  readonly version: string;
  /** The address for peers. */
  url(): string;
  /** Throws `unavailable` while the service shuts down. */
  takesMore(): void;
  /** JSON text of an exchange, as the gateway renders it. */
  render(exchange: Json): Promise<string>;
  /** Milliseconds since 1970. */
  now(): number;
  id(prefix: string): string;
  after(ms: number, run: () => void): () => void;
  /** A number from 0 to 1. */
  random(): number;
  note(text: string): void;
  /** Notes that a peer's task began, for the trace that its message named. */
  began(task: TaskId, link: TraceLink): void;
}

/** Peers as the service serves them. */
export interface PeerFront {
  mediator(tell: (op: "exchange", body: Json) => void): PeerMediator;
  /** Applies other rules to all later requests of peers. */
  replace(rules: PeerRules): void;
  /** Deliveries to peers since the start. */
  counts(): PushCounts;
  close(): Promise<void>;
}

/** Begins to serve peers; deliveries that are due go out. */
export function openPeerFront(parts: PeerFrontParts): PeerFront {
  const { link, signer, now, version } = parts;
  const proofs = {
    ...{ now, tokens: openPeerTokens(parts) },
    keys: makeKeySets({ fetch: parts.keys, now }),
  };
  const doorOf = ({ peers }: PeerRules["config"]): ReturnType<typeof makePeerDoor> =>
    makePeerDoor({ ...proofs, peers });
  let { config, setting } = parts;
  let whose = doorOf(config);
  const watches = makePeerWatches(link.ask);
  const made = openCardTimes(parts.disk, parts.places.person);
  const cards = new Map<string, Json>();
  const anyPush = (): boolean =>
    Object.values(config.peers).some(({ push = [] }) => push.length > 0);
  const card = (peer: KnownPeer | undefined): Json => {
    const name = peer?.name ?? "";
    const found = cards.get(name);
    if (found !== undefined) return found;
    const url = parts.url();
    const push = peer === undefined ? anyPush() : (peer.config.push ?? []).length > 0;
    const signed = signCard(
      makeCard({
        ...{ serve: config.serve, url, push, version },
        ...(peer === undefined ? {} : { peer: peer.config }),
      }),
      signer,
      url,
    );
    const answer = toJson({ ...signed, modified: made(signed.etag, now()) });
    cards.set(name, answer);
    return answer;
  };
  const counts = { tried: 0, delivered: 0, givenUp: 0 };
  let pushes: Pushes | undefined;
  /** Starts deliveries once some peer may receive them. */
  const deliver = (): void => {
    if (pushes !== undefined || !anyPush()) return;
    pushes = startPushes({
      ...{ ask: link.ask, now, note: parts.note, render: parts.render },
      origins: (peer) => config.peers[peer]?.push ?? [],
      sign: (text) => detachedJws(text, signer),
      ...{ after: parts.after, random: parts.random },
      counted: (what) => void (counts[what] += 1),
    });
  };
  deliver();
  link.onTell((op, body) => {
    if (op === "exchange") watches.hear(body);
    else if (op === "peerDue") pushes?.wake();
  });
  return Object.freeze<PeerFront>({
    mediator: (tell) =>
      makePeerMediator({
        ...{ card, watches, tell, now, ask: link.ask },
        whose: (token) => whose(token),
        settled: (name) => setting.settled("peer", name),
        ...{ takesMore: parts.takesMore, note: parts.note, began: parts.began },
        id: parts.id,
      }),
    replace(rules): void {
      ({ config, setting } = rules);
      whose = doorOf(config);
      cards.clear();
      deliver();
    },
    counts: () => ({ ...counts }),
    async close(): Promise<void> {
      await pushes?.stop();
      await parts.keys.close();
    },
  });
}
