/** Asks a person at the terminal, and signs the answer. @module */
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import type { Staged } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import { askForm } from "./elicit_asking.ts";
import type { Keyboard, Powers } from "../powers.ts";
import type { KeyRing } from "../../config/key/ring.ts";
import { choiceLine, fittingLines, questionLines, shownWhole } from "./question_frame.ts";
import { showChange, type ShownChange } from "./shown_content.ts";
import { signAnswer, type Verdict } from "./sign_answer.ts";

/** The powers and context of {@link askPerson}. */
export interface AskingParts {
  readonly powers: Pick<Powers, "screen" | "disk" | "environment">;
  readonly keyboard: Keyboard;
  readonly ring: KeyRing;
  readonly signal?: AbortSignal;
  /** The person's own request at the start of the task; absent where someone else wrote the request. */
  readonly request?: string | undefined;
}

/** Reads a typed choice; undefined for an unclear one. Enter alone means no. */
export function readChoice(
  line: string | undefined,
  question: Pick<Question, "kind" | "remember">,
): Pick<Verdict, "decision" | "for" | "say"> | "show" | undefined {
  const text = (line ?? "").trim();
  const [word = "", ...more] = text.split(/\s+/);
  const remembered = question.kind === "consent" && question.remember !== undefined;
  switch (word.toLowerCase()) {
    case "":
      return { decision: "deny", for: "once" };
    case "y":
    case "yes":
    case "a":
    case "allow":
      return more.length === 0 ? { decision: "allow", for: "once" } : undefined;
    case "t":
    case "turn":
      return remembered && more.length === 0 ? { decision: "allow", for: "turn" } : undefined;
    case "s":
    case "session":
      return remembered && more.length === 0 ? { decision: "allow", for: "session" } : undefined;
    case "d":
      return more.length === 0 ? "show" : undefined;
    case "n":
    case "no":
    case "deny":
      return {
        decision: "deny",
        for: "once",
        ...(more.length === 0 ? {} : { say: text.slice(word.length).trim() }),
      };
    default:
      return undefined;
  }
}

/** Reads and hashes the contents that a question would change. Throws `refused` when content does not match its digest. */
export function shownChanges(
  question: Question,
  staged: Pick<Staged, "content">,
  disk: Powers["disk"],
): ShownChange[] {
  return question.changes.map((change) => showChange(disk, staged.content, change));
}

/** Asks the person; undefined when the question stays open (no passphrase key, or the terminal is gone). */
export async function askPerson(
  question: Question,
  staged: Pick<Staged, "content">,
  parts: AskingParts,
): Promise<Answer | undefined> {
  const { screen, disk, environment } = parts.powers;
  const { paint } = screen;
  const { request } = parts;
  const changes = shownChanges(question, staged, disk);
  let drawnWhole = false;
  let maxLines = 0;
  /** The rows for a frame: without those for the choices, the answer and the row after it. */
  const room = (): number | undefined => screen.rows === undefined ? undefined : screen.rows - 3;
  const draw = (): void => {
    const fitted = fittingLines(question, changes, {
      ...{ width: screen.width, paint, rows: room(), request },
    });
    maxLines = Math.max(maxLines, fitted.maxLines);
    for (const line of fitted.lines) screen.say(line);
    screen.say(choiceLine(question, paint));
  };
  const page = async (): Promise<void> => {
    const lines = questionLines(question, changes, {
      ...{ width: screen.width, paint, whole: true, request },
    });
    drawnWhole = await readThrough(lines, parts, room()) || drawnWhole;
    const high = room();
    // A frame longer than the screen scrolled the headline away: draw it again before the answer.
    if (high !== undefined && lines.length > high) draw();
    else screen.say(choiceLine(question, paint));
  };
  screen.say("");
  draw();
  const withdrawn = (): boolean => parts.signal?.aborted === true;
  // Repeats until the answer is clear: only a known word, Enter or the end of input decides.
  for (;;) {
    const typed = await parts.keyboard.line(paint.bold("  your answer › "), {
      ...(parts.signal === undefined ? {} : { signal: parts.signal }),
    });
    if (withdrawn()) return undefined;
    const choice = readChoice(typed, question);
    if (choice === undefined) {
      screen.say(paint.dim("  that is no answer here"));
      screen.say(choiceLine(question, paint));
      continue;
    }
    if (choice === "show") {
      await page();
      continue;
    }
    const filled = question.kind === "elicit" && choice.decision === "allow"
      ? await askForm(question, { screen, keyboard: parts.keyboard, signal: parts.signal })
      : choice;
    if (withdrawn()) return undefined;
    const sanitizes = shownWhole(changes, drawnWhole, maxLines);
    const verdict: Verdict = { ...filled, sanitizes, by: "terminal", channel: "terminal" };
    if (question.kind !== "stepUp" || choice.decision === "deny") {
      return signAnswer(question, verdict, {
        signer: parts.ring.provideConsent(),
        at: environment.now(),
      });
    }
    return await stepUp(question, verdict, parts);
  }
}

/** Shows lines one screen at a time, each under the headline; true when the person saw them all. */
async function readThrough(
  lines: readonly string[],
  { powers: { screen }, keyboard, signal }: AskingParts,
  high: number | undefined,
): Promise<boolean> {
  const [top = "", headline = "", ...rest] = lines;
  const step = high === undefined ? rest.length : Math.max(4, high - 2);
  const pages = Math.max(1, Math.ceil(rest.length / step));
  for (let page = 1; page <= pages; page += 1) {
    for (const line of [top, headline, ...rest.slice((page - 1) * step, page * step)]) {
      screen.say(line);
    }
    if (page === pages) return true;
    const typed = await keyboard.line(
      `  page ${page} of ${pages}: Enter for the next, q back to the question › `,
      signal === undefined ? {} : { signal },
    );
    if (typed === undefined || signal?.aborted === true || /^q/i.test(typed.trim())) return false;
  }
  return true;
}

async function stepUp(
  question: Question,
  verdict: Verdict,
  parts: AskingParts,
): Promise<Answer | undefined> {
  const { screen, environment } = parts.powers;
  if (parts.ring.stepUpKey() === undefined) {
    screen.say(
      `  This needs your passphrase key, and there is none: make it with "remit key create".`,
    );
    screen.say(`  The question waits: remit answer ${question.id} allow`);
    return undefined;
  }
  const passphrase = await parts.keyboard.line("  passphrase › ", { echo: false });
  if (passphrase === undefined || passphrase === "") return undefined;
  try {
    const signer = parts.ring.openStepUp(passphrase);
    return signAnswer(question, verdict, { signer, at: environment.now() });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    screen.say(`  ${displayText(error.message, { max: 500 })}`);
    screen.say(`  The question waits: remit answer ${question.id} allow`);
    return undefined;
  }
}
