/** What peers meet: their credentials, their cards, their exchanges. One for a service, a mediator for each gateway. @module */
import { type Json, type TaskId, toJson } from "../../../contracts/mod.ts";
import type { Command } from "../../command.ts";
import type { KernelLink } from "../../hands.ts";
import type { LoginService } from "../../mcp/registry/login/login.ts";
import { makeLoginNet } from "../../mcp/registry/login/net.ts";
import type { Signer } from "../../key/person_key_powers.ts";
import { VERSION } from "../../version.ts";
import { makeCard, signCard } from "./card.ts";
import { openCardTimes } from "./card_times.ts";
import type { ServiceConfig } from "../../config/serve.ts";
import { type KeyFetch, makeKeySets } from "./key_sets.ts";
import type { TraceLink } from "../trace/otlp.ts";
import { type KnownPeer, makePeerDoor } from "./door.ts";
import { makePeerMediator, type PeerMediator } from "./mediator.ts";
import { openPeerTokens } from "./tokens.ts";
import { makePeerWatches } from "./watches.ts";
import { type PushCount, type Pushes, startPushes } from "./pushes.ts";
import { detachedJws } from "./service_key.ts";
import type { ServiceSetting } from "../setting/setting.ts";

/** What remit.yaml says of peers. */
export interface PeerRules {
  readonly config: Pick<ServiceConfig, "peers" | "serve">;
  readonly setting: Pick<ServiceSetting, "settled">;
}

/** What it is made of. */
export interface PeerFrontParts extends PeerRules {
  readonly command: Command;
  /** A connection of its own: what is watched is told on it. */
  readonly link: KernelLink;
  readonly signer: Signer;
  /** Where others reach us. */
  url(): string;
  takesMore(): void;
  /** JSON text of an exchange, as the gateway renders it. */
  render(exchange: Json): Promise<string>;
  note(text: string): void;
  /** A peer's task began on behalf of another's trace. */
  began(task: TaskId, link: TraceLink): void;
}

/** The front. */
export interface PeerFront {
  mediator(tell: (op: "exchange", body: Json) => void): PeerMediator;
  /** Puts other rules in force, for what is asked from now on. */
  replace(rules: PeerRules): void;
  /** Deliveries to peers since the start. */
  counts(): Readonly<Record<PushCount, number>>;
  close(): Promise<void>;
}

/** Opens it; deliveries that are due go out. */
export function openPeerFront(parts: PeerFrontParts): PeerFront {
  const { command, link, signer } = parts;
  const { hands, places } = command;
  const now = (): number => hands.around.now();
  const net = keyNet(command);
  const proofs = {
    ...{ now, tokens: openPeerTokens({ disk: hands.disk, places }) },
    keys: makeKeySets({ fetch: net, now }),
  };
  const doorOf = ({ peers }: PeerRules["config"]): ReturnType<typeof makePeerDoor> =>
    makePeerDoor({ ...proofs, peers });
  let { config, setting } = parts;
  let whose = doorOf(config);
  const watches = makePeerWatches(link.ask);
  const made = openCardTimes(hands.disk, places);
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
        ...{ serve: config.serve, url, push, version: VERSION },
        ...(peer === undefined ? {} : { peer: peer.config }),
      }),
      signer,
      url,
    );
    const answer = toJson({ ...signed, modified: made(signed.etag, now()) });
    cards.set(name, answer);
    return answer;
  };
  const counts: Record<PushCount, number> = { tried: 0, delivered: 0, givenUp: 0 };
  let pushes: Pushes | undefined;
  /** Once a peer may be delivered to; where none may any more, what is due is given up. */
  const deliver = (): void => {
    if (pushes !== undefined || !anyPush()) return;
    pushes = startPushes({
      ...{ ask: link.ask, now, note: parts.note, render: parts.render },
      origins: (peer) => config.peers[peer]?.push ?? [],
      sign: (text) => detachedJws(text, signer),
      after: hands.service.after,
      random: hands.service.random,
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
        id: hands.around.id,
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
      await net.close();
    },
  });
}

/** Fetches issuers' documents with a net service of its own, which is started when the first is wanted. */
function keyNet({ hands }: Command): KeyFetch & { close(): Promise<void> } {
  let service: Promise<LoginService> | undefined;
  const close = async (): Promise<void> => {
    const held = service;
    service = undefined;
    await held?.then((each) => each.close(), () => undefined);
  };
  return Object.freeze({
    close,
    async get(url: URL, issuer: URL) {
      service ??= hands.login.start();
      try {
        return await makeLoginNet((await service).link, issuer).get(url);
      } catch (error) {
        // Another one is started for the next.
        await close();
        throw error;
      }
    },
  });
}
