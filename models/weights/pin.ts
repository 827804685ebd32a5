/** `gguf:PATH`: the first use pins the file's digest; later uses with other bytes are refused. @module */
import { basename, join } from "node:path";
import { type GgufHeader, readGgufHeader } from "../../contracts/model/gguf_header.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import type {
  EntryFiles,
  OnBytes,
  WeightsDisk,
  WeightsOwner,
  WeightsPlace,
  WeightsReport,
  WeightsStat,
} from "./powers.ts";
import {
  findPin,
  freeName,
  listWeights,
  needSignature,
  putWeights,
  type StoredWeights,
  type WeightsSignature,
  writePin,
} from "./store.ts";

/** Powers for adding weights. */
export interface WeightsParts {
  readonly disk: EntryFiles;
  readonly models: { readonly weights: WeightsDisk };
  readonly places: WeightsPlace;
  readonly environment: WeightsOwner;
  readonly screen: WeightsReport;
  /** Ed25519 public keys (hex) that remit.yaml trusts. */
  readonly modelKeys: readonly string[];
}

/** A size for display: "1.12 GB". */
export function bytesText(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  let [value, unit] = [bytes, 0];
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[unit] ?? ""}`;
}

/** Makes a progress display over `total` bytes, one hint per percent. */
export function progress(
  screen: Pick<WeightsReport, "hint">,
  what: string,
  total: number,
): OnBytes {
  let last = -1;
  return (done) => {
    const percent = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100));
    if (percent === last) return;
    last = percent;
    screen.hint(`  ${what}  ${percent} %  ${bytesText(done)} of ${bytesText(total)}`);
  };
}

/** The person and time of a pin. */
export function pinnedNow(environment: WeightsParts["environment"]): StoredWeights["pinned"] {
  const by = (environment.env("USER") ?? `uid-${environment.uid}`).slice(0, 128);
  return { by, at: new Date(environment.now()).toISOString() };
}

/** Reads the header of a file; throws `refused` unless the file is a complete GGUF file. */
export function headerOf(
  weights: Pick<WeightsDisk, "reading">,
  path: string,
  refused: (why: string) => Fault,
): GgufHeader {
  try {
    return weights.reading(path, readGgufHeader);
  } catch (error) {
    throw error instanceof Fault ? refused(error.message.replace(/^Cannot[^:]*: /, "")) : error;
  }
}

/**
 * Copies a file into the store, whole or not at all. Weights that are already stored keep their entry.
 *
 * @throws Fault `notFound`, `invalidInput` unless the file is a complete GGUF file, `refused` for an invalid
 * signature, `storeFull`
 */
export async function addWeights(
  parts: WeightsParts,
  path: string,
  as: {
    readonly name?: string | undefined;
    readonly licence?: string | undefined;
    readonly signature?: WeightsSignature | undefined;
  },
): Promise<
  { readonly entry: StoredWeights; readonly added: boolean; readonly header: GgufHeader }
> {
  const { disk, models, places, screen } = parts;
  const found = statOf(parts, path);
  const header = headerOf(models.weights, path, (why) =>
    new Fault(
      "invalidInput",
      `Cannot use "${path}": ${why}; local models come as whole GGUF files, version 2 or 3`,
    ));
  const draft = join(places.models, `.draft-${parts.environment.id("w")}`);
  const copied = await models.weights.copy(path, draft, {
    onBytes: progress(screen, "copying weights into the store", found.bytes),
  });
  screen.hint("");
  try {
    const known = listWeights(disk, places).find(({ sha256 }) => sha256 === copied.sha256);
    if (known !== undefined && as.signature === undefined) {
      return { entry: known, added: false, header };
    }
    needSignature(
      as.name ?? basename(path),
      { ...copied, signature: as.signature },
      parts.modelKeys,
    );
    const entry: StoredWeights = {
      version: 1,
      name: known?.name ?? as.name ?? freeName(disk, places, basename(path)),
      sha256: copied.sha256 as StoredWeights["sha256"],
      bytes: copied.bytes,
      licence: (as.licence ?? header.licence ?? "unknown").slice(0, 256),
      source: path,
      ...(as.signature === undefined ? {} : { signature: as.signature }),
      pinned: pinnedNow(parts.environment),
      architecture: header.architecture,
    };
    return {
      entry: putWeights({ disk, places, weights: models.weights }, draft, entry),
      added: true,
      header,
    };
  } finally {
    disk.remove(draft);
  }
}

function statOf({ models }: WeightsParts, path: string): WeightsStat {
  const found = models.weights.stat(path);
  if (found !== undefined) return found;
  throw new Fault(
    "notFound",
    `Cannot use model "gguf:${path}": there is no such file; ` +
      '"remit model pull" gets one, "remit model list" shows what is there',
  );
}

/**
 * The stored weights of a path. The first use copies them into the store and pins the path.
 *
 * @throws Fault `refused` if the file changed since it was pinned; those of {@link addWeights}
 */
export async function pinnedWeights(parts: WeightsParts, path: string): Promise<StoredWeights> {
  const { disk, models, places, screen } = parts;
  const found = statOf(parts, path);
  const pin = findPin(disk, places, path);
  const entry = listWeights(disk, places).find(({ sha256 }) => sha256 === pin?.sha256);
  if (pin === undefined || entry === undefined) {
    const { entry: taken, added } = await addWeights(parts, path, {});
    writePin(disk, places, path, { sha256: taken.sha256, ...found });
    const where = displayText(path, { max: 300 });
    screen.say(`  pinned ${where}: from now on it means exactly these bytes`);
    screen.say(`    sha256 ${taken.sha256}, ${bytesText(taken.bytes)}`);
    screen.say(
      added
        ? `    copied into the store as "${taken.name}", licence ${
          displayText(taken.licence, { max: 80 })
        }`
        : `    the store had them as "${taken.name}"`,
    );
    return taken;
  }
  if (found.mark === pin.mark) return entry;
  const sha256 = await models.weights.hash(path, {
    onBytes: progress(screen, "the file was touched: comparing it", found.bytes),
  });
  screen.hint("");
  if (sha256 !== pin.sha256) {
    throw new Fault(
      "refused",
      `Cannot use model "gguf:${path}": the file has changed since you pinned it\n` +
        `  pinned ${pin.sha256}\n  now    ${sha256}\n` +
        `  the old weights:     --model ${entry.name}\n` +
        `  to take the new ones: remit model remove ${entry.name}, and use the path again`,
    );
  }
  writePin(disk, places, path, { sha256: pin.sha256, ...found });
  return entry;
}
