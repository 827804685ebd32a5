/** The offline check of a log that was exported to a file: no store, no kernel. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Digest } from "../../contracts/ids.ts";
import { readLines, tryLine, verifyLines } from "./lines.ts";
import type { VerifyReport } from "./report.ts";
import { trySealBody } from "./seal.ts";

/** What an export is checked against. */
export interface ExportOptions {
  /** The kernel's receipt key, raw Ed25519, base64url; absent: the one that the export names itself. */
  readonly key?: string | undefined;
  /** A head that was kept elsewhere. */
  readonly head?: Digest | undefined;
}

/** What a check of an export found, and the key that it was checked with. */
export interface ExportReport extends VerifyReport {
  readonly key: string;
}

/** Bytes of a file that are decoded together. */
const PIECE = 1 << 20;

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/** The key that the first seal names. Throws `invalidInput`. */
async function namedKey(bytes: Uint8Array): Promise<string> {
  for await (const line of readLines(pieces(bytes))) {
    const event = tryLine(line)?.event;
    const key = event?.kind === "seal" ? trySealBody(event.body)?.key : undefined;
    if (key !== undefined) return key;
  }
  throw new Fault("invalidInput", "Cannot verify the export: no seal in it names a key");
}

/**
 * Checks the bytes of an export: every chain, seal and content, as `verifyLog` does in a store.
 * @throws Fault `invalidInput` for what is no export at all, or a key that is none.
 */
export async function verifyExport(
  bytes: Uint8Array,
  { key, head }: ExportOptions,
): Promise<ExportReport> {
  if (bytes.length === 0) {
    throw new Fault("invalidInput", "Cannot verify the export: the file is empty");
  }
  try {
    const publicKey = key ?? await namedKey(bytes);
    const report = await verifyLines(readLines(pieces(bytes)), {
      publicKey,
      ...(head === undefined ? {} : { head }),
    });
    return { ...report, key: publicKey };
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new Fault("invalidInput", "Cannot verify the export: it is not UTF-8 text", { cause });
  }
}
