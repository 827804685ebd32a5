/** The calls of one process on their way to the gate. @module */
import {
  Fault,
  type Gate,
  type Powers,
  type ProcessRow,
  type ToolCall,
  type ToolResult,
} from "../../contracts/mod.ts";
import type { ProcessModel } from "./process_model.ts";
import type { WorkerRequest } from "../worker/worker_ops.ts";

/** What {@link makeSessionCalls} is handed. */
export interface SessionCallsParts {
  readonly row: ProcessRow;
  readonly gate: Pick<Gate, "call">;
  readonly powers: Pick<Powers, "now">;
  /** Hears what came of what it proposed. */
  readonly model: Pick<ProcessModel, "called">;
  /** A call as the model proposed it last; undefined for one that a program makes by itself. */
  proposed(id: string): ToolCall | undefined;
}

/** The calls of a process. */
export interface SessionCalls {
  /** Makes one; `withdrawn`: it was proposed before its process heard that it is interrupted. */
  call(
    body: Extract<WorkerRequest, { op: "call" }>["body"],
    withdrawn: boolean,
  ): Promise<ToolResult>;
  /** Cancels what is under way. */
  withdraw(): void;
}

/** Makes the calls of a process. */
export function makeSessionCalls(
  { row, gate, powers, model, proposed }: SessionCallsParts,
): SessionCalls {
  return Object.freeze<SessionCalls>({
    async call(body, withdrawn): Promise<ToolResult> {
      // TRUST: two calls under one id would leave one that nothing can cancel.
      if (row.calls.has(body.call.id)) {
        throw new Fault("conflict", `Cannot call "${body.call.name}": its id is under way`);
      }
      const abort = new AbortController();
      if (withdrawn) abort.abort();
      row.calls.set(body.call.id, { tool: body.call.name, since: powers.now(), abort });
      try {
        // TRUST: a program that leaves out that a call is cut does not have it made.
        const unmade = proposed(body.call.id)?.unmade ?? body.call.unmade;
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
