/** The erasable part of an event: content under a salted digest. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";
import type { BlobRow, EventRow, Store } from "../../contracts/task/store.ts";
import { sha256Hex } from "../../port/digest.ts";

/** Bytes of the salt: a short content cannot be guessed from its digest once both are erased. */
export const SALT_BYTES = 16;

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const ENCODER = new TextEncoder();

/** Content as a blob: `digest = SHA-256(salt ‖ bytes)`, bytes its JSON text in UTF-8. */
export function makeBlob(task: string, content: JsonObject, salt: Uint8Array): BlobRow {
  const bytes = ENCODER.encode(JSON.stringify(content));
  return { task, digest: sha256Hex(salt, bytes), salt, bytes };
}

/** Parses a JSON object; undefined for any other text. */
export function tryObject(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch (_error) {
    return undefined;
  }
}

/** The salted digest in an event's body; undefined without a private part. */
export function privateDigest(body: string): Digest | undefined {
  // Most bodies have no private part: skip the parse.
  if (!body.includes('"private":"')) return undefined;
  const parsed = Digest.safeParse(tryObject(body)?.["private"]);
  return parsed.success ? parsed.data : undefined;
}

/**
 * The private part of an event; undefined if there is none or it was erased.
 * @throws Fault `storeCorrupt` when the stored content does not match the event's digest.
 */
export async function readPrivate(
  store: Pick<Store, "blob">,
  event: Pick<EventRow, "task" | "n" | "body">,
): Promise<JsonObject | undefined> {
  const digest = privateDigest(event.body);
  if (digest === undefined) return undefined;
  const blob = await store.blob(event.task, digest);
  if (blob === undefined) return undefined;
  const content = sha256Hex(blob.salt, blob.bytes) === digest
    ? tryObject(UTF8.decode(blob.bytes))
    : undefined;
  if (content === undefined) {
    throw new Fault(
      "storeCorrupt",
      `Cannot read content of event ${event.n} of ${event.task}: it is not what was recorded`,
    );
  }
  return content;
}
