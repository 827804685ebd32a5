/** What a child process holds: never more than its parent. @module */
import {
  type CapabilityGrant,
  Fault,
  type Limits,
  type Mount,
  type ProcessRow,
} from "../../contracts/mod.ts";
import { above, narrowed } from "./limits.ts";

/** What a parent asks for. */
export interface ChildRequest {
  /** Tools, each among the parent's and with at most its arguments. */
  readonly capabilities: readonly CapabilityGrant[];
  /** Names of the parent's mounts; absent means all. */
  readonly mounts?: readonly string[];
  readonly limits: Partial<Limits>;
}

/** What the child gets. */
export interface ChildRights {
  readonly capabilities: readonly CapabilityGrant[];
  readonly mounts: readonly Mount[];
  readonly limits: Limits;
  readonly depth: number;
}

/** What of a parent decides. */
export type ParentRights = Pick<
  ProcessRow,
  "capabilities" | "mounts" | "limits" | "depth" | "usage"
>;

/**
 * Checks a request against its parent. `tools` are the tools that the parent is advertised now.
 * Throws `refused` for a tool, argument or mount that the parent has not, `budgetExhausted` for a
 * limit above the parent's or a depth or number of children that is used up.
 */
export function deriveChild(
  parent: ParentRights,
  asked: ChildRequest,
  tools: ReadonlySet<string>,
): ChildRights {
  if (parent.depth + 1 > parent.limits.depth) {
    throw new Fault("budgetExhausted", `Cannot spawn: limit "depth" (${parent.limits.depth})`);
  }
  if (parent.usage.children + 1 > parent.limits.children) {
    throw new Fault(
      "budgetExhausted",
      `Cannot spawn: limit "children" (${parent.limits.children})`,
    );
  }
  const over = above(parent.limits, asked.limits);
  if (over !== undefined) {
    throw new Fault("budgetExhausted", `Cannot spawn: limit "${over}" is above the parent's`);
  }
  return Object.freeze({
    capabilities: asked.capabilities.map((grant) => within(parent.capabilities, grant, tools)),
    mounts: mountsOf(parent.mounts, asked.mounts),
    limits: narrowed(parent.limits, asked.limits),
    depth: parent.depth + 1,
  });
}

function within(
  held: readonly CapabilityGrant[] | undefined,
  asked: CapabilityGrant,
  tools: ReadonlySet<string>,
): CapabilityGrant {
  if (!tools.has(asked.tool)) throw refused(asked.tool, "the parent does not have it");
  if (held === undefined) return asked;
  const grants = held.filter(({ tool }) => tool === asked.tool);
  if (grants.length === 0) throw refused(asked.tool, "the parent does not have it");
  const fit = grants.find((grant) => narrower(grant, asked));
  if (fit === undefined) throw refused(asked.tool, "its arguments go beyond the parent's");
  // What the child left open stays as narrow as the parent's.
  return { tool: asked.tool, where: { ...fit.where, ...asked.where } };
}

/** Each argument that the parent is limited in is free of choice for the child only within it. */
function narrower(held: CapabilityGrant, asked: CapabilityGrant): boolean {
  return Object.entries(held.where ?? {}).every(([argument, prefixes]) =>
    (asked.where?.[argument] ?? prefixes).every((wanted) =>
      prefixes.some((prefix) => wanted.startsWith(prefix))
    )
  );
}

function mountsOf(held: readonly Mount[], names: readonly string[] | undefined): readonly Mount[] {
  if (names === undefined) return held;
  return names.map((name) => {
    const mount = held.find((each) => each.name === name);
    if (mount === undefined) {
      throw new Fault("refused", `Cannot spawn with mount "${name}": the parent does not have it`);
    }
    return mount;
  });
}

function refused(tool: string, why: string): Fault {
  return new Fault("refused", `Cannot spawn with tool "${tool}": ${why}`);
}
