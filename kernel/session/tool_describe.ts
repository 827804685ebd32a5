/**
 * `tool_describe`: tells all of a tool whose description or schema is longer than a provider takes. A model is told of
 * this tool where one that it is offered had to be cut (`contracts/tool_limits.ts`). @module
 */
import {
  Fault,
  type GrantedCall,
  type JsonObject,
  type Pid,
  type PowerResult,
  type ProcessRow,
  type Resolved,
  type ToolBinding,
  ToolDescriptor,
  ToolName,
} from "../../contracts/mod.ts";
import {
  DESCRIBE_TOOL,
  fitsLimits,
  TOOL_LIMITS,
  type ToolLimits,
} from "../../contracts/tool_limits.ts";
import { isImported } from "./tool_search.ts";

/** Its descriptor. */
export const TOOL_DESCRIBE: ToolDescriptor = Object.freeze(ToolDescriptor.parse({
  name: ToolName.parse(DESCRIBE_TOOL),
  description:
    "Tells the whole description and the whole schema of one of your tools, where what you were told of " +
    'it ends in […]. Example: {"name":"exec"}',
  interfaceId: "ToolSearch",
  methodName: "describe",
  paramSchema: JSON.stringify({
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 128, description: "The tool." },
    },
    required: ["name"],
    additionalProperties: false,
  }),
  permission: "auto",
  category: "read",
}));

/** What of a descriptor decides whether it has to be cut. */
type Told = Pick<ToolDescriptor, "description" | "paramSchema">;

const known = new WeakMap<Told, Map<ToolLimits, boolean>>();

/** Whether a provider with these limits takes a tool only cut. */
export function isCut(tool: Told, limits: ToolLimits): boolean {
  const of = known.get(tool) ?? new Map<ToolLimits, boolean>();
  const found = of.get(limits) ??
    !fitsLimits({ description: tool.description, schema: schemaOf(tool) }, limits);
  known.set(tool, of.set(limits, found));
  return found;
}

/** Whether any provider would take one of these tools only cut. */
export function needsDescribing(tools: readonly Told[]): boolean {
  const all = Object.values(TOOL_LIMITS);
  return tools.some((tool) => all.some((limits) => isCut(tool, limits)));
}

/** The tool as the gate knows it: it tells only of what its caller was advertised. */
export function toolDescribeBinding({ redeem, processOf }: {
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
  processOf(pid: Pid): Pick<ProcessRow, "snapshot"> | undefined;
}): ToolBinding {
  return Object.freeze<ToolBinding>({
    descriptor: TOOL_DESCRIBE,
    effect: "read",
    deadlineMs: 5_000,
    resultBytes: 131_072,
    resolve: ({ name }): Resolved => ({
      scopes: [{ resource: "plugin", right: "use", path: DESCRIBE_TOOL }],
      effect: "read",
      digests: {},
      summary: `read what the tool ${JSON.stringify(name)} is`,
      idempotent: true,
    }),
    // deno-lint-ignore require-await -- a power answers later
    async invoke(call: GrantedCall): Promise<PowerResult> {
      redeem(call);
      const tools = processOf(call.pid)?.snapshot?.tools ?? [];
      const tool = tools.find(({ name }) => name === call.args["name"]);
      if (tool === undefined) {
        throw new Fault("notFound", "Cannot describe the tool: you have none of this name");
      }
      const { name, description } = tool;
      const content = JSON.stringify({ name, description, parameters: schemaOf(tool) }, null, 1);
      if (!isImported(tool)) return { content, colour: "BLUE", label: "public", sources: [] };
      // Reviewed, and strangers' words all the same.
      const source = `the imported tool ${name}`;
      return {
        content,
        colour: "RED",
        label: "public",
        sources: [{ source, colour: "RED", label: "public" }],
      };
    },
  });
}

function schemaOf({ paramSchema }: Pick<ToolDescriptor, "paramSchema">): JsonObject {
  // TRUST: a descriptor's schema was parsed when it was reviewed.
  return JSON.parse(paramSchema) as JsonObject;
}
