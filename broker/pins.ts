/** Descriptor digests that somebody reviewed. A tool that changes is a new tool. @module */
import type { Digest, ToolDescriptor } from "../contracts/mod.ts";
import { digestOf } from "../port/digest.ts";

/** The digests that stand as reviewed. */
export interface Pins {
  reviewed(tool: string): Digest | undefined;
  /** Takes a descriptor as reviewed, in place of the one before. */
  review(descriptor: ToolDescriptor): void;
}

/** Makes pins, with the descriptors that are part of this program or were pinned before. */
export function makePins(descriptors: Iterable<ToolDescriptor> = []): Pins {
  const pinned = new Map<string, Digest>();
  const review = (descriptor: ToolDescriptor): void => {
    pinned.set(descriptor.name, descriptorDigest(descriptor));
  };
  for (const descriptor of descriptors) review(descriptor);
  return Object.freeze({ reviewed: (tool: string) => pinned.get(tool), review });
}

const known = new WeakMap<ToolDescriptor, Digest>();

/**
 * What a tool is: everything in its descriptor but the mode, which the policy sets for each subject.
 * Kept for frozen descriptors only, so that one that changes in place is seen.
 */
export function descriptorDigest(descriptor: ToolDescriptor): Digest {
  const before = known.get(descriptor);
  if (before !== undefined) return before;
  const { name, description, interfaceId, methodName, paramSchema, category } = descriptor;
  const digest = digestOf({ name, description, interfaceId, methodName, paramSchema, category });
  if (Object.isFrozen(descriptor)) known.set(descriptor, digest);
  return digest;
}
