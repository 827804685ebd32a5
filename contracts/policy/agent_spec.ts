/** What an agent is: persona, mounts, capabilities, limits. @module */
import * as z from "zod";
import { ToolName } from "../authority/ids.ts";
import { Limits } from "../task/budget.ts";
import { Label } from "../authority/colour.ts";

/** A tool that an agent may be handed, and the arguments it is limited to. */
export const CapabilityGrant = z.object({
  tool: ToolName,
  /** For each argument a list of allowed prefixes; an argument not named is free. */
  where: z.record(z.string().max(64), z.array(z.string().max(4_096)).min(1).max(64)).optional(),
}).strict();
export type CapabilityGrant = z.infer<typeof CapabilityGrant>;

/** An agent's specification, from `remit.yaml` or a parent process. */
export const AgentSpec = z.object({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
  labels: z.record(z.string().max(64), z.string().max(256)),
  persona: z.string().max(32_768),
  /** Mount names; absent means all of the task's. */
  mounts: z.array(z.string().max(32)).max(32).optional(),
  /** Absent means every tool that the policy advertises. */
  capabilities: z.array(CapabilityGrant).max(512).optional(),
  /** Narrows remit.yaml's `memory`; absent: no narrowing. */
  memory: z.object({
    wiki: z.enum(["none", "read", "propose"]).optional(),
    user: z.enum(["none", "read", "write"]).optional(),
    clearance: Label.optional(),
  }).strict().optional(),
  limits: Limits.partial(),
  /** Agents of remit.yaml or built in that it may start; absent: copies of itself and the built-in ones. */
  agents: z.array(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/)).max(32).optional(),
  /**
   * One of Remit's programs in place of the standard loop: `lal` communicates by mail and tool
   * calls only; `planned` has its model write one program, which makes the calls
   * (docs/planned_programs.md).
   */
  program: z.enum(["lal", "planned"]).optional(),
  /** Values for the persona's text; never a process environment. */
  env: z.record(z.string().max(64), z.string().max(4_096)),
  healthcheck: z.object({
    intervalMs: z.int().min(1_000).max(3_600_000),
    timeoutMs: z.int().min(100).max(60_000),
    retries: z.int().min(1).max(10),
  }).strict().optional(),
}).strict();
export type AgentSpec = z.infer<typeof AgentSpec>;

/** The agents of remit.yaml by name; omitted fields are empty. */
export const AgentSpecs = z.record(
  AgentSpec.shape.name,
  AgentSpec.partial({ name: true, labels: true, persona: true, limits: true, env: true }),
).transform((given, context) =>
  Object.fromEntries(
    Object.entries(given).map(([key, { name = key, ...agent }]): [string, AgentSpec] => {
      if (name !== key) {
        const message = `an agent's name is its key, ${JSON.stringify(key)}`;
        context.addIssue({ code: "custom", message, path: [key, "name"] });
      }
      return [key, { name, labels: {}, persona: "", limits: {}, env: {}, ...definedOf(agent) }];
    }),
  )
);

function definedOf<T extends object>(
  given: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
