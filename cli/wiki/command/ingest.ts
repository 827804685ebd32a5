/** `wiki ingest PATH|URL|-`: sources into a wiki. @module */
import { EXIT, Fault } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { readExtract } from "../answers.ts";
import { withWiki } from "../command.ts";
import {
  addReports,
  ingestBytes,
  type Ingested,
  ingestFile,
  ingestFolder,
  type Trust,
} from "../ingest/files.ts";
import { onIngest, showIngest } from "./ingest_lines.ts";
import {
  fetchedSource,
  isUrl,
  pathSource,
  pipedSource,
  placeTrust,
  type Source,
  trustOf,
} from "../ingest/sources.ts";
import { ingestByModel } from "../model/ingest.ts";
import { findWiki } from "../place.ts";
import type { Basic } from "../../hands.ts";

/** Runs the command. Exit code 0, or 1 when something failed while the rest was taken in. */
export async function wikiIngest(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { hands, parsed } = command;
  const place = findWiki(command);
  const byModel = flag(parsed, "model");
  if (byModel === undefined && has(parsed, "max-cost")) {
    throw new Fault(
      "invalidInput",
      "Cannot read --max-cost: without --model nothing costs anything",
    );
  }
  const folder = hands.disk.temporary("remit-wiki-");
  const stop = new AbortController();
  try {
    const sources: { readonly source: Source; readonly trust: Trust }[] = [];
    for (const text of parsed.args) {
      const shown = displayText(text, { max: 200 });
      const trust = await trustOf(command, { ...placeTrust(text), shown });
      const source = text === "-"
        ? await pipedSource(command, folder)
        : isUrl(text)
        ? await fetchedSource(command, text, folder)
        : pathSource(command, text, place.folder);
      sources.push({ source, trust });
    }
    const reads = [...new Set(sources.map(({ source }) => source.path))];
    const unlisten = hands.interrupts.listen(() => stop.abort());
    try {
      return await withWiki(command, async (wiki) => {
        // A batch may take long: the process ends now, and what it had taken in stays.
        stop.signal.addEventListener("abort", () => void wiki.link.close(), { once: true });
        const on = onIngest(command, stop.signal);
        const all: Ingested[] = [];
        for (const { source, trust } of sources) {
          if (source.kind === "folder") {
            all.push(await ingestFolder(command, wiki, source.path, trust, on));
          } else if (source.kind === "file") {
            all.push(await ingestFile(command, wiki, source.path, trust, on));
          } else {
            const { document, path, key, name, origin } = source;
            all.push(
              await ingestBytes(wiki, { path, key, kind: document, name, origin }, trust, on),
            );
          }
        }
        hands.screen.hint("");
        const report = all.map((each) => each.report).reduce(addReports);
        const removed = all.flatMap((each) => each.removed);
        const pages = has(parsed, "no-pages") || byModel !== undefined
          ? undefined
          : readExtract(await wiki.ask("extract", {}));
        const model = byModel === undefined ? undefined : await ingestByModel(command, wiki, all);
        showIngest(command, { all, report, removed, pages, model });
        return report.failed.length === 0 ? model?.exit ?? EXIT.success : EXIT.failure;
      }, { reads });
    } finally {
      unlisten();
    }
  } finally {
    hands.disk.remove(folder);
  }
}
