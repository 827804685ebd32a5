/** An open session: its task, its setting, and which one was the last. @module */
import { join } from "node:path";
import * as z from "zod";
import { type SessionId, TaskId } from "../../contracts/authority/mod.ts";
import type { Phase } from "../../contracts/task/mod.ts";
import type { Command } from "../command.ts";
import type { Basic, Keyboard, LineExtras } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import type { History } from "./history.ts";
import type { Queue } from "./typed_ahead.ts";
import { mountNameOf } from "../../launch/disk/mounts.ts";
import { flag, type Parsed } from "../arguments/parse_arguments.ts";
import type { RunSetting, settle } from "../run/run_setting.ts";
import type { RunningTask } from "../run/run_task.ts";

/** The last session, and the model that was asked for in it. */
const Last = z.object({ task: TaskId, model: z.string().max(4_096).optional() }).strict();

/** What a session needs. */
export type SessionCommand = Command<
  Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis"
>;

/** A session as it stands between two lines of its person. */
export interface Session {
  /** As it would be said with the model in use. */
  command: SessionCommand;
  /** To the task's kernel: another one for each task, so that no task's events are taken for another's. */
  link: KernelLink;
  readonly keyboard: Keyboard;
  readonly queue: Queue;
  readonly history: History;
  readonly complete: NonNullable<LineExtras["complete"]>;
  setting: RunSetting;
  running: RunningTask | undefined;
  /** Of the task that the first words will make. */
  phase: Extract<Phase, "plan" | "work">;
  /** References of the providers that the person was told of. */
  readonly announced: Set<string>;
  /** All conversations that begin in it have it in common: budgets of a session hold for them together. */
  readonly id: SessionId;
  /** US dollars of conversations that it has left. */
  readonly spent: Map<TaskId, number>;
  /** What was typed under an answer and not entered. */
  draft: string;
  /** The answer that was shown last. */
  said?: string | undefined;
}

function lastPath(command: Command): string {
  return join(command.places.person, "last_session.json");
}

/** The session that was last open in this state; undefined when none was. */
export function lastSession(command: Command): z.infer<typeof Last> | undefined {
  const bytes = command.powers.disk.read(lastPath(command));
  return bytes === undefined ? undefined : Last.parse(JSON.parse(new TextDecoder().decode(bytes)));
}

/** Keeps this task, and the model that was named, as the last session. */
export function keepLast(command: Command, task: TaskId): void {
  const model = flag(command.parsed, "model");
  const last = { task, ...(model === undefined ? {} : { model }) };
  command.powers.disk.write(lastPath(command), `${JSON.stringify(last)}\n`);
}

/** The same command with another model. */
export function withModel<C extends Command>(command: C, ref: string): C {
  const flags = new Map(command.parsed.flags);
  flags.set("model", [ref]);
  // A recording is of one model: what is said to another one is not in it.
  for (const name of ["record", "replay"]) flags.delete(name);
  const parsed: Parsed = { ...command.parsed, flags };
  return { ...command, parsed };
}

/** What a session works on where nothing else is said: this folder, staged. */
export function defaultsOf(command: Command): Parameters<typeof settle>[1] {
  const { cwd } = command.powers.environment;
  return { folder: cwd, mounts: [{ name: mountNameOf(cwd), dir: cwd, mode: "stage" }] };
}
