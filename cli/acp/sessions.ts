/** The sessions of an editor: each is an interactive task over one folder, and a link of its own to the kernel. @module */
import { join } from "node:path";
import * as z from "zod";
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import { SessionId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import {
  AgentTask,
  type Phase,
  type Staged,
  TASK_TRANSITIONS,
  TaskStatus,
} from "../../contracts/task/mod.ts";
import {
  type EditorVoice,
  type HostSession,
  makeSessionUpdates,
  type SessionHost,
  type SessionUpdates,
} from "../../bridges/acp/mod.ts";
import { displayText } from "../../text/mod.ts";
import { editorQuestion } from "./question.ts";
import { readSeen, type Seen } from "../audit/event_fields.ts";
import { makeCallJoin } from "../audit/join_calls.ts";
import type { Command } from "../command.ts";
import { mountNameOf } from "../../launch/disk/mounts.ts";
import { checkSameFolders } from "../../launch/disk/same_folders.ts";
import type { Basic } from "../hands.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { lendKeys, provideModelPrograms, readyAgain } from "../model/ready.ts";
import { shownChanges } from "../question/asking.ts";
import { signAnswer } from "../question/sign_answer.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { createTask, readPast } from "../run/run_task.ts";
import { askStaged, type Watch, type WatchEnd, watchTask } from "../run/watch_task.ts";
import { withModel } from "../session/session.ts";
import { VERSION } from "../../launch/kernel/version.ts";

/** What sessions of an editor are handed. */
export type EditorCommand = Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">;

type Asked = Parameters<SessionHost["create"]>[0];

/** Of tasks that are not over. */
const LIVE = TaskStatus.options.filter((status) => TASK_TRANSITIONS[status].length > 0);
/** Tasks that are listed. */
const LISTED = 50;
/** Tokens of the context window where nothing says how many. */
const WINDOW = 200_000;

/** A host over this state; `close` lets go of what is open. */
export function makeEditorSessions(
  command: EditorCommand,
): SessionHost & { close(): Promise<void> } {
  const open = new Set<HostSession>();
  const kept = (session: HostSession): HostSession => {
    open.add(session);
    return Object.freeze({
      ...session,
      async close() {
        open.delete(session);
        await session.close();
      },
    });
  };
  const settled = async (cwd: string): Promise<RunSetting> => {
    const folder = command.hands.disk.real(cwd);
    if (
      !cwd.startsWith("/") || folder === undefined ||
      command.hands.disk.stat(folder)?.folder !== true
    ) {
      throw new Fault(
        "invalidInput",
        `Cannot work in "${cwd.slice(0, 200)}": it is no folder by its absolute path`,
      );
    }
    const mounts = [{ name: mountNameOf(folder), dir: folder, mode: "stage" as const }];
    // The editor answers, or a person elsewhere: the task waits for either.
    return { ...await settle(command, { folder, mounts }), onQuestion: "ask" };
  };
  return Object.freeze({
    version: VERSION,
    async create(asked: Asked): Promise<HostSession> {
      const setting = await settled(asked.cwd);
      const link = await kernelFor(command, setting);
      const id = SessionId.parse(command.hands.around.id("s"));
      return kept(makeSession(command, { id, setting, link, notes: notTaken(command, asked) }));
    },
    async take(id: string, asked: Asked): Promise<HostSession> {
      const setting = await settled(asked.cwd);
      let link = await kernelFor(command, setting);
      try {
        const task = await taskOf(link, id);
        link = await inItsPlace(command, link, task.id);
        checkSameFolders(command.hands.disk, task.mounts);
        const past = await readPast(link, task.id);
        await readyAgain(command, link, past);
        const seen = past.flatMap((told) => readSeen(told) ?? []);
        const from = { task: task.id, phase: task.phase, past: seen };
        return kept(
          makeSession(command, { id, setting, link, notes: notTaken(command, asked), from }),
        );
      } catch (error) {
        link.close();
        throw error;
      }
    },
    async list(cwd: string | undefined) {
      const link = await command.hands.kernels(command.places).find();
      if (link === undefined) return [];
      try {
        const tasks = z.array(AgentTask).parse(
          await link.ask("tasks", { statuses: [...LIVE], limit: LISTED }),
        );
        return tasks.filter(({ folder }) => cwd === undefined || folder === cwd).map((task) => ({
          sessionId: task.session,
          cwd: task.folder ?? "/",
          title: displayText(task.objective, { max: 100 }),
          updatedAt: new Date(task.updatedAt).toISOString(),
        }));
      } finally {
        link.close();
      }
    },
    close: async () => void await Promise.all([...open].map((session) => session.close())),
  });
}

/** The task of a session, or of a task's own id. */
async function taskOf(link: KernelLink, id: string): Promise<AgentTask> {
  let before: string | undefined;
  for (;;) {
    const body = { statuses: [...LIVE], limit: 1_000, ...(before === undefined ? {} : { before }) };
    const tasks = z.array(AgentTask).parse(await link.ask("tasks", body));
    const found = tasks.find((task) => task.session === id || task.id === id);
    if (found !== undefined) return found;
    before = tasks.at(-1)?.id;
    if (before === undefined) {
      throw new Fault(
        "notFound",
        `Cannot take up session "${id.slice(0, 64)}": no open conversation is called so`,
      );
    }
  }
}

/** Servers that an editor hands over are a stranger's until they were reviewed: none is dropped in silence. */
function notTaken({ hands }: EditorCommand, { mcpServers }: Asked): readonly string[] {
  return (mcpServers ?? []).map((server) => {
    const how = "command" in server
      ? `-- ${[server.command, ...server.args].join(" ")}`
      : server.url;
    const words = displayText(`${hands.around.command} mcp add ${server.name} ${how}`, {
      max: 400,
    });
    const name = displayText(server.name, { max: 64 });
    return `The server "${name}" of your editor is not used before you reviewed it: \`${words}\``;
  });
}

interface Running {
  readonly task: AgentTask["id"];
  readonly watch: Watch;
}

interface SessionParts {
  readonly id: string;
  readonly setting: RunSetting;
  readonly link: KernelLink;
  readonly notes: readonly string[];
  readonly from?: {
    readonly task: AgentTask["id"];
    readonly phase: Phase;
    readonly past: readonly Seen[];
  };
}

function makeSession(command: EditorCommand, parts: SessionParts): HostSession {
  const { hands } = command;
  const { id, link, notes, from } = parts;
  let { setting } = parts;
  let phase: "plan" | "work" = from?.phase === "plan" ? "plan" : "work";
  let running: Running | undefined;
  let voice: EditorVoice | undefined;
  let cancelled: AbortController | undefined;
  /** Updates leave one after the other. */
  let sent: Promise<void> = Promise.resolve();
  const updates: SessionUpdates = makeSessionUpdates({
    pathOf(path): string | undefined {
      const [name = "", ...rest] = path.split("/");
      const mount = setting.mounts.find((each) => each.name === name);
      return mount === undefined ? undefined : join(mount.dir, ...rest);
    },
    window: setting.limits.contextWindow ?? WINDOW,
  });
  const joined = makeCallJoin();
  const tell = (to: EditorVoice | undefined, seen: Seen, past: boolean): void => {
    if (seen.kind !== "event" && !isChunk(seen)) return;
    const told = seen.kind === "event"
      ? { kind: seen.kind, event: joined(seen.event) }
      : { kind: seen.kind, text: seen.text };
    const made = updates.take(told, { past });
    if (to === undefined) return;
    // An editor that has gone misses updates; the task's log has them.
    for (const each of made) sent = sent.then(() => to.update(each)).catch(() => undefined);
  };

  /** Goes on with an earlier task; its past is told to `to`. */
  const takeUp = async (to: EditorVoice | undefined): Promise<void> => {
    if (from === undefined) return;
    for (const seen of from.past) tell(to, seen, true);
    await sent;
    await follow(from.task, from.past.length);
  };

  const follow = async (task: AgentTask["id"], past: number): Promise<void> => {
    const watch = await watchTask(link, task, {
      from: past,
      answerer: (question, staged, signal) => ask(question, staged, signal),
      onSeen: (seen) => tell(voice, seen, false),
    });
    running = { task, watch };
  };

  const ask = async (
    question: Question,
    staged: Staged,
    withdrawn: AbortSignal,
  ): Promise<Answer | undefined> => {
    const to = voice;
    if (cancelled?.signal.aborted === true) {
      // What the turn still asks, its review above all, ends with it; what is staged stays.
      await interrupt();
      return undefined;
    }
    const signal = AbortSignal.any([
      withdrawn,
      ...(cancelled === undefined ? [] : [cancelled.signal]),
    ]);
    const gone = Promise.withResolvers<undefined>();
    signal.addEventListener("abort", () => gone.resolve(undefined), { once: true });
    if (to === undefined || withdrawn.aborted) return undefined;
    const { scope } = question;
    const { selfConsent } = setting.config.policy;
    const answerable = selfConsent && question.kind === "consent" && scope.effect !== "admin";
    const call = updates.asked({ ...question, tool: scope.tool });
    for (const each of call.updates) sent = sent.then(() => to.update(each)).catch(() => undefined);
    await sent;
    const asked = editorQuestion(question, {
      ...{ id: call.id, answerable, command: hands.around.command },
      changes: shownChanges(question, staged, hands.disk),
    });
    const chosen = await to.ask(asked, signal).catch((error: unknown) => {
      if (error instanceof Fault && error.code === "cancelled") return undefined;
      throw error;
    });
    // Closed without an answer: it waits for one from elsewhere, or for the end of the turn.
    if (chosen === undefined) return await gone.promise;
    return signAnswer(question, {
      decision: chosen === "deny" ? "deny" : "allow",
      for: chosen === "session" ? "session" : "once",
      by: "editor",
      channel: "command",
    }, {
      signer: openKeyRing(hands.disk, command.places).provideConsent(),
      at: hands.around.now(),
    });
  };

  const interrupt = async (): Promise<void> =>
    void await link.ask("interrupt", { task: need().task, second: false });

  const stopOf = ({ status, exit, failed }: WatchEnd) => {
    if (cancelled?.signal.aborted === true) return "cancelled" as const;
    if (failed === undefined && (status === "open" || status === "done")) {
      return "end_turn" as const;
    }
    const code = failed?.exit ?? exit;
    if (code === EXIT.contextOverflow) return "max_tokens" as const;
    if (code === EXIT.budgetExhausted) return "max_turn_requests" as const;
    const why = failed?.why ?? `the task is ${status}`;
    throw new Fault("upstream", displayText(why, { max: 1_000 }));
  };

  const commands: Readonly<Record<string, (words: string) => Promise<string>>> = {
    plan: () => move("plan").then(() => "It plans: it may read, and change nothing."),
    work: () => move("work").then(() => "It works."),
    async model(ref) {
      if (ref !== "") await choose(ref);
      return `Model: ${setting.model.ref}`;
    },
    async diff() {
      const staged = await askStaged(link, need().task);
      return staged.changes.length === 0
        ? "Nothing is staged."
        : staged.changes.map(({ path }) => `staged: ${path}`).join("\n");
    },
    async undo() {
      await link.ask("undo", { task: need().task });
      return "Its last change is taken back.";
    },
  };
  const need = (): Running => {
    if (running !== undefined) return running;
    throw new Fault("notFound", "Cannot show it: nothing was asked yet");
  };
  const move = async (to: "plan" | "work"): Promise<void> => {
    if (running !== undefined) await link.ask("phase", { task: running.task, phase: to });
    phase = to;
  };
  const choose = async (ref: string): Promise<void> => {
    const { folder, mounts, onQuestion } = setting;
    const next = await settle(withModel(command, ref), {
      folder,
      mounts: mounts.map(({ name, dir, mode }) => ({ name, dir, mode })),
    });
    await provideModelPrograms(command, next.resolved, link);
    await lendKeys(link, next.resolved);
    const { ref: to, config } = next.model;
    if (running !== undefined) {
      await link.ask("model", { task: running.task, model: { ref: to, config } });
    }
    setting = { ...next, onQuestion };
  };

  return Object.freeze<HostSession>({
    id,
    notes,
    mode: () => phase,
    model: () => setting.model.ref,
    models: () => [...new Set([setting.model.ref, ...Object.keys(setting.config.models)])],
    setMode: move,
    setModel: choose,
    async prompt(text, to) {
      voice = to;
      cancelled = new AbortController();
      updates.spoke();
      try {
        const [, word = "", words = ""] = /^\/([a-z]+)(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
        const known = Object.hasOwn(commands, word) ? commands[word] : undefined;
        if (known !== undefined) {
          await to.update({
            sessionUpdate: "agent_message_chunk",
            content: { type: "text", text: await known(words) },
          });
          return "end_turn";
        }
        if (running === undefined && from !== undefined) await takeUp(undefined);
        if (running === undefined) {
          const task = await createTask(command, link, setting, {
            text,
            interactive: true,
            plan: phase === "plan",
            session: SessionId.parse(id),
          });
          await follow(task, 0);
        } else {
          running.watch.forget();
          await link.ask("say", { task: running.task, text });
        }
        const { watch } = need();
        let end = await watch.next();
        // A question that was cancelled ends its turn only after it.
        while (cancelled.signal.aborted && end.waiting !== undefined) end = await watch.next();
        const stop = stopOf(end);
        // A model that does not stream says its answer at the end alone.
        const { answer = "" } = AgentTask.parse(await link.ask("task", { task: need().task }));
        await sent;
        if (!updates.spoke() && answer !== "" && stop === "end_turn") {
          await to.update({
            sessionUpdate: "agent_message_chunk",
            content: { type: "text", text: answer },
          });
        }
        return stop;
      } finally {
        // All of a turn is told before its prompt is answered.
        await sent;
      }
    },
    async cancel() {
      cancelled?.abort();
      if (running === undefined) return;
      running.watch.withdraw();
      await interrupt();
    },
    async replay(to) {
      voice = to;
      await takeUp(to);
    },
    close: () => Promise.resolve(link.close()),
  });
}

function isChunk(seen: Seen): seen is { readonly kind: "chunk"; readonly text: string } {
  return seen.kind === "chunk";
}
