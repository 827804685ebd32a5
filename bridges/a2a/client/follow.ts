/** Waits for a task at a peer: its stream where there is one, then looks, further and further apart. @module */
import type { SendMessageRequest } from "@a2a-js/sdk";
import type { RequestOptions, Transport } from "@a2a-js/sdk/client";
import { Fault } from "../../../contracts/fault.ts";
import type { Clock, Odd } from "../../mcp/client/mod.ts";
import type { Heard } from "./heard.ts";
import { POLL_MS } from "./limits.ts";
import { peerFault } from "./upstream.ts";

/** Messages of a task that are asked for where it is over and said nothing. */
const SAID_LAST = 2;

/** What waiting takes. */
export interface FollowParts {
  readonly transport: Transport;
  readonly tenant: string;
  readonly streaming: boolean;
  readonly clock: Pick<Clock, "after">;
  readonly options: RequestOptions;
  readonly odd: Odd;
}

/** Sends a message and hears until its task is settled. Rejects with a fault, also when the signal aborts. */
export async function sendAndFollow(
  parts: FollowParts,
  request: SendMessageRequest,
  heard: Heard,
  waits = true,
): Promise<void> {
  const { transport, streaming, options, odd } = parts;
  if (streaming) {
    try {
      for await (const event of transport.sendMessageStream(request, options)) {
        heard.event(event);
        if (heard.settled) break;
        if (!waits && heard.task !== undefined) return;
      }
    } catch (error) {
      // It has the message, and a task of it: that is looked at as if there had been no stream.
      if (options.signal?.aborted === true || heard.task === undefined) {
        throw peerFault("send the message", error);
      }
      odd("Its stream broke off");
    }
    // A stream tells of changes, and may leave out what stands in the task: its words, its artifacts.
    const { over, task, message, artifacts } = heard;
    if (over && task !== undefined && message.length + artifacts.length === 0) {
      await lookAtTask(parts, heard, SAID_LAST).catch((error) => {
        if (!(error instanceof Fault) || options.signal?.aborted === true) throw error;
        odd("Its stream ended without a word, and its task cannot be looked at");
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

/** Looks at a task until it is settled. */
export async function followTask(parts: FollowParts, heard: Heard): Promise<void> {
  const { clock, options } = parts;
  let wait: number = POLL_MS.first;
  while (!heard.settled) {
    await pause(clock, wait, options.signal);
    wait = Math.min(wait * 2, POLL_MS.most);
    await lookAtTask(parts, heard);
  }
}

/** Looks at a task once. */
export async function lookAtTask(
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

function pause(
  clock: Pick<Clock, "after">,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const forget = clock.after(ms, resolve);
    signal?.addEventListener("abort", () => {
      forget();
      reject(signal.reason);
    }, { once: true });
  });
}
