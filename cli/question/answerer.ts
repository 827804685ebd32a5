/** Answers a run's questions: from an answers file, by a person, or not at all. @module */
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

/** Makes an answerer; undefined when the kernel alone handles questions. */
export function makeAnswerer(parts: {
  readonly powers: Pick<Powers, "screen" | "disk" | "environment" | "keyboard">;
  readonly ring: KeyRing;
  readonly onQuestion: OnQuestion;
  readonly prepared?: PreparedAnswers | undefined;
  /**
   * Another command started the task, so its kernel may wait for an answer although nobody is here. Answering the first
   * question ends that wait.
   */
  readonly followed?: boolean;
  /** The person's own request at the start of the task; undefined where someone else wrote the request. */
  readonly request?: () => Promise<string | undefined>;
}): Answerer | undefined {
  const { powers, ring, onQuestion, prepared } = parts;
  if (prepared === undefined && onQuestion !== "ask" && parts.followed !== true) return undefined;
  return async (question, staged, signal) => {
    // Contents are verified before anything is signed, also for a prepared answer.
    shownChanges(question, staged, powers.disk);
    const request = await parts.request?.();
    const verdict = prepared?.take(question, {
      request,
      say: powers.screen.say,
    });
    const signing = { signer: ring.provideConsent(), at: powers.environment.now() };
    if (verdict !== undefined) return signAnswer(question, verdict, signing);
    // A server does not wait for hours: where no person is here, decline, so that its call goes on.
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
