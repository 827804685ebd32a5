/** Reads a backup into an empty folder, and believes none of it before all of it was checked. @module */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { Fault } from "../../../contracts/mod.ts";
import type { BackupDisk, OpenFile } from "./files_powers.ts";
import {
  type BackupFile,
  type BackupManifest,
  brokenBackup,
  LINE_BYTES,
  MANIFEST_BYTES,
  parseBackupLine,
  parseOpening,
  type SealedHow,
} from "./format.ts";
import { unsealing } from "./seal_powers.ts";

/** What is read, and where to. */
export interface ReadParts {
  readonly disk: BackupDisk;
  /** Absolute. */
  readonly file: string;
  /** A fresh, empty folder. */
  readonly into: string;
  /** The key of a sealed one. Throws where there is no passphrase. */
  key(how: SealedHow): Uint8Array;
}

/** Bytes of a backup, by lines and by counts; everything that is taken is hashed. */
interface In {
  line(): string;
  bytes(count: number): Uint8Array;
  /** Of all that was taken, but for the line that was taken last. */
  before(): string;
  over(): boolean;
}

function makeIn(next: () => Uint8Array | undefined): In {
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
  return Object.freeze<In>({
    line(): string {
      const pieces: Uint8Array[] = [];
      let most = LINE_BYTES;
      for (let length = 0;;) {
        if (!fill()) throw brokenBackup("it is cut off");
        const end = held.indexOf(10, at);
        const piece = held.subarray(at, end === -1 ? undefined : end + 1);
        pieces.push(piece);
        at += piece.length;
        length += piece.length;
        if (length === piece.length && startsManifest(piece)) most = MANIFEST_BYTES;
        if (length > most) throw brokenBackup("a line of it is too long");
        if (end !== -1) break;
      }
      const line = took(Buffer.concat(pieces));
      return new TextDecoder().decode(line.subarray(0, -1));
    },
    bytes(count): Uint8Array {
      if (!fill()) throw brokenBackup("it is cut off");
      const piece = held.subarray(at, at + count);
      at += piece.length;
      return took(piece);
    },
    before: () => hash.digest("hex"),
    over: () => !fill(),
  });
}

const MANIFEST = new TextEncoder().encode('{"manifest":');

function startsManifest(piece: Uint8Array): boolean {
  return MANIFEST.every((byte, n) => piece[n] === byte);
}

/** The first line, byte by byte from the file: what follows it may be sealed. */
function opening(file: OpenFile): string {
  const bytes: number[] = [];
  for (;;) {
    const [byte] = file.read(1) ?? [];
    if (byte === undefined || bytes.length > 1_000) throw brokenBackup("it is no backup of Remit");
    if (byte === 10) return new TextDecoder().decode(new Uint8Array(bytes));
    bytes.push(byte);
  }
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
 * Reads the whole of it: every file lies in `into` when it resolves, and is what the manifest says.
 *
 * @throws Fault `invalidInput` for what is cut off, changed, twice there, or would leave `into`; `notFound`
 */
export function readBackup({ disk, file, into, key }: ReadParts): BackupManifest {
  const source = disk.open(file);
  if (source === undefined) {
    throw new Fault("notFound", `Cannot read the backup: there is no file "${file}"`);
  }
  try {
    const { sealed } = parseOpening(opening(source));
    const raw = (): Uint8Array | undefined => source.read();
    const input = makeIn(sealed === null ? raw : unsealing(key(sealed), raw));
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
