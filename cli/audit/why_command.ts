/** `remit why TASK [CALL]`: shows what decided a call, and the origin of each of its values. @module */
import { ValueOrigin } from "../../contracts/authority/origin.ts";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, isObject, type Json, type JsonObject } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { cell, type Command, printJson, printLines, taskOf, withKernel } from "../command.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { readSeen, type SeenEvent, textOf } from "./event_fields.ts";

/** The events of a decided call in its task's log. */
export interface DecidedCall {
  readonly decided: SeenEvent;
  /** Absent for a call that was refused or still runs. */
  readonly outcome?: SeenEvent;
}

/** The call of this id, or the last one of this tool; without `named`, the last call. Rejects `notFound`. */
export async function findCall(
  link: Pick<KernelLink, "ask">,
  task: TaskId,
  named: string | undefined,
): Promise<DecidedCall> {
  let found: DecidedCall | undefined;
  for (let from = 0;;) {
    const page = await link.ask("log", { task, from });
    if (!Array.isArray(page) || page.length === 0) break;
    for (const each of page as Json[]) {
      const seen = readSeen(each);
      if (seen?.kind !== "event") continue;
      const { event } = seen, call = textOf(event, "call");
      if (event.event === "outcome" && found !== undefined) {
        if (textOf(found.decided, "call") === call) found = { ...found, outcome: event };
      }
      if (event.event !== "intent" && event.event !== "refused") continue;
      if (named === undefined || named === call || named === textOf(event, "tool")) {
        found = { decided: event };
      }
    }
    from += page.length;
  }
  if (found !== undefined) return found;
  throw new Fault(
    "notFound",
    named === undefined
      ? `Cannot say why: task ${task} made no call`
      : `Cannot find call "${named}" of task ${task}: name a call of \`remit log ${task} --json\`, or a tool`,
  );
}

const FROM: Readonly<Record<ValueOrigin["from"], string>> = {
  request: "stands in your request",
  default: "says nothing, or what the tool takes anyway",
  record: "the id of what your words name",
  result: "stands in a result",
  agent: "written by the agent",
};

/** A call's values with their origins, as far as the gate examined them. */
function valuesOf({ decided }: DecidedCall): readonly JsonObject[] {
  const origins = ValueOrigin.array().safeParse(decided.private["origins"]);
  const args = argumentsOf(decided);
  return (origins.success ? origins.data : []).map((origin): JsonObject => {
    const { at, from, call, tool, colour, says } = origin;
    return {
      ...{ at, from, value: valueAt(args, at) },
      ...(call === undefined ? {} : { call }),
      ...(tool === undefined ? {} : { tool }),
      ...(colour === undefined ? {} : { colour }),
      ...(says === undefined ? {} : { says }),
    };
  });
}

function argumentsOf(event: SeenEvent): Json {
  const { arguments: text } = event.private;
  try {
    return typeof text === "string" ? JSON.parse(text) : null;
  } catch (error) {
    // A refused call may have had malformed arguments.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function valueAt(args: Json, at: string): Json {
  let value: Json | undefined = args;
  for (const name of at.split(".")) {
    value = Array.isArray(value) ? value[Number(name)] : isObject(value) ? value[name] : undefined;
  }
  return value ?? null;
}

/** The decision on a call, in words. Safe text. */
export function whyLines(found: DecidedCall): readonly string[] {
  const { decided, outcome } = found;
  const safe = (name: string): string => displayText(textOf(decided, name), { max: 400 });
  const line = (head: string, text: string): string[] =>
    text === "" ? [] : [`${head.padEnd(9)} ${text}`];
  const went = decided.event === "refused" ? "refused" : `went on, ${safe("decision")}`;
  const values = valuesOf(found).map(({ at, value, from, tool, call, colour, says }) => {
    const of = tool === undefined ? "" : ` of ${cell(tool)} (call ${cell(call)}, ${cell(colour)})`;
    const words = FROM[from as ValueOrigin["from"]];
    const beside = says === undefined ? "" : `, with ${cell(says, 200)}`;
    return `  ${cell(at, 60)}: ${cell(JSON.stringify(value), 100)}  ${words}${of}${beside}`;
  });
  return [
    ...line("call", `${safe("call")}  ${safe("tool")}`),
    ...line("decision", went),
    ...line("rule", safe("rule")),
    ...line("why", safe("why")),
    ...line("question", `${safe("question")} ${safe("actor")}`.trim()),
    ...line("state", `colour ${safe("colour")}, label ${safe("label")}`),
    ...line("lease", safe("lease")),
    ...line("outcome", outcome === undefined ? "" : displayText(textOf(outcome, "outcome"))),
    ...(values.length === 0 ? [] : ["values", ...values]),
  ];
}

/** `why TASK [CALL|TOOL]`. */
export async function whyCommand(command: Command): Promise<number> {
  const task = taskOf(command);
  return await withKernel(command, async (link) => {
    const found = await findCall(link, task, command.parsed.args[1]);
    const { decided, outcome } = found;
    if (command.json) {
      printJson(command, {
        ...decided.body,
        event: decided.event,
        at: decided.at,
        ...(textOf(decided, "why") === "" ? {} : { why: textOf(decided, "why") }),
        values: [...valuesOf(found)],
        ...(outcome === undefined ? {} : { outcome: textOf(outcome, "outcome") }),
      });
    } else printLines(command, whyLines(found));
    return EXIT.success;
  });
}
