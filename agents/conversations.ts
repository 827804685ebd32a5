/** Names of conversations: a document each, and the end of those that expire. @module */
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

/** Opens the store of names that earlier kernels gave. */
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
    // A document is never deleted: one without a task is a name that nobody has.
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
        // Under another name it stays.
        if (names.values().some((other) => other.task === task && !isDue(other))) {
          await remove(name);
          gone.push(name);
          continue;
        }
        // Somebody is in the middle of it: the next time.
        if (service.hosted(task) !== undefined) continue;
        // A log that was repaired may have lost the task.
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

/** What a conversation can become between its turns. */
export interface Forks {
  restore(task: TaskId, number: number): Promise<JsonObject>;
  fork(fork: ForkRequest): Promise<AgentTask>;
}

export function makeForks(parts: ForkParts): Forks {
  const { keeper, runs, past } = parts;
  /** Tells whether a turn is under way; one that is just being put aside is not. */
  const underWay = async (task: TaskId): Promise<boolean> => {
    const { status } = keeper.need(task);
    if (isFinal(status) || keeper.turnOver(task)) await runs.settled(task);
    return runs.running(task) || (status !== "open" && !isFinal(status));
  };
  return Object.freeze<Forks>({
    async restore(task: TaskId, number: number): Promise<JsonObject> {
      if (keeper.need(task).purged) {
        throw new Fault("conflict", `Cannot restore: the content of ${task} is erased`);
      }
      if (await underWay(task)) {
        throw new Fault("conflict", `Cannot restore in task ${task}: a turn is under way`);
      }
      const body = await past.restoring(task, number);
      // Its process has the conversation as it was: the next message starts one from the log.
      if (runs.hosted(task) !== undefined) await runs.release(task, EXIT.success);
      await keeper.record(task, [{ kind: "contextRestored", body }]);
      return body;
    },
    async fork(fork: ForkRequest): Promise<AgentTask> {
      const from = keeper.need(fork.task);
      if (from.purged) {
        throw new Fault("conflict", `Cannot fork task ${fork.task}: its content is erased`);
      }
      const under = await underWay(fork.task);
      const { body, private: secret, answer, ...forked } = await past.forking(fork, under);
      // A phase that a person moved the conversation to holds for its fork.
      const request = { ...forked.request, phase: keeper.need(fork.task).phase };
      const id = TaskId.parse(parts.powers.id("t"));
      const made = createdEvent(request, parts);
      const events: NewEvent[] = [{
        kind: "taskCreated",
        body: { ...made.body, ...body },
        private: { ...secret, ...made.private },
      }];
      if (fork.message === undefined) {
        // As a task whose turn is over: nothing runs until something is said to it.
        events.push({ kind: "taskStatus", body: { status: "open" }, private: { answer } });
        return await keeper.record(id, events);
      }
      const task = await keeper.record(id, events);
      runs.run(id, async () => {
        // From its log, where the copy lies.
        await runs.start(task, request, true);
        runs.expireLater(task);
        await parts.turn(id, requestMessage(request, request.request));
      });
      return task;
    },
  });
}
