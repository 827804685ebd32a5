/**
 * The form of a backup: lines of JSON, each followed by the bytes that it announces.
 *
 * ```text
 * {"remit":"backup","version":1,"sealed":null}
 * {"path":"kernel/remit.db","mode":384,"size":40960}    then 40960 bytes; once for each file
 * {"manifest":{…}}                                      every file with its SHA-256, the log's head
 * {"sha256":"…"}                                        of the bytes between the first line and this
 * ```
 *
 * With a passphrase, the whole backup is sealed as an age file (seal_powers.ts). Backups sealed by
 * versions before age have the first line in the clear, which says how the rest is sealed.
 * @module
 */
import * as z from "zod";
import { Digest, Millis } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";

/** The result of checking a whole log. */
export interface CheckedLog {
  readonly ok: boolean;
  /** One sentence, where the log does not hold. */
  readonly why: string;
  readonly events: number;
  /** The hash of the kernel chain's last seal. */
  readonly head: string;
  /** Raw Ed25519 public key of the check, base64url. */
  readonly receiptKey: string;
}

/** Databases and logs, read without a kernel. */
export interface BackupPowers {
  /** Copies a database, as of one moment, to a new file, also while others write to it. */
  copy(path: string, into: string): Promise<void>;
  /**
   * Checks a kernel's database that no process has open: its structure, then every chain and seal
   * with the key in `keyFile`. Rejects `storeCorrupt` where the file is not a store.
   */
  verify(
    path: string,
    options: { readonly keyFile: string; readonly head?: string },
  ): Promise<CheckedLog>;
}

/** Maximum length of a line other than the manifest, in bytes. */
export const LINE_BYTES = 16_384;
/** Maximum length of the manifest, in bytes. */
export const MANIFEST_BYTES = 256_000_000;
/** Maximum number of files in a backup. */
const MAX_FILES = 1_000_000;

/** The sealing of versions before age: scrypt over the passphrase, then AES-256-GCM. */
export const SealedHow = z.object({
  salt: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  /** Logarithm of scrypt's cost. */
  cost: z.int().min(15).max(20),
}).strict();
export type SealedHow = z.infer<typeof SealedHow>;

/** The first line. */
const BackupOpening = z.object({
  remit: z.literal("backup"),
  version: z.literal(1),
  sealed: SealedHow.nullable(),
}).strict();
type BackupOpening = z.infer<typeof BackupOpening>;

const ROOTS: ReadonlySet<string> = new Set(["kernel", "person", "wiki", "mcp", "config"]);
const MAX_PATH = 3_000;

/** Whether `path` stays beneath the restore folder, in one of Remit's own folders. */
export function isBackupPath(path: string): boolean {
  const parts = path.split("/");
  return path.length <= MAX_PATH && parts.length > 1 && ROOTS.has(parts[0] ?? "") &&
    parts.every((part) => part !== "" && part !== "." && part !== ".." && !/[\0\\]/.test(part));
}

const FILE = {
  path: z.string().refine(isBackupPath),
  /** Permission bits; only the owner has any. */
  mode: z.int().min(0).max(0o700).refine((mode) => (mode & 0o077) === 0),
  size: z.int().min(0),
};

/** A file's entry, before its bytes. */
export const BackupFile = z.object(FILE).strict();
export type BackupFile = z.infer<typeof BackupFile>;

/** The contents of the whole backup. */
export const BackupManifest = z.object({
  createdAt: Millis,
  /** The version of Remit that wrote the backup. */
  remit: z.string().max(64),
  /** The kernel's chain at its last seal in the copy. */
  head: Digest,
  events: z.int().min(0),
  /** Raw Ed25519 public key of receipts and seals, base64url. */
  receiptKey: z.string().max(64),
  files: z.array(z.object({ ...FILE, sha256: Digest }).strict()).max(MAX_FILES),
  /** Number of entries that are not plain files, or vanished during the copy. */
  leftOut: z.int().min(0),
}).strict();
export type BackupManifest = z.infer<typeof BackupManifest>;

/** A line between the files' bytes. */
export type BackupLine =
  | { readonly kind: "file"; readonly file: BackupFile }
  | { readonly kind: "manifest"; readonly manifest: BackupManifest }
  | { readonly kind: "end"; readonly sha256: Digest };

/** The fault for an invalid backup. */
export function brokenBackup(why: string, cause?: unknown): Fault {
  return new Fault("invalidInput", `Cannot use the backup: ${why}`, { cause });
}

function parseLine<T>(schema: z.ZodType<T>, line: string): T {
  try {
    return schema.parse(JSON.parse(line));
  } catch (cause) {
    throw brokenBackup("it is no backup of Remit, or it was changed", cause);
  }
}

/** Parses the first line. Throws Fault `invalidInput`. */
export function parseOpening(line: string): BackupOpening {
  return parseLine(BackupOpening, line);
}

/** Parses a line between the bytes. Throws Fault `invalidInput`. */
export function parseBackupLine(line: string): BackupLine {
  if (line.startsWith('{"manifest":')) {
    const { manifest } = parseLine(z.object({ manifest: BackupManifest }).strict(), line);
    return { kind: "manifest", manifest };
  }
  if (line.startsWith('{"sha256":')) {
    const { sha256 } = parseLine(z.object({ sha256: Digest }).strict(), line);
    return { kind: "end", sha256 };
  }
  return { kind: "file", file: parseLine(BackupFile, line) };
}
