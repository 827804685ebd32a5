/** Sources whose origin is no longer there. @module */
import type { OpenWiki } from "../ops/open_wiki.ts";
import { makeSeenFiles } from "./seen_files.ts";

/** Marks as removed every current source under a prefix that is not among those present; gives their keys. */
export function goneSources(
  { store, hands }: OpenWiki,
  keyPrefix: string,
  present: { readonly keys: ReadonlySet<string>; readonly unseen: readonly string[] },
): readonly string[] {
  const gone = store.sources.list({ state: "current", keyPrefix })
    .map(({ key }) => key)
    .filter((key) => !present.keys.has(key))
    .filter((key) => !present.unseen.some((prefix) => key.startsWith(prefix)));
  const seen = makeSeenFiles(store.documents, hands.now);
  for (const key of gone) {
    store.sources.remove(key);
    seen.forget(key);
  }
  seen.save();
  if (gone.length > 0) {
    const text = `${gone.length} removed under ${keyPrefix}`;
    store.log.append({ kind: "ingest", by: "operator", text });
  }
  return gone;
}
