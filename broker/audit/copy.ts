/** Copying an intact log, group by group, into an empty store. @module */
import { Fault } from "../../contracts/fault.ts";
import type { BlobRow, Store } from "../../contracts/store.ts";
import type { Item } from "./_check_group.ts";
import { privateDigest } from "./private.ts";
import type { VerifyReport } from "./report.ts";
import { makeVerifier, type ReadItem, type VerifyOptions } from "./verifier.ts";

function blobOf({ event, content }: Item): readonly BlobRow[] {
  const digest = privateDigest(event.body);
  if (digest === undefined || content.kind !== "present") return [];
  return [{ task: event.task, digest, salt: content.salt, bytes: content.bytes }];
}

/**
 * Checks `items` and writes each intact group to `to`, up to the first bad event.
 * @throws Fault `alreadyExists` when `to` holds a log.
 */
export async function copyIntact(
  items: AsyncIterable<ReadItem>,
  { to, ...options }: VerifyOptions & { readonly to: Store },
): Promise<VerifyReport> {
  if ((await to.events({ limit: 1 })).length > 0) {
    throw new Fault("alreadyExists", "Cannot copy log: the store it should go to holds one");
  }
  const verifier = makeVerifier(options);
  for await (const item of items) {
    const group = verifier.feed(item);
    if (group.length > 0) {
      const events = group.map(({ event: { seq: _seq, ...row } }) => row);
      await to.commit({ events, blobs: group.flatMap(blobOf), documents: [] });
    }
    if (verifier.stopped()) break;
  }
  return verifier.end();
}
