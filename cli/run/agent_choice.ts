/** Chooses the agent of a run, and limits mounts and quotas to its specification. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import { AGENT_PROFILES } from "../../contracts/policy/agent_profiles.ts";
import type { Limits } from "../../contracts/task/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";

/** Instruction files of other coding tools, in order of preference. */
const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];

/** Finds an agent of remit.yaml or a built-in one. @throws Fault `notFound` that lists the known agents */
export function chooseAgent(
  agents: Readonly<Record<string, AgentSpec>>,
  name: string | undefined,
): AgentSpec | undefined {
  if (name === undefined) return undefined;
  const found = Object.hasOwn(agents, name) ? agents[name] : AGENT_PROFILES.get(name);
  if (found !== undefined) return found;
  const known = Object.keys(agents).map((each) => JSON.stringify(each)).join(", ");
  throw new Fault(
    "notFound",
    `Cannot run agent ${JSON.stringify(name)}: ${
      known === "" ? "remit.yaml names no agents" : `remit.yaml names ${known}`
    }; in the box: ${[...AGENT_PROFILES.keys()].join(", ")}`,
  );
}

/** Most agents that one task may start. */
const MAX_AGENTS = 32;

/**
 * The agents of remit.yaml that a task may start, directly or through other agents.
 *
 * @throws Fault `notFound` for a name without a description, `invalidInput` for too many
 */
export function agentsBelow(
  agents: Readonly<Record<string, AgentSpec>>,
  agent: AgentSpec | undefined,
): readonly AgentSpec[] {
  const found = new Map<string, AgentSpec>();
  const look = (names: readonly string[], by: string): void => {
    for (const name of names) {
      const spec = Object.hasOwn(agents, name) ? agents[name] : undefined;
      if (spec === undefined && !AGENT_PROFILES.has(name)) {
        throw new Fault(
          "notFound",
          `Cannot run agent "${by}": it names the agent "${name}", which nothing describes`,
        );
      }
      if (spec === undefined || found.has(name)) continue;
      found.set(name, spec);
      look(spec.agents ?? [], name);
    }
  };
  look(agent?.agents ?? Object.keys(agents), agent?.name ?? "agent");
  if (found.size <= MAX_AGENTS) return [...found.values()];
  throw new Fault(
    "invalidInput",
    `Cannot run: ${found.size} agents could be started, at most ${MAX_AGENTS}; name fewer as "agents" of the agent that runs`,
  );
}

/** The mounts that an agent may see. */
export function mountsOf(agent: AgentSpec | undefined, mounts: readonly Mount[]): readonly Mount[] {
  const wanted = agent?.mounts;
  return wanted === undefined ? mounts : mounts.filter(({ name }) => wanted.includes(name));
}

/** The lower of the policy's and the agent's limits. */
export function limitsOf(
  agent: Pick<AgentSpec, "limits"> | undefined,
  limits: Partial<Limits>,
): Partial<Limits> {
  const lower: Record<string, unknown> = { ...limits };
  for (const [name, value] of Object.entries(agent?.limits ?? {})) {
    const now = lower[name];
    if (typeof value !== "number") continue;
    lower[name] = typeof now === "number" ? Math.min(now, value) : value;
  }
  return lower as Partial<Limits>;
}

/** Most US dollars that `--budget` takes. */
const MAX_MONEY = 1e6;

/**
 * The limits with the operator's budget for models, in US dollars, which replaces the default and only lowers what
 * remit.yaml sets. @throws Fault `invalidInput` for text that is no amount
 */
export function withBudget(limits: Partial<Limits>, budget: string | undefined): Partial<Limits> {
  if (budget === undefined) return limits;
  const money = Number(budget);
  if (!/^[0-9]+(?:\.[0-9]+)?$/.test(budget) || !(money > 0 && money <= MAX_MONEY)) {
    throw new Fault(
      "invalidInput",
      `Cannot use --budget ${JSON.stringify(budget)}: write US dollars, as 0.5 or 20`,
    );
  }
  return { ...limits, money: Math.min(limits.money ?? Infinity, money) };
}

/** Paths of the instruction files in the mounts, as tools name them: at most one for each mount. */
export function instructionsIn(
  mounts: readonly Mount[],
  exists: (path: string) => boolean,
): readonly string[] {
  return mounts.flatMap(({ name, dir }) => {
    const found = INSTRUCTION_FILES.find((file) => exists(`${dir}/${file}`));
    return found === undefined ? [] : [`${name}/${found}`];
  });
}
