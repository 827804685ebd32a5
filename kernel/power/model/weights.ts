/**
 * Weights for a model service, hashed while they are read, so that the checked bytes are the ones
 * that run. Used by services.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { WEIGHTS_PIECE } from "../../../contracts/wire/wire_model.ts";
import type { Port } from "../../../contracts/base/mod.ts";
import type { WeightsFile } from "./model_plan.ts";

/** Pieces of a file of at most `size` bytes, in order; undefined where there is no such file. */
export type ReadPieces = (
  path: string,
  size: number,
) => Promise<AsyncIterable<Uint8Array<ArrayBuffer>> | undefined>;

/** An incremental SHA-256. */
export interface Hash {
  update(bytes: Uint8Array): void;
  hex(): string;
}

/** The powers to read and hash weights. */
export interface WeightsPowers {
  readonly read: ReadPieces;
  hash(): Hash;
}

/**
 * Reads weights completely, passes each piece to `take` where given, and checks size and hash.
 *
 * @throws Fault `notFound` where they are gone, `storeCorrupt` where they have changed, and `take`'s error
 */
export async function readWeights(
  { file, sha256, bytes }: WeightsFile,
  { read, hash }: WeightsPowers,
  take?: (at: number, piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const pieces = await read(file, WEIGHTS_PIECE);
  if (pieces === undefined) {
    throw new Fault(
      "notFound",
      `Cannot open the model: its weights ${sha256.slice(0, 12)} are not in the store; ` +
        "`remit model list` shows what is",
    );
  }
  const sum = hash();
  let at = 0;
  for await (const piece of pieces) {
    if (at + piece.length > bytes) throw changed(sha256);
    sum.update(piece);
    await take?.(at, piece);
    at += piece.length;
  }
  if (at !== bytes || sum.hex() !== sha256) throw changed(sha256);
}

/** Sends weights to a service. Throws like {@link readWeights}; the service must not be opened then. */
export async function feedWeights(
  file: WeightsFile,
  powers: WeightsPowers,
  port: Pick<Port, "ask">,
): Promise<void> {
  await readWeights(file, powers, async (at, piece) => {
    await port.ask("weights", { at, base64: piece.toBase64() });
  });
}

function changed(sha256: string): Fault {
  return new Fault(
    "storeCorrupt",
    `Cannot open the model: its weights ${sha256.slice(0, 12)} are not what they were; ` +
      "`remit model verify` says which, `remit model remove` and `pull` replace them",
  );
}
