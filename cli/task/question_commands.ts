/** `questions` and `answer`: answers a person's waiting questions from any terminal. @module */
import { Question, QuestionId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import * as z from "zod";
import { canonicalJson } from "../../port/mod.ts";
import { displayText } from "../../text/mod.ts";
import { shownChanges } from "../question/asking.ts";
import {
  cell,
  type Command,
  commandText,
  idOf,
  printJson,
  printLines,
  reachKernel,
  recordOf,
} from "../command.ts";
import { earlierLines } from "../question/earlier_lines.ts";
import { askForm } from "../question/elicit_asking.ts";
import { parseElicit } from "../question/elicit_form.ts";
import { wrongForm } from "../question/elicit_value.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { lendApproved } from "../../bridges/mcp/registry/handover.ts";
import { readyAgain } from "../model/ready.ts";
import { flag, oneOf } from "../arguments/parse_arguments.ts";
import { readPassphrase } from "../key/passphrase.ts";
import { questionLines } from "../question/question_frame.ts";
import { followTask, readPast } from "../run/run_task.ts";
import { finishFollowing } from "../run/run_command.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import { signAnswer, type Verdict } from "../question/sign_answer.ts";
import { expiredWords, waitingQuestions } from "../question/waiting.ts";
import { wordWrap } from "../terminal/columns.ts";
import { tableLines } from "../terminal/table.ts";
import { askStaged } from "../run/watch_task.ts";
import { spanText } from "../terminal/span.ts";
import { registryOf } from "../mcp/work.ts";

/** A question in a table: id, task, kind, age, summary; safe to show. */
export function questionCells(row: Readonly<Record<string, Json>>, now: number): string[] {
  return [
    cell(row["id"]),
    cell(row["task"]),
    cell(row["kind"]),
    spanText(now - Number(row["createdAt"] ?? now)),
    [
      ...(row["state"] === "expired" ? ["expired:"] : []),
      cell(row["summary"], 300),
      // A summary does not hold the text for a server or a peer.
      ...(/^(?:mcp|a2a)_/.test(cell(recordOf(row["scope"])["tool"]))
        ? [cell(row["argumentsText"], 200)]
        : []),
    ].join(" "),
  ];
}

/** The differences from the tool's last call, in one line. */
function lastCall(row: Readonly<Record<string, Json>>): string[] {
  const question = Question.safeParse(row);
  const earlier = question.success ? earlierLines(question.data) : undefined;
  if (earlier === undefined) return [];
  return [`(last call: ${cell([earlier.words, ...earlier.lines.slice(0, 3)].join(" "), 200)})`];
}

/** The text for a server or a peer, and its differences from the last call, on separate lines. */
function toldLines(question: Question, width: number): readonly string[] {
  const { id, scope: { tool }, argumentsText } = question;
  if (!/^(?:mcp|a2a)_/.test(tool)) return [];
  const told = [
    `${displayText(tool)} ${displayText(argumentsText, { max: 200 })}`,
    ...lastCall(recordOf(toJson(question))),
  ];
  return ["", id, ...told.flatMap((text) => wordWrap(text, width - 2)).map((text) => `  ${text}`)];
}

/** `questions`. */
export async function questionsCommand(command: Command): Promise<number> {
  const { screen, environment } = command.powers;
  const link = await reachKernel(command);
  let waiting: readonly Question[];
  try {
    waiting = await waitingQuestions(link.ask);
  } finally {
    link.close();
  }
  if (command.json) return printJson(command, toJson(waiting));
  const now = environment.now();
  const rows = waiting.map((each) => questionCells(recordOf(toJson(each)), now));
  if (rows.length === 0) printLines(command, ["nothing waits for you"]);
  else {
    const heads = ["QUESTION", "TASK", "KIND", "AGE", "WHAT"];
    printLines(command, tableLines(heads, rows, screen.width));
    // A narrow table has no room for these texts.
    printLines(command, waiting.flatMap((each) => toldLines(each, screen.width)));
  }
  const hint = (what: string, words: string): void =>
    screen.say(screen.paint.dim(`${what}: ${commandText(command, words)}`));
  if (waiting.some(({ state }) => state === "open")) hint("answer with", "answer QUESTION allow");
  if (waiting.some(({ state }) => state === "expired")) {
    hint("ask again what has expired with", "resume TASK");
  }
  return EXIT.success;
}

function verdictOf(command: Command, decision: "allow" | "deny"): Verdict {
  return {
    decision,
    for: oneOf(command.parsed, "for", ["once", "turn", "session"]) ?? "once",
    say: flag(command.parsed, "say"),
    by: command.powers.environment.env("USER") ?? "operator",
    channel: "command",
  };
}

/** The values for a server's form: from `--say JSON`, else typed at the terminal. */
async function formVerdict(
  command: Command<Basic | "keyboard">,
  asked: Question,
  verdict: Verdict,
): Promise<Verdict> {
  const form = parseElicit(asked);
  if (form.url !== undefined) return { ...verdict, say: undefined };
  const { keyboard, screen } = command.powers;
  if (verdict.say === undefined && keyboard !== undefined) {
    return { ...verdict, ...await askForm(asked, { screen, keyboard }) };
  }
  const given = parseForm(verdict.say ?? (form.fields.length === 0 ? "{}" : ""));
  const wrong = given === undefined ? "it is no JSON" : wrongForm(form, given);
  if (given !== undefined && wrong === undefined) return { ...verdict, say: canonicalJson(given) };
  throw new Fault(
    "invalidInput",
    `Cannot send the form: ${wrong}; give its fields: --say '{"FIELD":"VALUE"}'`,
  );
}

function parseForm(text: string): Json | undefined {
  try {
    return toJson(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Resumes the task under the current rules: a kernel on its own only continues under a task's earlier rules. */
async function resumeUnderCurrentRules(link: KernelLink, task: Question["task"]): Promise<void> {
  const { status, rules } = AgentTask.parse(await link.ask("task", { task }));
  if (status !== "needsApproval" || rules === undefined || rules === link.rules) return;
  await link.ask("resume", { task });
}

/** `answer ID allow|deny`: shows the question, signs the answer, and follows the task to its next end. */
export async function answerCommand(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  const { powers, parsed, places } = command;
  const [id = "", word = ""] = parsed.args;
  const decision = z.enum(["allow", "deny"]).safeParse(word);
  if (!decision.success) {
    throw new Fault("invalidInput", `Cannot answer "${word}": say allow or deny`);
  }
  const question = idOf(QuestionId, id, "question");
  const ring = openKeyRing(powers.disk, places);
  let link = await reachKernel(command);
  try {
    const asked = Question.parse(await link.ask("question", { question }));
    if (asked.state !== "open") {
      const why = asked.state === "expired"
        ? `it has expired; ${expiredWords(asked)}`
        : `it is ${asked.state}`;
      throw new Fault("conflict", `Cannot answer question ${id}: ${why}`);
    }
    if (link.gateway !== true) link = await inItsPlace(command, link, asked.task);
    const staged = await askStaged(link, asked.task);
    // Verified and shown before signing: the signature covers what the person could see.
    const changes = shownChanges(asked, staged, powers.disk);
    const { screen } = powers;
    if (!command.json) {
      const { request, ingress } = AgentTask.parse(await link.ask("task", { task: asked.task }));
      const options = {
        ...{ width: screen.width, paint: screen.paint, whole: false },
        request: ingress.colour === "BLUE" ? request : undefined,
      };
      for (const line of questionLines(asked, changes, options)) screen.say(line);
    }
    const grave = asked.kind === "stepUp" && decision.data === "allow";
    const signer = grave
      ? ring.openStepUp(await readPassphrase(command, "passphrase-file", "passphrase"))
      : ring.provideConsent();
    const past = link.gateway === true ? [] : await readPast(link, asked.task);
    // The task continues with this answer, perhaps in another kernel than it began in.
    if (link.gateway !== true) {
      await readyAgain(command, link, past);
      await lendApproved(registryOf(command), link);
    }
    const chosen = verdictOf(command, decision.data);
    const verdict = asked.kind === "elicit" && chosen.decision === "allow"
      ? await formVerdict(command, asked, chosen)
      : chosen;
    const given = signAnswer(asked, verdict, {
      signer,
      at: powers.environment.now(),
    });
    const taken = recordOf(await link.ask("answer", toJson(given)));
    if (taken["state"] === "open" || link.gateway === true) {
      // The kernel that has the task continues it.
      if (command.json) printJson(command, { question: id, decision: verdict.decision });
      else {
        screen.say(
          `  ${displayText(id)}: the answer is on its way to the kernel that has the task`,
        );
      }
      return EXIT.success;
    }
    await resumeUnderCurrentRules(link, asked.task);
    if (!command.json) {
      screen.say(`  ${verdict.decision === "allow" ? "allowed" : "denied"}: ${displayText(id)}`);
      screen.say("");
    }
    const running = await followTask(command, link, asked.task, {
      past,
      budget: 1,
      answers: true,
    });
    return await finishFollowing(command, link, running);
  } finally {
    link.close();
  }
}
