/** What an imported server brings beside text: kept among the task's contents, in quarantine until a person lets it out. @module */
import {
  Artifact,
  ArtifactId,
  type Colour,
  Fault,
  type Label,
  type Powers,
  type TaskId,
} from "../../contracts/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** How long it waits, milliseconds. */
const TTL = 7 * 24 * 60 * 60 * 1_000;

/** Bytes and what is known of them. */
export interface KeepBytes {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly colour: Colour;
  readonly label: Label;
}

/** What {@link keepArtifact} is handed. */
export interface KeepParts {
  readonly powers: Pick<Powers, "now" | "id">;
  /** The folder of a task's contents, made; undefined when the task has ended. */
  contentDir(task: TaskId): Promise<string | undefined>;
  /** Writes a file whole, or leaves it as it was. */
  write(path: string, bytes: Uint8Array): Promise<void>;
}

/** Keeps them, by their digest. Rejects `gone` when the task has ended. */
export async function keepArtifact(
  { powers, contentDir, write }: KeepParts,
  task: TaskId,
  { name, bytes, colour, label }: KeepBytes,
): Promise<Artifact> {
  const folder = await contentDir(task);
  if (folder === undefined) throw new Fault("gone", "Cannot keep a result: its task has ended");
  const digest = sha256Hex(bytes);
  await write(`${folder}/${digest}`, bytes);
  const now = powers.now();
  return Artifact.parse({
    id: ArtifactId.parse(powers.id("a")),
    ...{ task, name, digest, bytes: bytes.length, colour, label },
    ...{ state: "quarantined", createdAt: now, expiresAt: now + TTL },
  });
}
