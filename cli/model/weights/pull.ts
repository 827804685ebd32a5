/** A model of the catalogue comes into the store: fetched, checked, pinned. @module */
import { join } from "node:path";
import { Fault } from "../../../contracts/mod.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import type { ModelHands } from "../hands.ts";
import { downloadFile, dropPartial, onBytesOf } from "./download.ts";
import { headerOf, pinnedNow, progress, type WeightsParts } from "./pin.ts";
import { needSignature } from "./signature.ts";
import { findWeights, listWeights, putWeights, type StoredWeights } from "./store.ts";

/** What pulling takes. */
export interface PullParts extends Omit<WeightsParts, "models"> {
  readonly models: Pick<ModelHands, "weights" | "http">;
}

const SLACK = 1.25;

/** Adds what to do to a fault that came from the way to the server. */
function withAdvice(error: unknown, { name, url }: CatalogueEntry): unknown {
  if (!(error instanceof Fault)) return error;
  const again = `  once it can be reached: remit model pull ${name}`;
  const without = `  without internet: bring the file from ${url}\n` +
    `  on another way, then: remit model add FILE.gguf --name ${name}`;
  if (error.code === "cancelled") {
    return new Fault(
      "cancelled",
      `Cannot finish pulling "${name}": cancelled; "remit model pull ${name}" goes on from there`,
      { cause: error },
    );
  }
  if (error.code !== "upstream" && error.code !== "notFound") return error;
  return new Fault(
    error.code,
    `Cannot pull "${name}": ${error.message.replace(/^Cannot /, "cannot ")}\n${again}\n${without}`,
    { cause: error },
  );
}

/**
 * Pulls an entry of the catalogue. Either the store has it whole and checked afterwards, or it has
 * nothing of it.
 *
 * @throws Fault `alreadyExists`, `conflict` while another pull of it is under way, `refused` when size, digest or signature are not what was said,
 * `upstream` or `cancelled` when it broke off (the next pull goes on), `notFound`, `storeFull`
 */
export async function pullWeights(
  parts: PullParts,
  entry: CatalogueEntry,
  signal: AbortSignal,
): Promise<StoredWeights> {
  const { disk, models, places } = parts;
  if (findWeights(disk, places, entry.name) !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot pull "${entry.name}": the store has weights of that name; ` +
        `check them with "remit model verify ${entry.name}"`,
    );
  }
  const { sha256, signature } = entry;
  if (sha256 !== undefined && entry.bytes !== undefined) {
    needSignature(entry.name, { sha256, bytes: entry.bytes, signature }, parts.modelKeys);
  }
  const partial = join(places.models, `.partial-${entry.name}`);
  const release = models.weights.hold(`${partial}.lock`);
  if (release === undefined) {
    throw new Fault(
      "conflict",
      `Cannot pull "${entry.name}": another pull of it is under way; wait for it or end it`,
    );
  }
  try {
    const bytes = await fetched(parts, entry, { partial, signal });
    return await takeIn(parts, entry, { partial, bytes });
  } finally {
    release();
  }
}

async function fetched(
  { disk, models, screen }: PullParts,
  entry: CatalogueEntry,
  { partial, signal }: { readonly partial: string; readonly signal: AbortSignal },
): Promise<number> {
  try {
    return await downloadFile({ disk, models }, {
      url: entry.url,
      partial,
      bytes: entry.bytes,
      most: entry.bytes ?? Math.ceil(entry.about * SLACK),
      onBytes: onBytesOf((total) => progress(screen, "fetching", total || entry.about)),
      signal,
    });
  } catch (error) {
    throw withAdvice(error, entry);
  } finally {
    screen.hint("");
  }
}

async function takeIn(
  parts: PullParts,
  entry: CatalogueEntry,
  { partial, bytes }: { readonly partial: string; readonly bytes: number },
): Promise<StoredWeights> {
  const { disk, models, places, screen } = parts;
  const wrong = (why: string): Fault =>
    new Fault(
      "refused",
      `Cannot take "${entry.name}" in: ${why}; nothing of it was kept. ` +
        "Do not use this source until you know why",
    );
  try {
    const { architecture } = headerOf(models.weights, partial, wrong);
    const sha256 = await models.weights.hash(partial, {
      onBytes: progress(screen, "checking", bytes),
    });
    screen.hint("");
    if (entry.sha256 !== undefined && sha256 !== entry.sha256) {
      throw wrong(`its sha256 is ${sha256}, and the catalogue says ${entry.sha256}`);
    }
    needSignature(entry.name, { sha256, bytes, signature: entry.signature }, parts.modelKeys);
    const same = listWeights(disk, places).find((each) => each.sha256 === sha256);
    if (same !== undefined) {
      throw new Fault(
        "alreadyExists",
        `Cannot pull "${entry.name}": the store has these weights as "${same.name}"`,
      );
    }
    return putWeights({ disk, places, weights: models.weights }, partial, {
      version: 1,
      name: entry.name,
      sha256: sha256 as StoredWeights["sha256"],
      bytes,
      licence: entry.licence,
      source: entry.url,
      ...(entry.signature === undefined ? {} : { signature: entry.signature }),
      pinned: pinnedNow(parts.around),
      architecture,
      ...(entry.contextTokens === undefined ? {} : { contextTokens: entry.contextTokens }),
      ...(entry.dialect === undefined ? {} : { dialect: entry.dialect }),
    });
  } finally {
    // Whole and in the store, or wrong: there is nothing to go on with.
    dropPartial(disk, partial);
  }
}
