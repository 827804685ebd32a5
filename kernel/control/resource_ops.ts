/** The operator's operations on shared resources. @module */
import * as z from "zod";
import { Fault } from "../../contracts/base/fault.ts";
import { Millis, TaskId } from "../../contracts/authority/ids.ts";
import { Colour } from "../../contracts/authority/colour.ts";
import { type Json, toJson } from "../../contracts/base/json.ts";
import type { AgentTask } from "../../contracts/task/task.ts";
import {
  type Claimant,
  ClaimMode,
  ConflictDecision,
  ConflictId,
  ResourceLeaseId,
  ResourceOwner,
  ResourceRef,
  ResourceScope,
  ResourceVersion,
  type SharedResources,
  Supervisor,
} from "../../contracts/task/resources.ts";

/** The existing task in whose name an operator's program claims and reports. */
const by = { task: TaskId, supervisor: Supervisor.optional() };

/** The control operation `resources`: a closed union on `do`. */
export const ResourceBody = z.discriminatedUnion("do", [
  z.object({ do: z.literal("list") }).strict(),
  z.object({ do: z.literal("end"), claim: ResourceLeaseId }).strict(),
  z.object({ do: z.literal("clear"), resource: ResourceRef }).strict(),
  z.object({ do: z.literal("decide"), conflict: ConflictId, decision: ConflictDecision }).strict(),
  z.object({
    ...{ do: z.literal("claim"), ...by, resource: ResourceRef, scope: ResourceScope },
    ...{ mode: ClaimMode, until: Millis.optional(), standing: z.literal(true).optional() },
  }).strict(),
  z.object({ do: z.literal("release"), task: TaskId, claim: ResourceLeaseId }).strict(),
  z.object({
    ...{ do: z.literal("write"), ...by, resource: ResourceRef, scope: ResourceScope },
    ...{ observed: ResourceVersion.optional(), version: ResourceVersion },
  }).strict(),
  z.object({
    ...{ do: z.literal("report"), ...by, resource: ResourceRef, scope: ResourceScope },
    ...{ about: z.enum(["claim", "version"]), holder: ResourceOwner.optional() },
    ...{ observed: ResourceVersion.optional(), current: ResourceVersion.optional() },
    /** Colour of the scope's name, where the program has it from others; absent: the operator's own. */
    colour: Colour.optional(),
  }).strict(),
]);

/** See {@link ResourceBody}. */
export type ResourceBody = z.infer<typeof ResourceBody>;

/** The shared resources and the tasks. */
export interface ResourceOpsParts {
  readonly resources: SharedResources;
  /** A known task. */
  find(task: TaskId): AgentTask | undefined;
}

/** The handler of the control operation `resources`. */
export interface ResourceOps {
  resources(body: ResourceBody): Promise<Json>;
}

/** Makes the handler. */
export function makeResourceOps({ resources, find }: ResourceOpsParts): ResourceOps {
  /** The task as claimant. An operator's program acts for it, so names count as the operator's own text. */
  const claimant = (
    task: TaskId,
    supervisor: Supervisor | undefined,
    colour: Colour = "BLUE",
  ): Claimant => {
    const found = find(task);
    if (found === undefined) throw new Fault("notFound", `Cannot find task ${task}`);
    return {
      ...{ owner: { task, agent: found.agent?.slice(0, 64) ?? "agent" }, phase: found.phase },
      ...{ colour, label: "internal" },
      ...(supervisor === undefined ? {} : { supervisor }),
    };
  };
  const answer = async (body: ResourceBody): Promise<unknown> => {
    switch (body.do) {
      case "list":
        return await resources.list();
      case "end":
        return await resources.end(body.claim, "operator");
      case "clear":
        await resources.clear(body.resource);
        return null;
      case "decide":
        return await resources.decide(body.conflict, body.decision, "host");
      case "claim": {
        const { resource, scope, mode, until, standing = false, task, supervisor } = body;
        const request = {
          ...{ resource, scope, mode, standing },
          ...(until === undefined ? {} : { until }),
        };
        return await resources.claim(request, claimant(task, supervisor));
      }
      case "release":
        return await resources.release(body.claim, claimant(body.task, undefined).owner, true);
      case "write": {
        const { resource, scope, observed, version, task, supervisor } = body;
        const change = {
          resource,
          scope,
          version,
          ...(observed === undefined ? {} : { observed }),
        };
        return await resources.write(change, claimant(task, supervisor));
      }
      case "report": {
        const { do: _do, task, supervisor, colour, ...found } = body;
        return await resources.report(found, claimant(task, supervisor, colour));
      }
    }
  };
  return Object.freeze<ResourceOps>({
    resources: async (body) => toJson(await answer(body)),
  });
}
