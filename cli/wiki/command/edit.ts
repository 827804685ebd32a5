/** `wiki edit PAGE`: opens a page in the operator's editor; a conflicting text is kept in a file. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { PageName } from "../../../contracts/memory/mod.ts";
import { type Command, printJson } from "../../command.ts";
import { type PatchAnswer, readPage, readPatch } from "../../../memory-wiki/host/answers.ts";
import {
  askOperator,
  EVERYTHING,
  type OpenWiki,
  operatorName,
  pageNameOf,
  shownPath,
  withWiki,
} from "../command.ts";
import { exitOfPatch, sayPatch } from "../patch.ts";
import { readWhole } from "./show.ts";
import type { Basic } from "../../powers.ts";

interface Base {
  readonly text: string;
  /** 0 for a new page. */
  readonly version: number;
}

/** The front matter of a new page. */
function template(name: PageName): string {
  return `---\nkind: concept\ntitle: ${JSON.stringify(name.replaceAll("-", " "))}\n---\n\n`;
}

async function baseOf(wiki: OpenWiki, name: PageName): Promise<Base> {
  try {
    const { page } = readPage(await wiki.ask("page", { clearance: EVERYTHING, name }));
    const read = await readWhole(wiki, `pages/${name}.md`, {
      clearance: EVERYTHING,
      version: page.version,
    });
    return { text: `${read.text.replace(/\n$/, "")}\n`, version: page.version };
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "notFound") throw error;
    return { text: template(name), version: 0 };
  }
}

/** `wiki edit`. Exit code 1 for a conflict; the message names the file that keeps the text. */
export async function wikiEdit(command: Command<Basic | "keyboard" | "wikis">): Promise<number> {
  const { powers, parsed } = command;
  const name = pageNameOf(parsed.args[0] ?? "");
  const { environment, disk, screen } = powers;
  const editor = environment.env("VISUAL") ?? environment.env("EDITOR");
  if (editor === undefined || editor.trim() === "") {
    throw new Fault("unavailable", "Cannot edit: set EDITOR to the program that you edit with");
  }
  return await withWiki(command, async (wiki) => {
    const base = await baseOf(wiki, name);
    if (base.version === 0) {
      await askOperator(command, `edit "${name}"`, `there is no page "${name}": make one?`, {
        yes: true,
      });
    }
    const folder = disk.temporary("remit-wiki-edit-");
    const file = join(folder, `${name}.md`);
    try {
      disk.write(file, base.text);
      const code = await powers.wikis.edit(editor, file);
      const bytes = disk.read(file);
      if (code !== 0 || bytes === undefined) {
        throw new Fault("cancelled", `Cannot edit "${name}": the editor ended with ${code}`);
      }
      const text = new TextDecoder().decode(bytes);
      if (text === base.text) {
        screen.say("  nothing changed");
        return EXIT.success;
      }
      return await save(command, wiki, { name, text, base });
    } finally {
      disk.remove(folder);
    }
  });
}

/** The version of a page that a patch made; a later version may exist already. */
async function versionOf(
  wiki: OpenWiki,
  name: PageName,
  patch: PatchAnswer["id"],
): Promise<number | undefined> {
  const { history } = readPage(await wiki.ask("page", { clearance: EVERYTHING, name }));
  return history.find((each) => each.patch === patch)?.version;
}

async function save(
  command: Command,
  wiki: OpenWiki,
  { name, text, base }: { readonly name: PageName; readonly text: string; readonly base: Base },
): Promise<number> {
  const { powers } = command;
  const kept = join(wiki.place.state, "kept", `${name}.${powers.environment.id("")}.md`);
  // Keep a copy before the wiki gets the text: no failure loses what was typed.
  powers.disk.makeFolder(join(wiki.place.state, "kept"), 0o700);
  powers.disk.write(kept, text);
  const sayKept = (): void =>
    powers.screen.say(`  your text is kept in ${shownPath(powers.environment, kept)}`);
  try {
    const by = operatorName(powers);
    const patch = readPatch(await wiki.ask("edit", { name, text, base: base.version, by }));
    const version = patch.state === "applied" ? await versionOf(wiki, name, patch.id) : undefined;
    if (command.json) {
      printJson(command, {
        page: name,
        version: version ?? null,
        state: patch.state,
        conflicts: patch.conflicts ?? [],
        kept: patch.state === "conflict" ? kept : null,
      });
    } else if (version === undefined) sayPatch(command, patch);
    else {
      const { paint, say } = powers.screen;
      say(`  ${paint.green("✓")} ${name} is version ${version} now (${patch.id})`);
    }
    if (patch.state === "conflict") sayKept();
    else powers.disk.remove(kept);
    return exitOfPatch(patch);
  } catch (error) {
    sayKept();
    throw error;
  }
}
