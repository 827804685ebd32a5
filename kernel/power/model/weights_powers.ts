/** Reading weights from the disk. Wired in kernel/main_models.ts. @module */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Hash, WeightsPowers } from "./weights.ts";

async function* piecesOf(
  handle: Awaited<ReturnType<typeof open>>,
  size: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for (;;) {
      // A new buffer for each piece, because the receiver may keep it.
      const piece = new Uint8Array(size);
      let filled = 0;
      while (filled < size) {
        const { bytesRead } = await handle.read(piece, filled, size - filled, null);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      if (filled > 0) yield piece.subarray(0, filled);
      if (filled < size) return;
    }
  } finally {
    await handle.close();
  }
}

/** The disk and SHA-256 of this process. */
export const WEIGHTS_POWERS: WeightsPowers = Object.freeze({
  async read(
    path: string,
    size: number,
  ): Promise<AsyncIterable<Uint8Array<ArrayBuffer>> | undefined> {
    try {
      return piecesOf(await open(path), size);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  },
  hash(): Hash {
    const sum = createHash("sha256");
    return {
      update: (bytes) => void sum.update(bytes),
      hex: () => sum.digest("hex"),
    };
  },
});
