/**
 * `tools_declare`: before a model reads anything that others wrote, it names the changing tools
 * that the request needs. Later calls of these need no question where every value stands in the
 * request. docs/provenance.md. Used by task_tools.ts.
 * @module
 */
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";
import { ownTool } from "../core/process/own_tool.ts";
import { type Pid, type TaskId } from "../../contracts/authority/ids.ts";
import { DeclaredTools } from "../../contracts/authority/origin.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { GrantedCall, Resolved, ToolBinding } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";

const NAME = "tools_declare";

/** The descriptor of `tools_declare`. */
export const TOOLS_DECLARE: ToolDescriptor = ownTool({
  name: NAME,
  description:
    "Call this first, before you read anything of an imported server, if the request needs tools of servers " +
    "that change or send something: name them, each with the most calls. Calls beyond that ask the person. Once. " +
    'Example: {"tools":[{"tool":"mcp_bank_transfer","max":1}]}',
  interfaceId: "ToolDeclaration",
  methodName: "declare",
  properties: {
    tools: {
      type: "array",
      minItems: 1,
      maxItems: 64,
      items: {
        type: "object",
        properties: {
          tool: { type: "string", minLength: 1, maxLength: 64 },
          max: { type: "integer", minimum: 1, maximum: 1_000 },
        },
        required: ["tool", "max"],
        additionalProperties: false,
      },
    },
  },
  required: ["tools"],
});

interface DeclareParts {
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
  processOf(pid: Pid): Pick<ProcessRow, "snapshot" | "ppid"> | undefined;
  /** @throws Fault `conflict` when the task declared its tools before */
  declare(task: TaskId, tools: DeclaredTools): void;
}

function toolsOf(args: JsonObject): DeclaredTools {
  const parsed = DeclaredTools.safeParse(args["tools"]);
  if (parsed.success) return parsed.data;
  throw new Fault(
    "invalidArguments",
    "Cannot declare tools: each is named as the list of tools has it",
  );
}

/** The binding of `tools_declare`. */
export function declareBinding({ redeem, processOf, declare }: DeclareParts): ToolBinding {
  return Object.freeze<ToolBinding>({
    descriptor: TOOLS_DECLARE,
    effect: "read",
    deadlineMs: 5_000,
    resultBytes: 16_384,
    resolve(args, { pid, colour }): Resolved {
      // INVARIANT: text that others wrote chooses no tool (test: "mallory's letter declares nothing, …").
      if (colour !== "BLUE") {
        throw new Fault(
          // Not "contaminated", which would fail the whole task only because the model was late.
          "refused",
          "Cannot declare tools: text that others wrote was read before; their calls ask the person",
        );
      }
      const process = processOf(pid);
      if (process?.ppid !== undefined) {
        throw new Fault(
          "refused",
          "Cannot declare tools: the agent that works for the person does",
        );
      }
      const known = new Set(process?.snapshot?.tools.map(({ name }) => name));
      const unknown = toolsOf(args).find(({ tool }) => !known.has(tool));
      if (unknown !== undefined) {
        throw new Fault("notFound", `Cannot declare tool "${unknown.tool}": no tool has this name`);
      }
      return {
        scopes: [{ resource: "plugin", right: "use", path: NAME }],
        effect: "read",
        digests: {},
        summary: "declare which tools the request needs",
        idempotent: true,
      };
    },
    // deno-lint-ignore require-await -- a power answers later
    async invoke(call) {
      redeem(call);
      const tools = toolsOf(call.args);
      declare(call.task, tools);
      return {
        content: "Declared. Their calls go on unasked where every value stands in the request.",
        ...{ colour: "BLUE", label: "public", sources: [] },
        record: { declared: tools.map(({ tool, max }) => ({ tool, max })) },
      };
    },
  });
}
