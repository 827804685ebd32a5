/** How an ingest is shown: a line that moves, what was left out, the last line. @module */
import type { IngestReport } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson } from "../../command.ts";
import type { readExtract } from "../answers.ts";
import { counted } from "../command.ts";
import type { Ingested, OnIngest } from "../ingest/files.ts";
import type { ModelIngest } from "../model/ingest.ts";
import type { Walk } from "../ingest/walk.ts";

const MOST_FAILED = 50;

/** Shows each file as it is done: a line that moves at a terminal. Failures are told at the end. */
export function onIngest(command: Command, signal: AbortSignal): OnIngest {
  const { screen } = command.hands;
  let last = 0;
  return {
    signal,
    onFile({ name }, { done, all }): void {
      const now = command.hands.around.now();
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
export function showIngest(
  command: Command,
  { all, report, removed, pages, model }: {
    readonly all: readonly Ingested[];
    readonly report: IngestReport;
    readonly removed: readonly string[];
    readonly pages: ReturnType<typeof readExtract> | undefined;
    readonly model: ModelIngest | undefined;
  },
): void {
  const { screen } = command.hands;
  const { noted = [] } = report;
  if (command.json) {
    return printJson(command, {
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
  for (const { name, notes } of noted.slice(0, MOST_FAILED)) {
    for (const note of notes) {
      screen.say(
        `  ${screen.paint.yellow("!")} ${displayText(name, { max: 200 })}: ${
          displayText(note, { max: 300 })
        }`,
      );
    }
  }
  if (noted.length > MOST_FAILED) {
    screen.say(`  and notes on ${noted.length - MOST_FAILED} more files; --json tells all`);
  }
  const told = report.failed.slice(0, MOST_FAILED);
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
