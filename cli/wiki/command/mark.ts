/**
 * `wiki sanitize PAGE --colour` and `wiki redact PAGE --label`: a person signs that one version of
 * a page is more trusted, or less confidential.
 * @module
 */
import {
  cleared,
  type Colour,
  colourSuffices,
  type Label,
} from "../../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { type Page, PageMark, pageMarkText } from "../../../contracts/memory/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { openKeyRing } from "../../../config/key/ring.ts";
import { oneOf } from "../../arguments/parse_arguments.ts";
import { readMarked, readPage } from "../../../memory-wiki/host/answers.ts";
import {
  askOperator,
  EVERYTHING,
  type OpenWiki,
  operatorName,
  pageNameOf,
  withWiki,
} from "../command.ts";
import { numberedLines } from "../hit_lines.ts";
import { readWhole } from "./show.ts";
import type { Basic } from "../../powers.ts";

/** `wiki sanitize PAGE --colour YELLOW|BLUE`. */
export async function wikiSanitize(
  command: Command<Basic | "keyboard" | "wikis">,
): Promise<number> {
  const colour = oneOf(command.parsed, "colour", ["BLUE", "YELLOW"]);
  if (colour === undefined) {
    throw new Fault(
      "invalidInput",
      "Cannot sanitize: say how far it is trusted with --colour YELLOW or BLUE",
    );
  }
  return await mark(command, "sanitize", (page) => {
    if (colourSuffices(page.colour, colour)) throw already(page, `it is ${page.colour}`);
    return { colour, label: page.label };
  });
}

/** `wiki redact PAGE --label public|internal`. */
export async function wikiRedact(command: Command<Basic | "keyboard" | "wikis">): Promise<number> {
  const label = oneOf(command.parsed, "label", ["public", "internal"]);
  if (label === undefined) {
    throw new Fault(
      "invalidInput",
      "Cannot redact: say how confidential it is with --label internal or public",
    );
  }
  return await mark(command, "redact", (page) => {
    if (cleared(page.label, label)) throw already(page, `it is ${page.label}`);
    return { colour: page.colour, label };
  });
}

function already({ name }: Page, why: string): Fault {
  return new Fault("invalidInput", `Cannot mark "${name}": ${why} already`);
}

async function mark(
  command: Command<Basic | "keyboard" | "wikis">,
  verb: "sanitize" | "redact",
  judge: (page: Page) => { readonly colour: Colour; readonly label: Label },
): Promise<number> {
  const { powers, places, parsed } = command;
  const name = pageNameOf(parsed.args[0] ?? "");
  return await withWiki(command, async (wiki) => {
    const { page } = readPage(await wiki.ask("page", { clearance: EVERYTHING, name }));
    const next = judge(page);
    await show(command, wiki, page);
    await askOperator(
      command,
      `${verb} "${name}"`,
      `version ${page.version} is ${page.colour} and ${page.label}. You have read all of it, and say that it is ${next.colour} and ${next.label}?`,
      { yes: false },
    );
    const signer = openKeyRing(powers.disk, places).provideConsent();
    const unsigned = {
      ...{ page: page.name, digest: page.digest, ...next },
      ...{ by: operatorName(powers), at: powers.environment.now() },
    };
    const signed = PageMark.parse({
      ...unsigned,
      key: signer.key,
      signature: signer.sign(pageMarkText(unsigned)),
    });
    const marked = readMarked(await wiki.ask("mark", signed));
    if (command.json) printJson(command, { page: marked, mark: signed });
    else {printLines(command, [
        `${name}, version ${marked.version}: ${marked.colour}, ${marked.label}`,
      ]);}
    return EXIT.success;
  });
}

/** Prints the whole page before it is signed. Throws `conflict` when it changed meanwhile. */
async function show(command: Command, wiki: OpenWiki, page: Page): Promise<void> {
  const { screen } = command.powers;
  const read = await readWhole(wiki, `pages/${page.name}.md`, {
    clearance: EVERYTHING,
    version: page.version,
  });
  if (read.digest !== page.digest) {
    throw new Fault(
      "conflict",
      `Cannot mark "${page.name}": it changed while it was read; look again`,
    );
  }
  for (const line of numberedLines(command, read.text, { from: 1 })) screen.say(line);
}
