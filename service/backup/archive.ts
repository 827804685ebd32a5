/**
 * Writes a backup of a state while its kernel runs, and restores one into an empty folder. No part
 * of a backup is used before the whole backup is checked. Used by cli/service/backup_commands.ts.
 * @module
 */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { Digest } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { BackupDisk, OpenFile } from "./disk_powers.ts";
import {
  type BackupFile,
  BackupManifest,
  type BackupPowers,
  brokenBackup,
  isBackupPath,
  LINE_BYTES,
  MANIFEST_BYTES,
  parseBackupLine,
  parseOpening,
} from "./format.ts";
import { AGE, sealing, unsealing, unsealingOld } from "./seal_powers.ts";

/** The powers of {@link writeBackup}, and the places to copy. */
export interface BackupParts {
  readonly disk: BackupDisk;
  readonly powers: BackupPowers;
  /** Absolute paths of the state, its kernel's folder, remit.yaml and remit.lock. */
  readonly places: {
    readonly state: string;
    readonly kernel: string;
    readonly config: string;
    readonly mcpLock: string;
    readonly sharedMcpLock?: string;
  };
  /** Absolute path of the backup file, which must not exist. */
  readonly file: string;
  /** A fresh folder that only this user can read, on the same disk as the state. */
  readonly draft: string;
  /** Undefined: the backup is not sealed. */
  readonly passphrase: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly version: string;
}

const DATABASE = "SQLite format 3\0";
const BESIDE = /-(?:wal|shm|journal)$/;
/** Files that a kernel creates again, or that belong to one machine or process. */
const KERNEL_SKIPS = [
  ...[/^lock$/, /^log$/, /^damaged$/, /^programs$/, /^remit\.db/, /^backup-/],
  ...[/^work\/[^/]+\/run-/, /\.(?:tmp|[0-9a-f]{12})$/],
];
const skipsOf = (root: string) => (path: string): boolean =>
  root === "kernel"
    ? KERNEL_SKIPS.some((each) => each.test(path))
    // Code of imported servers is fetched and checked again by its pin.
    : (root === "mcp" && path === "trees") || /\.(?:lock|tmp|sock)$/.test(path);

/** Whether a file is a database that other processes may be writing. */
function isDatabase(disk: BackupDisk, path: string): boolean {
  const file = disk.open(path);
  try {
    return new TextDecoder().decode(file?.read(DATABASE.length)) === DATABASE;
  } finally {
    file?.close();
  }
}

/**
 * Writes a backup. Copies the kernel's log first, so that everything that the log refers to is
 * copied later.
 *
 * @throws Fault `alreadyExists`, `storeCorrupt`, `conflict` for a file that changed while it was
 * read
 */
