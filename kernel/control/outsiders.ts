/**
 * Limits a request by the holder of a gateway's token. TRUST: a stranger may have written the request's models, limits,
 * session and programs, so each is made harmless or refused before any kernel takes the request. Used by fleet_view.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";
import type { SessionId } from "../../contracts/authority/ids.ts";
import { LocalConfig, RemoteConfig } from "../../contracts/model/model_config.ts";
import type { AgentSpec } from "../../contracts/policy/agent_spec.ts";
import { DEFAULT_LIMITS, type Limits } from "../../contracts/task/budget.ts";
import { type ModelChoice, Profile, type TaskRequest } from "../../contracts/task/task.ts";

/** The token's name, and the highest profile of its tasks. */
export interface Who {
  readonly by: string;
  readonly profile: Profile;
}

const lesser = (one: Profile, other: Profile): Profile =>
  Profile.options.indexOf(one) > Profile.options.indexOf(other) ? one : other;

/**
 * Limits a request of a token's holder, in a session of its own.
 * @throws Fault `refused` for resources of a kernel's machine, programs, and models that a token may not reach;
 *   `invalidInput` for a model's configuration that does not parse
 */
export function outsiders(
  request: TaskRequest,
  { by, profile }: Who,
  session: SessionId,
): TaskRequest {
  refuseOthers(request);
  const { folder: _folder, model, guards, agent, agents, ...rest } = request;
  const harmless = (choice: ModelChoice): ModelChoice => modelOf(choice, profile);
  const { escalate, summarizer, others } = model;
  return {
    ...rest,
    session,
    model: {
      ...harmless({ ref: model.ref, config: model.config }),
      ...(escalate === undefined
        ? {}
        : { escalate: { after: escalate.after, to: harmless(escalate.to) } }),
      ...(summarizer === undefined ? {} : { summarizer: harmless(summarizer) }),
      ...(others === undefined ? {} : { others: others.map(harmless) }),
    },
    ...(guards === undefined
      ? {}
      : { guards: guards.map((guard) => ({ ...guard, model: harmless(guard.model) })) }),
    ...(agent === undefined ? {} : { agent: agentOf(agent) }),
    ...(agents === undefined ? {} : { agents: agents.map(agentOf) }),
    limits: capped(request.limits),
    profile: lesser(request.profile, profile),
    ingress: { channel: "http", principal: `token-${by}`, colour: "YELLOW", label: "internal" },
    onQuestion: "queue",
    interactive: false,
  };
}

/** Refuses resources of a kernel's machine. @throws Fault `refused` */
function refuseOthers(request: TaskRequest): void {
  const { agent, agents = [] } = request;
  const programs = [agent, ...agents].some((each) => each?.program !== undefined);
  const here: readonly (readonly [string, Json | undefined])[] = [
    ["a folder", request.mounts.length > 0 ? true : undefined],
    ["a wiki", request.memory !== undefined || request.wikis !== undefined ? true : undefined],
    ["an imported server", request.mcp !== undefined ? true : undefined],
    ["a program", request.program !== undefined || programs ? true : undefined],
  ];
  const found = here.find(([, there]) => there !== undefined);
  if (found === undefined) return;
  throw new Fault(
    "refused",
    `Cannot run it from here with ${
      found[0]
    }: what lies on a kernel's machine is handed over there; say "run --anywhere" on that machine`,
  );
}

function agentOf(agent: AgentSpec): AgentSpec {
  return { ...agent, limits: capped(agent.limits) };
}

/** Lowers limits to the default ones. */
function capped(asked: TaskRequest["limits"]): Partial<Limits> {
  const { callsByEffect, ...counts } = asked;
  const usual: Readonly<Record<string, unknown>> = DEFAULT_LIMITS;
  const least = Object.entries(counts).filter(([, value]) => value !== undefined).map(
    ([name, value]): [string, number] => [name, Math.min(Number(value), Number(usual[name]))],
  );
  // A table without an effect would lift that effect's limit.
  const effects = callsByEffect === undefined ? {} : {
    callsByEffect: Object.fromEntries(
      Object.entries({ ...DEFAULT_LIMITS.callsByEffect, ...callsByEffect }).map((
        [effect, count],
      ): [string, number] => [
        effect,
        Math.min(count, DEFAULT_LIMITS.callsByEffect[effect] ?? DEFAULT_LIMITS.toolCalls),
      ]),
    ),
  };
  return { ...Object.fromEntries(least), ...effects };
}

const REMOTE = ["anthropic", "openai", "ollama"];

/** The model under its true name, without a claimed price or rates, and without a secret of a kernel. */
function modelOf(choice: ModelChoice, profile: Profile): ModelChoice {
  const kind = choice.ref.split(":", 1)[0] ?? "";
  // A scripted model runs nothing and reaches no host.
  if (kind === "scripted") return choice;
  if (kind === "gguf") {
    const { name } = configOf(choice, LocalConfig);
    return { ...choice, ref: `gguf:${name}` };
  }
  if (!REMOTE.includes(kind)) {
    throw new Fault("refused", `Cannot run it from here with a model of the kind "${kind}"`);
  }
  const config = configOf(choice, RemoteConfig);
  const { model, url } = config;
  // INVARIANT: clearance is looked up by this name, so a stranger's name for it could claim another model's clearance.
  const ref = `${kind}:${model}@${url}`;
  if (profile === "operator") return { ref, config: choice.config };
  const { hostname } = new URL(url);
  if (isWithin(hostname)) {
    throw new Fault(
      "refused",
      `Cannot run it from here with a model at "${hostname}": that is an address of a kernel's own network, which is an operator's to name`,
    );
  }
  const { price: _price, rates: _rates, noWait: _noWait, secret: _secret, ...rest } = config;
  return { ref, config: JSON.stringify(rest) };
}

function configOf<T>(
  { ref, config }: ModelChoice,
  schema: { safeParse(value: unknown): { readonly data?: T | undefined } },
): T {
  let value: unknown;
  try {
    value = JSON.parse(config);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const { data } = schema.safeParse(value);
  if (data !== undefined) return data;
  throw new Fault(
    "invalidInput",
    `Cannot run it with model ${JSON.stringify(ref.slice(0, 200))}: its configuration is wrong`,
  );
}

/** Tells by its text alone whether a host, as written by `URL.hostname`, is this machine or a private address. */
function isWithin(hostname: string): boolean {
  const host = hostname.replace(/\.$/, "");
  if (isLoopback(host)) return true;
  // Only global unicast counts as public, without addresses that embed another one (Teredo, 6to4).
  if (host.startsWith("[")) return !/^\[[23]/.test(host) || /^\[200(?:1::?0?:|2:)/.test(host);
  const bytes = /^(\d+)\.(\d+)\.\d+\.\d+$/.exec(host);
  if (bytes === null) {
    return !host.includes(".") || /\.(?:localhost|local|internal|lan|home|corp|arpa)$/.test(host);
  }
  const [first, second] = [Number(bytes[1]), Number(bytes[2])];
  return first === 0 || first === 10 || first === 127 || first >= 224 ||
    (first === 100 && second >= 64 && second < 128) || (first === 169 && second === 254) ||
    (first === 168 && second === 63) || (first === 172 && second >= 16 && second < 32) ||
    (first === 192 && (second === 168 || second === 0)) ||
    (first === 198 && (second === 18 || second === 19));
}
