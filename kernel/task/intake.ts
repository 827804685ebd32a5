/**
 * The intake of a task: before the worker has any tool, the model describes the task by the
 * template `intake`. An answer that does not fit is returned with the reason, which is logged;
 * after three misfits the turn ends. The intake is recorded with the process's colour and grants
 * nothing: tools and mounts that it does not name are given up, whatever the colour, and named ones
 * that the process does not hold stay unheld. Named tools count as declared (declare_tool.ts) where
 * the colour is BLUE. docs/templates.md. Used by hosted_task.ts and task_host.ts.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../contracts/base/fault.ts";
import { QuestionId } from "../../contracts/authority/ids.ts";
import type { Gate, Leases } from "../../contracts/authority/gate.ts";
import type { DeclaredTools } from "../../contracts/authority/origin.ts";
import { toJson } from "../../contracts/base/json.ts";
import type { ChatMessage } from "../../contracts/model/chat.ts";
import { resultMessage } from "../../contracts/model/result_message.ts";
import type { TurnOutcome } from "../../contracts/task/hosting.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { EventLog } from "../../contracts/task/store.ts";
import { INTAKE, IntakeV2, titleOf, valueIn } from "../../contracts/task/templates/templates.ts";
import { PLAN_ASK, PLAN_RUN } from "../../contracts/exchange/planned.ts";
import type { KeptRights, ProcessTable } from "../core/process/table.ts";
import type { Replay } from "./replay.ts";
import type { Session } from "./session/session.ts";

/** Attempts, the first answer included. */
const MAX_ATTEMPTS = 3;
const ANSWER_TOKENS = 2_048;
/** Names of tools that the model is shown. */
const MAX_NAMES = 200;
/** Tools that always stay: they describe tools, or submit staged changes to the person. */
const KEPT: ReadonlySet<string> = new Set(
  ["patch_apply", PLAN_ASK, PLAN_RUN, "tool_describe", "tool_search", "tools_declare"],
);

/** The process, its session, log and gate. */
export interface IntakeParts {
  readonly row: ProcessRow;
  readonly session: Pick<Session, "consult">;
  readonly log: Pick<EventLog, "append">;
  readonly gate: Pick<Gate, "advertise">;
  /** Gives up for good all rights that are not named. */
  narrow(kept: KeptRights): Promise<void>;
  /** Declares the tools that the task needs. */
  declare(tools: DeclaredTools): void;
}

/** Asks for the intake of `request`. Undefined once an intake is recorded; else the turn's end. */
export async function takeIn(
  parts: IntakeParts,
  request: ChatMessage,
): Promise<TurnOutcome | undefined> {
  const { row, session, log } = parts;
  const template = titleOf(INTAKE);
  const { colour, label } = row;
  const kernelMessage = (content: string): ChatMessage => ({
    role: "user",
    content,
    // Written by the kernel, with the colour of the request that it quotes.
    provenance: { origin: "kernel", colour, label },
  });
  const held = parts.gate.advertise(row.pid).tools.map(({ name }) => name);
  const names = held.slice(0, MAX_NAMES), mounts = row.mounts.map(({ name }) => name);
  let append = [kernelMessage(asking({ names, mounts }, request.content))];
  let why = "";
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    let answer: ChatMessage;
    try {
      answer = await session.consult(append, {
        ...{ step: "intake", schema: INTAKE.schema },
        maxTokens: Math.min(ANSWER_TOKENS, row.limits.outputTokens),
      });
    } catch (error) {
      return endOf(error);
    }
    const value = valueIn(answer.content);
    const calls = answer.toolCalls ?? [];
    why = calls.length > 0
      ? "it calls a tool, and none can be called now"
      : value === undefined
      ? "it is no JSON value"
      : INTAKE.misfit(value) ?? "";
    if (why === "") {
      const intake = IntakeV2.parse(value);
      const { risk, tools } = intake;
      const named: ReadonlySet<string> = new Set(tools.map(({ tool }) => tool));
      const kept: KeptRights = {
        tools: held.filter((name) => named.has(name) || KEPT.has(name)),
        mounts: mounts.filter((name) => intake.mounts.includes(name)),
      };
      const given = {
        tools: held.length - kept.tools.length,
        mounts: mounts.filter((name) => !kept.mounts.includes(name)),
      };
      // INVARIANT: what another wrote chooses no tool (test: "… a stranger's request declares none").
      const declared = colour !== "BLUE" ? [] : tools.filter(({ tool }) => names.includes(tool))
        .map(({ tool, atMost }) => ({ tool, max: atMost }));
      if (declared.length > 0) parts.declare(declared);
      await log.append(row.task, [{
        kind: "taskIntake",
        body: {
          ...{ pid: row.pid, template, attempt, risk, tools: toJson(tools), colour, label },
          ...{ kept: toJson(kept), givenUp: toJson(given) },
          ...(declared.length === 0 ? {} : { declared: toJson(declared) }),
        },
        private: { ...toIntake(intake) },
      }]);
      // On record first: a kernel that is killed here gives them up when the task goes on.
      await parts.narrow(kept);
      return undefined;
    }
    await log.append(row.task, [{
      kind: "taskIntake",
      body: { pid: row.pid, template, attempt, misfit: true },
      private: { why },
    }]);
    append = [
      // Providers refuse a call that stands without an answer.
      ...calls.map((call) =>
        resultMessage(call, {
          ...{ callId: call.id, outcome: "refusedByPolicy", content: "", error: why },
          ...{ colour, label },
        })
      ),
      kernelMessage(
        `Your answer does not fit the template ${template}: ${
          why.slice(0, 1_000)
        }. Answer again, with the JSON value alone.`,
      ),
    ];
  }
  return {
    stop: "upstream",
    text:
      `Cannot begin the task: ${MAX_ATTEMPTS} answers of the model did not fit the template ${template}, ` +
      `the last because ${why.slice(0, 500)}; take another model, or run it without --intake`,
  };
}

