/** Resolves flags and remit.yaml into the setting of one run. @module */
import { ToolName } from "../../contracts/authority/ids.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ImportedServer } from "../../contracts/exchange/mod.ts";
import type { AgentSpec, PlacedRule } from "../../contracts/policy/mod.ts";
import {
  type Limits,
  type OnQuestion,
  OnQuestion as OnQuestionSchema,
  Profile,
  type TaskRequest,
} from "../../contracts/task/mod.ts";
import type { ForeignAgent, Mount } from "../../contracts/tool/mod.ts";
import { checkPin } from "../../config/agent/pins.ts";
import { openAgentStore, playOf, providersOf, specOf } from "../../config/agent/store.ts";
import { parseAnswers, type PreparedAnswers } from "../question/answers_file.ts";
import type { Command } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { type Merged, narrowMount } from "../../config/layers.ts";
import { displayText } from "../../text/mod.ts";
import { chooseModel, withGuardModels } from "../model/choice.ts";
import { lalLimits, lalModel } from "../model/lal_environment.ts";
import { modelClearance, type ResolvedModel } from "../model/ref.ts";
import { chooseAgent, instructionsIn, limitsOf, mountsOf, within } from "./agent_choice.ts";
import { chooseMemory, type ChosenMemory } from "./memory_choice.ts";
import { type MountWish, parseMount, resolveMount } from "../../launch/disk/mounts.ts";
import { nestMounts } from "../../launch/disk/nested_mounts.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { checkRecordingPlace } from "../model/recording/recording.ts";
import { checkWritable } from "../../launch/disk/output_file.ts";
import { absolute } from "../../launch/disk/places.ts";
import { serversOf } from "../mcp/work.ts";
import type { Basic } from "../powers.ts";

/** Everything a run is set up with. */
export interface RunSetting {
  readonly config: Merged;
  /** Where the command was given, absolute. */
  readonly folder: string;
  readonly mounts: readonly Mount[];
  readonly model: TaskRequest["model"];
  readonly resolved: ResolvedModel;
  /** Absolute path for `--record`. */
  readonly record: string | undefined;
  readonly profile: Profile;
  readonly onQuestion: OnQuestion;
  readonly prepared: PreparedAnswers | undefined;
  readonly trace: string | undefined;
  /** Tools that its models are told of from the start. */
  readonly offer: NonNullable<TaskRequest["offer"]>;
  readonly guards: NonNullable<TaskRequest["guards"]>;
  readonly agent: AgentSpec | undefined;
  /** The agent of others that the request is handed to. */
  readonly foreign?: ForeignAgent | undefined;
  readonly limits: Partial<Limits>;
  readonly instructions: readonly string[];
  readonly memory: ChosenMemory["memory"];
  readonly wikis: ChosenMemory["wikis"];
  readonly mcp: readonly ImportedServer[];
}

/** What a caller fixes before flags are read: the demo and the session do. */
export interface RunDefaults {
  readonly folder: string;
  readonly mounts: readonly MountWish[];
  readonly model?: string;
  /** The text of a scripted model's play, in place of any model. */
  readonly play?: string;
  readonly answersFile?: string;
  /** An origin of the command's own, which the agent may ask to fetch from. */
  readonly site?: string;
  /** Folder of a wiki that the task is handed, as with `--wiki`. */
  readonly wiki?: string;
  /** Imported servers in place of those of remit.lock: a story's. */
  readonly mcp?: readonly ImportedServer[];
}

