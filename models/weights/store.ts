/**
 * The store of weights: STATE/models/SHA256.gguf beside SHA256.json, and pinned paths in pins.json. Agents
 * have no access: the folder belongs to the state.
 * @module
 */
import { join } from "node:path";
import { Digest } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { Dialect } from "../../contracts/model/mod.ts";
import type { EntryFiles, WeightsDisk, WeightsPlace } from "./powers.ts";
import { createPublicKey, verify } from "node:crypto";
import * as z from "zod";

/** A signature of weights: key and signature in hex. */
export const WeightsSignature = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  value: z.string().regex(/^[0-9a-f]{128}$/),
}).strict();
export type WeightsSignature = z.infer<typeof WeightsSignature>;

/** The signed values. */
export interface SignedWeights {
  readonly sha256: string;
  readonly bytes: number;
}

/** The signed text. */
export function signedText({ sha256, bytes }: SignedWeights): string {
  return `remit-weights-v1\n${sha256}\n${bytes}\n`;
}

/** No signature, by a trusted key, by an unknown key, or invalid. */
export type WeightsSigned = "none" | "known" | "unknown" | "wrong";

/** Checks a signature against the trusted keys of remit.yaml (hex). */
export function checkWeights(
  weights: SignedWeights & { readonly signature?: WeightsSignature | undefined },
  modelKeys: readonly string[],
): WeightsSigned {
  const { signature } = weights;
  if (signature === undefined) return "none";
  const x = Uint8Array.fromHex(signature.key).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
  let holds: boolean;
  try {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    const text = new TextEncoder().encode(signedText(weights));
    holds = verify(null, text, key, Uint8Array.fromHex(signature.value));
  } catch (error) {
    // 32 bytes that are not a point of the curve.
    if (!(error instanceof Error)) throw error;
    holds = false;
  }
  if (!holds) return "wrong";
  return modelKeys.includes(signature.key) ? "known" : "unknown";
}

/**
 * Refuses weights with an invalid signature, or one by a key that remit.yaml does not name.
 *
 * @throws Fault `refused` with advice
 */
export function needSignature(
  name: string,
  weights: SignedWeights & { readonly signature?: WeightsSignature | undefined },
  modelKeys: readonly string[],
): WeightsSigned {
  const signed = checkWeights(weights, modelKeys);
  if (signed === "wrong") {
    throw new Fault(
      "refused",
      `Cannot use weights "${name}": their signature is wrong; ` +
        `"remit model remove ${name}", and get them again from who signed them`,
    );
  }
  if (signed === "unknown") {
    throw new Fault(
      "refused",
      `Cannot use weights "${name}": they are signed by a key that remit.yaml does not name; ` +
        `if you trust it, add "modelKeys: [${weights.signature?.key ?? ""}]"`,
    );
  }
  return signed;
}

/** Names of weights: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`. */
export const WeightsName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);

/** The entry of weights in the store. */
export const StoredWeights = z.object({
  version: z.literal(1),
  name: WeightsName,
  sha256: Digest,
  bytes: z.int().min(1).max(64_000_000_000),
  /** From the file or the catalogue; "unknown" without either. */
  licence: z.string().max(256),
  /** A URL, or an absolute path. */
  source: z.string().max(4_096),
  signature: WeightsSignature.optional(),
  /** Who pinned the weights, and when (ISO 8601). */
  pinned: z.object({ by: z.string().max(128), at: z.string().max(64) }).strict(),
  architecture: z.string().max(64).optional(),
  contextTokens: z.int().min(1).max(100_000_000).optional(),
  dialect: z.array(Dialect).max(3).optional(),
}).strict();
export type StoredWeights = z.infer<typeof StoredWeights>;

const Pins = z.object({
  version: z.literal(1),
  /** Absolute path → the file when it was pinned. */
  paths: z.record(
    z.string().max(4_096),
    z.object({ sha256: Digest, bytes: z.int(), mark: z.string().max(256) }).strict(),
  ),
}).strict();
type Pins = z.infer<typeof Pins>;
/** A pinned file. */
export type Pin = Pins["paths"][string];

type Disk = EntryFiles;
type DiskRead = Pick<EntryFiles, "read" | "list">;
type DiskWrite = Pick<EntryFiles, "write" | "remove">;
type Where = WeightsPlace;

