/** Mounts, staged changes, patch sets and artifacts. @module */
import * as z from "zod";
import { ArtifactId, Digest, Millis, MountName, TaskId } from "../authority/ids.ts";
import { Colour, Label } from "../authority/colour.ts";

/** `ro`: read only; `stage`: collect writes for one review; `rw`: decide each write at once. */
export const MountMode = z.enum(["ro", "stage", "rw"]);
export type MountMode = z.infer<typeof MountMode>;

/** A folder of the operator, granted to a task under a name. */
export const Mount = z.object({
  name: MountName,
  /** Absolute, resolved by the command line. */
  dir: z.string().min(1).max(4_096),
  mode: MountMode,
  colour: Colour,
  label: Label,
  /** Paths within the mount that are less trusted or more confidential than the mount. */
  marks: z.array(
    z.object({
      path: z.string().max(4_096),
      colour: Colour.optional(),
      label: Label.optional(),
    }).strict(),
  ).max(1_000),
  /** Holds a server's staged changes: tools cannot name it, and listings of all mounts skip it. */
  apart: z.literal(true).optional(),
}).strict();
export type Mount = z.infer<typeof Mount>;

/** One file's staged change. Without `base` the file is new; without `next` it is deleted. */
export const StagedChange = z.object({
  /** `MOUNT/relative`. */
  path: z.string().min(1).max(4_096),
  base: Digest.optional(),
  next: Digest.optional(),
  /** Size of the new content, bytes. */
  bytes: z.int().min(0),
  colour: Colour,
  label: Label,
  /** Whether a new file is executable. An existing file keeps its mode. */
  executable: z.literal(true).optional(),
}).strict();
export type StagedChange = z.infer<typeof StagedChange>;

/** A structured edit proposal, named by the digest of its canonical changes. */
export const PatchSet = z.object({
  id: Digest,
  task: TaskId,
  changes: z.array(StagedChange).min(1).max(10_000),
}).strict();
export type PatchSet = z.infer<typeof PatchSet>;

/** A file that changed between staging and applying. */
export interface Conflict {
  readonly path: string;
  readonly expected: Digest | undefined;
  readonly found: Digest | undefined;
  /** The obstacle, in words. */
  readonly why?: string;
}

/** A file that an agent made for its user: quarantined until released, deleted when it expires. */
export const Artifact = z.object({
  id: ArtifactId,
  task: TaskId,
  name: z.string().min(1).max(255),
  digest: Digest,
  bytes: z.int().min(0),
  colour: Colour,
  label: Label,
  state: z.enum(["quarantined", "released", "expired"]),
  createdAt: Millis,
  expiresAt: Millis,
}).strict();
export type Artifact = z.infer<typeof Artifact>;