function readAnswers(command: Command, file: string): PreparedAnswers {
  const path = absolute(command.powers.environment, file);
  const bytes = command.powers.disk.read(path);
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot read answers "${file}": there is no such file`);
  }
  return parseAnswers(file, new TextDecoder().decode(bytes));
}

/** Resolves the mounts of flags, else of the caller, and of remit.yaml under other names. */
function chooseMounts(
  command: Command,
  defaults: RunDefaults,
): { readonly mounts: Mount[]; readonly config: Merged } {
  const { powers, places, parsed } = command;
  const parts = { environment: powers.environment, disk: powers.disk, places };
  const given = (parsed.flags.get("mount") ?? []).map(parseMount);
  const wishes = given.length > 0 ? given : defaults.mounts;
  const twice = wishes.find((wish, n) => wishes.findIndex((each) => each.name === wish.name) < n);
  if (twice !== undefined) {
    throw new Fault("invalidInput", `Cannot mount "${twice.name}": the name is given twice`);
  }
  const first = wishes.map((wish) => resolveMount(wish, parts));
  const config = loadConfig(powers.disk, places, { folder: defaults.folder, mounts: first });
  const more = Object.entries(config.mounts).filter(([name]) =>
    !first.some((mount) => mount.name === name)
  ).map(([name, wish]) =>
    resolveMount({ name, dir: wish.dir, mode: wish.mode ?? "stage" }, {
      ...parts,
      // A folder in a configuration file is written relative to the folder it serves.
      environment: { ...parts.environment, cwd: defaults.folder, env: powers.environment.env },
      colour: wish.colour,
      label: wish.label,
    })
  );
  const mounts = nestMounts([...first, ...more].map((mount) => narrowMount(mount, config)));
  return { mounts, config };
}

/** The rules with a story's own site granted: each request is asked about. */
function withSite(config: Merged, site: string | undefined): Merged {
  if (site === undefined) return config;
  const { policy } = config;
  const rule: PlacedRule = {
    name: "the story's own site",
    at: "built-in: the story",
    category: "network",
    destination: site,
    mode: "consent",
  };
  const clearance = { ...policy.clearance, [site]: "internal" as const };
  return { ...config, policy: { ...policy, rules: [rule, ...policy.rules], clearance } };
}

/**
 * Reads flags and configuration.
 *
 * @throws Fault `invalidInput` when no model is chosen, or something does not parse.
 */
export async function settle(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
  defaults: RunDefaults,
): Promise<RunSetting> {
  const { powers, parsed } = command;
  const { mounts: all, config: written } = chooseMounts(command, defaults);
  const config = withSite(written, defaults.site);
  const named = flag(parsed, "agent");
  const foreign = foreignAgent(command, config, named);
  const agent = foreign === undefined ? chooseAgent(config.agents, named) : specOf(foreign);
  const mounts = mountsOf(agent, all);
  for (const note of config.notes) {
    powers.screen.say(`  ${displayText(note, { max: 500 })}: left out (see "remit trust --help")`);
  }
  const file = flag(parsed, "answers") ?? defaults.answersFile;
  const asked = oneOf(parsed, "on-question", OnQuestionSchema.options);
  if (asked === "ask" && powers.keyboard === undefined) {
    throw new Fault(
      "invalidInput",
      "Cannot ask: there is no terminal; use --on-question queue or deny, or --answers FILE",
    );
  }
  const model = config.model ?? lalModel(agent, powers.environment.env);
  const chosen = await chooseModel(
    command,
    foreign === undefined ? defaults : { ...defaults, play: playOf(foreign, firstOf(mounts)) },
    { ...config, model },
  );
  const resolved = { ...chosen, providers: [...chosen.providers, ...providersOf(foreign)] };
  const guarded = await withGuardModels(command, config, resolved);
  const [record, trace] = ["record", "trace"].map((name) => {
    const file = flag(parsed, name);
    return file === undefined ? undefined : absolute(powers.environment, file);
  });
  if (record !== undefined) checkRecordingPlace(powers.disk, record);
  if (trace !== undefined) checkWritable(powers.disk, trace, "write the trace to");
  const { folder, wiki: own } = defaults;
  const remembered = await chooseMemory(command, {
    ...{ memory: config.memory, folder, mounts, own },
    clearance: modelClearance(resolved, config.policy),
  });
  return {
    ...remembered,
    config,
    ...{ folder, mounts },
    mcp: defaults.mcp ?? serversOf(command, config),
    model: resolved.choice,
    ...guarded,
    record,
    profile: oneOf(parsed, "profile", Profile.options) ?? "operator",
    onQuestion: asked ?? (powers.keyboard === undefined ? "queue" : "ask"),
    prepared: file === undefined ? undefined : readAnswers(command, file),
    trace,
    offer: offerOf(flag(parsed, "tools"), config.offer),
    agent,
    foreign,
    limits: within(
      lalLimits(agent, powers.environment.env, limitsOf(agent, config.policy.limits)),
      flag(parsed, "budget"),
    ),
    instructions: instructionsIn(mounts, (path) => powers.disk.stat(path) !== undefined),
  };
}

/**
 * An agent of others by this name, unless remit.yaml has one of its own. @throws Fault `invalidInput` for flags that mean nothing to it,
 * `refused` where its package changed
 */
function foreignAgent(
  { powers, places, parsed }: Command,
  config: Pick<Merged, "agents">,
  name: string | undefined,
): ForeignAgent | undefined {
  if (name === undefined || Object.hasOwn(config.agents, name)) return undefined;
  const found = openAgentStore(powers.disk, places).find(name);
  if (found === undefined) return undefined;
  for (const each of ["model", "replay", "temperature", "seed", "plan", "intake", "reasons"]) {
    if (!has(parsed, each)) continue;
    throw new Fault(
      "invalidInput",
      `Cannot run ${name} with --${each}: it is an agent of others, with a model of its own ("remit agent add" names it)`,
    );
  }
  checkPin(powers.disk, places, found);
  return found;
}

/** Where an agent of others works: the first folder. @throws Fault `invalidInput` without one */
function firstOf(mounts: readonly Mount[]): string {
  const [first] = mounts;
  if (first !== undefined) return first.name;
  throw new Fault(
    "invalidInput",
    "Cannot run an agent of others without a folder: give --mount NAME=DIR",
  );
}

/** What `--tools` and remit.yaml name. @throws Fault `invalidInput` for a word that no tool is called */
function offerOf(
  words: string | undefined,
  configured: readonly string[],
): NonNullable<TaskRequest["offer"]> {
  if (words === "all") return "all";
  const names = [...configured, ...(words ?? "").split(",").map((each) => each.trim())];
  return [...new Set(names.filter((name) => name !== ""))].map((name) => {
    const tool = ToolName.safeParse(name);
    if (tool.success) return tool.data;
    const shown = JSON.stringify(name.slice(0, 64));
    throw new Fault(
      "invalidInput",
      `Cannot tell a model of ${shown}: no tool has such a name; "remit tool list" names them`,
    );
  });
}
