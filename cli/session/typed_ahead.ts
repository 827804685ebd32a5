/** Text typed while a turn is under way: queued, shown, editable, never lost. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { AheadLine, Keyboard, LineExtras, Screen } from "../powers.ts";
import { cutTo } from "../terminal/columns.ts";
import { spanText } from "../terminal/span.ts";

/** The entry that Ctrl-D queues. */
const LEAVE = "/exit";

/** Texts for the following turns. */
export interface Queue {
  readonly texts: readonly string[];
  add(text: string): void;
  /** Ends the session after the queued texts: a terminal sends the end of input only once. */
  leave(): void;
  /** Takes the oldest, for the next turn. */
  next(): string | undefined;
  /** Takes the newest, for editing. */
  takeBack(): string | undefined;
  /** Removes the text of this number, 1 for the oldest. Throws Fault `notFound`. */
  drop(number: number): string;
}

/** Makes an empty queue. */
export function makeQueue(): Queue {
  const texts: string[] = [];
  return Object.freeze<Queue>({
    texts,
    add: (text) => void texts.push(text),
    leave: () => void (texts.at(-1) === LEAVE || texts.push(LEAVE)),
    next: () => texts.shift(),
    takeBack: () => texts.pop(),
    drop(number): string {
      const [dropped] = Number.isInteger(number) && number > 0 ? texts.splice(number - 1, 1) : [];
      if (dropped !== undefined) return dropped;
      throw new Fault(
        "notFound",
        texts.length === 0
          ? "Cannot take it out of the queue: nothing is queued"
          : `Cannot take it out of the queue: say "/drop N" with N from 1 to ${texts.length}`,
      );
    },
  });
}

/** The queue, one row for each text. Safe text. */
export function queueRows(queue: Pick<Queue, "texts">, width: number): string[] {
  return queue.texts.map((text, n) => {
    const shown = displayText(text.replaceAll(/\s+/g, " "), { max: 1_000 });
    return cutTo(`  queued ${n + 1}  ${shown}`, width - 1);
  });
}

/** The values of a status line. Money in US dollars, times in ms. */
export interface Status {
  readonly model: string;
  readonly elapsed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly money: number;
}

const count = (tokens: number): string =>
  tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;

/** The status line: model, time of this turn, tokens and money of the session. Safe text. */
export function statusRow(status: Status): string {
  const { model, elapsed, inputTokens, outputTokens, money } = status;
  return [
    displayText(model, { max: 40 }),
    spanText(elapsed),
    `${count(inputTokens)} in, ${count(outputTokens)} out`,
    `${money.toFixed(money < 0.1 ? 4 : 2)} USD`,
  ].join(" · ");
}

/** The terminal and queue of {@link openAheadLine}. */
export interface TypedAheadParts extends LineExtras {
  readonly keyboard: Pick<Keyboard, "ahead">;
  readonly screen: Pick<Screen, "say" | "paint" | "width">;
  readonly queue: Queue;
  readonly draft: string;
  status(): Status;
  /** Runs a slash command, which does not wait for the turn. */
  atOnce(text: string): void;
}

/** Opens the line under a turn; undefined where the terminal cannot show one. */
export function openAheadLine(parts: TypedAheadParts): AheadLine | undefined {
  const { keyboard, screen, queue, draft, past, complete } = parts;
  return keyboard.ahead?.({
    ...{ prompt: screen.paint.bold("» "), draft },
    ...(past === undefined ? {} : { past }),
    ...(complete === undefined ? {} : { complete }),
    above: () => [
      ...queueRows(queue, screen.width),
      cutTo(
        `  ${statusRow(parts.status())}${
          queue.texts.length > 0 ? " · ↑ takes the last one back" : ""
        }`,
        screen.width - 1,
      ),
    ],
    entered(text): void {
      if (text.startsWith("/")) parts.atOnce(text);
      else queue.add(text);
    },
    takeBack: () => queue.takeBack(),
    ended: queue.leave,
  });
}
