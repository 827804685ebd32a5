/** `wiki reindex|embed|watch`: rebuilds the index, makes vectors, follows a folder. @module */
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

/** `wiki reindex`: rebuilds the search index from the files. */
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

/** `wiki embed`: makes vectors for texts without one, so that questions find other wordings. */
export async function wikiEmbed(
  command: Command<Basic | "mcpStore" | "models" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const given = flag(parsed, "embedder");
  // A wiki may hold secrets: only the operator can call its texts less confidential.
  const label = oneOf(parsed, "label", Label.options) ?? "secret";
  return await withWiki(command, async (wiki) => {
    const embedder = await openEmbedder(command, given);
    try {
      sayWhere(command, embedder.providers);
      let [texts, money] = [0, 0];
      for (;;) {
        const body = { embedder: embedder.vectors, limit: MAX_TEXTS };
        const next = readTexts(await wiki.ask("embedPlan", body));
        if (next.length === 0) break;
        // One label decides where all texts may go: that of the most confidential one.
        const made = await embedder.embed(next.map(({ text }) => text), label, 0);
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

/** `wiki watch FOLDER`: takes in changed files until Ctrl-C. */
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
    // Watch before the first ingest, so that a change during the ingest is not lost.
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
    if (signal.aborted) return;
    if (!(error instanceof Fault)) throw error;
    // A file that fails now may succeed after its next change: report the fault and go on.
    screen.say(`${screen.paint.red("✗")} ${displayText(error.message, { max: 500 })}`);
  }
}
