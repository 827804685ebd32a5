/** Slash commands that show agents, tasks, leases, answers, refusals, and single calls or leases. @module */
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { findCall, whyLines } from "../audit/why_command.ts";
import { readSeen, type SeenEvent, subjectOf, textOf } from "../audit/event_fields.ts";
import { cell, commandText, recordOf, rowsOf } from "../command.ts";
import { readPast } from "../run/run_task.ts";
import { taskCells } from "../task/list.ts";
import { grantLines, leaseLines } from "../task/held_lines.ts";
import { safeJson } from "../terminal/safe_json.ts";
import { tableLines } from "../terminal/table.ts";
import type { Session } from "./session.ts";
import { show, type Slash, taskOf } from "./slash_part.ts";

const NEWEST = 12;
/** Most lines shown of one document. */
const MAX_LINES = 400;

/** The slash commands that show something. */
export const MORE_SLASHES: Readonly<Record<string, Slash>> = {
  "/cap": { help: "what it holds, and for how long", run: caps },
  "/agents": {
    help: "its processes: colour, label, what each used",
    async run(session): Promise<void> {
      const task = taskOf(session);
      const rows = rowsOf(await session.link.ask("ps", null)).filter((row) => row["task"] === task)
        .map((row) => {
          const usage = recordOf(row["usage"]);
          return [
            cell(row["pid"]),
            cell(recordOf(row["spec"])["name"] ?? row["spec"], 40),
            cell(row["state"]),
            cell(row["colour"]),
            cell(row["label"]),
            cell(usage["inputTokens"]),
            cell(usage["outputTokens"]),
          ];
        });
      const heads = ["PID", "AGENT", "STATE", "COLOUR", "LABEL", "IN", "OUT"];
      show(
        session,
        tableLines(
          heads,
          rows,
          session.command.powers.screen.width - 2,
          "none runs; the next words start it",
        ),
      );
    },
  },
  "/tasks": {
    help: "the newest tasks of this state",
    async run(session): Promise<void> {
      const { screen, environment } = session.command.powers;
      const rows = rowsOf(await session.link.ask("tasks", { limit: NEWEST }))
        .toReversed().map((row) => taskCells(row, environment.now()));
      const heads = ["TASK", "STATUS", "AGE", "OBJECTIVE"];
      show(
        session,
        tableLines(heads, rows, screen.width - 2, "there is none"),
      );
    },
  },
  "/allow": {
    help: "what you allowed beyond one question, and how more is allowed",
    async run(session): Promise<void> {
      const { screen } = session.command.powers;
      const grants = session.running === undefined
        ? ["nothing was asked yet"]
        : grantLines(await session.link.ask("grants", { task: taskOf(session) }), screen.width - 2);
      show(session, [
        ...grants,
        'at a question: "t" allows the same for this turn, "s" for this session',
        `for good: a rule in remit.yaml (${commandText(session.command, "config path")})`,
      ]);
    },
  },
  "/why": {
    takes: "[CALL|TOOL]",
    help: "what was refused or failed last, by which rule; or what decided that call",
    async run(session, named): Promise<void> {
      if (named !== undefined) {
        return show(session, whyLines(await findCall(session.link, taskOf(session), named)));
      }
      const tally = session.running?.tally;
      const line = (what: string, about: string, why: string): string =>
        `${displayText(what, { max: 60 })} ${displayText(about, { max: 200 })}: ${
          displayText(why, { max: 500 })
        }`;
      const lines = [
        ...(tally?.refused ?? []).slice(-5).map(({ tool, subject, outcome, rule, why }) =>
          line(tool, subject, `${outcome}${rule === "" ? "" : ` by ${rule}`}${why && ` · ${why}`}`)
        ),
        ...(tally?.failed ?? []).slice(-5).map(({ tool, subject, outcome, why }) =>
          line(tool, subject, `${outcome} · ${why}`)
        ),
      ];
      show(session, lines.length === 0 ? ["nothing was refused, and nothing failed"] : lines);
    },
  },
  "/inspect": {
    takes: "[ID]",
    help: "a call, a result or a lease in full; without ID the newest calls",
    run: inspect,
  },
};

async function caps(session: Session): Promise<void> {
  const { screen, environment } = session.command.powers;
  const leases = await session.link.ask("caps", { task: taskOf(session) });
  show(session, leaseLines(leases, { now: environment.now(), width: screen.width - 2 }));
}

async function eventsOf(session: Session): Promise<readonly SeenEvent[]> {
  const past = await readPast(session.link, taskOf(session));
  return past.map(readSeen).flatMap((seen) => seen?.kind === "event" ? [seen.event] : []);
}

async function inspect(session: Session, id: string | undefined): Promise<void> {
  const events = await eventsOf(session);
  if (id === undefined) {
    const calls = events.filter(({ event }) => event === "outcome" || event === "refused")
      .slice(-NEWEST)
      .map((event) => [
        cell(textOf(event, "call"), 40),
        cell(textOf(event, "tool"), 40),
        cell(textOf(event, "outcome"), 40),
        cell(subjectOf(event), 200),
      ]);
    const { width } = session.command.powers.screen;
    return show(
      session,
      calls.length === 0
        ? ["it made no call yet"]
        : tableLines(["CALL", "TOOL", "OUTCOME", "ABOUT"], calls, width - 2),
    );
  }
  const found: readonly unknown[] = events.filter((event) => textOf(event, "call") === id);
  const leases = found.length > 0 ? [] : rowsOf(
    await session.link.ask("leases", { task: taskOf(session) }),
  ).filter((lease: Readonly<Record<string, Json>>) => lease["id"] === id);
  const documents = [...found, ...leases];
  if (documents.length === 0) {
    throw new Fault(
      "notFound",
      `Cannot show "${
        displayText(id, { max: 60 })
      }": no call and no lease of this conversation has that id; "/inspect" and "/cap" name them`,
    );
  }
  for (const document of documents) {
    const text = displayBlock(safeJson(document, 2), {
      ...{ prefix: "", max: 1_000_000, maxLines: MAX_LINES },
      columns: session.command.powers.screen.width - 2,
    });
    show(session, text);
  }
}
