/** Tasks and processes: `task …`, `ps`, `kill`, `diff`, `undo`, `log`, `resume`. @module */
import { AgentTask, EXIT, Fault, type Json, Limits, Pid, Signal } from "../contracts/mod.ts";
import { displayText } from "../text/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJson,
  printLines,
  reachKernel,
  recordOf,
  rowsOf,
  taskOf,
} from "./command.ts";
import { taskNamed } from "./conversation_name.ts";
import { resumeFollowing } from "./run_command.ts";
import { paintDiff, showChange } from "./shown_content.ts";
import { tableLines } from "./table.ts";
import { askStaged } from "./watch_task.ts";

const AGE: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A span in words of one unit. Milliseconds. */
export function spanText(ms: number): string {
  const found = AGE.find(([unit]) => ms >= unit) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / found[0]))} ${found[1]}`;
}

/** What is said of a task, line by line, safe to show. `now` is milliseconds since 1970. */
export function taskLines(task: AgentTask, now: number): string[] {
  const safe = (text: string): string => displayText(text, { max: 1_000 });
  const line = (name: string, text: string): string => `${name.padEnd(11)} ${text}`;
  return [
    line("task", task.id),
    line("objective", safe(task.objective)),
    line("status", `${task.status}${task.exit === undefined ? "" : `, exit ${task.exit}`}`),
    ...(task.reason === undefined ? [] : [line("reason", safe(task.reason))]),
    line("phase", task.phase),
    line("model", safe(task.model)),
    line("harness", safe(task.harness)),
    line("asked by", `${safe(task.ingress.principal)} at ${task.ingress.channel}`),
    line("session", `${task.session}, ${task.profile}`),
    line("state", `${task.colour}, ${task.label}`),
    ...task.mounts.map((mount) =>
      line("mount", `${mount.name} = ${safe(mount.dir)} (${mount.mode}, ${mount.colour})`)
    ),
    line("questions", String(task.questions.length)),
    line("artifacts", task.artifacts.map(safe).join(" ") || "none"),
    line("age", `${spanText(now - task.createdAt)}`),
    ...(task.archived ? [line("archived", "yes")] : []),
    ...(task.purged ? [line("purged", "its content is erased")] : []),
  ];
}

/** A task in a table: id, status, age, objective; safe to show. */
export function taskCells(task: Readonly<Record<string, Json>>, now: number): string[] {
  return [
    cell(task["id"]),
    cell(task["status"]),
    spanText(now - Number(task["createdAt"] ?? now)),
    cell(task["objective"], 200),
  ];
}

/** `task show [TASK]`. */
export async function taskShow(command: Command): Promise<number> {
  if (command.parsed.args.length > 0) {
    const task = await askKernel(command, "task", { task: taskOf(command) });
    if (command.json) printJson(command, task);
    else printLines(command, taskLines(AgentTask.parse(task), command.hands.around.now()));
    return EXIT.success;
  }
  const tasks = await askKernel(command, "tasks", {});
  if (command.json) {
    printJson(command, tasks);
    return EXIT.success;
  }
  const now = command.hands.around.now();
  const rows = rowsOf(tasks).map((task) => taskCells(task, now));
  printLines(
    command,
    rows.length === 0
      ? ["no tasks"]
      : tableLines(["TASK", "STATUS", "AGE", "OBJECTIVE"], rows, command.hands.screen.width),
  );
  return EXIT.success;
}

/** `task cancel|archive|purge TASK`. */
export function taskChange(
  op: "cancel" | "archive" | "purge",
): (command: Command) => Promise<number> {
  return async (command) => {
    const task = await askKernel(command, op, { task: taskOf(command) });
    const { id, status } = recordOf(task);
    if (command.json) printJson(command, task);
    else printLines(command, [`${cell(id)}  ${op === "cancel" ? cell(status) : `${op}d`}`]);
    return EXIT.success;
  };
}

/** `task extend TASK NAME=NUMBER…`: a budget grows by a person's word only. */
export async function taskExtend(command: Command): Promise<number> {
  const [, ...given] = command.parsed.args;
  const limits: Record<string, number> = {};
  for (const each of given) {
    const [, name = "", value = ""] = /^([A-Za-z]+)=([0-9.]+)$/.exec(each) ?? [];
    const number = Number(value);
    if (!Object.hasOwn(Limits.shape, name) || value === "" || !Number.isFinite(number)) {
      throw new Fault(
        "invalidInput",
        `Cannot extend by ${JSON.stringify(each)}: write NAME=NUMBER, with NAME one of ${
          Object.keys(Limits.shape).filter((known) => known !== "callsByEffect").join(", ")
        }`,
      );
    }
    limits[name] = number;
  }
  const task = await askKernel(command, "extend", { task: taskOf(command), limits });
  if (command.json) printJson(command, task);
  else printLines(command, [`${cell(recordOf(task)["id"])}  ${given.join(" ")}`]);
  return EXIT.success;
}

/** `resume TASK`. */
export async function resumeCommand(command: Command): Promise<number> {
  const link = await reachKernel(command);
  try {
    return await resumeFollowing(
      command,
      link,
      await taskNamed(link, command.parsed.args[0] ?? ""),
    );
  } finally {
    link.close();
  }
}

/** `ps`. Never starts a kernel: without one nothing runs. */
export async function psCommand(command: Command): Promise<number> {
  const { hands, places } = command;
  const link = await hands.kernels(places).find();
  const answer = link === undefined ? [] : await link.ask("ps", null);
  link?.close();
  if (command.json) {
    printJson(command, answer);
    return EXIT.success;
  }
  const rows = rowsOf(answer).map((row) => {
    const usage = recordOf(row["usage"]);
    return [
      cell(row["pid"]),
      cell(row["ppid"]),
      cell(row["task"]),
      cell(row["state"]),
      cell(row["colour"]),
      cell(row["label"]),
      cell(usage["toolCalls"]),
      Number(usage["money"] ?? 0).toFixed(4),
      cell(row["spec"]),
      cell(row["model"], 60),
    ];
  });
  printLines(
    command,
    rows.length === 0 ? ["no processes"] : tableLines(
      ["PID", "PPID", "TASK", "STATE", "COLOUR", "LABEL", "CALLS", "USD", "AGENT", "MODEL"],
      rows,
      hands.screen.width,
    ),
  );
  return EXIT.success;
}

/** `kill PID [SIGNAL]`; `TERM` and `SIGTERM` are one. */
export async function killCommand(command: Command): Promise<number> {
  const [pidText = "", word = "TERM"] = command.parsed.args;
  const pid = Pid.safeParse(Number(pidText));
  if (!pid.success) throw new Fault("invalidInput", `Cannot signal "${pidText}": it is no PID`);
  const upper = word.toUpperCase();
  const signal = Signal.safeParse(upper.startsWith("SIG") ? upper : `SIG${upper}`);
  if (!signal.success) {
    throw new Fault(
      "invalidInput",
      `Cannot send "${word}": there is ${Signal.options.map((each) => each.slice(3)).join(", ")}`,
    );
  }
  const link = await command.hands.kernels(command.places).find();
  if (link === undefined) throw new Fault("notFound", `Cannot signal ${pidText}: no kernel runs`);
  try {
    await link.ask("kill", { pid: pid.data, signal: signal.data });
  } finally {
    link.close();
  }
  if (command.json) printJson(command, { pid: pid.data, signal: signal.data });
  return EXIT.success;
}

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
  const answer = recordOf(await askKernel(command, "undo", { task: taskOf(command) }));
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
  return lines.length === 0 ? ["nothing to undo"] : lines;
}
