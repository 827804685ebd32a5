/** `remit swarm run` and `remit swarm resume`: drives workers, reviewers and a merge queue to one diff. @module */
import { basename, dirname } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { ResourceRef } from "../../contracts/task/resources.ts";
import { sha256Hex } from "../../port/digest.ts";
import {
  findBase,
  type Journal,
  makeCheck,
  makeMirror,
  parsePlan,
  planOf,
  readState,
  runScheduler,
  type SwarmEvent,
  type SwarmPlan,
  type SwarmState,
  takeEvent,
  trackRecord,
} from "../../swarm/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { commandText, givenFile, printJson } from "../command.ts";
import { absolute, preparePlaces } from "../../launch/disk/places.ts";
import { parseMount } from "../../launch/disk/mounts.ts";
import { settle } from "../run/run_setting.ts";
import {
  type Cast,
  castOf,
  type KernelTasks,
  makeKernelTasks,
  type SwarmCommand,
} from "./kernel_tasks.ts";
import { offer, type Offered } from "./offer.ts";
import { swarmHome, swarmPlaces, swarmState, swarmStates } from "./store.ts";
import { eventLine, issueRows, summaryLines } from "./words.ts";

const LOOK_MS = 500;
const MOUNT_NAME = "repo";

/** The input of a swarm. */
interface Asked {
  readonly plan: SwarmPlan;
  /** The repository's folder as written, and its mount name. */
  readonly dir: string;
  readonly mount: string;
}