export async function writeBackup(parts: BackupParts): Promise<BackupManifest> {
  const { disk, powers, places, draft } = parts;
  if (disk.exists(parts.file)) {
    throw new Fault("alreadyExists", `Cannot write the backup: "${parts.file}" is there already`);
  }
  if (!disk.exists(dirname(parts.file))) {
    throw new Fault("notFound", `Cannot write the backup: there is no folder for "${parts.file}"`);
  }
  const copied = join(draft, "remit.db");
  if (disk.exists(join(places.kernel, "remit.db"))) {
    await powers.copy(join(places.kernel, "remit.db"), copied);
  } else if (disk.exists(join(places.state, "store"))) {
    throw new Fault(
      "unavailable",
      `Cannot back up "${places.state}": its log lies in a database; back that up (pg_dump), and copy the folder itself`,
    );
  } else throw new Fault("notFound", `Cannot back up "${places.state}": it has no log yet`);
  const log = await powers.verify(copied, { keyFile: join(places.kernel, "receipt_key") });
  if (!log.ok) {
    throw new Fault("storeCorrupt", `Cannot back up a log that does not hold: ${log.why}`);
  }
  const part = `${parts.file}.${basename(draft)}.part`;
  const out = makeOut(disk.create(part, 0o600), parts.passphrase);
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
        // Wikis write contents.db, too.
        const shared = root === "wiki" || path.startsWith("contents.db");
        if (!shared || !isDatabase(disk, from)) {
          if (!shared || !isBesideDatabase(disk, from)) take(`${root}/${path}`, from);
          continue;
        }
        const into = join(draft, "copy.db");
        disk.remove(into);
        await powers.copy(from, into);
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

function makeOut(file: OpenFile, passphrase: string | undefined): Out {
  const hash = createHash("sha256");
  const encode = (value: object): Uint8Array =>
    new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  const sealer = passphrase === undefined
    ? undefined
    : sealing(passphrase, (piece) => file.write(piece));
  const put = (piece: Uint8Array): void => (sealer ?? file).write(piece);
  put(encode({ remit: "backup", version: 1, sealed: null }));
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

/** Copies one file into the backup, exactly as long as it was when opened. */
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

/** The powers of {@link readBackup}, and the backup to read. */
export interface ReadParts {
  readonly disk: BackupDisk;
  /** Absolute path. */
  readonly file: string;
  /** A fresh, empty folder. */
  readonly into: string;
  /** Called for a sealed backup only. Throws where there is no passphrase. */
  passphrase(): string;
}

type Read = () => Uint8Array | undefined;

/** Reads a backup by lines and by byte counts; hashes everything except the head lines. */
interface In {
  /** A head line, of 1,000 bytes at most. */
  head(): string;
  /** All remaining bytes, in pieces. */
  readonly rest: Read;
  line(): string;
  bytes(count: number): Uint8Array;
  /** The hash of everything read before the last line. */
  before(): string;
  over(): boolean;
}

function makeIn(next: Read): In {
  const hash = createHash("sha256");
  let held: Uint8Array = new Uint8Array();
  let at = 0;
  let last: Uint8Array | undefined;
  const fill = (): boolean => {
    if (at < held.length) return true;
    const more = next();
    if (more === undefined) return false;
    held = more.slice();
    at = 0;
    return fill();
  };
  const took = (piece: Uint8Array): Uint8Array => {
    if (last !== undefined) hash.update(last);
    last = piece;
    return piece;
  };
  const take = (count: number): Uint8Array => {
    if (!fill()) throw brokenBackup("it is cut off");
    const piece = held.subarray(at, at + count);
    at += piece.length;
    return piece;
  };
  const takeLine = (max: number, manifestMax = max): Uint8Array => {
    const pieces: Uint8Array[] = [];
    for (let length = 0, limit = max;;) {
      if (!fill()) throw brokenBackup("it is cut off");
      const end = held.indexOf(10, at);
      const piece = take((end === -1 ? held.length : end + 1) - at);
      pieces.push(piece);
      length += piece.length;
      if (length === piece.length && startsManifest(piece)) limit = manifestMax;
      if (length > limit) throw brokenBackup("a line of it is too long");
      if (end !== -1) return Buffer.concat(pieces);
    }
  };
  const textOf = (line: Uint8Array): string => new TextDecoder().decode(line.subarray(0, -1));
  return Object.freeze<In>({
    head: () => textOf(takeLine(HEAD_BYTES)),
    rest: () => fill() ? take(held.length) : undefined,
    line: () => textOf(took(takeLine(LINE_BYTES, MANIFEST_BYTES))),
    bytes: (count) => took(take(count)),
    before: () => hash.digest("hex"),
    over: () => !fill(),
  });
}

const HEAD_BYTES = 1_000;
const MANIFEST = new TextEncoder().encode('{"manifest":');

function startsManifest(piece: Uint8Array): boolean {
  return MANIFEST.every((byte, n) => piece[n] === byte);
}

/** Reads past the opening and unseals: `next` supplies the file's bytes. */
function openIn(next: Read, passphrase: ReadParts["passphrase"]): In {
  const file = makeIn(next);
  const first = file.head();
  if (first === AGE) {
    const inner = makeIn(unsealing(passphrase(), { line: file.head, read: file.rest }));
    if (parseOpening(inner.head()).sealed !== null) throw brokenBackup("it is sealed twice");
    return inner;
  }
  const { sealed } = parseOpening(first);
  return sealed === null ? file : makeIn(unsealingOld(passphrase(), sealed, file.rest));
}

function copyOut(disk: BackupDisk, input: In, file: BackupFile, path: string): string {
  disk.makeFolder(dirname(path));
  const out = disk.create(path, file.mode | 0o600);
  try {
    const hash = createHash("sha256");
    for (let left = file.size; left > 0;) {
      const piece = input.bytes(left);
      hash.update(piece);
      out.write(piece);
      left -= piece.length;
    }
    out.sync();
    return hash.digest("hex");
  } finally {
    out.close();
  }
}

/**
 * Reads a whole backup: every file then lies in `into` and matches the manifest.
 *
 * @throws Fault `invalidInput` for a backup that is cut off, changed, has a file twice, or would
 * write outside `into`; `notFound`
 */
export function readBackup({ disk, file, into, passphrase }: ReadParts): BackupManifest {
  const source = disk.open(file);
  if (source === undefined) {
    throw new Fault("notFound", `Cannot read the backup: there is no file "${file}"`);
  }
  try {
    const input = openIn(() => source.read(), passphrase);
    const folders = new Set<string>();
    const found = new Map<string, BackupFile & { readonly sha256: string }>();
    for (;;) {
      const line = parseBackupLine(input.line());
      if (line.kind === "end") throw brokenBackup("it ends before its manifest");
      if (line.kind === "manifest") {
        checkManifest(line.manifest, found);
        checkEnd(input);
        return line.manifest;
      }
      const { path } = line.file;
      const above = foldersOf(path);
      if (found.has(path) || folders.has(path) || above.some((each) => found.has(each))) {
        throw brokenBackup("a file is in it twice");
      }
      for (const each of above) folders.add(each);
      found.set(path, {
        ...line.file,
        sha256: copyOut(disk, input, line.file, join(into, path)),
      });
    }
  } finally {
    source.close();
  }
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join("/"));
}

function checkManifest(
  manifest: BackupManifest,
  found: ReadonlyMap<string, BackupFile & { readonly sha256: string }>,
): void {
  const same = manifest.files.length === found.size && manifest.files.every((said) => {
    const have = found.get(said.path);
    return have?.sha256 === said.sha256 && have.size === said.size && have.mode === said.mode;
  });
  if (!same) throw brokenBackup("its files are not what its manifest says");
}

function checkEnd(input: In): void {
  const end = parseBackupLine(input.line());
  if (end.kind !== "end" || end.sha256 !== input.before()) {
    throw brokenBackup("it was changed after it was made");
  }
  if (!input.over()) throw brokenBackup("something was put behind its end");
}
