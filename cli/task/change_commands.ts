/** What a task changes in a folder: `diff`, `undo`. @module */
import { AgentTask, EXIT } from "../../contracts/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJson,
  printLines,
  reachKernel,
  recordOf,
  taskOf,
} from "../command.ts";
import { checkSameFolders } from "../disk/same_folders.ts";
import { paintDiff, showChange } from "../question/shown_content.ts";
import { askStaged } from "../run/watch_task.ts";

/** `diff TASK`: what is staged, and what was applied. */
export async function diffCommand(command: Command): Promise<number> {
  const link = await reachKernel(command);
  try {
    await showDiff(command, await askStaged(link, taskOf(command)));
  } finally {
    link.close();
  }
  return EXIT.success;
}

/** Prints the changes of a task to standard output. */
export function showDiff(
  command: Command,
  staged: Awaited<ReturnType<typeof askStaged>>,
): Promise<void> {
  const { disk, screen } = command.hands;
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
    return Promise.resolve();
  }
  if (parts.length === 0) printLines(command, ["no changes"]);
  for (const { state, change } of parts) {
    printLines(command, [
      screen.paint.bold(`${change.path}  (${change.kind}, ${state})`),
      ...(change.note === undefined ? [] : [`  ${change.note}`]),
      ...change.lines.map((line) => `  ${paintDiff(line, screen.paint)}`),
      "",
    ]);
  }
  return Promise.resolve();
}

/** `undo TASK`; 1 when something stands in the way. */
export async function undoCommand(command: Command): Promise<number> {
  const task = taskOf(command);
  const { mounts } = AgentTask.parse(await askKernel(command, "task", { task }));
  checkSameFolders(command.hands.disk, mounts);
  const answer = recordOf(await askKernel(command, "undo", { task }));
  if (command.json) printJson(command, answer);
  else printLines(command, undoLines(answer));
  const conflicts = answer["conflicts"];
  return Array.isArray(conflicts) && conflicts.length > 0 ? EXIT.failure : EXIT.success;
}

/** The lines for an answer to `undo`. */
export function undoLines(answer: ReturnType<typeof recordOf>): string[] {
  const undone = answer["undone"];
  const conflicts = answer["conflicts"];
  const list = (value: typeof undone): readonly string[] =>
    Array.isArray(value)
      ? value.map((each) =>
        typeof each === "string" ? cell(each) : cell(recordOf(each)["path"] ?? each)
      )
      : value === undefined || value === null
      ? []
      : [cell(value)];
  const lines = [
    ...list(undone).map((path) => `undone    ${path}`),
    ...list(conflicts).map((path) => `conflict  ${path}: changed since; left as it is`),
  ];
  if (lines.length === 0) return ["nothing to undo"];
  const standing = answer["standing"];
  // One that stands in the way stands itself.
  const older = typeof standing === "number" ? standing - (list(conflicts).length > 0 ? 1 : 0) : 0;
  const left = `still there: ${older} older ${older === 1 ? "patch" : "patches"} of this task`;
  return older === 0
    ? lines
    : [...lines, list(conflicts).length > 0 ? left : `${left}; undo again takes the next one back`];
}
