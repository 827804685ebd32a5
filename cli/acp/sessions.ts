/** The sessions of an editor: each has an interactive task over one folder, and its own link to the kernel. @module */
import { join } from "node:path";
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import { SessionId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { AgentTask, type Phase, type Staged } from "../../contracts/task/mod.ts";
import {
  type EditorVoice,
  type HostSession,
  makeSessionUpdates,
  type SessionHost,
  type SessionUpdates,
} from "../../bridges/acp/mod.ts";
import { displayText } from "../../text/mod.ts";
import { listSessions, serversIn, taskOf } from "./open_tasks.ts";
import { editorQuestion, unsavedOf } from "./question.ts";
import { readSeen, type Seen } from "../audit/event_fields.ts";
import { makeCallJoin } from "../audit/join_calls.ts";
import type { Command } from "../command.ts";
import { mountNameOf } from "../../launch/disk/mounts.ts";
import { checkSameFolders } from "../../launch/disk/same_folders.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { inItsPlace } from "../kernel/task_rules.ts";
import { noteSuspension } from "../mcp/events.ts";
import { lendApproved } from "../../bridges/mcp/registry/handover.ts";
import { registryOf } from "../mcp/work.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { lendKeys, provideModelPrograms, readyAgain } from "../model/ready.ts";
import { shownChanges } from "../question/asking.ts";
import { signAnswer } from "../question/sign_answer.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { createTask, readPast } from "../run/run_task.ts";
import { askStaged, type Watch, type WatchEnd, watchTask } from "../run/watch_task.ts";
import { withModel } from "../session/session.ts";
import { type HandedServers, makeHandedServers } from "./servers.ts";
import { VERSION } from "../../launch/kernel/version.ts";

/** The command of an editor's sessions, with its powers. */
export type EditorCommand = Command<
  Basic | "keyboard" | "mcpStore" | "models" | "plugins" | "wikis"
>;

type Asked = Parameters<SessionHost["create"]>[0];

/** Default context window, tokens. */
const DEFAULT_WINDOW = 200_000;

/** Makes the sessions over this state; `close` closes all open ones. */
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
    const folder = command.powers.disk.real(cwd);
    if (
      !cwd.startsWith("/") || folder === undefined ||
      command.powers.disk.stat(folder)?.folder !== true
    ) {
      throw new Fault(
        "invalidInput",
        `Cannot work in "${cwd.slice(0, 200)}": it is no folder by its absolute path`,
      );
    }
    const mounts = [{ name: mountNameOf(folder), dir: folder, mode: "stage" as const }];
    // The task waits for an answer from the editor or elsewhere.
    return { ...await settle(command, { folder, mounts }), onQuestion: "ask" };
  };
  return Object.freeze({
    version: VERSION,
    async create(asked: Asked): Promise<HostSession> {
      const setting = await settled(asked.cwd);
      const link = await kernelFor(command, setting);
      const id = SessionId.parse(command.powers.environment.id("s"));
      const handed = makeHandedServers(command, { servers: asked.mcpServers, setting, link });
      return kept(makeSession(command, { id, setting, link, handed }));
    },
    async take(id: string, asked: Asked): Promise<HostSession> {
      const setting = await settled(asked.cwd);
      let link = await kernelFor(command, setting);
      try {
        const task = await taskOf(link, id);
        link = await inItsPlace(command, link, task.id);
        checkSameFolders(command.powers.disk, task.mounts);
        const past = await readPast(link, task.id);
        await readyAgain(command, link, past);
        await lendApproved(registryOf(command), link);
        const seen = past.flatMap((told) => readSeen(told) ?? []);
        const from = { task: task.id, phase: task.phase, past: seen };
        const servers = asked.mcpServers;
        const began = serversIn(seen);
        const handed = makeHandedServers(command, { servers, setting, link, began });
        return kept(makeSession(command, { id, setting, link, handed, from }));
      } catch (error) {
        link.close();
        throw error;
      }
    },
    async list(cwd: string | undefined) {
      const link = await command.powers.kernels(command.places).find();
      if (link === undefined) return [];
      try {
        return await listSessions(link, cwd);
      } finally {
        link.close();
      }
    },
    close: async () => void await Promise.all([...open].map((session) => session.close())),
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
  readonly handed: HandedServers;
  readonly from?: {
    readonly task: AgentTask["id"];
    readonly phase: Phase;
    readonly past: readonly Seen[];
  };
}

function makeSession(command: EditorCommand, parts: SessionParts): HostSession {
  const { powers } = command;
  const { id, link, handed, from } = parts;
  let { setting } = parts;
  let phase: "plan" | "work" = from?.phase === "plan" ? "plan" : "work";
  let running: Running | undefined;
  let voice: EditorVoice | undefined;
  let cancelled: AbortController | undefined;
  /** Resolves once earlier updates were sent, so that updates stay in order. */
  let sent: Promise<void> = Promise.resolve();
  const pathOf = (path: string): string | undefined => {
    const [name = "", ...rest] = path.split("/");
    const mount = setting.mounts.find((each) => each.name === name);
    return mount === undefined ? undefined : join(mount.dir, ...rest);
  };
  const updates: SessionUpdates = makeSessionUpdates({
    pathOf,
    window: setting.limits.contextWindow ?? DEFAULT_WINDOW,
  });
  const joined = makeCallJoin();
  const show = (to: EditorVoice | undefined, seen: Seen, past: boolean): void => {
    if (seen.kind !== "event" && seen.kind !== "chunk") return;
    const update = seen.kind === "event"
      ? { kind: seen.kind, event: joined(seen.event) }
      : { kind: seen.kind, text: seen.text };
    const made = updates.take(update, { past });
    if (to === undefined) return;
    // An editor that is gone misses updates; the task's log has them.
    for (const each of made) sent = sent.then(() => to.update(each)).catch(() => undefined);
  };

  /** Resumes an earlier task, and replays its past to `to`. */
  const takeUp = async (to: EditorVoice | undefined): Promise<void> => {
    if (from === undefined) return;
    for (const seen of from.past) show(to, seen, true);
    await sent;
    await follow(from.task, from.past.length);
  };

  const follow = async (task: AgentTask["id"], past: number): Promise<void> => {
    const watch = await watchTask(link, task, {
      from: past,
      answerer: (question, staged, signal) => ask(question, staged, signal),
      onSeen(seen) {
        if (seen.kind === "event") noteSuspension(command, seen.event);
        show(voice, seen, false);
      },
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
      // Questions that the turn still asks, such as its review, end with it; staged changes stay.
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
    const changes = shownChanges(question, staged, powers.disk);
    const asked = editorQuestion(question, {
      ...{ id: call.id, answerable, command: powers.environment.command, changes },
      unsaved: await Promise.race([
        unsavedOf(changes, { pathOf, disk: powers.disk, voice: to }),
        gone.promise.then(() => []),
      ]),
    });
    const chosen = await to.ask(asked, signal).catch((error: unknown) => {
      if (error instanceof Fault && error.code === "cancelled") return undefined;
      throw error;
    });
    // Closed without an answer: wait for one from elsewhere, or for the end of the turn.
    if (chosen === undefined) return await gone.promise;
    return signAnswer(question, {
      decision: chosen === "deny" ? "deny" : "allow",
      for: chosen === "session" ? "session" : "once",
      by: "editor",
      channel: "command",
    }, {
      signer: openKeyRing(powers.disk, command.places).provideConsent(),
      at: powers.environment.now(),
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
    setting = { ...next, mcp: setting.mcp, onQuestion };
  };

  const say = (to: EditorVoice, text: string): Promise<void> =>
    to.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  /** Settles the editor's servers before a conversation's first words; the task keeps them from then on. */
  const settleServers = async (to: EditorVoice, signal: AbortSignal): Promise<void> => {
    const told = (text: string): Promise<void> => say(to, `${text}\n\n`);
    try {
      const mcp = await handed.settle({ voice: to, signal }, told);
      if (mcp !== undefined) setting = { ...setting, mcp };
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };

  return Object.freeze<HostSession>({
    id,
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
          await say(to, await known(words));
          return "end_turn";
        }
        await settleServers(to, cancelled.signal);
        if (running === undefined && from !== undefined) await takeUp(undefined);
        if (cancelled.signal.aborted) return "cancelled";
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
        // A cancel before the task existed had nothing to interrupt.
        if (cancelled.signal.aborted) await interrupt();
        let end = await watch.next();
        // After a cancelled question the turn still ends by itself.
        while (cancelled.signal.aborted && end.waiting !== undefined) end = await watch.next();
        const stop = stopOf(end);
        // A model that does not stream sends its answer only at the end.
        const { answer = "" } = AgentTask.parse(await link.ask("task", { task: need().task }));
        await sent;
        if (!updates.spoke() && answer !== "" && stop === "end_turn") {
          await say(to, answer);
        }
        return stop;
      } finally {
        // Send all updates of a turn before answering its prompt.
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
