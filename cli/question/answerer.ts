/** Who answers a run's questions: an answers file, a person, or nobody. @module */
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import type { OnQuestion, Staged } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { PreparedAnswers } from "./answers_file.ts";
import { askPerson, shownChanges } from "./asking.ts";
import type { Powers } from "../powers.ts";
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
  readonly powers: Pick<Powers, "screen" | "disk" | "environment" | "keyboard">;
  readonly ring: KeyRing;
  readonly onQuestion: OnQuestion;
  readonly prepared?: PreparedAnswers | undefined;
  /**
   * Another command began the task: its kernel may wait for an answer from here although nobody is here. The first
   * question then ends the wait.
   */
  readonly followed?: boolean;
  /** The person's own words that the task began with; undefined where they are another's. */
  readonly request?: () => Promise<string | undefined>;
}

/** Makes the answerer; undefined when the kernel alone handles questions. */
export function makeAnswerer(parts: AnswererParts): Answerer | undefined {
  const { powers, ring, onQuestion, prepared } = parts;
  if (prepared === undefined && onQuestion !== "ask" && parts.followed !== true) return undefined;
  return async (question, staged, signal) => {
    // Read and hashed before anything is signed, also for an answer that was prepared.
    shownChanges(question, staged, powers.disk);
    const request = await parts.request?.();
    const verdict = prepared?.take(question, {
      request,
      say: powers.screen.say,
    });
    const signing = { signer: ring.provideConsent(), at: powers.environment.now() };
    if (verdict !== undefined) return signAnswer(question, verdict, signing);
    // A server does not wait for hours: where nobody is, it hears no, and its call goes on.
    const unheard = question.kind === "elicit" &&
      (onQuestion === "queue" || powers.keyboard === undefined);
    if (unheard) powers.screen.say("  nobody is here to say what the server asks: declined");
    if (onQuestion === "deny" || unheard) {
      return signAnswer(question, {
        decision: "deny",
        for: "once",
        say: "Nobody is here to ask.",
        by: "on-question",
        channel: "command",
      }, signing);
    }
    if (onQuestion === "queue" || powers.keyboard === undefined) {
      powers.screen.say(`  question ${displayText(question.id)} waits for a person`);
      return undefined;
    }
    return await askPerson(question, staged, {
      ...{ powers, keyboard: powers.keyboard, ring, signal, request },
    });
  };
}
