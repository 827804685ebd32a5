/** `wiki notes`: lists what agents asked to remember; keeps or rejects a note. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import type { Note } from "../../../contracts/memory/mod.ts";
import { displayBlock, displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { has, oneOf } from "../../arguments/parse_arguments.ts";
import { readNote, readNotes } from "../../../memory-wiki/host/answers.ts";
import { clearanceOf, marksOf, momentText, operatorName, withWiki } from "../command.ts";
import type { Basic } from "../../powers.ts";

function noteLines(command: Command, note: Note): readonly string[] {
  const { paint } = command.powers.screen;
  const head = [
    paint.bold(note.id),
    momentText(note.at),
    note.kind,
    note.state === "waiting" ? paint.yellow("waits") : note.state,
    `by ${displayText(note.agent, { max: 64 })} in ${displayText(note.task, { max: 64 })}`,
    marksOf(command, note),
    note.expiresAt === undefined ? "" : `until ${momentText(note.expiresAt)}`,
  ].filter((each) => each !== "").join("  ");
  return [head, ...displayBlock(note.text, { maxLines: 20 })];
}

export async function wikiNotes(command: Command<Basic | "wikis">): Promise<number> {
  const { parsed, powers } = command;
  const [verb = "list", id] = parsed.args;
  if (!["list", "keep", "reject"].includes(verb)) {
    throw new Fault("invalidInput", `Cannot run "wiki notes ${verb}": there is list, keep, reject`);
  }
  if ((verb === "list") !== (id === undefined)) {
    throw new Fault(
      "invalidInput",
      verb === "list"
        ? "Cannot list one note: the list has all of them"
        : `Cannot ${verb} a note: say which`,
    );
  }
  const kind = oneOf(parsed, "kind", ["taskLog", "projectWiki", "userMemory"]);
  return await withWiki(command, async (wiki) => {
    if (id !== undefined) {
      const by = operatorName(powers);
      const note = readNote(await wiki.ask("noteDecide", { id, keep: verb === "keep", by }));
      if (command.json) printJson(command, note);
      else printLines(command, [`${note.id} is ${note.state}`]);
      return EXIT.success;
    }
    const notes = readNotes(
      await wiki.ask("notes", {
        clearance: clearanceOf(command),
        kind,
        state: has(parsed, "all") ? undefined : "waiting",
      }),
    );
    if (command.json) printJson(command, notes);
    else if (notes.length === 0) {
      printLines(command, [
        has(parsed, "all") ? "no notes" : "no note waits; --all shows the others",
      ]);
    } else {
      printLines(command, notes.flatMap((each) => noteLines(command, each)));
      powers.screen.say(
        powers.screen.paint.cyan(`  ${commandText(command, "wiki notes keep NOTE")}`),
      );
    }
    return EXIT.success;
  });
}
