/** `remit world run`: runs hours of a world; each step of each person is a task. @module */
import { SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, toJson } from "../../contracts/base/mod.ts";
import { AgentTask, TaskRequest } from "../../contracts/task/mod.ts";
import {
  type Answered,
  beginWorld,
  type Happening,
  happeningLine,
  parseWorld,
  reportLines,
  reportOf,
  runWorld,
  type Step,
  type World,
  type WorldEnd,
} from "../../world/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { numberOf } from "../audit/event_fields.ts";
import { type Command, givenFile, printJson, printLines } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { watchTask } from "../run/watch_task.ts";
import { openWorld } from "./place.ts";

const MAX_FILE = 4_000_000;
const MAX_HOURS = 10_000;
const MAX_LANES = 32;
/** The events that are shown live; "world show PERSON" has all. */
const LIVE: ReadonlySet<Happening["kind"]> = new Set(["said", "reflected", "misfit"]);

const EXIT_OF = {
  hours: EXIT.success,
  money: EXIT.budgetExhausted,
  tokens: EXIT.budgetExhausted,
  stopped: EXIT.interrupted,
  failed: EXIT.upstreamFailure,
} as const satisfies Record<WorldEnd["end"], number>;

type Worlds = Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis">;

/** `world run FILE`. */
export async function worldRun(command: Worlds): Promise<number> {
  const { powers, parsed } = command;
  const { screen } = powers;
  const file = parsed.args[0] ?? "";
  const bytes = givenFile(command, file, "read the world", { most: MAX_FILE });
  const world = parseWorld(new TextDecoder().decode(bytes), displayText(file, { max: 200 }));
  const hours = wholeNumber(command, "hours", 1, MAX_HOURS);
  const lanes = wholeNumber(command, "at-once", 4, MAX_LANES);
  const kept = openWorld(command, world.world, { fresh: has(parsed, "fresh") });
  const state = beginWorld(world, kept.state);
  const setting = await settle(command, { folder: powers.environment.cwd, mounts: [] });
  const first = await kernelFor(command, { ...setting, mounts: [], mcp: [] });
  for (const { host, model, encrypted } of setting.resolved.providers) {
    screen.say(
      `  → text leaves this machine for ${displayText(host, { max: 200 })}, model ${
        displayText(model, { max: 120 })
      }${
        encrypted ? "" : ", and is NOT encrypted on its way"
      }; this run ends at ${world.limits.money} USD`,
    );
  }
  const links = [first];
  let interrupted = false;
  const unlisten = powers.interrupts.listen((count) => {
    interrupted = true;
    if (count === 1) screen.say("  stops after this step; press Ctrl-C again to leave at once");
    else for (const link of links) link.close();
  });
  try {
    for (let n = 1; n < lanes; n += 1) {
      const link = await powers.kernels(command.places).find();
      if (link !== undefined) links.push(link);
    }
    const ask = asking(command, { world, links, setting });
    const end = await runWorld(world, state, {
      hours,
      powers: {
        ...{ ask, save: kept.save, stopped: () => interrupted, lanes: links.length },
        heard: (happenings) =>
          happenings.filter(({ kind }) => LIVE.has(kind))
            .forEach((each) => screen.say(happeningLine(each))),
      },
    });
    return tellEnd(command, end);
  } finally {
    unlisten();
    for (const link of links) link.close();
  }
}

function tellEnd(command: Command, { state, end, why }: WorldEnd): number {
  const report = reportOf(state);
  if (command.json) {
    printJson(command, { ...report, end, ...(why === undefined ? {} : { why }) });
  } else printLines(command, reportLines(report));
  const words: Readonly<Record<WorldEnd["end"], string>> = {
    hours: "",
    money: 'it stopped: this run has used its "money" (limits of the world file)',
    tokens: 'it stopped: this run has used its "tokens" (limits of the world file)',
    stopped: "it stopped after a step; the same command goes on with it",
    failed: `Cannot go on: in a whole step nobody had an answer: ${
      displayText(why ?? "", { max: 500 })
    }`,
  };
  if (words[end] !== "") command.powers.screen.say(`  ${words[end]}`);
  return EXIT_OF[end];
}

function wholeNumber({ parsed }: Command, name: string, otherwise: number, max: number): number {
  const given = flag(parsed, name);
  const value = given === undefined ? otherwise : Number(given);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Fault(
    "invalidInput",
    `Cannot read --${name} "${
      displayText(given ?? "", { max: 40 })
    }": it is a whole number from 1 to ${max}`,
  );
}

/** The part of the setting that a step's task needs. */
type Asked = Pick<RunSetting, "model" | "limits">;

/** A function that runs a step on the kernel, on a link that no other step uses meanwhile. */
function asking(
  { powers }: Command,
  { world, links, setting }: {
    readonly world: World;
    readonly links: readonly KernelLink[];
    readonly setting: Asked;
  },
): (step: Step) => Promise<Answered> {
  const free = [...links];
  const session = SessionId.parse(powers.environment.id("s"));
  return async (step) => {
    const link = free.pop();
    if (link === undefined) throw new TypeError("Cannot ask for a step: every link is in use");
    try {
      const answer = await link.ask("run", toJson(requestOf(step, { world, session, setting })));
      const task = TaskId.parse((answer as { readonly task?: unknown } | null)?.task);
      let tokens = 0;
      let money = 0;
      const watch = await watchTask(link, task, {
        from: 0,
        onSeen(seen): void {
          if (seen.kind !== "event" || seen.event.event !== "inferred") return;
          tokens += numberOf(seen.event, "inputTokens") + numberOf(seen.event, "outputTokens");
          money += numberOf(seen.event, "money");
        },
      });
      await watch.next();
      const { status, answer: words, reason } = AgentTask.parse(await link.ask("task", { task }));
      // A day of a village is hundreds of tasks: archived, they keep their logs and leave lists of tasks short.
      await link.ask("archive", { task });
      const why = reason ?? `its task is "${status}"`;
      return {
        task,
        tokens,
        money,
        ...(status === "done" && words !== undefined ? { answer: words } : { why }),
      };
    } finally {
      free.push(link);
    }
  };
}

/** A step as a task: without tools, folders or questions; with the colour of its content. */
function requestOf(
  step: Step,
  { world, session, setting: { model, limits } }: {
    readonly world: World;
    readonly session: SessionId;
    readonly setting: Asked;
  },
): TaskRequest {
  return TaskRequest.parse({
    request: step.request,
    session,
    ingress: {
      ...{ channel: "pipe", principal: `world:${world.world}` },
      ...{ colour: step.colour, label: "internal" },
    },
    ...{ profile: "operator", mounts: [], model, onQuestion: "deny", phase: "plan" },
    interactive: false,
    limits: { ...limits, iterations: 2, outputTokens: step.tokens, money: world.limits.money },
    answerSchema: step.template.schema,
    agent: {
      ...{ name: "npc", persona: step.persona, capabilities: [], mounts: [], agents: [] },
      ...{ labels: { world: world.world, person: step.person }, limits: {}, env: {} },
    },
  });
}
