/** Cuts a damaged log back to its last intact seal; only on explicit command. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { BlobRow, DocumentWrite, Store } from "../../contracts/task/store.ts";
import { sha256Hex } from "../../port/digest.ts";
import {
  type Item,
  makeVerifier,
  type ReadItem,
  type VerifyOptions,
  type VerifyReport,
} from "./verifier.ts";
import { type LogPowers, openLog } from "./log.ts";
import { privateDigest } from "./private.ts";
import { KERNEL_CHAIN } from "./seal.ts";
import type { Signer } from "./signer.ts";
import { storeItems, verifyLog } from "./verify.ts";

/** A store whose documents can all be listed. */
interface CopyableStore extends Store {
  documentKinds(): Promise<readonly string[]>;
}

/** Input of a repair. `store` is only read; `fresh` must be empty. */
interface RepairParts extends LogPowers {
  readonly store: CopyableStore;
  readonly fresh: Store;
  readonly signer: Signer;
  /** Document kinds that are rebuilt from events and not copied. */
  readonly projections?: readonly string[];
  /** Copies an intact log, too, where something beside it is damaged. */
  readonly anyhow?: boolean;
}

/** The result of a repair. */
interface RepairReport {
  /** False when the log was intact: then `fresh` is still empty. */
  readonly repaired: boolean;
  /** The check of the log before the repair. */
  readonly found: VerifyReport;
  /** Number of events kept, and of readable events after them that were cut. */
  readonly kept: number;
  readonly cut: number;
  /** Number of contents that did not match their events and were dropped. */
  readonly contentsDropped: number;
  /** Document kinds that could not be read completely. */
  readonly documentsLost: readonly string[];
  /** Head of the repaired log. */
  readonly head: Digest;
}

const MAX_DOCUMENTS = 10_000_000;

function isCorrupt(error: unknown): boolean {
  return error instanceof Fault && error.code === "storeCorrupt";
}

/** Drops contents that do not match their event; the event itself stays valid without its content. */
async function* withoutFalseContent(
  items: AsyncIterable<ReadItem>,
  dropped: (digest: Digest) => void,
): AsyncGenerator<ReadItem> {
  for await (const item of items) {
    if ("unreadable" in item) {
      yield item;
      continue;
    }
    const { event, content } = item;
    const digest = privateDigest(event.body);
    const good = digest === undefined || content.kind === "absent" ||
      (content.kind === "present" && sha256Hex(content.salt, content.bytes) === digest);
    if (good) yield item;
    else {
      dropped(digest);
      yield { event, content: { kind: "absent" } };
    }
  }
}

async function countAfter(store: Store, seq: number): Promise<number> {
  let count = 0;
  try {
    for (let after = seq;;) {
      const events = await store.events({ afterSeq: after });
      const last = events.at(-1);
      if (last === undefined) return count;
      count += events.length;
      after = Math.max(after + 1, last.seq);
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return count;
  }
}

async function copyDocuments(
  { store: from, fresh: to, projections = [] }: RepairParts,
): Promise<readonly string[]> {
  const lost: string[] = [];
  try {
    for (const kind of await from.documentKinds()) {
      if (projections.includes(kind)) continue;
      try {
        const rows = await from.documents({ kind, limit: MAX_DOCUMENTS });
        const documents = rows.map(({ id, task, body }): DocumentWrite => ({
          kind,
          id,
          task,
          expect: 0,
          body,
        }));
        await to.commit({ events: [], blobs: [], documents });
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        lost.push(kind);
      }
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    lost.push("*");
  }
  return lost;
}

/**
 * Copies everything up to the last intact seal into `fresh`, with the documents, and appends a
 * `repaired` event to the kernel's chain that names what was cut. The damaged store is not changed;
 * the caller replaces it by `fresh` and keeps the old one. Documents start again at version 1. An
 * intact log that is too short for a stored head is not repaired: a lost tail cannot be restored.
 * @throws Fault `storeFull` or `storeCorrupt` for `fresh`, `alreadyExists` when it is not empty.
 */
export async function repairTail(parts: RepairParts): Promise<RepairReport> {
  const { store, fresh, signer } = parts;
  const { publicKey } = signer;
  const found = await verifyLog({ store, publicKey });
  const { bad } = found;
  if (bad === undefined && parts.anyhow !== true) {
    const { events: kept, head } = found;
    const nothing = { cut: 0, contentsDropped: 0, documentsLost: [] };
    return Object.freeze({ repaired: false, found, kept, head, ...nothing });
  }
  const dropped: Digest[] = [];
  const items = withoutFalseContent(storeItems(store), (digest) => dropped.push(digest));
  const copied = await copyIntact(items, { to: fresh, publicKey });
  const documentsLost = await copyDocuments(parts);
  const cut = await countAfter(store, copied.lastSeal);
  const log = await openLog({ ...parts, store: fresh });
  await log.append(KERNEL_CHAIN, [{
    kind: "repaired",
    body: {
      ...(bad === undefined ? {} : { flaw: bad.flaw, at: bad.seq }),
      kept: copied.events,
      cut,
      contentsDropped: dropped.length,
      documentsLost,
      from: copied.head,
    },
  }]);
  return Object.freeze({
    repaired: true,
    found,
    kept: copied.events,
    cut,
    contentsDropped: dropped.length,
    documentsLost,
    head: log.head(),
  });
}

function blobOf({ event, content }: Item): readonly BlobRow[] {
  const digest = privateDigest(event.body);
  if (digest === undefined || content.kind !== "present") return [];
  return [{ task: event.task, digest, salt: content.salt, bytes: content.bytes }];
}

/**
 * Checks `items` and writes each intact group to `to`, up to the first bad event.
 * @throws Fault `alreadyExists` when `to` holds a log.
 */
async function copyIntact(
  items: AsyncIterable<ReadItem>,
  { to, ...options }: VerifyOptions & { readonly to: Store },
): Promise<VerifyReport> {
  if ((await to.events({ limit: 1 })).length > 0) {
    throw new Fault("alreadyExists", "Cannot copy log: the store it should go to holds one");
  }
  const verifier = makeVerifier(options);
  for await (const item of items) {
    const group = verifier.feed(item);
    if (group.length > 0) {
      const events = group.map(({ event: { seq: _seq, ...row } }) => row);
      await to.commit({ events, blobs: group.flatMap(blobOf), documents: [] });
    }
    if (verifier.stopped()) break;
  }
  return verifier.end();
}
