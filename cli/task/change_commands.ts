/** `diff` and `undo`: a task's changes to files. @module */
import { EXIT, type Json } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  commandText,
  printJson,
  printLines,
  reachKernel,
  recordOf,
  taskOf,
} from "../command.ts";
import { checkSameFolders } from "../../launch/disk/same_folders.ts";
import { makeDiffPaint } from "../question/diff_paint.ts";
import { showChange } from "../question/shown_content.ts";
import { shellLine } from "../../text/shell.ts";
import { askStaged } from "../run/watch_task.ts";

/** `diff TASK`: shows staged and applied changes. */
export async function diffCommand(command: Command): Promise<number> {
  const link = await reachKernel(command);
  try {
    showDiff(command, await askStaged(link, taskOf(command)));
  } finally {
    link.close();
  }
  return EXIT.success;
}

/** Prints the changes of a task to standard output. */
export function showDiff(command: Command, staged: Awaited<ReturnType<typeof askStaged>>): void {
  const { disk, screen } = command.powers;
  const parts = [
    ...staged.applied.map((patch) => ({
      state: patch.undone ? "undone" : "applied",
      changes: patch.changes,
    })),
    { state: "staged", changes: staged.changes },
  ].flatMap(({ state, changes }) =>
    changes.map((change) => ({ state, change: showChange(disk, staged.content, change) }))
  );
  if (command.json) {
    printJson(command, parts.map(({ state, change }) => ({ state, ...change })));
    return;
  }
  if (parts.length === 0) printLines(command, ["no changes"]);
  for (const { state, change } of parts) {
    const paint = makeDiffPaint(change.lines, screen.paint);
    printLines(command, [
      screen.paint.bold(`${change.path}  (${change.kind}, ${state})`),
      ...(change.note === undefined ? [] : [`  ${change.note}`]),
      ...change.lines.map((line) => `  ${paint(line)}`),
      "",
    ]);
  }
}

/** `undo TASK`; exits with 1 when a conflict prevents part of it. */
export async function undoCommand(command: Command): Promise<number> {
  const task = taskOf(command);
  const { mounts } = AgentTask.parse(await askKernel(command, "task", { task }));
  checkSameFolders(command.powers.disk, mounts);
  const files = command.parsed.flags.get("file") ?? [];
  const answer = recordOf(
    await askKernel(command, "undo", { task, ...(files.length === 0 ? {} : { files }) }),
  );
  if (command.json) printJson(command, answer);
  else {
    const again = commandText(command, `undo ${task}`);
    printLines(command, undoLines(answer, { again, files: files.length > 0 }));
  }
  const conflicts = answer["conflicts"];
  return Array.isArray(conflicts) && conflicts.length > 0 ? EXIT.failure : EXIT.success;
}

/** The lines for the kernel's answer to `undo`; `again` is the command to repeat it. */
export function undoLines(
  answer: ReturnType<typeof recordOf>,
  { again, files }: { readonly again: string; readonly files: boolean },
): string[] {
  const undone = listOf(answer["undone"]).map((path) => cell(path));
  const conflicts = listOf(answer["conflicts"]).map((each) => {
    const { path, why } = recordOf(each);
    return {
      path: cell(path, 4_096),
      why: typeof why === "string" ? cell(why, 500) : "changed since",
    };
  });
  if (undone.length + conflicts.length === 0) return ["nothing to undo"];
  const standing = answer["standing"], part = conflicts.length > 0;
  // A patch with a conflict counts as standing itself.
  const older = typeof standing === "number" && !files ? standing - (part ? 1 : 0) : 0;
  const left = `still there: ${older} older ${older === 1 ? "patch" : "patches"} of this task`;
  return [
    ...undone.map((path) => `undone    ${path}`),
    ...conflicts.map(({ path, why }) => `conflict  ${path}: ${why}; left as it is`),
    ...(part && undone.length === 0 ? ["nothing was undone"] : []),
    ...(part
      ? [
        "to take the rest back, move away what is there now (it stays yours), then: " +
        `${again}${
          conflicts.slice(0, 5).map(({ path }) => ` --file ${shellLine([path])}`).join("")
        }` +
        (conflicts.length > 5 ? " …" : ""),
      ]
      : []),
    ...(older === 0 ? [] : [part ? left : `${left}; undo again takes the next one back`]),
  ];
}

function listOf(value: ReturnType<typeof recordOf>[string] | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
