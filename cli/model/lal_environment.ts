/**
 * Variables of the program `lal`: they choose its model where neither `--model` nor remit.yaml
 * does. `LAL_MAX_MESSAGES` has no counterpart, since a conversation that fills its window is
 * summarized.
 * @module
 */
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { Limits } from "../../contracts/task/mod.ts";

type Environment = (name: string) => string | undefined;

/** The model of LAL_HOST and LAL_MODEL for an agent with the program `lal`; undefined where neither is set. */
export function lalModel(
  agent: Pick<AgentSpec, "program"> | undefined,
  env: Environment,
): string | undefined {
  const [host, model] = [env("LAL_HOST"), env("LAL_MODEL")];
  if (agent?.program !== "lal" || (host === undefined && model === undefined)) return undefined;
  const at = host === undefined ? "" : `@${host}`;
  if (host?.includes("anthropic.com") === true) {
    if (model !== undefined) return `anthropic:${model}`;
    throw new Fault(
      "invalidInput",
      "Cannot use LAL_HOST: LAL_MODEL says which model of it, and is not set",
    );
  }
  return `${host?.includes("/v1") === true ? "openai" : "ollama"}:${model ?? "qwen3"}${at}`;
}

/** The limits of an agent with the program `lal`: LAL_MAX_TOKENS bounds each answer. @throws Fault `invalidInput` */
export function lalLimits(
  agent: Pick<AgentSpec, "program"> | undefined,
  env: Environment,
  limits: Partial<Limits>,
): Partial<Limits> {
  const text = env("LAL_MAX_TOKENS");
  if (agent?.program !== "lal" || text === undefined) return limits;
  const outputTokens = Limits.shape.outputTokens.safeParse(Number(text));
  if (!outputTokens.success) {
    throw new Fault("invalidInput", "Cannot use LAL_MAX_TOKENS: it is no whole number of tokens");
  }
  return { ...limits, outputTokens: Math.min(limits.outputTokens ?? Infinity, outputTokens.data) };
}
