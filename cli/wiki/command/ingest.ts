/** `wiki ingest PATH|URL|-`: sources into a wiki. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { IngestReport } from "../../../contracts/wire/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { type Command, printJson } from "../../command.ts";
import { readExtract } from "../../../memory-wiki/host/answers.ts";
import { counted, type OpenWiki, withWiki } from "../command.ts";
import { ingestBudgets } from "../ingest/budgets.ts";
import {
  addReports,
  ingestBytes,
  type Ingested,
  ingestFile,
  ingestFolder,
  type OnIngest,
  type Trust,
} from "../ingest/files.ts";
import {
  fetchedSource,
  isUrl,
  pathSource,
  pipedSource,
  placeTrust,
  type Source,
  trustOf,
} from "../ingest/sources.ts";
import type { Walk } from "../../../memory-wiki/host/ingest/walk.ts";
import { ingestByModel, type ModelIngest } from "../model/ingest.ts";
import { findWiki } from "../place.ts";
import type { Basic } from "../../powers.ts";

/** Runs the command. Exit code 0, or 1 when something failed while the rest was taken in. */
export async function wikiIngest(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const place = findWiki(command);
  const byModel = flag(parsed, "model");
  if (byModel === undefined && has(parsed, "max-cost")) {
    throw new Fault(
      "invalidInput",
      "Cannot read --max-cost: without --model nothing costs anything",
    );
  }
  const folder = powers.disk.temporary("remit-wiki-");
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
    const unlisten = powers.interrupts.listen(() => stop.abort());
    try {
      return await withWiki(command, async (wiki) => {
        // A batch may take long: the process ends now, and what it had taken in stays.
        stop.signal.addEventListener("abort", () => void wiki.link.close(), { once: true });
        const on = onIngest(command, { signal: stop.signal, wiki });
        const all: Ingested[] = [];
        for (const { source, trust } of sources) {
          if (source.kind === "folder") {
            all.push(await ingestFolder(command, wiki, source.path, trust, on));
          } else if (source.kind === "file") {
            all.push(await ingestFile(command, wiki, source.path, trust, on));
          } else {
            const { document, path, key, name, origin } = source;
            all.push(
              await ingestBytes(
                wiki,
                {
                  ...{ path, key, kind: document, name, origin },
                  bytes: powers.wikis.look(path)?.bytes ?? 0,
                },
                trust,
                on,
              ),
            );
          }
        }
        powers.screen.hint("");
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
    powers.disk.remove(folder);
  }
}

const MAX_FAILED = 50;

/** Shows each file as it is done: a line that moves at a terminal. Failures are told at the end. */
export function onIngest(
  command: Command<Basic | "wikis">,
  { signal, wiki }: { readonly signal: AbortSignal; readonly wiki: Pick<OpenWiki, "place"> },
): OnIngest {
  const { screen } = command.powers;
  let last = 0;
  return {
    ...{ signal, ...ingestBudgets(command, wiki.place.state) },
    onFile({ name }, { done, all }): void {
      const now = command.powers.environment.now();
      if (now - last < 50 && done < all) return;
      last = now;
      screen.hint(`  ${bar(done, all)} ${done}/${all}  ${displayText(name, { max: 60 })}`);
    },
  };
}

function bar(done: number, all: number): string {
  const cells = 20;
  const full = all === 0 ? cells : Math.min(cells, Math.round((done / all) * cells));
  return "█".repeat(full) + "░".repeat(cells - full);
}

/** What a walk left out, in words; empty when it is nothing. */
function skippedText({ skipped, unknownKinds }: Walk): string {
  const kinds = unknownKinds.slice(0, 6).map((each) => displayText(each, { max: 20 })).join(", ");
  return [
    skipped.ignored > 0 ? `${skipped.ignored} ignored by rules` : "",
    skipped.hidden > 0 ? `${skipped.hidden} hidden` : "",
    skipped.built > 0
      ? counted(skipped.built, "folder that builds make", "folders that builds make")
      : "",
    skipped.links > 0 ? counted(skipped.links, "link") : "",
    skipped.special > 0 ? counted(skipped.special, "pipe or device", "pipes or devices") : "",
    skipped.deep > 0 ? counted(skipped.deep, "folder too deep", "folders too deep") : "",
    skipped.unnamed > 0
      ? counted(skipped.unnamed, "name that is not UTF-8", "names that are not UTF-8")
      : "",
    skipped.unknown > 0 ? `${skipped.unknown} of other kinds (${kinds})` : "",
    skipped.never > 0 ? `${skipped.never} with keys or credentials (never taken)` : "",
  ].filter((each) => each !== "").join(", ");
}

/** The last line: what became of everything. */
export function totalsText(report: IngestReport, removed: number): string {
  return [
    `${report.added} new`,
    `${report.changed} changed`,
    `${report.unchanged} unchanged`,
    ...(removed === 0 ? [] : [`${removed} removed`]),
    `${report.failed.length} failed`,
  ].join(", ");
}

/** The pages that rules make, and that this is what they are. */
const EXTRACTIVE = "pages are extractive: sentences chosen by rules, no model read them";

/** Shows what one command took in. */
function showIngest(
  command: Command,
  { all, report, removed, pages, model }: {
    readonly all: readonly Ingested[];
    readonly report: IngestReport;
    readonly removed: readonly string[];
    readonly pages: ReturnType<typeof readExtract> | undefined;
    readonly model: ModelIngest | undefined;
  },
): void {
  const { screen } = command.powers;
  const { noted = [] } = report;
  if (command.json) {
    return void printJson(command, {
      new: report.added,
      changed: report.changed,
      unchanged: report.unchanged,
      removed,
      failed: report.failed,
      ...(noted.length === 0 ? {} : { noted }),
      skipped: all.flatMap(({ walk }) => walk === undefined ? [] : [walk.skipped]),
      ...(pages === undefined ? {} : { pages }),
      ...(model === undefined ? {} : { model: model.document }),
    });
  }
  for (const { walk } of all) {
    const left = walk === undefined ? "" : skippedText(walk);
    if (left !== "") screen.say(screen.paint.dim(`  left out: ${left}`));
  }
  for (const { name, notes } of noted.slice(0, MAX_FAILED)) {
    for (const note of notes) {
      screen.say(
        `  ${screen.paint.yellow("!")} ${displayText(name, { max: 200 })}: ${
          displayText(note, { max: 300 })
        }`,
      );
    }
  }
  if (noted.length > MAX_FAILED) {
    screen.say(`  and notes on ${noted.length - MAX_FAILED} more files; --json tells all`);
  }
  const told = report.failed.slice(0, MAX_FAILED);
  for (const { name, why } of told) {
    screen.say(
      `  ${screen.paint.red("failed")} ${displayText(name, { max: 200 })}: ${
        displayText(why, { max: 300 })
      }`,
    );
  }
  if (report.failed.length > told.length) {
    screen.say(`  and ${report.failed.length - told.length} more`);
  }
  if (pages !== undefined) {
    const { written, conflicts } = pages;
    if (written.length > 0) {
      screen.say(screen.paint.dim(`  ${counted(written.length, "page")} written; ${EXTRACTIVE}`));
    }
    for (const each of conflicts) {
      screen.say(
        `  ${screen.paint.yellow("!")} page ${
          displayText(each, { max: 130 })
        } was left as it is: another change stands in it`,
      );
    }
  }
  screen.out(`${totalsText(report, removed.length)}\n`);
}
