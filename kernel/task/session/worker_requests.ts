/** A worker's requests to its session, each under a handle of its c-list. Used by session.ts. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { InferenceResponse } from "../../../contracts/model/mod.ts";
import type { CapList, ContextAnswer } from "../../../contracts/wire/mod.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Interrupt, Pause } from "../worker/interrupt.ts";
import { parseWorkerRequest, type WorkerRequest } from "../worker/worker_ops.ts";
import type { Inference } from "./inference.ts";
import type { Offspring } from "./session.ts";
import type { SessionCalls } from "./session_calls.ts";

/** The session's parts that serve requests. */
export interface WorkerRequestsParts extends Pick<Inference, "infer" | "makeRoom"> {
  /** The current handles; the model's handle changes with the model. */
  caps(): CapList;
  readonly pause: Pick<Pause, "passed">;
  readonly interrupt: Pick<Interrupt, "awaitsAcknowledgement">;
  readonly calls: SessionCalls;
  readonly offspring: Offspring;
  /** The tools advertised to the process. */
  advertise(): Json;
  /** Runs work whose faults may end the turn or the process. */
  noticing<T>(work: Promise<T>): Promise<T>;
}

/** The requests of one worker. */
export interface WorkerRequests {
  /** Answers a request. @throws Fault `badFrame`, `unknownCapability`, and the faults of the work itself */
  serve(op: string, body: Json): Promise<Json>;
  /** Cancels the running inference, if any. */
  stopInferring(): void;
  /** Cancels the running inference and calls. */
  withdraw(): void;
}

/** Makes the requests of one worker. */
export function makeWorkerRequests(parts: WorkerRequestsParts): WorkerRequests {
  const { caps, pause, interrupt, calls, offspring, noticing } = parts;
  let inferring: AbortController | undefined;

  /** Runs one inference, or one change of the context, at a time. */
  async function infer(
    request: Extract<WorkerRequest, { op: "infer" | "context" }>,
    unaware: boolean,
  ): Promise<Json> {
    if (inferring !== undefined) {
      throw new Fault("rateLimited", "Cannot infer: an inference of this process is under way");
    }
    const { signal } = inferring = new AbortController();
    if (unaware) inferring.abort();
    try {
      const answer = await noticing<InferenceResponse | ContextAnswer>(
        request.op === "infer"
          ? parts.infer(request.body, signal)
          : parts.makeRoom(request.body, signal),
      );
      await pause.passed();
      return asJson(answer);
    } finally {
      inferring = undefined;
    }
  }

  async function serve(op: string, raw: Json): Promise<Json> {
    const request = parseWorkerRequest(op, raw);
    // Sent before the worker learnt of an interrupt: cancelled like running work.
    const unaware = interrupt.awaitsAcknowledgement();
    await pause.passed();
    switch (request.op) {
      case "advertise":
        held(request.body.cap, caps().tools);
        return parts.advertise();
      case "infer":
      case "context":
        held(request.body.cap, caps().model);
        return await infer(request, unaware);
      case "call": {
        held(request.body.cap, caps().tools);
        const result = await noticing(calls.call(request.body, unaware));
        await pause.passed();
        return asJson(result);
      }
      case "spawn":
        held(request.body.cap, caps().children);
        return { pid: await offspring.spawn(request.body) };
      case "wait":
        held(request.body.cap, caps().children);
        return toJson(await offspring.wait(request.body.pid));
      case "kill":
        held(request.body.cap, caps().children);
        await offspring.kill(request.body.pid, request.body.signal);
        return null;
    }
  }

  return Object.freeze<WorkerRequests>({
    serve,
    stopInferring: () => inferring?.abort(),
    withdraw(): void {
      inferring?.abort();
      calls.withdraw();
    },
  });
}

// TRUST: a worker may send any number.
function held(given: number, wanted: number): void {
  if (given === wanted) return;
  throw new Fault(
    "unknownCapability",
    `Cannot use capability ${given}: it was never handed over`,
  );
}