function askedOf(command: SwarmCommand): Asked {
  const { parsed, powers: { environment } } = command;
  const [file] = parsed.args;
  const text = flag(parsed, "request");
  const given = parsed.flags.get("mount") ?? [];
  if ((file === undefined) === (text === undefined)) {
    throw new Fault(
      "invalidInput",
      "Cannot run a swarm: give a FILE.yaml, or one issue with -p TEXT and --mount repo=DIR",
    );
  }
  if (given.length > 1) {
    throw new Fault("invalidInput", "Cannot run a swarm: it works on one folder; give one --mount");
  }
  const wish = given[0] === undefined ? undefined : parseMount(given[0]);
  if (wish !== undefined && wish.mode !== "stage") {
    throw new Fault(
      "invalidInput",
      `Cannot run a swarm over a folder in mode ${wish.mode}: its changes are staged`,
    );
  }
  if (text !== undefined) {
    if (wish === undefined) {
      throw new Fault(
        "invalidInput",
        "Cannot run a swarm: name the repository's folder, --mount repo=DIR",
      );
    }
    const title = (text.trim().split("\n", 1)[0] ?? "").slice(0, 200);
    const plan = planOf(
      { version: 1, issues: [{ id: "issue", title, text }] },
      (why) => new Fault("invalidInput", `Cannot run a swarm: ${why}`),
    );
    return { plan, dir: wish.dir, mount: wish.name };
  }
  const bytes = givenFile(command, file ?? "", "read swarm", { most: 1_000_000 });
  const plan = parsePlan(new TextDecoder().decode(bytes), file ?? "");
  if (wish !== undefined) return { plan, dir: wish.dir, mount: wish.name };
  if (plan.repository === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot run swarm ${
        JSON.stringify(file)
      }: it names no repository; add "repository: DIR", or --mount repo=DIR`,
    );
  }
  const from = { cwd: dirname(absolute(environment, file ?? "")), env: environment.env };
  return { plan, dir: absolute(from, plan.repository), mount: MOUNT_NAME };
}

/** `remit swarm run`. */
export async function swarmRunCommand(command: SwarmCommand): Promise<number> {
  const { powers, places } = command;
  const { plan, dir, mount } = askedOf(command);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const folder = powers.disk.real(absolute(powers.environment, dir));
  if (folder === undefined || powers.disk.stat(folder)?.folder !== true) {
    throw new Fault(
      "notFound",
      `Cannot run a swarm on ${JSON.stringify(dir)}: there is no such folder`,
    );
  }
  const base = findBase(powers.swarm, folder);
  const id = powers.environment.id("sw");
  const at = swarmPlaces(swarmHome(command), id);
  using held = powers.swarm.lock(at.lock);
  if (held === undefined) {
    throw new Fault("conflict", `Cannot begin swarm ${id}: another one has its name`);
  }
  // Checked before anything is recorded: a wrong model, agent or mount starts no swarm.
  const setting = await settingOf(command, plan, { folder, mount });
  const cast = await castOf(command, plan, setting);
  await makeMirror(powers.swarm, at.mirror).take(base);
  const journal = powers.swarm.journal(at.journal);
  try {
    const begun: SwarmEvent = {
      ...{ kind: "begun", id, at: powers.swarm.now(), plan, base: base.commit, folder, mount },
    };
    await journal.append(JSON.stringify(begun));
    const state = readState([JSON.stringify(begun)]);
    if (state === undefined) throw new TypeError("Cannot begin: no state");
    say(
      command,
      `swarm ${id}  ${plan.issues.length} issues on ${base.branch ?? "commit"} ${
        base.commit.slice(0, 12)
      }`,
    );
    return await drive(command, { state, journal, setting, cast });
  } finally {
    journal.close();
  }
}

/** `remit swarm resume ID`: continues a stopped or killed swarm, or offers its diff again. */
export async function swarmResumeCommand(command: SwarmCommand): Promise<number> {
  const { powers, parsed } = command;
  const home = swarmHome(command);
  const { id } = swarmState(powers.swarm, home, parsed.args[0] ?? "");
  const at = swarmPlaces(home, id);
  using held = powers.swarm.lock(at.lock);
  if (held === undefined) {
    throw new Fault(
      "conflict",
      `Cannot go on with swarm ${id}: another command runs it ("remit swarm stop ${id}" ends that)`,
    );
  }
  await powers.swarm.clear(at.stop);
  const journal = powers.swarm.journal(at.journal);
  try {
    const state = readState(journal.lines);
    if (state === undefined) throw new TypeError("Cannot go on: no state");
    const { plan, folder, mount } = state.begun;
    const setting = await settingOf(command, plan, { folder, mount });
    const cast = await castOf(command, plan, setting);
    return await drive(command, { state, journal, setting, cast });
  } finally {
    journal.close();
  }
}

/** Resolves the setting that all tasks of the swarm share. */
async function settingOf(
  command: SwarmCommand,
  { roles }: SwarmPlan,
  { folder, mount }: { readonly folder: string; readonly mount: string },
): ReturnType<typeof settle> {
  const flags = new Map([...command.parsed.flags].filter(([name]) => name !== "mount"));
  // Default model: the first one that a role names.
  const [model] = Object.values(roles).flatMap(({ models }) => models ?? []);
  const setting = await settle({ ...command, parsed: { ...command.parsed, flags } }, {
    folder: command.powers.environment.cwd,
    mounts: [{ name: mount, dir: folder, mode: "stage" }],
    ...(model === undefined ? {} : { model }),
  });
  // Other mounts and servers of remit.yaml are for the person's own tasks.
  return { ...setting, mounts: setting.mounts.filter(({ name }) => name === mount), mcp: [] };
}

/** The repository's name in the registry of shared resources: one for each folder, whoever works there. */
function sharedName(folder: string): ResourceRef {
  const plain = basename(folder).toLowerCase().replace(/[^a-z0-9_-]+/g, "-");
  const name = /^[a-z]/.test(plain) ? plain : `r${plain}`;
  const digest = sha256Hex(new TextEncoder().encode(folder)).slice(0, 8);
  return ResourceRef.parse(`gitRepository:${name.slice(0, 48)}-${digest}`);
}

/** Runs the scheduler, then offers the merged changes to the person. */
async function drive(
  command: SwarmCommand,
  { state, journal, setting, cast }: {
    readonly state: SwarmState;
    readonly journal: Journal;
    readonly setting: Awaited<ReturnType<typeof settle>>;
    readonly cast: Cast;
  },
): Promise<number> {
  const { powers } = command;
  const { swarm } = powers;
  const { id, begun: { plan, base, mount } } = state;
  const home = swarmHome(command);
  const at = swarmPlaces(home, id);
  const mirror = makeMirror(swarm, at.mirror);
  const write = (event: SwarmEvent): Promise<void> => journal.append(JSON.stringify(event));
  await mirror.mend();
  const open = [...state.issues.values()].some(({ status }) => status === "open");
  const stop = new AbortController();
  const unlisten = powers.interrupts.listen((count) => {
    stop.abort();
    say(
      command,
      count > 1
        ? "ending …"
        : 'stopping: what is under way is cancelled; "remit swarm resume" goes on with the rest',
    );
  });
  const watching = new AbortController();
  const watched = watchStop(command, at.stop, { stop, signal: watching.signal });
  let tasks: KernelTasks | undefined;
  try {
    if (open) {
      tasks = makeKernelTasks(command, {
        ...{ plan, setting, cast, anywhere: home.shared },
        waits: (task, whom) =>
          say(
            command,
            whom === "person"
              ? `task ${task} waits for a person: ${commandText(command, "questions")}`
              : `task ${task} waits for a kernel that takes work: ${
                commandText(command, "fleet list")
              }`,
          ),
      });
      await runScheduler({
        ...{ state, mirror, tasks, powers: swarm, rooms: at.rooms, write, take: takeEvent },
        resource: sharedName(state.begun.folder),
        check: makeCheck({ powers: swarm, mirror, plan, base, mount, rooms: at.rooms }),
        record: trackRecord(swarmStates(swarm, home).states.filter((each) => each.id !== id)),
        sessionOf: (n) => `s${sha256Hex(new TextEncoder().encode(`${id}/${n}`)).slice(0, 12)}`,
        sha256: sha256Hex,
        say: (event) => eventLine(state, event).forEach((line) => say(command, line)),
      }, stop.signal);
    }
  } finally {
    tasks?.close();
    unlisten();
    watching.abort();
    await watched;
    await mirror.close();
  }
  if (state.finished?.status === "stopped") {
    return report(command, state, undefined, EXIT.interrupted);
  }
  await swarm.clear(at.rooms);
  const made = state.merges.length === 0 ? undefined : await offer(command, {
    ...{ state, mirror },
    async offered(task, commit): Promise<void> {
      const event: SwarmEvent = { kind: "offered", at: swarm.now(), task, commit };
      takeEvent(state, event);
      await write(event);
    },
  });
  const whole = state.finished?.status === "done";
  const exit = made === undefined
    ? whole ? EXIT.success : EXIT.failure
    : made.exit !== EXIT.success || whole
    ? made.exit
    : EXIT.failure;
  return report(command, state, made, exit);
}

function report(
  command: SwarmCommand,
  state: SwarmState,
  made: Offered | undefined,
  exit: number,
): number {
  if (command.json) {
    printJson(command, {
      ...{ id: state.id, status: state.finished?.status ?? "open", why: state.finished?.why ?? "" },
      ...{ issues: issueRows(state), applied: made?.applied ?? false, exit },
      ...(made === undefined ? {} : { task: made.task }),
    });
    return exit;
  }
  for (const line of summaryLines(state)) say(command, line);
  if (exit === EXIT.interrupted) {
    say(command, `to go on: ${commandText(command, `swarm resume ${state.id}`)}`);
  }
  return exit;
}

/** Ends the swarm when another command asks for that by creating `path`. */
async function watchStop(
  { powers: { swarm } }: SwarmCommand,
  path: string,
  { stop, signal }: { readonly stop: AbortController; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    if (swarm.kind(path) !== undefined) return stop.abort();
    await swarm.rest(LOOK_MS, signal);
  }
}

function say(command: SwarmCommand, line: string): void {
  if (command.json && command.powers.keyboard === undefined) return;
  command.powers.screen.say(displayText(line, { max: 1_000 }));
}
