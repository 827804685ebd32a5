/** Names of conversations, one document each, and the expiry of conversations. @module */
import { Fault } from "../contracts/base/fault.ts";
import { TaskId } from "../contracts/authority/ids.ts";
import { EXIT } from "../contracts/base/fault_exit.ts";
import type { NewEvent } from "../contracts/task/event.ts";
import {
  ConversationName,
  type ConversationStore,
  type ForkRequest,
  type HostedAgentService,
  NamedConversation,
  type PastConversations,
} from "../contracts/task/hosting.ts";
import { type JsonObject, toJsonObject } from "../contracts/base/json.ts";
import type { Powers } from "../contracts/task/process.ts";
import type { DocumentWrite, Store } from "../contracts/task/store.ts";
import { type AgentTask, requestMessage } from "../contracts/task/task.ts";
import { createdEvent, isFinal, type Origin } from "./task/fold.ts";
import type { TaskKeeper } from "./task/keeper.ts";
import type { TaskRuns } from "./task/runs.ts";

export interface ConversationParts {
  readonly store: Pick<Store, "documents" | "commit">;
  now(): number;
  readonly service: Pick<HostedAgentService, "find" | "get" | "hosted" | "cancel" | "purge">;
}

const KIND = "conversation";

/** Opens the names stored by earlier kernels. */
export async function openConversations(parts: ConversationParts): Promise<ConversationStore> {
  const { store, now, service } = parts;
  const names = new Map<ConversationName, NamedConversation>();
  const versions = new Map<string, number>();
  for (const { id, version, body } of await store.documents({ kind: KIND, limit: 100_000 })) {
    versions.set(id, version);
    const parsed = NamedConversation.safeParse(body);
    if (parsed.success) names.set(parsed.data.name, parsed.data);
  }

  const need = (name: ConversationName): NamedConversation => {
    const found = names.get(name);
    if (found !== undefined) return found;
    throw new Fault("notFound", `Cannot find conversation "${name}": it was given to none`);
  };

  const write = async (
    name: ConversationName,
    body: NamedConversation | undefined,
    task: TaskId,
  ) => {
    const expect = versions.get(name) ?? 0;
    // Documents are never deleted: one with an empty body is a removed name.
    const document: DocumentWrite = {
      ...{ kind: KIND, id: name, task, expect },
      body: body === undefined ? {} : toJsonObject(body),
    };
    await store.commit({ events: [], blobs: [], documents: [document] });
    versions.set(name, expect + 1);
    if (body === undefined) names.delete(name);
    else names.set(name, body);
  };

  const isDue = ({ expiresAt }: NamedConversation): boolean =>
    expiresAt !== undefined && expiresAt <= now();

  const remove = async (name: ConversationName): Promise<void> =>
    await write(name, undefined, need(name).task);

  return Object.freeze<ConversationStore>({
    list: () => [...names.values()],
    find(conversation: string): TaskId {
      const task = TaskId.safeParse(conversation);
      if (task.success) return service.get(task.data).id;
      const name = ConversationName.safeParse(conversation);
      if (!name.success) {
        throw new Fault("invalidInput", `Cannot read ${JSON.stringify(conversation)} as a name`);
      }
      return need(name.data).task;
    },
    async name(name: ConversationName, task: TaskId): Promise<NamedConversation> {
      if (service.get(task).purged) {
        throw new Fault("conflict", `Cannot name task ${task}: its content is erased`);
      }
      const named: NamedConversation = { name, task, createdAt: now() };
      await write(name, named, task);
      return named;
    },
    async expire(name: ConversationName, expiresAt: number | undefined) {
      const { expiresAt: _before, ...rest } = need(name);
      const named = { ...rest, ...(expiresAt === undefined ? {} : { expiresAt }) };
      await write(name, named, named.task);
      return named;
    },
    remove,
    async sweep(): Promise<readonly ConversationName[]> {
      const gone: ConversationName[] = [];
      for (const named of [...names.values()]) {
        const { name, task } = named;
        if (!isDue(named)) continue;
        // The task stays if it has another name.
        if (names.values().some((other) => other.task === task && !isDue(other))) {
          await remove(name);
          gone.push(name);
          continue;
        }
        // The task is in use: try again at the next sweep.
        if (service.hosted(task) !== undefined) continue;
        // A repaired log may have lost the task.
        const found = service.find(task);
        if (found !== undefined && !isFinal(found.status)) {
          await service.cancel(task, "its conversation expired");
        }
        if (found?.purged === false) await service.purge(task);
        await remove(name);
        gone.push(name);
      }
      return gone;
    },
  });
}

export interface ForkParts extends Origin {
  readonly keeper: Pick<TaskKeeper, "need" | "record" | "turnOver">;
  readonly runs: Pick<
    TaskRuns,
    "running" | "settled" | "hosted" | "release" | "start" | "run" | "expireLater"
  >;
  readonly powers: Pick<Powers, "id">;
  readonly past: PastConversations;
  /** Runs the first turn. */
  turn(task: TaskId, message: ReturnType<typeof requestMessage>): Promise<void>;
}

/** Restoring and forking of conversations, between turns. */
export interface Forks {
  restore(task: TaskId, number: number): Promise<JsonObject>;
  fork(fork: ForkRequest): Promise<AgentTask>;
}

export function makeForks(parts: ForkParts): Forks {
  const { keeper, runs, past } = parts;
  /** Whether a turn is running; waits for one that is just ending. */
  const isTurning = async (task: TaskId): Promise<boolean> => {
    const { status } = keeper.need(task);
    if (isFinal(status) || keeper.turnOver(task)) await runs.settled(task);
    return runs.running(task) || (status !== "open" && !isFinal(status));
  };
  return Object.freeze<Forks>({
    async restore(task: TaskId, number: number): Promise<JsonObject> {
      if (keeper.need(task).purged) {
        throw new Fault("conflict", `Cannot restore: the content of ${task} is erased`);
      }
      if (await isTurning(task)) {
        throw new Fault("conflict", `Cannot restore in task ${task}: a turn is under way`);
      }
      const body = await past.restoring(task, number);
      // The process holds the old conversation: end it, so that the next message starts one from the log.
      if (runs.hosted(task) !== undefined) await runs.release(task, EXIT.success);
      await keeper.record(task, [{ kind: "contextRestored", body }]);
      return body;
    },
    async fork(fork: ForkRequest): Promise<AgentTask> {
      const from = keeper.need(fork.task);
      if (from.purged) {
        throw new Fault("conflict", `Cannot fork task ${fork.task}: its content is erased`);
      }
      const turning = await isTurning(fork.task);
      const { body, private: secret, answer, ...forked } = await past.forking(fork, turning);
      // The fork keeps the phase that a person set.
      const request = { ...forked.request, phase: keeper.need(fork.task).phase };
      const id = TaskId.parse(parts.powers.id("t"));
      const made = createdEvent(request, parts);
      const events: NewEvent[] = [{
        kind: "taskCreated",
        body: { ...made.body, ...body },
        private: { ...secret, ...made.private },
      }];
      if (fork.message === undefined) {
        // Like a task between turns: nothing runs until the first message.
        events.push({ kind: "taskStatus", body: { status: "open" }, private: { answer } });
        return await keeper.record(id, events);
      }
      const task = await keeper.record(id, events);
      runs.run(id, async () => {
        // Start from the fork's log, which contains the copy.
        await runs.start(task, request, true);
        runs.expireLater(task);
        await parts.turn(id, requestMessage(request, request.request));
      });
      return task;
    },
  });
}
