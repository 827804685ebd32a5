/** The kernel's operations on an open peer: messages, tasks, artifacts. Used by bridge.ts. @module */
import type { RequestOptions, Transport } from "@a2a-js/sdk/client";
import { Fault } from "../../../contracts/base/fault.ts";
import type { PeerCall, PeerSaid, PeerTaskAsk } from "../../../contracts/exchange/exchange.ts";
import type { McpCallResult } from "../../../contracts/wire/wire_mcp.ts";
import {
  type Calls,
  type Clock,
  cutText,
  type KernelSide,
  pause,
  type ReportViolation,
} from "../../mcp/client/mod.ts";
import { type Heard, makeHeard, makeSaying } from "./heard.ts";
import { CANCEL_MS, peerFault, POLL_MS, SPARE_MS } from "./limits.ts";
import { artifactResult, idOf, messageOf, resultOf } from "./peer_result.ts";
import type { SendMessageRequest } from "@a2a-js/sdk";

/** An open peer. */
export interface OpenPeer {
  readonly name: string;
  readonly transport: Transport;
  readonly tenant: string;
  readonly streaming: boolean;
}

interface PeerOpsParts {
  readonly peer: () => OpenPeer;
  readonly kernel: Pick<KernelSide, "progress">;
  /** Sends a message to the inbox of the calling task. */
  said(message: PeerSaid): void;
  readonly calls: Calls;
  readonly clock: Pick<Clock, "after">;
  readonly report: ReportViolation;
}

/** The operations. Each rejects with a fault: `upstream`, `cancelled`, `timedOut`, `invalidArguments`, `notFound`. */
export interface PeerOps {
  call(asked: PeerCall): Promise<McpCallResult>;
  task(asked: PeerTaskAsk): Promise<McpCallResult>;
  artifact(asked: PeerTaskAsk): Promise<McpCallResult>;
}

interface Hearing {
  readonly heard: Heard;
  /** Whether the message starts a new task. */
  readonly isNew: boolean;
  /** Tells of artifacts that the result does not show. */
  ready(): void;
}

const SERVICE = Object.freeze({ "A2A-Version": "1.0" });

/** Makes the operations. */
export function makePeerOps({ peer, kernel, said, calls, clock, report }: PeerOpsParts): PeerOps {
  const following = (signal: AbortSignal): FollowParts => {
    const { transport, tenant, streaming } = peer();
    const options: RequestOptions = { signal, serviceParameters: { ...SERVICE } };
    return { transport, tenant, streaming, clock, report, options };
  };
  const hearing = (id: string, task: string | undefined): Hearing => {
    let count = 0;
    const saying = makeSaying((message) => said({ id, ...message }));
    const heard = makeHeard({
      ...{ task, report, said: saying.message },
      notice: (text) => kernel.progress(id, { progress: ++count, message: cutText(text, 1_024) }),
    });
    return { heard, isNew: task === undefined, ready: () => saying.ready(heard.task, heard.ready) };
  };

  /** Cancels a task at the peer without waiting for the answer. */
  const giveUp = (task: string): void => {
    const ending = new AbortController();
    const forget = clock.after(CANCEL_MS, () => ending.abort());
    const { transport, tenant, options } = following(ending.signal);
    transport.cancelTask({ tenant, id: task, metadata: undefined }, options)
      .catch(() => report("It did not take the end of a task"))
      .finally(forget);
  };

  /** Runs `work` until it ends or its time is over, and returns what was heard so far. */
  const during = (
    asked: { readonly id: string; readonly deadlineMs: number; readonly waitMs: number },
    { heard, isNew, ready }: Hearing,
    { verb, work }: { readonly verb: string; work(parts: FollowParts): Promise<void> },
  ): Promise<McpCallResult> =>
    calls.run({ ...asked, verb }, async ({ signal }) => {
      const ending = new AbortController();
      let late = false;
      const forget = clock.after(Math.max(asked.waitMs - SPARE_MS, asked.waitMs / 2), () => {
        late = true;
        const why = "no answer in time; whether the peer took it is not known";
        ending.abort(new Fault("timedOut", `Cannot ${verb}: ${why}`));
      });
      const stop = (): void => {
        ending.abort(signal.reason);
        const { task, settled } = heard;
        if (task !== undefined && !settled) giveUp(task);
      };
      signal.addEventListener("abort", stop, { once: true });
      try {
        await work(following(ending.signal));
      } catch (error) {
        // The task goes on at the peer: what was heard so far is worth more than a timeout.
        const fault = peerFault(verb, error);
        if (!late) throw isNew ? stillThere(fault, heard, peer().name) : fault;
        if (heard.task === undefined) throw ending.signal.reason;
      } finally {
        forget();
        signal.removeEventListener("abort", stop);
        if (!heard.settled) ready();
      }
      return resultOf(heard, { peer: peer().name, goesOn: !heard.settled });
    });

  const named = (asked: PeerTaskAsk): string => {
    const task = idOf(asked.task, "task");
    if (task !== undefined) return task;
    throw new Fault("invalidArguments", "Cannot look at a task: name it");
  };

  return Object.freeze<PeerOps>({
    call(asked) {
      const hears = hearing(asked.id, idOf(asked.args["task"], "task"));
      const request = messageOf(asked, peer().tenant);
      return during(asked, hears, {
        verb: "send the message",
        work: (parts) => sendAndFollow(parts, request, hears.heard, asked.args["wait"] !== false),
      });
    },
    task(asked) {
      const hears = hearing(asked.id, named(asked)), { heard } = hears;
      return during(asked, hears, {
        verb: asked.do === "cancel" ? "cancel the task" : "look at the task",
        async work(parts) {
          if (asked.do === "cancel") {
            const { transport, tenant, options } = parts;
            const id = named(asked);
            try {
              heard.answered(
                await transport.cancelTask({ tenant, id, metadata: undefined }, options),
              );
            } catch (error) {
              throw peerFault("cancel the task", error);
            }
            return;
          }
          await lookAtTask(parts, heard);
          if (asked.do === "wait") await followTask(parts, heard);
        },
      });
    },
    async artifact(asked) {
      const hears = hearing(asked.id, named(asked)), { heard } = hears;
      await during(asked, { ...hears, ready: () => undefined }, {
        verb: "fetch the artifact",
        work: (parts) => lookAtTask(parts, heard),
      });
      const found = heard.artifacts.find(({ id }) => id === asked.artifact);
      if (found !== undefined) {
        return artifactResult(found, { peer: peer().name, label: heard.label });
      }
      const known = heard.artifacts.slice(0, 16).map(({ id }) => JSON.stringify(cutText(id, 64)));
      throw new Fault(
        "notFound",
        `Cannot fetch the artifact: the task has ${known.join(", ") || "none"}`,
      );
    },
  });
}

