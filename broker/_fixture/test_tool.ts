/** Tools made for a test. @module */
import { type EffectClass, type Scope, ToolName } from "../../contracts/authority/mod.ts";
import type { JsonObject } from "../../contracts/base/mod.ts";
import type {
  GrantedCall,
  PowerResult,
  ProcessRow,
  Resolved,
  ToolBinding,
} from "../../contracts/task/mod.ts";
import type { ToolDescriptor } from "../../contracts/tool/mod.ts";

/** Fields that every tool of a test gives. */
export const DESK: Scope = { resource: "mount", right: "read", path: "desk" };

/** A tool made for a test. */
export interface TestTool {
  readonly name: string;
  readonly effect: EffectClass;
  readonly category?: ToolDescriptor["category"];
  readonly interfaceId?: string;
  readonly paramSchema?: string;
  readonly description?: string;
  readonly deadlineMs?: number;
  readonly resultBytes?: number;
  resolve?(args: JsonObject, process: ProcessRow): Partial<Resolved>;
  invoke?(call: GrantedCall, signal: AbortSignal): Promise<Partial<PowerResult>>;
}

const ANY_OBJECT = JSON.stringify({ type: "object" });

/** Binds a tool; `effects` gets its name once its effect took place. */
export function bind(
  tool: TestTool,
  redeem: (call: GrantedCall) => void,
  effects: string[],
): ToolBinding {
  const descriptor: ToolDescriptor = {
    name: ToolName.parse(tool.name),
    description: tool.description ?? "A tool made for a test.",
    interfaceId: tool.interfaceId ?? "Test",
    methodName: tool.name,
    paramSchema: tool.paramSchema ?? ANY_OBJECT,
    permission: "auto",
    category: tool.category ?? "read",
  };
  return {
    descriptor,
    effect: tool.effect,
    deadlineMs: tool.deadlineMs ?? 1_000,
    resultBytes: tool.resultBytes ?? 10_000,
    resolve: (args, process) => ({
      scopes: [DESK],
      effect: tool.effect,
      digests: {},
      summary: "A test acts.",
      idempotent: false,
      ...tool.resolve?.(args, process),
    }),
    invoke: async (call, signal) => {
      redeem(call);
      const result = await tool.invoke?.(call, signal);
      effects.push(tool.name);
      return { content: "done", colour: "BLUE", label: "public", sources: [], ...result };
    },
  };
}
