/** Lists and calls the gate's tools, and `run_task`. Used by server.ts. @module */
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  ListToolsResult,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import { Fault } from "../../../contracts/base/fault.ts";
import { type JsonObject, toJson } from "../../../contracts/base/json.ts";
import type { ServeResult } from "../../../contracts/wire/wire_serve.ts";
import { answerIn, askPerson, canElicit, Round } from "./consent.ts";
import { guarded, type HostSession, lifeOf } from "./session.ts";
import type { McpServerParts } from "./server.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import * as z from "zod";

interface ToolHandlers {
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

/** Makes the handlers; `declared` gives the capabilities that an older host declared at `initialize`. */
export function makeToolHandlers(
  session: HostSession,
  parts: Pick<McpServerParts, "rounds" | "nextCall" | "waitMs">,
  declared: () => object | undefined,
): ToolHandlers {
  const answered = async (
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
          // An unclear answer is a no.
          const allow = answerIn(context) === true;
          await session.answer({ call, question: round.data.question, allow });
        }
        const life = lifeOf(context, parts.waitMs);
        const result = name === RUN_TASK
          ? await session.task({ call, ...taskArgs(given) }, life)
          : await session.call({ call, tool: name, args: jsonObject(given) }, life);
        return await answered(result, call, context);
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

const RUN_TASK = "run_task";

type Category = ToolDescriptor["category"];

const READ: ReadonlySet<Category> = new Set(["read"]);
/** Categories that cannot be undone; staged changes can. */
const DESTRUCTIVE: ReadonlySet<Category> = new Set(["destroy", "admin", "network"]);
const OPEN: ReadonlySet<Category> = new Set(["network", "agent"]);

/** A tool for hosts. Its annotations come from the gate, never from the tool's own claims. */
function toolOf(descriptor: ToolDescriptor): Tool {
  const { name, description, paramSchema, category, permission } = descriptor;
  const readOnly = READ.has(category);
  return {
    name,
    description,
    inputSchema: objectSchema(paramSchema),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: !readOnly && DESTRUCTIVE.has(category),
      idempotentHint: readOnly,
      openWorldHint: OPEN.has(category),
    },
    _meta: { "remit/permission": permission, "remit/category": category },
  };
}

function runTaskTool({ agents, profile }: HostSession["info"]): Tool {
  return {
    name: RUN_TASK,
    title: "Run a task",
    description:
      "Hands a request to an agent of Remit on this machine and waits for its answer. The agent works " +
      `under the profile "${profile}" with the folders that its operator gave it; what needs a person waits for one.`,
    inputSchema: {
      type: "object",
      properties: {
        request: { type: "string", minLength: 1, maxLength: 200_000, description: "What to do." },
        ...(agents.length === 0 ? {} : {
          agent: {
            type: "string",
            enum: [...agents],
            description: "The agent that does it; absent: a plain one.",
          },
        }),
      },
      required: ["request"],
      additionalProperties: false,
    },
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
  };
}

/** A parameter schema from the gate: it parses, and its type is object. */
function objectSchema(text: string): Tool["inputSchema"] {
  const parsed: unknown = JSON.parse(text);
  const schema: JsonObject = Object(parsed);
  return { ...schema, type: "object" };
}

/** A call's result for hosts: text, a value where the tool gave one, an error for every refusal. */
export function resultOf(result: ServeResult): CallToolResult {
  const { outcome, content, error, colour, label, task, waiting } = result;
  const ok = outcome === "ok";
  const texts = [
    ...(content === "" ? [] : [content]),
    ...(ok || error === undefined ? [] : [`${outcome}: ${error}`]),
    ...(waiting === undefined ? [] : [waitingText(result)]),
  ];
  const value = ok && waiting === undefined ? valueOf(content) : undefined;
  return {
    content: (texts.length === 0 ? [ok ? "" : outcome] : texts).map((text) => ({
      type: "text" as const,
      text,
    })),
    ...(value === undefined ? {} : { structuredContent: value }),
    ...(ok ? {} : { isError: true }),
    _meta: {
      "remit/outcome": outcome,
      "remit/colour": colour,
      "remit/label": label,
      "remit/task": task,
      ...(waiting === undefined
        ? {}
        : { "remit/question": waiting.question, "remit/questionKind": waiting.kind }),
    },
  };
}

/** A fault for hosts: the refusal of a tool, with the fault's message. */
function refusalOf(code: string, message: string): CallToolResult {
  return {
    content: [{ type: "text", text: message }],
    isError: true,
    _meta: { "remit/fault": code },
  };
}

/** The question that waits, and where a person can answer it. */
function waitingText({ outcome, waiting }: ServeResult): string {
  if (waiting === undefined) return "";
  const what = outcome === "waiting"
    ? "Not done: this call waits for a person."
    : "What this call staged waits for a person before it is applied.";
  const how = waiting.kind === "stepUp"
    ? "It needs the operator's passphrase, and no host can answer it."
    : "Nobody can answer it through this host.";
  const after = outcome === "waiting"
    ? "\nOnce it is answered, make the same call again: it goes through or is refused as the person said."
    : "";
  return `${what} Question ${waiting.question}: ${waiting.summary}\n` +
    `${
      waiting.elicit ? "" : `${how} `
    }A person answers it at a terminal of this machine:\n${waiting.where}${after}`;
}

/** The object in a tool's text; undefined when the text is none. */
function valueOf(content: string): Record<string, unknown> | undefined {
  if (!content.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
