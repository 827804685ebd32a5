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
  type TaskMemory,
  type TaskRequest,
} from "../../contracts/task/mod.ts";
import type { ForeignAgent, Mount } from "../../contracts/tool/mod.ts";
import { checkPin } from "../../config/agent/pins.ts";
import { openAgentStore, playOf, providersOf, specOf } from "../../config/agent/store.ts";
import { parseAnswers, type PreparedAnswers } from "../question/answers_file.ts";
import { type Command, givenFile } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { type Merged, narrowMount } from "../../config/layers.ts";
import { displayText } from "../../text/mod.ts";
import { chooseModel, withGuardModels } from "../model/choice.ts";
import { lalLimits, lalModel } from "../model/lal_environment.ts";
import { modelClearance, type ResolvedModel } from "../model/ref.ts";
import { chooseAgent, instructionsIn, limitsOf, mountsOf, withBudget } from "./agent_choice.ts";
import { type MountWish, nestMounts, parseMount, resolveMount } from "../../launch/disk/mounts.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { checkRecordingPlace } from "../model/recording/recording.ts";
import { checkWritable } from "../../launch/disk/output_file.ts";
import { absolute, within } from "../../launch/disk/places.ts";
import { serversOf } from "../mcp/work.ts";
import type { Basic } from "../powers.ts";
import type { Label } from "../../contracts/authority/mod.ts";
import type { MergedMemory } from "../../config/memory.ts";
import { knownWikis, resolveWiki } from "../wiki/place.ts";

/** The resolved setting of one run. */
export interface RunSetting {
  readonly config: Merged;
  /** The folder of the command, absolute. */
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
  /** Tools that models see from the start. */
  readonly offer: NonNullable<TaskRequest["offer"]>;
  readonly guards: NonNullable<TaskRequest["guards"]>;
  readonly agent: AgentSpec | undefined;
  /** The foreign agent that receives the request. */
  readonly foreign?: ForeignAgent | undefined;
  readonly limits: Partial<Limits>;
  readonly instructions: readonly string[];
  readonly memory: ChosenMemory["memory"];
  readonly wikis: ChosenMemory["wikis"];
  readonly mcp: readonly ImportedServer[];
}

/** Values that a caller sets before flags are read: used by the demo and sessions. */
export interface RunDefaults {
  readonly folder: string;
  readonly mounts: readonly MountWish[];
  readonly model?: string;
  /** A script for the scripted model, in place of any model. */
  readonly play?: string;
  readonly answersFile?: string;
  /** An origin served by this command, which the agent may ask to fetch from. */
  readonly site?: string;
  /** Folder of a wiki for the task, as with `--wiki`. */
  readonly wiki?: string;
  /** A story's servers, in place of those in remit.lock. */
  readonly mcp?: readonly ImportedServer[];
}

function readAnswers(command: Command, file: string): PreparedAnswers {
  const bytes = givenFile(command, file, "read answers");
  return parseAnswers(file, new TextDecoder().decode(bytes));
}

/** Resolves the mounts of flags, else those of the caller, then those of remit.yaml with other names. */
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

/** Adds consent for a story's own site: each request to it is asked about. */
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
 * Resolves flags and configuration.
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
  const choice = await chooseModel(
    command,
    foreign === undefined ? defaults : { ...defaults, play: playOf(foreign, firstOf(mounts)) },
    { ...config, model },
  );
  const resolved = { ...choice, providers: [...choice.providers, ...providersOf(foreign)] };
  const guarded = await withGuardModels(command, config, resolved);
  const [record, trace] = ["record", "trace"].map((name) => {
    const file = flag(parsed, name);
    return file === undefined ? undefined : absolute(powers.environment, file);
  });
  if (record !== undefined) checkRecordingPlace(powers.disk, record);
  if (trace !== undefined) checkWritable(powers.disk, trace, "write the trace to");
  const { folder, wiki } = defaults;
  const memory = await chooseMemory(command, {
    ...{ memory: config.memory, folder, mounts, own: wiki },
    clearance: modelClearance(resolved, config.policy),
  });
  return {
    ...memory,
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
    limits: withBudget(
      lalLimits(agent, powers.environment.env, limitsOf(agent, config.policy.limits)),
      flag(parsed, "budget"),
    ),
    instructions: instructionsIn(mounts, (path) => powers.disk.stat(path) !== undefined),
  };
}

/**
 * The foreign agent of this name; undefined where remit.yaml has an agent of that name. @throws Fault `invalidInput` for
 * flags that do not apply to foreign agents, `refused` where its package changed
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

/** The first mount: a foreign agent works there. @throws Fault `invalidInput` without one */
function firstOf(mounts: readonly Mount[]): string {
  const [first] = mounts;
  if (first !== undefined) return first.name;
  throw new Fault(
    "invalidInput",
    "Cannot run an agent of others without a folder: give --mount NAME=DIR",
  );
}

/** The tools in `--tools` and remit.yaml. @throws Fault `invalidInput` for a malformed tool name */
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

/** The memory fields of a task's request. */
export interface ChosenMemory {
  readonly memory: TaskMemory | undefined;
  readonly wikis: readonly string[];
}

/**
 * Chooses `--wiki FOLDER`, else the wiki of remit.yaml, else none; builds the wiki's program where it is missing.
 *
 * @throws Fault `notFound` for a folder that is no wiki of this state; `refused` where remit.yaml gives no access
 */
async function chooseMemory(
  command: Command<Basic | "wikis">,
  wish: {
    readonly memory: MergedMemory;
    /** The folder of the remit.yaml: relative paths in it start there. */
    readonly folder: string;
    readonly mounts: readonly Mount[];
    /** What the task's models may read: the default clearance. */
    readonly clearance: Label;
    /** A story's wiki, in place of the configured one. */
    readonly own?: string | undefined;
  },
): Promise<ChosenMemory> {
  const { powers } = command, { memory, mounts } = wish;
  const wikis = knownWikis(command).map(({ folder }) => folder).filter((folder) =>
    mounts.some(({ dir }) => within(dir, folder) || within(folder, dir))
  );
  const named = flag(command.parsed, "wiki") ?? wish.own;
  const path = named ??
    (memory.wiki === undefined ? undefined : absolute(
      { ...powers.environment, cwd: wish.folder, env: powers.environment.env },
      memory.wiki,
    ));
  if (path === undefined) return { memory: undefined, wikis };
  const { access = "propose", user = "write", review = [], clearance = wish.clearance } = memory;
  if (access === "none") {
    if (named === undefined) return { memory: undefined, wikis };
    throw new Fault(
      "refused",
      `Cannot hand over wiki "${path}": remit.yaml says "memory: { access: none }"`,
    );
  }
  const { folder, state } = resolveWiki(command, path);
  const days = memory.retention?.taskLog;
  await powers.wikis.ready();
  return {
    wikis,
    memory: {
      ...{ folder, access, user, clearance },
      stateFolder: powers.disk.real(state) ?? state,
      review: [...review],
      retention: days === undefined ? {} : { taskLog: days },
    },
  };
}
