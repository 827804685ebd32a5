/** `remit log TASK [--follow]`: a task's events, in words or as the execution trace. @module */
import { EXIT, type Json } from "../../contracts/base/mod.ts";
import { DEFAULT_LIMITS } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import { cell, type Command, printJsonLines, printLines, reachKernel, taskOf } from "../command.ts";
import { cutTo, padTo } from "../terminal/columns.ts";
import { readSeen, type SeenEvent, subjectOf, textOf } from "../audit/event_fields.ts";
import { makeCallJoin } from "../audit/join_calls.ts";
import { mcpWords } from "../mcp/events.ts";
import { modelWords } from "../model/events.ts";
import { has } from "../arguments/parse_arguments.ts";
import { touchedBy } from "../audit/touched.ts";
import { makeTracer } from "../audit/trace.ts";

/** Fields shown unchanged at the end of a line. */
const PLAIN = [
  "status",
  "exit",
  "signal",
  "role",
  "number",
  "method",
  "before",
  "after",
  "resource",
  "right",
  "inputTokens",
  "outputTokens",
];

/** Fields of a change to a shared resource, beside its claim. */
const SHARED = ["what", "conflict", "item", "state", "decision", "approver"];

/** Columns of a line when the output is a pipe or a file. */
const PIPE_COLUMNS = 2_000;

/** An event in words, on one line. */
export function logLine(event: SeenEvent, width: number): string {
  const safe = (text: string): string => displayText(text, { max: 300 });
  const field = (name: string): string => safe(textOf(event, name));
  const named = (words: string, name: string): string =>
    field(name) === "" ? "" : words + field(name);
  const touched = touchedBy(event);
  const text = [
    field("tool"),
    safe(subjectOf(event)),
    event.event === "intent" ? field("decision") : field("outcome"),
    safe(modelWords(event) ?? ""),
    safe(mcpWords(event)),
    displayText(leaseWords(event), { max: 2_000 }),
    ...touched.staged.map((path) => `staged ${safe(path)}`),
    ...touched.applied.map((path) => `applied ${safe(path)}`),
    ...PLAIN.map((name) => named(`${name} `, name)),
    event.event === "questionAnswered" ? field("decision") : "",
    ...(event.event === "resource" ? SHARED : []).map(field),
    ...(event.event === "sanitized" ? ["item", "from", "to", "by"].map(field) : []),
    named("question ", "question"),
    named("lease ", "lease"),
    named("by ", event.event === "questionAnswered" ? "by" : "rule"),
    ...["why", "error", "reason", "say"].map(field),
    ...(event.event === "taskIntake" ? [named("risk ", "risk"), field("objective")] : []),
  ].filter((each) => each !== "").join("  ");
  const time = new Date(event.at).toISOString().slice(11, 23);
  return cutTo(
    `${String(event.n).padStart(4)} ${time} ${padTo(safe(event.event), 16)} ${text}`,
    Math.max(width, 60),
  ).trimEnd();
}

/** `log TASK`. */
export async function logCommand(command: Command): Promise<number> {
  const task = taskOf(command);
  const { screen } = command.powers;
  const link = await reachKernel(command);
  const tracer = makeTracer(DEFAULT_LIMITS.money);
  const join = makeCallJoin();
  const show = (told: Json): void => {
    const seen = readSeen(told);
    if (seen?.kind !== "event") return;
    const event = join(seen.event);
    if (command.json) printJsonLines(command, tracer(event));
    else printLines(command, [logLine(event, screen.outWidth ?? PIPE_COLUMNS)]);
  };
  try {
    if (!has(command.parsed, "follow")) {
      for (let from = 0;;) {
        const page = await link.ask("log", { task, from });
        if (!Array.isArray(page) || page.length === 0) break;
        for (const each of page) show(each);
        from += page.length;
      }
      return EXIT.success;
    }
    const end = Promise.withResolvers<number>();
    let over = false;
    link.onTell((op, body) => {
      if (op === "event") show(body);
      if (op !== "end") return;
      over = true;
      end.resolve(EXIT.success);
    });
    void link.closed.then((why) => {
      // After the end, or a refused watch, this command itself closes the link.
      if (over) return;
      screen.say(cell(why.message, 300));
      end.resolve(EXIT.failure);
    });
    try {
      await link.ask("watch", { task, from: 0 });
    } catch (error) {
      over = true;
      throw error;
    }
    return await end.promise;
  } finally {
    link.close();
  }
}

/** `read mount notes l4…, use model l5…`; empty for other events. Untrusted text. */
function leaseWords({ body, private: secret }: SeenEvent): string {
  const { leases } = body;
  const paths = Array.isArray(secret["paths"]) ? secret["paths"] : [];
  if (!Array.isArray(leases)) return "";
  return leases.map((each, i) => {
    const { right, resource, lease } = Object(each);
    return [right, resource, paths[i], lease]
      .filter((word) => typeof word === "string" && word !== "").join(" ");
  }).join(", ");
}
