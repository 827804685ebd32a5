/** `proposals list|show|grant|reject|counter`: decides on programs that agents propose. A grant is a signed answer. @module */
import { Question, QuestionId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { EvalProposal, type Mail } from "../../contracts/exchange/mod.ts";
import {
  askKernel,
  cell,
  type Command,
  commandText,
  givenFile,
  idOf,
  printJson,
  printLines,
  withKernel,
} from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { answerCommand } from "../task/question_commands.ts";
import { questionLines } from "../question/question_frame.ts";
import { tableLines } from "../terminal/table.ts";
import { spanText } from "../terminal/span.ts";
import { messageOf } from "./letter.ts";
import type { Basic } from "../powers.ts";

/** The tool whose questions are proposals. */
const RUN = "proposal_run";

/** A proposal, parsed from its question. */
export interface Proposal {
  readonly question: Question;
  readonly n: number;
  readonly program: string;
}

/** Parses a question as a proposal; undefined for another question. */
export function proposalOf(question: Question): Proposal | undefined {
  if (question.scope.tool !== RUN) return undefined;
  const { proposal, program } = JSON.parse(question.argumentsText);
  return { question, n: Number(proposal), program: String(program) };
}

/** The proposals that wait. */
async function openProposals(command: Command): Promise<readonly Proposal[]> {
  const answer = await askKernel(command, "questions", {});
  return Question.array().parse(answer).flatMap((each) => proposalOf(each) ?? []);
}

/** `proposals list`. */
export async function proposalsList(command: Command): Promise<number> {
  const found = await openProposals(command);
  if (command.json) {
    return printJson(
      command,
      found.map(({ question: { id, task, createdAt }, n, program }) => ({
        ...{ id, task, createdAt, n, program },
      })),
    );
  }
  if (found.length === 0) {
    return printLines(command, ["no proposal waits for you"]);
  }
  const now = command.powers.environment.now();
  const rows = found.map(({ question, n, program }) => [
    cell(question.id),
    cell(question.task),
    cell(n),
    spanText(now - question.createdAt),
    cell(program.trimEnd().replaceAll("\n", " ⏎ "), 300),
  ]);
  const heads = ["PROPOSAL", "TASK", "N", "AGE", "PROGRAM"];
  const { screen } = command.powers;
  printLines(command, tableLines(heads, rows, screen.width));
  screen.say(
    screen.paint.dim(`look at one with: ${commandText(command, "proposals show PROPOSAL")}`),
  );
  return EXIT.success;
}

async function named(command: Command): Promise<Proposal> {
  const id = idOf(QuestionId, command.parsed.args[0] ?? "", "proposal");
  const question = Question.parse(await askKernel(command, "question", { question: id }));
  const proposal = proposalOf(question);
  if (proposal !== undefined) return proposal;
  throw new Fault("invalidInput", `Cannot use ${id}: it is a question, and no proposal`);
}

/** `proposals show`. */
export async function proposalsShow(command: Command): Promise<number> {
  const { question } = await named(command);
  if (command.json) return printJson(command, question);
  const { width, paint } = command.powers.screen;
  return printLines(command, questionLines(question, [], { width, paint, whole: true }));
}

/** Runs `answer PROPOSAL allow|deny`, which shows exactly what it signs. */
async function answered(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
  decision: "allow" | "deny",
  say?: string,
): Promise<number> {
  const { question } = await named(command);
  const flags = new Map(command.parsed.flags);
  if (say !== undefined) flags.set("say", [say]);
  const parsed = { ...command.parsed, args: [question.id, decision], flags };
  return await answerCommand({ ...command, parsed });
}

/** `proposals grant`. */
export function proposalsGrant(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  return answered(command, "allow");
}

/** `proposals reject`. */
export function proposalsReject(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  return answered(command, "deny", command.parsed.args[1] ?? "");
}

/** `proposals counter`: sends the other program first, so that the agent has it when the refusal arrives. */
export async function proposalsCounter(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models">,
): Promise<number> {
  const { question, n } = await named(command);
  if (question.state !== "open") {
    throw new Fault("conflict", `Cannot counter ${question.id}: it is ${question.state}`);
  }
  const offer = offerOf(command);
  const why = flag(command.parsed, "why") ?? "";
  await sendCounter(command, question, { type: "counterProposal", proposal: n, offer, why });
  return await answered(command, "deny", why === "" ? "HOST proposes another program" : why);
}

/** Sends a counter-proposal to the agent, which reads it together with the refusal. */
async function sendCounter(
  command: Command,
  { id, task }: Question,
  mail: Extract<Mail, { type: "counterProposal" }>,
): Promise<void> {
  return await withKernel(command, async (link) => {
    await link.ask("inboxPut", {
      message: messageOf(`counter-${id}-${command.powers.environment.id("h")}`, "handoff", mail),
      stamp: { box: `task:${task}`, colour: "BLUE", label: "internal" },
    });
  });
}

function offerOf(command: Command): EvalProposal {
  const { parsed } = command;
  const file = parsed.args[1] ?? "";
  const bytes = givenFile(command, file, "read");
  const pairs = (parsed.flags.get("name") ?? []).map((each) => each.split("="));
  const resultName = flag(parsed, "result");
  const offer = EvalProposal.safeParse({
    source: new TextDecoder().decode(bytes),
    codeNames: pairs.map(([code]) => code),
    edgeNames: pairs.map(([, edge]) => edge),
    ...(resultName === undefined ? {} : { resultName }),
  });
  if (offer.success) return offer.data;
  const [issue] = offer.error.issues;
  throw new Fault(
    "invalidInput",
    `Cannot propose "${file}": ${issue?.path.join(".")}: ${issue?.message}`,
  );
}
