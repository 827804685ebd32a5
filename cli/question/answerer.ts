/** Who answers a run's questions: an answers file, a person, or nobody. @module */
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import type { OnQuestion, Staged } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { PreparedAnswers } from "./answers_file.ts";
import { askPerson, shownChanges } from "./asking.ts";
import type { Hands } from "../hands.ts";
import type { KeyRing } from "../../config/key/ring.ts";
import { signAnswer } from "./sign_answer.ts";

/** Answers a question; undefined leaves it open. `signal` fires when it was closed elsewhere. */
export type Answerer = (
  question: Question,
  staged: Staged,
  signal: AbortSignal,
) => Promise<Answer | undefined>;

/** What {@link makeAnswerer} is handed. */
export interface AnswererParts {
  readonly hands: Pick<Hands, "screen" | "disk" | "around" | "keyboard">;
  readonly ring: KeyRing;
  readonly onQuestion: OnQuestion;
  readonly prepared?: PreparedAnswers | undefined;
  /** The person's own words that the task began with; undefined where they are another's. */
  readonly request?: () => Promise<string | undefined>;
}

/** Makes the answerer; undefined when the kernel alone handles questions. */
export function makeAnswerer(parts: AnswererParts): Answerer | undefined {
  const { hands, ring, onQuestion, prepared } = parts;
  if (prepared === undefined && onQuestion !== "ask") return undefined;
  return async (question, staged, signal) => {
    // Read and hashed before anything is signed, also for an answer that was prepared.
    shownChanges(question, staged, hands.disk);
    const request = await parts.request?.();
    const verdict = prepared?.take(question, {
      request,
      say: hands.screen.say,
    });
    const signing = { signer: ring.provideConsent(), at: hands.around.now() };
    if (verdict !== undefined) return signAnswer(question, verdict, signing);
    // A server does not wait for hours: where nobody is, it hears no, and its call goes on.
    const unheard = question.kind === "elicit" &&
      (onQuestion === "queue" || hands.keyboard === undefined);
    if (unheard) hands.screen.say("  nobody is here to say what the server asks: declined");
    if (onQuestion === "deny" || unheard) {
      return signAnswer(question, {
        decision: "deny",
        for: "once",
        say: "Nobody is here to ask.",
        by: "on-question",
        channel: "command",
      }, signing);
    }
    if (onQuestion === "queue" || hands.keyboard === undefined) {
      hands.screen.say(`  question ${displayText(question.id)} waits for a person`);
      return undefined;
    }
    return await askPerson(question, staged, {
      ...{ hands, keyboard: hands.keyboard, ring, signal, request },
    });
  };
}
