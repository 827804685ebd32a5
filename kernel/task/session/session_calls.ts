/** The calls that a worker requests. Used by session.ts and worker_requests.ts. @module */
import type { Gate } from "../../../contracts/authority/gate.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { siteOfCall } from "../../../contracts/exchange/planned.ts";
import type { ToolCall, Unmade } from "../../../contracts/model/chat.ts";
import type { Powers, ProcessRow } from "../../../contracts/task/process.ts";
import type { ToolResult } from "../../../contracts/tool/tool.ts";
import type { WorkerRequest } from "../worker/worker_ops.ts";
import type { InferenceParts } from "./inference.ts";
import type { ProcessModel } from "./process_model.ts";

/** INVARIANT: a model cannot give its call an id of a program's calls (test: "mallory's mail takes over …"). */
const NOT_THE_MODELS: Unmade = {
  kind: "unreadable",
  why: "Cannot make the call: its id is of a program's calls; only the program makes those",
};

interface SessionCallsParts extends Pick<InferenceParts, "offer"> {
  readonly row: ProcessRow;
  readonly gate: Pick<Gate, "call">;
  readonly powers: Pick<Powers, "now">;
  /** Hears the outcomes of the model's calls. */
  readonly model: Pick<ProcessModel, "called">;
  /** A call of the model's last answer; undefined for a program's own call. */
  proposed(id: string): ToolCall | undefined;
}

/** The calls of a process. */
export interface SessionCalls {
  /** Makes a call; `withdrawn`: it was sent before the worker learnt of an interrupt. */
  call(
    body: Extract<WorkerRequest, { op: "call" }>["body"],
    withdrawn: boolean,
  ): Promise<ToolResult>;
  /** Cancels running calls. */
  withdraw(): void;
}

/** Makes the calls of a process. */
export function makeSessionCalls(
  { row, gate, powers, model, offer, proposed }: SessionCallsParts,
): SessionCalls {
  return Object.freeze<SessionCalls>({
    async call(body, withdrawn): Promise<ToolResult> {
      // TRUST: with two calls under one id, one could not be cancelled.
      if (row.calls.has(body.call.id)) {
        throw new Fault("conflict", `Cannot call "${body.call.name}": its id is under way`);
      }
      const abort = new AbortController();
      if (withdrawn) abort.abort();
      row.calls.set(body.call.id, { tool: body.call.name, since: powers.now(), abort });
      try {
        const own = proposed(body.call.id);
        // TRUST: a cut call is not made, even where the program does not report the cut.
        const unmade = own?.unmade ?? body.call.unmade ??
          (own !== undefined && offer?.only !== undefined && siteOfCall(own.id) !== undefined
            ? NOT_THE_MODELS
            : undefined);
        const call = unmade === undefined ? body.call : { ...body.call, unmade };
        const result = await gate.call(row.pid, call, body.snapshot, abort.signal);
        model.called(body.call, result.outcome);
        return result;
      } finally {
        row.calls.delete(body.call.id);
      }
    },
    withdraw(): void {
      for (const under of row.calls.values()) under.abort.abort();
    },
  });
}
