/** Files of weights on the disk: read, hashed and copied in pieces. Used by cli/model/model_powers.ts. @module */
import { createHash } from "node:crypto";
import type { HeaderFile } from "../../../contracts/model/gguf_cursor.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import type { OnBytes, WeightsDisk, WeightsStat, WeightsWriter } from "../powers.ts";

const PIECE = 1_048_576;
const ONLY_READ = 0o400;

function full(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new Fault(
    "storeFull",
    "Cannot keep the weights: the disk is full; make room, or use --state DIR on another disk",
    { cause: error },
  );
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  } catch (error) {
    throw full(error);
  }
}

async function* pieces(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path, { read: true });
  const buffer = new Uint8Array(PIECE);
  for (;;) {
    if (signal?.aborted === true) {
      throw new Fault("cancelled", `Cannot read "${path}" to its end: cancelled`);
    }
    const read = await file.read(buffer);
    if (read === null) return;
    yield buffer.subarray(0, read);
  }
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The inode of a path; undefined if another process removed the file. */
function inodeOf(path: string): number | null | undefined {
  try {
    return Deno.statSync(path).ino;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Access to weights on the disk with this process's permissions. */
export function makeWeightsDisk(): WeightsDisk {
  return Object.freeze({
    stat(path: string): WeightsStat | undefined {
      try {
        const { isFile, size, mtime, ino, dev } = Deno.statSync(path);
        if (!isFile) return undefined;
        return { bytes: size, mark: `${dev}:${ino}:${mtime?.getTime() ?? 0}:${size}` };
      } catch (error) {
        const none = error instanceof Deno.errors.NotFound ||
          error instanceof Deno.errors.NotADirectory;
        if (none) return undefined;
        throw error;
      }
    },
    reading<T>(path: string, work: (file: HeaderFile) => T): T {
      using file = Deno.openSync(path, { read: true });
      return work({
        length: file.statSync().size,
        read(at, length) {
          const bytes = new Uint8Array(length);
          file.seekSync(at, Deno.SeekMode.Start);
          let filled = 0;
          while (filled < length) {
            const read = file.readSync(bytes.subarray(filled));
            if (read === null) break;
            filled += read;
          }
          return bytes.subarray(0, filled);
        },
      });
    },
    async hash(
      path: string,
      { onBytes, signal }: { readonly onBytes: OnBytes; readonly signal?: AbortSignal },
    ): Promise<string> {
      const sum = createHash("sha256");
      let done = 0;
      for await (const piece of pieces(path, signal)) {
        sum.update(piece);
        done += piece.length;
        onBytes(done);
      }
      return sum.digest("hex");
    },
    async copy(
      from: string,
      to: string,
      { onBytes, signal }: { readonly onBytes: OnBytes; readonly signal?: AbortSignal },
    ): Promise<{ readonly sha256: string; readonly bytes: number }> {
      const sum = createHash("sha256");
      let bytes = 0;
      try {
        using file = Deno.openSync(to, { write: true, createNew: true, mode: 0o600 });
        for await (const piece of pieces(from, signal)) {
          sum.update(piece);
          writeAll(file, piece);
          bytes += piece.length;
          onBytes(bytes);
        }
      } catch (error) {
        removeQuietly(to);
        throw error;
      }
      return { sha256: sum.digest("hex"), bytes };
    },
    writer(path: string, at: number): WeightsWriter {
      const file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
      file.truncateSync(at);
      file.seekSync(at, Deno.SeekMode.Start);
      return Object.freeze({
        write: (bytes: Uint8Array) => writeAll(file, bytes),
        close: () => file.close(),
      });
    },
    hold(path: string): (() => void) | undefined {
      const file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
      const isOurs = file.tryLockSync(true) && inodeOf(path) === file.statSync().ino;
      if (!isOurs) {
        file.close();
        return undefined;
      }
      return () => {
        removeQuietly(path);
        file.close();
      };
    },
    keep(from: string, to: string): void {
      Deno.chmodSync(from, ONLY_READ);
      {
        using file = Deno.openSync(from, { read: true });
        file.syncSync();
      }
      Deno.renameSync(from, to);
    },
  });
}
