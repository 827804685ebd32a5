/** Listing and calling tools: the gate's tools, and `run_task`. @module */
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  ListToolsResult,
  ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { Fault } from "../../../contracts/fault.ts";
import { type JsonObject, toJson } from "../../../contracts/json.ts";
import type { ServeResult } from "../../../contracts/wire_serve.ts";
import { askPerson, canElicit, Round, saidIn } from "./consent.ts";
import { guarded, lifeOf } from "./request_lifetime.ts";
import { refusalOf, resultOf } from "./results.ts";
import type { McpServerParts } from "./server.ts";
import type { HostSession } from "./session.ts";
import { RUN_TASK, runTaskTool, toolOf } from "./tools.ts";

/** What answers for tools. */
export interface ToolHandlers {
  list(): Promise<ListToolsResult>;
  call(
    request: Pick<CallToolRequest, "params">,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult>;
}

const TaskArgs = z.object({
  request: z.string().min(1).max(200_000),
  agent: z.string().max(64).optional(),
}).strict();

/** Makes them. `declared` is what a host of 2025 said at its first words that it can do. */
export function makeToolHandlers(
  session: HostSession,
  parts: Pick<McpServerParts, "rounds" | "nextCall" | "waitMs">,
  declared: () => object | undefined,
): ToolHandlers {
  const told = async (
    result: ServeResult,
    call: string,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const { waiting } = result;
    if (waiting?.elicit !== true || !canElicit(context, declared())) return resultOf(result);
    return await askPerson({ ...result, waiting }, parts.rounds, { call, context });
  };

  return Object.freeze<ToolHandlers>({
    async list(): Promise<ListToolsResult> {
      const tools = await guarded(() => session.tools());
      return { tools: [...tools.map(toolOf), runTaskTool(session.info)] };
    },
    async call({ params }, context): Promise<CallToolResult | InputRequiredResult> {
      const { name, arguments: given = {} } = params;
      const round = Round.safeParse(context.mcpReq.requestState<unknown>());
      const call = round.success ? round.data.call : parts.nextCall();
      try {
        if (round.success && round.data.question !== undefined) {
          // Whoever says nothing clear says no.
          const allow = saidIn(context) === true;
          await session.answer({ call, question: round.data.question, allow });
        }
        const life = lifeOf(context, parts.waitMs);
        const result = name === RUN_TASK
          ? await session.task({ call, ...taskArgs(given) }, life)
          : await session.call({ call, tool: name, args: jsonObject(given) }, life);
        return await told(result, call, context);
      } catch (error) {
        if (error instanceof Fault) return refusalOf(error.code, error.message);
        throw error;
      }
    },
  });
}

function taskArgs(given: unknown): { readonly request: string; readonly agent?: string } {
  const parsed = TaskArgs.safeParse(given);
  if (!parsed.success) {
    throw new Fault(
      "invalidArguments",
      'Cannot run a task: it takes "request", a text, and "agent", a name',
    );
  }
  const { request, agent } = parsed.data;
  return { request, ...(agent === undefined ? {} : { agent }) };
}

function jsonObject(given: object): JsonObject {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, toJson(value)]));
}
