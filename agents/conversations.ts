/** Names of conversations: a document each, and the end of those that expire. @module */
import {
  ConversationName,
  type ConversationStore,
  type DocumentWrite,
  Fault,
  type HostedAgentService,
  NamedConversation,
  type Store,
  TaskId,
  toJsonObject,
} from "../contracts/mod.ts";
import { isFinal } from "./task/fold.ts";

/** What {@link openConversations} is handed. */
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