const PINS = "pins.json";
const ENTRY = /^[0-9a-f]{64}\.json$/;

/** Path of the weights in the store. */
export function weightsPath(places: Where, sha256: string): string {
  return join(places.models, `${sha256}.gguf`);
}

function readEntry(disk: DiskRead, path: string): StoredWeights {
  const bytes = disk.read(path);
  const damaged = (cause?: unknown): Fault =>
    new Fault(
      "storeCorrupt",
      `Cannot read "${path}": it is damaged; remove it and its .gguf, and get the weights again`,
      { cause },
    );
  if (bytes === undefined) throw damaged();
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw damaged(cause);
  }
  const parsed = StoredWeights.safeParse(value);
  if (!parsed.success || !path.endsWith(`${parsed.data.sha256}.json`)) {
    throw damaged(parsed.error);
  }
  return parsed.data;
}

/** All entries, sorted by name. Throws `storeCorrupt` naming the damaged entry. */
export function listWeights(disk: DiskRead, places: Where): readonly StoredWeights[] {
  return disk.list(places.models).filter((name) => ENTRY.test(name))
    .map((name) => readEntry(disk, join(places.models, name)))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The weights of a name; undefined for none. */
export function findWeights(
  disk: DiskRead,
  places: Where,
  name: string,
): StoredWeights | undefined {
  return listWeights(disk, places).find((each) => each.name === name);
}

/** An unused name: `wanted`, or `wanted` with a number. */
export function freeName(disk: DiskRead, places: Where, wanted: string): string {
  const taken = new Set(listWeights(disk, places).map(({ name }) => name));
  const plain = wanted.replace(/\.gguf$/i, "").replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "").slice(0, 56) || "model";
  for (let n = 1;; n++) {
    const name = n === 1 ? plain : `${plain}-${n}`;
    if (!taken.has(name)) return name;
  }
}

/**
 * Moves a finished file into the store under its digest. The entry is written last: weights without one do not exist.
 */
export function putWeights(
  parts: { readonly disk: Disk; readonly weights: WeightsDisk; readonly places: Where },
  draft: string,
  entry: StoredWeights,
): StoredWeights {
  const known = StoredWeights.parse(entry);
  parts.weights.keep(draft, weightsPath(parts.places, known.sha256));
  writeEntry(parts.disk, parts.places, known);
  return known;
}

function writeEntry(disk: DiskWrite, places: Where, entry: StoredWeights): void {
  const path = join(places.models, `${entry.sha256}.json`);
  disk.write(path, `${JSON.stringify(entry, null, 2)}\n`, { mode: 0o600 });
}

/** Removes weights from the store, with every path pinned to them. */
export function dropWeights(disk: Disk, places: Where, { sha256 }: StoredWeights): void {
  const pins = readPins(disk, places);
  const kept = Object.entries(pins.paths).filter(([, pin]) => pin.sha256 !== sha256);
  writePins(disk, places, { version: 1, paths: Object.fromEntries(kept) });
  disk.remove(join(places.models, `${sha256}.json`));
  disk.remove(weightsPath(places, sha256));
}

function readPins(disk: DiskRead, places: Where): Pins {
  const path = join(places.models, PINS);
  const bytes = disk.read(path);
  if (bytes === undefined) return { version: 1, paths: {} };
  try {
    return Pins.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new Fault(
      "storeCorrupt",
      `Cannot read "${path}": it is damaged; remove it, and pin the files again by using them`,
      { cause },
    );
  }
}

function writePins(disk: DiskWrite, places: Where, pins: Pins): void {
  disk.write(join(places.models, PINS), `${JSON.stringify(pins, null, 2)}\n`, { mode: 0o600 });
}

/** The pin of a path; undefined for none. */
export function findPin(disk: DiskRead, places: Where, path: string): Pin | undefined {
  return Object.entries(readPins(disk, places).paths).find(([each]) => each === path)?.[1];
}

/** Pins a path. */
export function writePin(disk: Disk, places: Where, path: string, pin: Pin): void {
  const { paths } = readPins(disk, places);
  writePins(disk, places, { version: 1, paths: { ...paths, [path]: pin } });
}
