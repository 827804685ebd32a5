/** Where a peer wants to be told of changes, and which of that is due. The deliveries are made by `remit serve`. @module */
import {
  Fault,
  type PeerDue,
  type PeerName,
  type PushAsk,
  type PushConfig,
} from "../../contracts/mod.ts";
import type { ExchangeHead, Push } from "./head.ts";
import type { ExchangeKeeper } from "./keeper.ts";
import type { ExchangeParts, Exchanges } from "./parts.ts";

/** Most places that one exchange tells. */
const MOST = 16;
const USUAL = 64;
/** Characters of contents of one answer; the rest is due still. */
const MOST_DUE = 16_000_000;

/** Keeps push configurations and how far they were served. */
export function makeExchangePushes(
  { keeper, need, powers }: Pick<ExchangeParts, "powers"> & {
    readonly keeper: ExchangeKeeper;
    need(
      ask: { readonly peer?: PeerName | undefined; readonly exchange: PushAsk["exchange"] },
    ): ExchangeHead;
  },
): Pick<Exchanges, "push" | "due" | "delivered"> {
  const write = async (before: ExchangeHead, pushes: readonly Push[]): Promise<void> =>
    void await keeper.write({ before, next: { ...before, pushes }, quiet: true });

  const isDue = (head: ExchangeHead, { delivered, again }: Push): boolean =>
    delivered < head.version && again <= powers.now();

  return Object.freeze({
    async push(ask): Promise<readonly PushConfig[]> {
      const { exchange, op } = ask;
      return await keeper.turn(exchange, async () => {
        const head = need(ask);
        const configs = head.pushes.map(({ config }) => config);
        if (op.kind === "list") return configs;
        if (op.kind === "get") {
          const found = configs.filter(({ id }) => id === op.id);
          if (found.length > 0) return found;
          throw new Fault("notFound", `Cannot find a push configuration "${op.id}" of ${exchange}`);
        }
        const without = (id: string) => head.pushes.filter(({ config }) => config.id !== id);
        if (op.kind !== "set") {
          const left = without(op.id);
          if (left.length < head.pushes.length) await write(head, left);
          return left.map(({ config }) => config);
        }
        const others = without(op.config.id);
        if (others.length >= MOST) {
          throw new Fault("tooLarge", `Cannot tell more than ${MOST} places of ${exchange}`);
        }
        const push = { config: op.config, delivered: head.version, attempt: 0, again: 0 };
        await write(head, [...others, push]);
        return [op.config];
      });
    },
    async due(limit = USUAL): Promise<readonly PeerDue[]> {
      const rows = [...keeper.list()].flatMap((head) =>
        head.pushes.flatMap((push) => isDue(head, push) ? [{ head, push }] : [])
      ).sort((a, b) => a.head.updatedAt - b.head.updatedAt).slice(0, limit);
      let room = MOST_DUE;
      const some = rows.filter(({ head: { bytes } }, n) =>
        (room -= bytes.theirs + bytes.ours) >= 0 || n === 0
      );
      return await Promise.all(some.map(async ({ head, push: { config, attempt } }) => ({
        exchange: await keeper.whole(head),
        ...{ config, attempt, version: head.version, event: null },
      })));
    },
    async delivered({ exchange, config, version, ok, again = 0 }): Promise<void> {
      await keeper.turn(exchange, async () => {
        const head = keeper.get(exchange);
        // Erased, or not wanted any more, while it was on its way.
        if (head?.pushes.some((push) => push.config.id === config) !== true) return;
        await write(
          head,
          head.pushes.map((push) =>
            push.config.id !== config ? push : ok
              ? {
                ...push,
                delivered: Math.max(push.delivered, Math.min(version, head.version)),
                attempt: 0,
                again: 0,
              }
              : { ...push, attempt: push.attempt + 1, again }
          ),
        );
      });
    },
  });
}

/** Tells whether a change of this exchange is to be told to anybody. */
export function tellsAnybody(head: ExchangeHead): boolean {
  return head.pushes.some(({ delivered }) => delivered < head.version);
}
