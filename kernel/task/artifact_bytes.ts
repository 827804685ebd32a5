/** The bytes of an artifact, from where its task keeps contents: checked, because a tool wrote them. @module */
import { type Artifact, Fault } from "../../contracts/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** Reads one. Rejects `notFound` when it is gone, expired, or not what it was. */
export type ReadArtifact = (artifact: Artifact) => Promise<Uint8Array>;

/** Makes the reader of `work`, STATE/kernel/work. */
export function makeReadArtifact(
  { work, read, now }: {
    readonly work: string;
    read(path: string): Promise<Uint8Array | undefined>;
    now(): number;
  },
): ReadArtifact {
  return async ({ id, task, digest, state, expiresAt }) => {
    const expired = state === "expired" || (state === "quarantined" && expiresAt <= now());
    const bytes = expired ? undefined : await read(`${work}/${task}/content/${digest}`);
    if (bytes !== undefined && sha256Hex(bytes) === digest) return bytes;
    throw new Fault(
      "notFound",
      `Cannot read artifact ${id}: ${expired ? "it has expired" : "its content is gone"}`,
    );
  };
}