/** Last messages that are requested from a finished task that said nothing. */
const LAST_MESSAGES = 2;

interface FollowParts {
  readonly transport: Transport;
  readonly tenant: string;
  readonly streaming: boolean;
  readonly clock: Pick<Clock, "after">;
  readonly options: RequestOptions;
  readonly report: ReportViolation;
}

/** Sends a message and follows its task by stream, then by polling, until it is settled. Rejects with a fault. */
async function sendAndFollow(
  parts: FollowParts,
  request: SendMessageRequest,
  heard: Heard,
  waits = true,
): Promise<void> {
  const { transport, streaming, options, report } = parts;
  if (streaming) {
    try {
      for await (const event of transport.sendMessageStream(request, options)) {
        heard.event(event);
        if (heard.settled) break;
        if (!waits && heard.task !== undefined) return;
      }
    } catch (error) {
      // The peer has the message and made a task: poll that task, as without a stream.
      if (options.signal?.aborted === true || heard.task === undefined) {
        throw peerFault("send the message", error);
      }
      report("Its stream broke off");
    }
    // A stream tells of changes and may omit what the task holds: its messages and artifacts.
    const { over, task, message, artifacts } = heard;
    if (over && task !== undefined && message.length + artifacts.length === 0) {
      await lookAtTask(parts, heard, LAST_MESSAGES).catch((error) => {
        if (!(error instanceof Fault) || options.signal?.aborted === true) throw error;
        report("Its stream ended without a word, and its task cannot be looked at");
      });
    }
  } else {
    try {
      heard.sent(await transport.sendMessage(request, options));
    } catch (error) {
      throw peerFault("send the message", error);
    }
  }
  if (waits) await followTask(parts, heard);
}

async function followTask(parts: FollowParts, heard: Heard): Promise<void> {
  const { clock, options } = parts;
  let wait: number = POLL_MS.first;
  while (!heard.settled) {
    await pause(clock, wait, options.signal);
    wait = Math.min(wait * 2, POLL_MS.max);
    await lookAtTask(parts, heard);
  }
}

async function lookAtTask(
  { transport, tenant, options }: FollowParts,
  heard: Heard,
  historyLength = 0,
): Promise<void> {
  const { task } = heard;
  if (task === undefined) throw peerFault("look at the task", new Error("it named none"));
  try {
    heard.answered(await transport.getTask({ tenant, id: task, historyLength }, options));
  } catch (error) {
    throw peerFault("look at the task", error);
  }
}

/** Adds the id of a task that may go on at the peer to the fault of its call. */
function stillThere(fault: Fault, { task, over }: Heard, peer: string): Fault {
  if (task === undefined || over || fault.code === "cancelled") return fault;
  const named = JSON.stringify(task);
  return new Fault(
    fault.code,
    `${fault.message}; its task ${named} may go on there: a2a_${peer}_task, or ` +
      `\`remit a2a watch ${peer}\` with that name, takes it up`,
    { ...(fault.detail === undefined ? {} : { detail: fault.detail }), cause: fault },
  );
}
