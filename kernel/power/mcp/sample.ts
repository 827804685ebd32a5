/**
 * Inferences that an imported server requests: off unless the server was given tokens, each with a person's consent to the
 * exact request, on the task's own model and budget, without tools and outside the conversation. Used by mcp_tools.ts;
 * made in kernel/main_mcp.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { Label } from "../../../contracts/authority/colour.ts";
import type { TaskId } from "../../../contracts/authority/ids.ts";
import type { ImportedServer } from "../../../contracts/exchange/mcp.ts";
import type { ProcessKeeper } from "../../../contracts/task/process.ts";
import type { McpSample, McpSampled } from "../../../contracts/wire/wire_mcp.ts";
import { estimateTokens } from "../../../contracts/model/tokens.ts";
import type { InferAside } from "../model/governed_model.ts";
import type { McpAsks, McpCallAt } from "./asking.ts";
import type { McpLog } from "./log.ts";

/** Tokens of one answer, at most. */
const MAX_TOKENS = 4_096;

/** The way to people, the task's model and the log. */
export interface McpSampleParts {
  readonly asks: Pick<McpAsks, "ask" | "caller">;
  readonly processes: Pick<ProcessKeeper, "taint">;
  readonly log: Pick<McpLog, "note">;
  /** The task's model, for an inference outside the conversation; undefined once the task has ended. */
  modelOf(task: TaskId): InferAside | undefined;
  labelOf(at: { readonly task: TaskId; readonly server: ImportedServer }): Label;
}

/** Sampling for all servers. */
export interface McpSampling {
  /** Rejects with `refused`, `denied`, `budgetExhausted`, and like an inference. */
  sample(at: McpCallAt, asked: McpSample): Promise<McpSampled>;
  /** Cancels the inference of an ended call. */
  callEnded(at: { readonly task: TaskId; readonly callId: string }): void;
  forget(task: TaskId): void;
}

/** Makes the sampling. Tokens are counted for each server and task, for the life of this kernel. */
export function makeMcpSample(parts: McpSampleParts): McpSampling {
  const used = new Map<TaskId, Map<string, number>>();
  const under = new Map<string, AbortController>();

  const usedBy = ({ task, server }: McpCallAt): number => used.get(task)?.get(server.name) ?? 0;
  const count = ({ task, server }: McpCallAt, tokens: number): void => {
    const ofTask = used.get(task) ?? new Map<string, number>();
    used.set(task, ofTask);
    ofTask.set(server.name, (ofTask.get(server.name) ?? 0) + tokens);
  };

  const consented = async (
    at: McpCallAt,
    asked: McpSample,
    { maxTokens, label }: { readonly maxTokens: number; readonly label: Label },
  ): Promise<void> => {
    const { server } = at, { system, messages } = asked;
    const answer = await parts.asks.ask(at, {
      kind: "consent",
      summary: `the imported server "${server.name}" asks for an answer of this task's model, ` +
        `of at most ${maxTokens} tokens; the server gets it`,
      said: toJson({ server: server.name, system, messages, maxTokens }),
      rule: "built-in: each inference for a server is asked about",
      label,
    });
    if (answer?.decision === "allow") return;
    throw new Fault("denied", "Cannot infer for a server: nobody allowed it");
  };

  const run = async (at: McpCallAt, asked: McpSample): Promise<McpSampled> => {
    const { server } = at;
    const row = parts.asks.caller(at);
    const label = parts.labelOf(at);
    const messages = messagesOf(server, asked, label);
    const input = estimateTokens(messages);
    const left = server.samplingTokens - usedBy(at) - input;
    if (left < 1) throw usedUp(server);
    const maxTokens = Math.min(asked.maxTokens, left, MAX_TOKENS);
    await consented(at, asked, { maxTokens, label });
    const infer = parts.modelOf(at.task);
    if (infer === undefined || row.status === "ended") {
      throw new Fault("gone", "Cannot infer for a server: its task has ended");
    }
    // The process is tainted by the request's label first; the call's result would taint it anyway.
    parts.processes.taint(row.pid, {
      ...{ colour: "RED", label },
      sources: [{ source: `mcp ${server.name}`, colour: "RED", label }],
    });
    // Reserved before the inference, so that two concurrent ones cannot spend the same tokens.
    const reserved = input + maxTokens;
    if (usedBy(at) + reserved > server.samplingTokens) throw usedUp(server);
    count(at, reserved);
    let spent = 0;
    const abort = new AbortController();
    const key = `${at.task} ${at.callId}`;
    under.set(key, abort);
    try {
      const response = await infer(row, { messages, maxTokens }, abort.signal);
      const { message, finishReason, usage } = response;
      spent = Math.max(usage.inputTokens, estimateTokens(messages)) +
        Math.max(usage.outputTokens, estimateTokens([message]));
      parts.log.note(at, "sample", { ok: true, tokens: spent, finish: finishReason });
      return {
        model: row.model.id.slice(0, 256),
        text: message.content,
        stop: finishReason === "length" ? "maxTokens" : "endTurn",
      };
    } finally {
      under.delete(key);
      count(at, spent - reserved);
    }
  };

  return Object.freeze<McpSampling>({
    async sample(at, asked): Promise<McpSampled> {
      const { server } = at;
      try {
        if (server.samplingTokens === 0) {
          throw new Fault("refused", `Cannot infer for "${server.name}": sampling is off for it`);
        }
        return await run(at, asked);
      } catch (error) {
        if (error instanceof Fault) {
          parts.log.note(at, "sample", { ok: false, failed: error.code }, asked.messages[0]?.text);
        }
        throw error;
      }
    },
    callEnded: ({ task, callId }) => under.get(`${task} ${callId}`)?.abort(),
    forget: (task) => void used.delete(task),
  });
}

function usedUp({ name }: Pick<ImportedServer, "name">): Fault {
  return new Fault(
    "budgetExhausted",
    `Cannot infer for "${name}": its tokens in this task are used up`,
  );
}

/** The server's messages, marked as a stranger's. */
function messagesOf(
  { name }: Pick<ImportedServer, "name">,
  { system, messages }: McpSample,
  label: Label,
): readonly ChatMessage[] {
  const provenance = { origin: "peer", source: `mcp ${name}`, colour: "RED", label } as const;
  const own = messages.map(({ role, text }): ChatMessage => ({
    ...{ role, content: text.toWellFormed(), provenance },
  }));
  return system === ""
    ? own
    : [{ role: "system", content: system.toWellFormed(), provenance }, ...own];
}
