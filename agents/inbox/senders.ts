/** What is remembered of senders: whether they are muted, and how far what they follow from was delivered. @module */
import {
  type DocumentWrite,
  Fault,
  type MutedSender,
  Sender,
  type Store,
} from "../../contracts/mod.ts";

const KIND = "inboxSender";
/** Senders that are loaded, and boxes of one whose floor is remembered. */
const MOST = 10_000;
const BOXES = 64;

/** Writes documents, durable when it resolves. */
export type WriteDocuments = (documents: readonly DocumentWrite[]) => Promise<void>;

/** What is known of senders. */
export interface Senders {
  muted(): readonly MutedSender[];
  isMuted(sender: Sender): boolean;
  /** Throws `denied`. */
  checkMuted(sender: Sender): void;
  mute(sender: Sender, why: string, since: number): Promise<void>;
  unmute(sender: Sender): Promise<void>;
  /** Place of the newest parent of a delivered message there; -1 when there was none. */
  floor(sender: Sender, where: string): number;
  /** Raises it. */
  raise(sender: Sender, where: string, place: number): Promise<void>;
}

interface Known {
  readonly version: number;
  readonly muted?: { readonly why: string; readonly since: number };
  readonly floors: Readonly<Record<string, number>>;
}

const NOTHING: Known = { version: 0, floors: {} };

function readKnown(version: number, body: Readonly<Record<string, unknown>>): Known {
  const { why, since, floors } = body;
  const kept = Object.entries(typeof floors === "object" && floors !== null ? floors : {})
    .flatMap(([box, place]) => typeof place === "number" ? [[box, place] as const] : []);
  return {
    version,
    floors: Object.fromEntries(kept),
    ...(typeof why === "string" && typeof since === "number" ? { muted: { why, since } } : {}),
  };
}

/** Loads what earlier kernels remembered. */
export async function openSenders(
  store: Pick<Store, "documents">,
  write: WriteDocuments,
): Promise<Senders> {
  const known = new Map<Sender, Known>();
  for (const { id, version, body } of await store.documents({ kind: KIND, limit: MOST })) {
    const sender = Sender.safeParse(id);
    if (sender.success) known.set(sender.data, readKnown(version, body));
  }
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: each replaces the version that the one before it wrote. */
  const change = (sender: Sender, to: (now: Known) => Omit<Known, "version">): Promise<void> => {
    const done = last.then(async () => {
      const before = known.get(sender) ?? NOTHING;
      const next = { ...to(before), version: before.version + 1 };
      await write([{
        ...{ kind: KIND, id: sender, task: KIND, expect: before.version },
        body: { floors: next.floors, ...next.muted },
      }]);
      known.set(sender, next);
    });
    last = done.catch(() => undefined);
    return done;
  };

  return Object.freeze<Senders>({
    muted: () =>
      [...known].flatMap(([sender, { muted }]) =>
        muted === undefined ? [] : [{ sender, ...muted }]
      ),
    isMuted: (sender: Sender) => known.get(sender)?.muted !== undefined,
    checkMuted(sender: Sender): void {
      if (known.get(sender)?.muted === undefined) return;
      throw new Fault(
        "denied",
        `Cannot take a message of "${sender}": it is muted until its operator says: remit inbox unmute ${sender}`,
      );
    },
    mute: (sender: Sender, why: string, since: number) =>
      change(sender, ({ floors }) => ({ floors, muted: { why, since } })),
    unmute: async (sender: Sender) => {
      if (known.get(sender)?.muted === undefined) return;
      await change(sender, ({ floors }) => ({ floors }));
    },
    floor: (sender: Sender, where: string) => known.get(sender)?.floors[where] ?? -1,
    async raise(sender: Sender, where: string, place: number): Promise<void> {
      if ((known.get(sender)?.floors[where] ?? -1) >= place) return;
      await change(sender, ({ floors, muted }) => {
        const { [where]: _before, ...rest } = floors;
        const kept = Object.entries(rest).slice(-BOXES + 1);
        return {
          floors: { ...Object.fromEntries(kept), [where]: place },
          ...(muted === undefined ? {} : { muted }),
        };
      });
    },
  });
}
