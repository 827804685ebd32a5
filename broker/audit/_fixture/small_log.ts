/** A small log with every kind of content: three tasks, private parts, several groups, documents. */
import type { NewEvent } from "../../../contracts/task/event.ts";
import type { EventLog, Store } from "../../../contracts/task/store.ts";
import { type LogPowers, makeSigner, openLog } from "../mod.ts";

/** The receipt key of alice's kernel. */
export const ALICE = makeSigner(new Uint8Array(32).fill(7));
/** A key of mallory's. */
export const MALLORY = makeSigner(new Uint8Array(32).fill(8));

/** A hand-turned clock and counted randomness: the same log every time. */
export function handPowers(): LogPowers {
  let at = 1_800_000_000_000;
  let byte = 0;
  return {
    now: () => at++,
    random: (length) => new Uint8Array(length).fill(byte++ & 0xff),
    soon: (f) => void setImmediate(f),
    // No timer fires by itself.
    after: () => () => undefined,
  };
}

/** Intent or outcome of a call, with the private part that the gate adds. */
export function callEvent(kind: "intent" | "outcome" | "refused", call: string): NewEvent {
  return {
    kind,
    body: { call, tool: "file_read", outcome: kind === "intent" ? "" : "ok" },
    private: { arguments: `{"path":"desk/${call}.md"}`, note: "é🙂\u{fffd}" },
  };
}

/** Task ids of alice's, bob's and carol's tasks. */
export const TASKS = ["ta00000000000", "tb00000000000", "tc00000000000"] as const;

/** Opens the log of an empty store and fills it with 12 events in four groups. */
export async function fillSmallLog(store: Store, signer = ALICE): Promise<EventLog> {
  const log = await openLog({ store, signer, ...handPowers() });
  const [a, b, c] = TASKS;
  await log.append("kernel", [{ kind: "kernelStarted", body: { version: "1" } }]);
  await Promise.all([
    log.append(a, [{ kind: "taskCreated", body: { profile: "operator" } }], [
      { kind: "task", id: a, task: a, expect: 0, body: { status: "open" } },
    ]),
    log.append(b, [callEvent("intent", "c1")]),
    log.append(a, [callEvent("intent", "c1")]),
  ]);
  await Promise.all([
    log.append(b, [callEvent("outcome", "c1")]),
    log.append(c, [callEvent("refused", "c9")]),
  ]);
  await log.append(a, [callEvent("outcome", "c1"), { kind: "taskStatus", body: { to: "done" } }]);
  return log;
}
