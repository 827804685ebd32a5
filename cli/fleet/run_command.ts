/** `remit --fleet URL run`: runs a request on any kernel of a fleet, and follows it over a gateway. @module */
import type { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { AgentTask } from "../../contracts/task/mod.ts";
import { displayText } from "../../text/mod.ts";
import { has } from "../arguments/parse_arguments.ts";
import { type Command, commandText, printJson, reachKernel } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { printAnswer } from "../run/run_command.ts";
import { settle } from "../run/run_setting.ts";
import { createTask } from "../run/run_task.ts";

/** Milliseconds between two looks at the task. */
const LOOK_MS = 500;
/** Flags that name something on this machine. */
const LOCAL_FLAGS = ["mount", "wiki", "answers", "trace", "record", "schema", "story"] as const;

/** Queues a request, and follows its task until it is over or waits for a person; returns the task's exit code. */
export async function runOverFleet(
  command: Command<
    Basic | "gateways" | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis"
  >,
  request: string | undefined,
): Promise<number> {
  const { powers, parsed } = command;
  const wrong = LOCAL_FLAGS.find((name) => has(parsed, name));
  if (wrong !== undefined || request === undefined) {
    throw new Fault(
      "invalidInput",
      request === undefined
        ? "Cannot start an agent: say what to do, with -p TEXT"
        : `Cannot run it over a fleet with --${wrong}: that lies on this machine; say "run --anywhere" on a kernel's machine`,
    );
  }
  const settled = await settle(command, { folder: powers.environment.cwd, mounts: [] });
  const setting = {
    ...settled,
    ...{ mounts: [], mcp: [], wikis: [], instructions: [], memory: undefined },
  };
  const link = await reachKernel(command);
  let stopped = false;
  const stop = powers.interrupts.listen(() => stopped = true);
  try {
    const task = await createTask(command, link, setting, {
      ...{ text: request, interactive: false, plan: has(parsed, "plan"), anywhere: true },
    });
    if (!command.json) powers.screen.say(`  ${task}: the first kernel that has time takes it`);
    for (;;) {
      const state = await standing(link, task);
      if (stopped || (state !== undefined && state.status !== "open")) {
        return end(command, task, state);
      }
      await powers.gateways.pause(LOOK_MS);
    }
  } finally {
    stop();
    link.close();
  }
}

/** The task; undefined while no kernel has taken it. */
async function standing(link: KernelLink, task: TaskId): Promise<AgentTask | undefined> {
  try {
    return AgentTask.parse(await link.ask("task", { task }));
  } catch (error) {
    if (error instanceof Fault && error.code === "notFound") return undefined;
    throw error;
  }
}

function end(command: Command, task: TaskId, state: AgentTask | undefined): number {
  const { screen } = command.powers;
  if (command.json) printJson(command, state ?? { id: task, queued: true });
  const hint = (words: string): void => screen.say(`    ${commandText(command, words)}`);
  if (state === undefined || state.status === "open") {
    screen.say("  it goes on without you");
    hint(`task show ${task}`);
    return EXIT.interrupted;
  }
  if (state.status === "needsApproval") {
    screen.say(`  ${screen.paint.yellow("waits for a person")}`);
    hint("questions");
    return EXIT.waiting;
  }
  if (!command.json) printAnswer(command, state.answer);
  if (state.reason !== undefined && state.reason !== state.answer) {
    screen.say(`  ${state.status}: ${displayText(state.reason, { max: 1_000 })}`);
  }
  return state.exit ?? (state.status === "done" ? EXIT.success : EXIT.failure);
}
