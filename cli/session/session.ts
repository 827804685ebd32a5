/** The state of an open session, and the record of the last one. @module */
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

/** The record of the last session: its task, and the model that its person chose. */
const Last = z.object({ task: TaskId, model: z.string().max(4_096).optional() }).strict();

/** The command of a session, with its powers. */
export type SessionCommand = Command<
  Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "wikis"
>;

/** A session's state between two lines of its person. */
export interface Session {
  /** The command line, with the model in use. */
  command: SessionCommand;
  /** The link to the kernel: a new one for each task, so that events of two tasks never mix. */
  link: KernelLink;
  readonly keyboard: Keyboard;
  readonly queue: Queue;
  readonly history: History;
  readonly complete: NonNullable<LineExtras["complete"]>;
  setting: RunSetting;
  running: RunningTask | undefined;
  /** The phase in which the first words will start a task. */
  phase: Extract<Phase, "plan" | "work">;
  /** References of the providers already announced. */
  readonly announced: Set<string>;
  /** Shared by all conversations that begin in the session: its budgets hold for them together. */
  readonly id: SessionId;
  /** US dollars spent by conversations that the session has left. */
  readonly spent: Map<TaskId, number>;
  /** Text typed under an answer and not entered. */
  draft: string;
  /** The last answer shown. */
  said?: string | undefined;
}

function lastPath(command: Command): string {
  return join(command.places.person, "last_session.json");
}

/** The last session of this state; undefined when there was none. */
export function lastSession(command: Command): z.infer<typeof Last> | undefined {
  const bytes = command.powers.disk.read(lastPath(command));
  return bytes === undefined ? undefined : Last.parse(JSON.parse(new TextDecoder().decode(bytes)));
}

/** Records this task, and the model on the command line, as the last session. */
export function keepLast(command: Command, task: TaskId): void {
  const model = flag(command.parsed, "model");
  const last = { task, ...(model === undefined ? {} : { model }) };
  command.powers.disk.write(lastPath(command), `${JSON.stringify(last)}\n`);
}

/** The same command with another model. */
export function withModel<C extends Command>(command: C, ref: string): C {
  const flags = new Map(command.parsed.flags);
  flags.set("model", [ref]);
  // A recording covers one model; it would lack the words to another.
  for (const name of ["record", "replay"]) flags.delete(name);
  const parsed: Parsed = { ...command.parsed, flags };
  return { ...command, parsed };
}

/** The defaults of a session: this folder, staged. */
export function defaultsOf(command: Command): Parameters<typeof settle>[1] {
  const { cwd } = command.powers.environment;
  return { folder: cwd, mounts: [{ name: mountNameOf(cwd), dir: cwd, mode: "stage" }] };
}
