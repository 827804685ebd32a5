/** Receipts and sealed events: what a third party can check offline. @module */
import * as z from "zod";
import { Digest } from "./ids.ts";

/** One event as it is stored and hashed: `hash = SHA-256(prev ‖ task ‖ n ‖ kind ‖ at ‖ body)`. */
export const SealedEvent = z.object({
  /** The task, or `kernel` for the kernel's own chain. */
  task: z.string().max(16),
  /** Position in its task's chain, from 0. */
  n: z.int().min(0),
  kind: z.string().max(32),
  at: z.int().min(0),
  /** Public body, JSON text: no content, only names, ids, enums and salted digests. */
  body: z.string().max(65_536),
  prev: Digest,
  hash: Digest,
}).strict();
export type SealedEvent = z.infer<typeof SealedEvent>;

/** One signature for a commit group: Ed25519 over SHA-256 of the group's hashes laid end to end. */
export const Seal = z.object({
  /** The group's event hashes, hex, in order of append. */
  hashes: z.array(Digest).min(1).max(10_000),
  /** Hash of the seal before, which makes the kernel's chain. */
  prev: Digest,
  signature: z.string().max(128),
  /** Raw Ed25519 public key of the kernel's receipt key, base64url. */
  key: z.string().max(64),
}).strict();
export type Seal = z.infer<typeof Seal>;

/** Proof of a call's decision and outcome; verifiable with the kernel's public key alone. */
export const Receipt = z.object({
  version: z.literal(1),
  /** The outcome event, and the intent before it when the call had an effect. */
  events: z.array(SealedEvent).min(1).max(8),
  seals: z.array(Seal).min(1).max(8),
}).strict();
export type Receipt = z.infer<typeof Receipt>;
