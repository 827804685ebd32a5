/**
 * Opens the state folder's record of contents, and completes it from the log. Wired in
 * kernel/main.ts and main_work.ts.
 * @module
 */
import { isObject } from "../../../contracts/base/json.ts";
import { Artifact, StagedChange } from "../../../contracts/tool/workspace.ts";
import type { JsonObject } from "../../../contracts/base/mod.ts";
import {
  type ContentTrust,
  type KnownContent,
  SanitizeMark,
} from "../../../contracts/memory/mod.ts";
import type { Store } from "../../../contracts/task/mod.ts";
import { openContentStore } from "../../../store/sqlite/mod.ts";
import { bodyOf, type ReadPrivate } from "./read_events.ts";

/** Tools whose outcomes put contents into a mount. */
const APPLYING: ReadonlySet<unknown> = new Set(["patch_apply", "file_write", "file_edit"]);
const PAGE = 1_000;

/** The file of known contents, and the log. */
export interface ContentsParts {
  readonly path: string;
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/**
 * Opens the file of known contents. A file that an older version did not write is filled from the
 * log once. A damaged file is not rebuilt: records of wikis exist nowhere else.
 *
 * @throws Fault `storeFull`, `storeCorrupt`, `conflict`, `refused`
 */
export async function openContents(parts: ContentsParts): Promise<ContentTrust> {
  const contents = openContentStore(parts.path);
  if (!contents.complete()) {
    await learn(contents, knownToLog(parts));
    contents.completed();
  }
  return contents;
}

/** Records the contents in the chain of a task that another kernel ran. */
export async function learnContents(
  contents: Pick<ContentTrust, "record" | "sanitize">,
  parts: Omit<ContentsParts, "path">,
  task: string,
): Promise<void> {
  await learn(contents, knownToLog(parts, task));
}

/** Contents, and marks that a person signed, of one page of the log. */
interface Known {
  readonly contents: KnownContent[];
  readonly marks: SanitizeMark[];
}

async function learn(
  contents: Pick<ContentTrust, "record" | "sanitize">,
  pages: AsyncIterable<Known>,
): Promise<void> {
  for await (const known of pages) {
    contents.record(known.contents);
    for (const mark of known.marks) contents.sanitize(mark);
  }
}

/** Yields contents that earlier outcomes put into mounts, and released artifacts. */
async function* knownToLog(
  { store, readPrivate }: Omit<ContentsParts, "path">,
  task?: string,
): AsyncGenerator<Known> {
  for (let afterSeq = 0;;) {
    const kinds = ["outcome", "artifact", "sanitized"];
    const page = await store.events({
      ...{ kinds, afterSeq, limit: PAGE },
      ...(task === undefined ? {} : { task }),
    });
    const found: Known = { contents: [], marks: [] };
    for (const event of page) {
      if (event.kind === "outcome" && !APPLYING.has(bodyOf(event)["tool"])) continue;
      const secret = await readPrivate(event);
      // Erased with its task: the log no longer knows the contents.
      if (secret === undefined) continue;
      found.contents.push(...knownOf(secret));
      // TRUST: from this state's own log; the signature was checked before the event was written.
      const mark = SanitizeMark.safeParse(secret["mark"]);
      if (event.kind === "sanitized" && mark.success) found.marks.push(mark.data);
    }
    yield found;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    afterSeq = last.seq;
  }
}

function knownOf({ record, artifact }: JsonObject): readonly KnownContent[] {
  const released = Artifact.safeParse(artifact);
  if (released.success) return [released.data];
  if (!isObject(record)) return [];
  const { applied, sanitized } = record;
  const list = isObject(applied) && Array.isArray(applied["changes"]) ? applied["changes"] : [];
  const clean = isObject(sanitized) && Array.isArray(sanitized["contents"])
    ? sanitized["contents"].filter(isObject)
    : [];
  return list.flatMap((each): readonly KnownContent[] => {
    const change = StagedChange.safeParse(each);
    if (!change.success || change.data.next === undefined) return [];
    const { next: digest, bytes, colour, label } = change.data;
    const to = clean.find((one) => one["digest"] === digest)?.["to"];
    const known = { digest, bytes, colour, label };
    return [to === "BLUE" || to === "YELLOW" ? { ...known, sanitized: to } : known];
  });
}
