/** `workspace promote`: adds documents from a finished task's scratch to the wiki. @module */
import { join } from "node:path";
import * as z from "zod";
import { Colour, Label, mixColour, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import type { IngestReport } from "../../contracts/wire/mod.ts";
import { displayText } from "../../text/mod.ts";
import { askKernel, type Command, idOf, printJson, printLines } from "../command.ts";
import type { Basic } from "../powers.ts";
import { withWiki } from "../wiki/command.ts";
import { ingestBudgets } from "../wiki/ingest/budgets.ts";
import { addReports, DOCUMENT_BYTES, ingestBytes } from "../wiki/ingest/files.ts";
import { kindOfName } from "../../memory-wiki/host/ingest/kinds.ts";
import { listedWorkspaces } from "./workspace_commands.ts";

const ScratchFile = z.object({
  ...{ path: z.string(), file: z.string(), bytes: z.number(), colour: Colour, label: Label },
});

/** `workspace promote`: adds the documents with the trust and confidentiality that they had, YELLOW at best. */
export async function workspacePromote(
  command: Command<Basic | "wikis">,
): Promise<number> {
  const task = idOf(TaskId, command.parsed.args[0] ?? "", "task");
  const found = (await listedWorkspaces(command)).find((each) => each.task === task);
  if (found === undefined) {
    throw new Fault(
      "notFound",
      `Cannot promote the scratch of task ${task}: the task is not over, or it left none; "remit workspace list" names those that did`,
    );
  }
  const listed = ScratchFile.array().parse(
    await askKernel(command, "workspaces", { do: "files", task }),
  );
  const files = listed.flatMap((file) => {
    const kind = kindOfName(file.path);
    return kind === undefined || file.bytes > DOCUMENT_BYTES ? [] : [{ ...file, kind }];
  });
  const left = listed.length - files.length;
  if (files.length === 0) {
    throw new Fault(
      "invalidInput",
      `Cannot promote the scratch of task ${task}: none of its ${listed.length} files is a document`,
    );
  }
  const report = await withWiki(command, async (wiki) => {
    const on = ingestBudgets(command, wiki.place.state);
    const all: IngestReport[] = [];
    for (const { path, file, kind, bytes, colour, label } of files) {
      const key = `task:${task}/${path}`.slice(0, 4_000);
      const from = { path: file, key, kind, bytes, name: path.slice(-512), origin: key };
      // A model wrote the document, so it is nobody's own words, whoever asked for it.
      const trust = { colour: mixColour(colour, "YELLOW"), label, owner: "operator" };
      all.push((await ingestBytes(wiki, from, trust, on)).report);
    }
    return all.reduce(addReports);
  }, { reads: [found.folder] });
  const { added, changed, unchanged, failed } = report;
  if (failed.length === 0) await askKernel(command, "workspaces", { do: "promoted", task });
  if (command.json) printJson(command, { task, added, changed, unchanged, failed, left });
  else {
    printLines(command, [
      `${added} new, ${changed} changed, ${unchanged} unchanged, ${failed.length} failed, ${left} that are no documents left out`,
      ...failed.slice(0, 20).map(({ name, why }) =>
        `failed ${displayText(join(task, name), { max: 200 })}: ${displayText(why, { max: 300 })}`
      ),
    ]);
  }
  return failed.length === 0 ? EXIT.success : EXIT.failure;
}
