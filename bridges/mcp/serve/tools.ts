/** Gated tools in the words of MCP. Annotations say what the gate computed, and nothing that a tool claims. @module */
import type { Tool } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../contracts/json.ts";
import type { ToolDescriptor } from "../../../contracts/tool.ts";
import type { HostSession } from "./session.ts";

/** The tool that runs a task of its own. */
export const RUN_TASK = "run_task";

type Category = ToolDescriptor["category"];

const READ: ReadonlySet<Category> = new Set(["read"]);
/** What cannot be undone. Staged and reviewed changes can. */
const DESTRUCTIVE: ReadonlySet<Category> = new Set(["destroy", "admin", "network"]);
const OPEN: ReadonlySet<Category> = new Set(["network", "agent"]);

/** A descriptor as a host is shown it. */
export function toolOf(descriptor: ToolDescriptor): Tool {
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

/** `run_task`, for a session that may run tasks. */
export function runTaskTool({ agents, profile }: HostSession["info"]): Tool {
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

/** A parameter schema: the gate's own, so it parses and is an object's. */
function objectSchema(text: string): Tool["inputSchema"] {
  const parsed: unknown = JSON.parse(text);
  const schema: JsonObject = Object(parsed);
  return { ...schema, type: "object" };
}
