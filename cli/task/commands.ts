/** Tasks and processes: `task …`, `ps`, `kill`. @module */
import { Pid } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { AgentTask, Limits, Phase, Signal } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  printJson,
  printLines,
  recordOf,
  rowsOf,
  taskOf,
} from "../command.ts";
import { ofAgent } from "../arguments/agent_filter.ts";
import { spanText } from "../terminal/span.ts";
import { tableLines } from "../terminal/table.ts";
import { taskList } from "./list.ts";

function agentWords({ agent = "", labels = {} }: AgentTask): string {
  const words = Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(" ");
  return words === "" ? agent : `${agent}  ${words}`;
}

/** A task's description, line by line, safe to show. `now` is milliseconds since 1970. */
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
    ...(task.agent === undefined ? [] : [line("agent", safe(agentWords(task)))]),
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

/** `task show [TASK]`. */
export async function taskShow(command: Command): Promise<number> {
  if (command.parsed.args.length > 0) {
    const task = await askKernel(command, "task", { task: taskOf(command) });
    return command.json
      ? printJson(command, task)
      : printLines(command, taskLines(AgentTask.parse(task), command.powers.environment.now()));
  }
  return await taskList(command);
}

/** `task cancel|archive|purge TASK`. */
export function taskChange(
  op: "cancel" | "archive" | "purge",
): (command: Command) => Promise<number> {
  return async (command) => {
    const task = await askKernel(command, op, { task: taskOf(command) });
    const { id, status } = recordOf(task);
    return command.json
      ? printJson(command, task)
      : printLines(command, [`${cell(id)}  ${op === "cancel" ? cell(status) : `${op}d`}`]);
  };
}

/** `task extend TASK NAME=NUMBER…`: raises limits, which only a person may do. */
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
  return command.json
    ? printJson(command, task)
    : printLines(command, [`${cell(recordOf(task)["id"])}  ${given.join(" ")}`]);
}

/** `ps`: lists processes; starts no kernel, because without one nothing runs. */
export async function psCommand(command: Command): Promise<number> {
  const { powers, places } = command;
  const link = await powers.kernels(places).find();
  const answer: Json[] = [];
  if (link !== undefined) {
    try {
      const fits = await ofAgent(link, command.parsed);
      answer.push(...rowsOf(await link.ask("ps", null)).filter(({ task }) => fits(task)));
    } finally {
      link.close();
    }
  }
  if (command.json) return printJson(command, answer);
  const fleet = answer.some((row) => recordOf(row)["kernel"] !== undefined);
  const rows = answer.map(recordOf).map((row) => {
    const usage = recordOf(row["usage"]);
    return [
      ...(fleet ? [cell(row["kernel"])] : []),
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
  return printLines(
    command,
    tableLines(
      [
        ...(fleet ? ["KERNEL"] : []),
        "PID",
        "PPID",
        "TASK",
        "STATE",
        "COLOUR",
        "LABEL",
        "CALLS",
        "USD",
        "AGENT",
        "MODEL",
      ],
      rows,
      powers.screen.width,
      "no processes",
    ),
  );
}

/** `kill PID [SIGNAL]`; `TERM` and `SIGTERM` mean the same. */
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
  const link = await command.powers.kernels(command.places).find();
  if (link === undefined) throw new Fault("notFound", `Cannot signal ${pidText}: no kernel runs`);
  try {
    await link.ask("kill", { pid: pid.data, signal: signal.data });
  } finally {
    link.close();
  }
  if (command.json) printJson(command, { pid: pid.data, signal: signal.data });
  return EXIT.success;
}

/** Runs the command. Throws `invalidInput` for a phase that there is not. */
export async function taskPhase(command: Command): Promise<number> {
  const [, word = ""] = command.parsed.args;
  const phase = Phase.safeParse(word);
  if (!phase.success) {
    throw new Fault(
      "invalidInput",
      `Cannot move to phase ${JSON.stringify(word)}: there is ${Phase.options.join(", ")}`,
    );
  }
  const task = await askKernel(command, "phase", { task: taskOf(command), phase: phase.data });
  return command.json
    ? printJson(command, task)
    : printLines(command, [`${cell(recordOf(task)["id"])}  ${phase.data}`]);
}
