/** An exchange in the hands of the task that works for it. @module */
import {
  type ExchangeId,
  Fault,
  type Label,
  mixLabel,
  type PeerArtifact,
  type PeerName,
  type Powers,
  type TaskId,
} from "../../contracts/mod.ts";
import type { ExchangeHead } from "./head.ts";
import { MOST_ARTIFACTS } from "./change.ts";
import type { ExchangeKeeper } from "./keeper.ts";
import type { ExchangeTask } from "./parts.ts";
import { goingOn } from "./send.ts";
import { isOver } from "./states.ts";
import { saying } from "./words.ts";

/** Most characters that all artifacts of one exchange take. */
const MOST_OURS = 16_000_000;

/** Refuses what comes too late. */
export function closed(head: Pick<ExchangeHead, "id" | "state">, verb: string): Fault {
  return new Fault("conflict", `Cannot ${verb} exchange ${head.id}: it is "${head.state}"`);
}

/** Makes that side of exchanges. */
export function makeExchangeTasks(
  { keeper, need, powers, labelOf }: {
    readonly keeper: ExchangeKeeper;
    /** How confidential what a task says now is. */
    labelOf(task: TaskId): Label;
    readonly powers: Pick<Powers, "now" | "token">;
    need(ask: { readonly peer?: PeerName; readonly exchange: ExchangeId }): ExchangeHead;
  },
): {
  taskOf(head: ExchangeHead): ExchangeTask;
  /** Within the exchange's turn. */
  show(before: ExchangeHead, artifact: PeerArtifact): Promise<ExchangeHead>;
} {
  const labelNow = ({ task }: ExchangeHead): Label => task === undefined ? "public" : labelOf(task);

  /** A change by its task, while something is under way. */
  const working = async (
    exchange: ExchangeId,
    verb: string,
    work: (head: ExchangeHead) => Promise<unknown>,
  ): Promise<void> => {
    await keeper.turn(exchange, async () => {
      const head = need({ exchange });
      if (isOver(head.state)) throw closed(head, verb);
      await work(head);
    });
  };

  const show = async (before: ExchangeHead, artifact: PeerArtifact): Promise<ExchangeHead> => {
    const part = { kind: "artifact", artifact } as const;
    if (await keeper.has(before.id, part)) return before;
    const size = JSON.stringify(artifact).length;
    const ours = before.bytes.ours + size;
    if (before.artifacts >= MOST_ARTIFACTS || ours > MOST_OURS) {
      throw new Fault(
        "tooLarge",
        `Cannot show more to ${before.peer}: this exchange holds ${before.artifacts} artifacts ` +
          `of ${before.bytes.ours} characters`,
      );
    }
    const next = { ...before, bytes: { ...before.bytes, ours } };
    return await keeper.write({ before, next, parts: [part], note: { shown: size } });
  };

  const taskOf = ({ id: exchange, peer, clearance }: ExchangeHead): ExchangeTask =>
    Object.freeze<ExchangeTask>({
      ...{ exchange, peer, clearance },
      ask: (question) =>
        working(exchange, "ask in", async (before) => {
          const { answering: _answering, ...rest } = goingOn(before);
          const next = { ...rest, asking: question };
          await keeper.write({ before, next, quiet: before.state === next.state });
        }),
      answer: (answering) =>
        working(exchange, "answer in", async (before) => {
          const { asking: _asking, ...rest } = goingOn(before);
          const next = { ...rest, answering };
          await keeper.write({ before, next, quiet: before.state === next.state });
        }),
      say: (text, key) =>
        working(exchange, "say something in", async (before) => {
          const status = saying({
            ...{ powers, text, id: `s${key.slice(0, 40)}` },
            label: labelNow(before),
          });
          if (before.status?.id === status.id) return;
          await keeper.write({ before, next: { ...goingOn(before), status, said: false } });
        }),
      show: (artifact) =>
        working(
          exchange,
          "show in",
          (before) =>
            show(before, {
              ...artifact,
              label: mixLabel(artifact.label ?? "public", labelNow(before)),
            }),
        ),
    });

  return Object.freeze({ taskOf, show });
}
