/** Writes a backup: what lies in a state, copied while its kernel runs. @module */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { Digest, Fault } from "../../../contracts/mod.ts";
import type { Places } from "../../disk/places.ts";
import type { BackupDisk, OpenFile } from "./files_powers.ts";
import { BackupManifest, isBackupPath, type SealedHow } from "./format.ts";
import type { BackupHands } from "./hands.ts";
import { sealing } from "./seal_powers.ts";

/** What a backup is made of. */
export interface BackupParts {
  readonly disk: BackupDisk;
  readonly hands: BackupHands;
  readonly places: Pick<Places, "state" | "kernel" | "config" | "mcpLock" | "sharedMcpLock">;
  /** Absolute: where it goes; nothing may be there. */
  readonly file: string;
  /** A fresh folder of this user's alone, on the same disk as the state. */
  readonly draft: string;
  readonly seal: { readonly how: SealedHow; readonly key: Uint8Array } | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly version: string;
}

const DATABASE = "SQLite format 3\0";
const BESIDE = /-(?:wal|shm|journal)$/;
/** What the kernel makes anew, what is another's, and what only means this one machine and process. */
const KERNEL_SKIPS = [
  ...[/^lock$/, /^log$/, /^damaged$/, /^programs$/, /^remit\.db/, /^backup-/],
  ...[/^work\/[^/]+\/run-/, /\.(?:tmp|[0-9a-f]{12})$/],
];
const skipsOf = (root: string) => (path: string): boolean =>
  root === "kernel"
    ? KERNEL_SKIPS.some((each) => each.test(path))
    // Code of imported servers is fetched and checked again by its pin.
    : (root === "mcp" && path === "trees") || /\.(?:lock|tmp|sock)$/.test(path);

/** Whether a file is a database that others may be writing. */
function isDatabase(disk: BackupDisk, path: string): boolean {
  const file = disk.open(path);
  try {
    return new TextDecoder().decode(file?.read(DATABASE.length)) === DATABASE;
  } finally {
    file?.close();
  }
}

/**
 * Writes it. The kernel's log comes first: what the rest refers to is then there, and more.
 *
 * @throws Fault `alreadyExists`, `storeCorrupt`, `conflict` for a file that changed while it was read
 */
export async function writeBackup(parts: BackupParts): Promise<BackupManifest> {
  const { disk, hands, places, draft } = parts;
  if (disk.exists(parts.file)) {
    throw new Fault("alreadyExists", `Cannot write the backup: "${parts.file}" is there already`);
  }
  if (!disk.exists(dirname(parts.file))) {
    throw new Fault("notFound", `Cannot write the backup: there is no folder for "${parts.file}"`);
  }
  const copied = join(draft, "remit.db");
  if (disk.exists(join(places.kernel, "remit.db"))) {
    await hands.copy(join(places.kernel, "remit.db"), copied);
  } else throw new Fault("notFound", `Cannot back up "${places.state}": it has no log yet`);
  const log = await hands.verify(copied, { keyFile: join(places.kernel, "receipt_key") });
  if (!log.ok) {
    throw new Fault("storeCorrupt", `Cannot back up a log that does not hold: ${log.why}`);
  }
  const part = `${parts.file}.${basename(draft)}.part`;
  const out = makeOut(disk.create(part, 0o600), parts.seal);
  try {
    const files: BackupManifest["files"] = [];
    let leftOut = 0;
    const take = (path: string, from: string): void => {
      const file = isBackupPath(path) ? disk.open(from) : undefined;
      if (file === undefined) leftOut += 1;
      else files.push(copyIn(out, path, file));
    };
    take("kernel/remit.db", copied);
    for (const root of ["kernel", "person", "wiki", "mcp"]) {
      const folder = join(places.state, root);
      const found = disk.walk(folder, skipsOf(root));
      leftOut += found.others;
      for (const path of found.files) {
        const from = join(folder, path);
        // What is known of contents is written by wikis, too.
        const shared = root === "wiki" || path.startsWith("contents.db");
        if (!shared || !isDatabase(disk, from)) {
          if (!shared || !isBesideDatabase(disk, from)) take(`${root}/${path}`, from);
          continue;
        }
        const into = join(draft, "copy.db");
        disk.remove(into);
        await hands.copy(from, into);
        take(`${root}/${path}`, into);
      }
    }
    const locks = [places.mcpLock, places.sharedMcpLock ?? places.mcpLock];
    for (const from of [places.config, locks.find((each) => disk.exists(each))]) {
      if (from !== undefined && disk.exists(from)) take(`config/${basename(from)}`, from);
    }
    const manifest = BackupManifest.parse({
      createdAt: parts.now,
      remit: parts.version,
      ...{ head: log.head, events: log.events, receiptKey: log.receiptKey },
      ...{ files, leftOut },
    });
    out.line({ manifest });
    out.end();
    disk.rename(part, parts.file);
    return manifest;
  } finally {
    out.close();
    disk.remove(part);
  }
}

function isBesideDatabase(disk: BackupDisk, path: string): boolean {
  return BESIDE.test(path) && isDatabase(disk, path.replace(BESIDE, ""));
}

interface Out {
  line(value: object): void;
  bytes(piece: Uint8Array): void;
  end(): void;
  close(): void;
}

function makeOut(file: OpenFile, seal: BackupParts["seal"]): Out {
  const hash = createHash("sha256");
  const encode = (value: object): Uint8Array =>
    new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  file.write(encode({ remit: "backup", version: 1, sealed: seal?.how ?? null }));
  const sealer = seal === undefined ? undefined : sealing(seal.key, (piece) => file.write(piece));
  const put = (piece: Uint8Array): void =>
    sealer === undefined ? file.write(piece) : sealer.write(piece);
  const bytes = (piece: Uint8Array): void => {
    hash.update(piece);
    put(piece);
  };
  return Object.freeze<Out>({
    line: (value) => bytes(encode(value)),
    bytes,
    end(): void {
      put(encode({ sha256: hash.digest("hex") }));
      sealer?.end();
      file.sync();
    },
    close: () => file.close(),
  });
}

/** Copies one file in, exactly as long as it was when it was opened. */
function copyIn(out: Out, path: string, file: OpenFile): BackupManifest["files"][number] {
  try {
    const entry = { path, mode: file.mode & 0o700, size: file.size };
    out.line(entry);
    const hash = createHash("sha256");
    for (let left = file.size; left > 0;) {
      const piece = file.read(left);
      if (piece === undefined) {
        throw new Fault("conflict", "Cannot write the backup: a file shrank meanwhile; repeat it");
      }
      hash.update(piece);
      out.bytes(piece);
      left -= piece.length;
    }
    return { ...entry, sha256: Digest.parse(hash.digest("hex")) };
  } finally {
    file.close();
  }
}
