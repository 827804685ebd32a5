/** `workspace promote`: scratch of a task that is over becomes sources of the wiki. @module */
import { join } from "node:path";
import { mixColour, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import type { IngestReport } from "../../contracts/wire/mod.ts";
import { displayText } from "../../text/mod.ts";
import { askKernel, type Command, idOf, printJson, printLines } from "../command.ts";
import type { Basic } from "../hands.ts";
import { withWiki } from "../wiki/command.ts";
import { ingestBudgets } from "../wiki/ingest/budgets.ts";
import { addReports, DOCUMENT_BYTES, ingestBytes } from "../wiki/ingest/files.ts";
import { walkFolder } from "../wiki/ingest/walk.ts";
import { listedWorkspaces } from "./workspace_commands.ts";

/** `workspace promote`: its documents into the wiki, as trusted and as confidential as the task was. */
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
  const { hands: { disk, wikis } } = command, root = disk.real(found.folder) ?? found.folder;
  const walk = walkFolder({ disk, wikis, apart: [], most: DOCUMENT_BYTES }, root);
  if (walk.files.length === 0) {
    throw new Fault(
      "invalidInput",
      `Cannot promote the scratch of task ${task}: no document is in it`,
    );
  }
  const trust = {
    // A model wrote it: it is no person's own word, whoever asked for it.
    colour: mixColour(found.colour, "YELLOW"),
    ...{ label: found.label, owner: "operator" },
  };
  const report = await withWiki(command, async (wiki) => {
    const on = ingestBudgets(command, wiki.place.state);
    const all: IngestReport[] = [];
    for (const { path, name, kind, bytes } of walk.files) {
      const key = `task:${task}/${path.slice(root.length + 1)}`;
      const from = { path, key, kind, bytes, name: name.slice(-512), origin: key.slice(0, 4_000) };
      all.push((await ingestBytes(wiki, from, trust, on)).report);
    }
    return all.reduce(addReports);
  }, { reads: [root] });
  const { added, changed, unchanged, failed } = report;
  if (failed.length === 0) await askKernel(command, "workspaces", { do: "promoted", task });
  if (command.json) printJson(command, { task, ...trust, added, changed, unchanged, failed });
  else {
    printLines(command, [
      `${added} new, ${changed} changed, ${unchanged} unchanged, ${failed.length} failed; ${trust.colour}, ${trust.label}`,
      ...failed.slice(0, 20).map(({ name, why }) =>
        `failed ${displayText(join(task, name), { max: 200 })}: ${displayText(why, { max: 300 })}`
      ),
    ]);
  }
  return failed.length === 0 ? EXIT.success : EXIT.failure;
}
