/** `wiki reindex|embed|watch`: keeping a wiki's index, its vectors, and what it was made from. @module */
import { Label } from "../../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { flag, has, oneOf } from "../../arguments/parse_arguments.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { absolute } from "../../../launch/disk/places.ts";
import { readExtract, readStatus, readTexts } from "../../../memory-wiki/host/answers.ts";
import { counted, operatorName, withWiki } from "../command.ts";
import { ingestFolder, type Trust } from "../ingest/files.ts";
import { sayWhere, usd } from "../model/ask.ts";
import { MAX_TEXTS, openEmbedder } from "../model/vectors.ts";
import { keepEmbedder } from "../place.ts";
import { onIngest, totalsText } from "./ingest.ts";
import type { Basic } from "../../powers.ts";

/** `wiki reindex`: the search index anew from the files. */
export async function wikiReindex(command: Command<Basic | "wikis">): Promise<number> {
  return await withWiki(command, async (wiki) => {
    command.powers.screen.hint("  building the index …");
    const status = readStatus(await wiki.ask("reindex", null));
    command.powers.screen.hint("");
    if (command.json) printJson(command, { ...status, folder: wiki.place.folder });
    else {
      const { pages, passages, index } = status;
      printLines(command, [
        `index ${index}: ${counted(pages, "page")}, ${counted(passages, "passage")}`,
      ]);
    }
    return EXIT.success;
  });
}

/** `wiki embed`: vectors for what has none, so that questions find what is worded otherwise. */
export async function wikiEmbed(
  command: Command<Basic | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const given = flag(parsed, "embedder");
  return await withWiki(command, async (wiki) => {
    const embedder = await openEmbedder(command, given);
    try {
      sayWhere(command, embedder.providers);
      let [texts, money] = [0, 0];
      for (;;) {
        const body = { embedder: embedder.vectors, limit: MAX_TEXTS };
        const next = readTexts(await wiki.ask("embedPlan", body));
        if (next.length === 0) break;
        // The most confidential that a wiki holds decides where its texts may go.
        const made = await embedder.embed(next.map(({ text }) => text), labelOf(command), 0);
        money += made.money;
        await wiki.ask("embedTaken", {
          embedder: embedder.vectors,
          vectors: next.map(({ key }, n) => ({ key, vector: made.vectors[n] ?? [] })),
        });
        texts += next.length;
        powers.screen.hint(`  ${texts} texts …`);
      }
      powers.screen.hint("");
      keepEmbedder(command, wiki.place, given ?? embedder.ref);
      if (command.json) printJson(command, { embedder: embedder.ref, texts, cost_usd: money });
      else {
        const name = displayText(embedder.ref, { max: 100 });
        printLines(command, [`${counted(texts, "text")} by ${name}, ${usd(money)}`]);
      }
      return EXIT.success;
    } finally {
      embedder.close();
    }
  });
}

/** A wiki may hold secrets, so that nothing less is said of its texts unless the operator says it. */
function labelOf({ parsed }: Command): Label {
  return oneOf(parsed, "label", Label.options) ?? "secret";
}

/** `wiki watch FOLDER`: takes in what changes, until Ctrl-C. */
export async function wikiWatch(
  command: Command<Basic | "interrupts" | "watch" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const { disk, environment, screen } = powers;
  const given = parsed.args[0] ?? "";
  const root = disk.real(absolute(environment, given));
  if (root === undefined || disk.stat(root)?.folder !== true) {
    throw new Fault("notFound", `Cannot watch "${given}": there is no such folder`);
  }
  const trust: Trust = {
    label: oneOf(parsed, "label", Label.options) ?? "internal",
    colour: oneOf(parsed, "colour", ["YELLOW", "RED"]) ?? "YELLOW",
    owner: operatorName(powers),
  };
  const stopping = new AbortController();
  const unlisten = powers.interrupts.listen(() => stopping.abort());
  try {
    // Begun before the first look: a change meanwhile is not lost.
    const changes = powers.watch(root, stopping.signal)[Symbol.asyncIterator]();
    for (let going = true; going;) {
      await takeOnce(command, root, trust, stopping.signal);
      screen.hint("  waiting for a change; Ctrl-C ends");
      going = (await changes.next()).done !== true;
      screen.hint("");
    }
  } finally {
    unlisten();
  }
  return EXIT.success;
}

async function takeOnce(
  command: Command<Basic | "wikis">,
  root: string,
  trust: Trust,
  signal: AbortSignal,
): Promise<void> {
  const { screen } = command.powers;
  try {
    await withWiki(command, async (wiki) => {
      const on = onIngest(command, { signal, wiki });
      const { report, removed } = await ingestFolder(command, wiki, root, trust, on);
      const changed = report.added + report.changed + removed.length > 0;
      if (changed && !has(command.parsed, "no-pages")) {
        readExtract(await wiki.ask("extract", {}));
      }
      screen.hint("");
      screen.out(`${totalsText(report, removed.length)}\n`);
    }, { reads: [root] });
  } catch (error) {
    // What does not work now may work after the next change.
    if (!(error instanceof Fault) || signal.aborted) {
      return signal.aborted ? undefined : fail(error);
    }
    screen.say(`${screen.paint.red("✗")} ${displayText(error.message, { max: 500 })}`);
  }
}

function fail(error: unknown): never {
  throw error;
}