/** Tells whether the log holds a fitting intake of any version. */
export function isTakenIn(replay: Pick<Replay, "records"> | undefined): boolean {
  return replay?.records.some(({ template, misfit }) =>
    String(template).startsWith(`${INTAKE.name}@`) && misfit !== true
  ) === true;
}

const Kept = z.object({ tools: z.array(z.string()), mounts: z.array(z.string()) });

/** The rights kept at the intake; undefined where none were given up. */
export function keptOf({ records }: Pick<Replay, "records">): KeptRights | undefined {
  const found = records.findLast(({ kept }) => kept !== undefined);
  return found === undefined ? undefined : Kept.parse(found["kept"]);
}

/** Makes the function that reduces a task's first process to its kept tools and mounts, and revokes leases on the other mounts. */
export function makeNarrow(
  { processes, leases, row }: {
    readonly processes: Pick<ProcessTable, "narrow">;
    readonly leases: Pick<Leases, "list" | "revoke">;
    readonly row: Pick<ProcessRow, "mounts" | "pid" | "task">;
  },
): IntakeParts["narrow"] {
  return async (kept) => {
    // An intake names no grant outside all mounts, such as an imported server's.
    const given = new Set<string>(
      row.mounts.map(({ name }) => name).filter((name) => !kept.mounts.includes(name)),
    );
    processes.narrow(row.pid, kept);
    for (const { id, pid, scope: { resource, path } } of leases.list(row.task)) {
      const [mount = ""] = path.split("/");
      if (pid !== row.pid || resource !== "mount" || !given.has(mount)) continue;
      await leases.revoke(id, "given up at the intake");
    }
  };
}

function toIntake(intake: IntakeV2): Record<string, ReturnType<typeof toJson>> {
  return Object.fromEntries(Object.entries(intake).map(([key, value]) => [key, toJson(value)]));
}

function asking(
  { names, mounts }: { readonly names: readonly string[]; readonly mounts: readonly string[] },
  request: string,
): string {
  return [
    INTAKE.ask,
    names.length === 0 ? "You hold no tool." : `You hold: ${names.join(", ")}.`,
    mounts.length === 0 ? "You hold no folder." : `Folders: ${mounts.join(", ")}.`,
    `Answer with one JSON value and nothing else, which fits this JSON Schema:\n${INTAKE.schema}`,
    `The request, which comes to you again once you have answered:\n${request}`,
  ].join("\n\n");
}

/** The end of a turn whose intake failed. Rethrows errors that are not temporary failures. */
function endOf(error: unknown): TurnOutcome {
  if (!(error instanceof Fault)) throw error;
  const { code, message, detail } = error;
  switch (code) {
    case "needsApproval": {
      const question = QuestionId.safeParse(detail?.["question"]);
      if (!question.success) throw error;
      return { stop: "waiting", question: question.data, text: "" };
    }
    case "cancelled":
    case "contextOverflow":
      return { stop: code, text: "" };
    case "budgetExhausted":
      return { stop: detail?.["brake"] === true ? "brake" : "budget", text: "" };
    case "upstream":
    case "timedOut":
      return { stop: "upstream", text: message };
    default:
      throw error;
  }
}
