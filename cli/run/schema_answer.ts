/** `run --schema FILE`: checks the answer against a JSON Schema, and asks again where it does not fit. @module */
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { templateOf, titleOf, valueIn } from "../../contracts/task/templates/templates.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, givenFile } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { awaitEnd, type RunningTask } from "./run_task.ts";
import type { WatchEnd } from "./watch_task.ts";

const MAX_SCHEMA = 65_536;
/** Further answers to ask for after the first. */
const RETRIES = 2;

/** A schema for answers. */
export interface AnswerSchema {
  /** The name that the person gave. */
  readonly file: string;
  readonly text: string;
  /** Instructions for the model beside its request. */
  readonly ask?: string;
  /** Why a value does not fit; undefined when it does. */
  misfit(value: Json): string | undefined;
}

/** The end of a checked task. */
export interface Checked {
  readonly end: WatchEnd;
  /** The fitting value. */
  readonly value?: Json;
  /** Why no value fits. */
  readonly why?: string;
}

/** Reads the schema. Throws Fault `notFound`, `tooLarge`, `invalidInput`; `refused` for one that cannot be checked safely. */
export function readSchema(command: Command<Basic | "schemas">, file: string): AnswerSchema {
  const [, named] = /^template:(.*)$/.exec(file) ?? [];
  if (named !== undefined) {
    const template = templateOf(named);
    const { schema: text, ask, misfit } = template;
    return { file: `template ${titleOf(template)}`, text, ask, misfit };
  }
  const { schemas } = command.powers;
  const shown = displayText(file, { max: 200 });
  const bytes = givenFile(command, file, "read the schema", { most: MAX_SCHEMA });
  const text = new TextDecoder().decode(bytes);
  if (valueIn(text) === undefined) {
    throw new Fault("invalidInput", `Cannot read the schema "${shown}": it is no JSON`);
  }
  const misfit = (value: Json): string | undefined => schemas.misfit(text, value);
  // A malformed schema fails here, before a model is asked.
  misfit(null);
  return { file: shown, text, misfit };
}

/** The request, followed by the required form of its answer. */
export function askingFor(
  request: string,
  { text, ask }: Pick<AnswerSchema, "text" | "ask">,
): string {
  const told = ask === undefined ? request : `${request}\n\n${ask}`;
  return `${told}\n\nAnswer, when you are done, with one JSON value and nothing else, which fits this JSON Schema:\n${text}`;
}

/** Waits for a fitting answer; an answer that does not fit is returned to the model with the reason. Ends the task. */
export async function awaitFitting(
  command: Command<Basic | "interrupts">,
  link: KernelLink,
  { running, schema }: { readonly running: RunningTask; readonly schema: AnswerSchema },
): Promise<Checked> {
  const { screen } = command.powers;
  const { id: task } = running;
  for (let left = RETRIES;; left -= 1) {
    const end = await awaitEnd(command, link, running);
    if (end.status !== "open") return { end };
    if (end.failed !== undefined) {
      await link.ask("cancel", { task });
      return { end };
    }
    const { answer = "" } = AgentTask.parse(await link.ask("task", { task }));
    const value = valueIn(answer);
    const why = value === undefined ? "it is no JSON value" : schema.misfit(value);
    if (why === undefined || left === 0) {
      await link.ask("finish", { task });
      const over = await running.watch.next();
      return why === undefined && value !== undefined
        ? { end: over, value }
        : { end: over, why: why ?? "" };
    }
    screen.say(
      screen.paint.dim(`  the answer does not fit the schema: ${displayText(why, { max: 300 })}`),
    );
    await link.ask("say", {
      task,
      text: `Your answer does not fit the JSON Schema: ${
        why.slice(0, 1_000)
      }. Answer again, with the JSON value alone.`,
    });
  }
}
