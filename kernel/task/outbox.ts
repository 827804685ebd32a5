/**
 * Artifacts of all tasks: quarantined until released, deleted when they expire. Wired in
 * kernel/main_agents.ts and main_work.ts.
 * @module
 */
import { isObject, toJson } from "../../contracts/base/json.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { TaskId } from "../../contracts/authority/ids.ts";
import { Artifact } from "../../contracts/tool/workspace.ts";
import type { Json } from "../../contracts/base/mod.ts";
import type { ContentTrust } from "../../contracts/memory/mod.ts";
import type { AgentTask, EventLog, Store } from "../../contracts/task/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { bodyOf, type ReadPrivate } from "../core/log/read_events.ts";

interface OutboxParts {
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
  readonly log: EventLog;
  /** Every task, oldest first. */
  tasks(): AsyncIterable<AgentTask>;
  /** Records contents, because a released artifact may reach the operator's folders. */
  readonly contents: Pick<ContentTrust, "record">;
  now(): number;
}

/** The outboxes of one kernel. */
export interface Outbox {
  list(task: TaskId | undefined): Promise<readonly Artifact[]>;
  /** Releases an artifact from quarantine for the operator; throws `conflict` where it is not quarantined. */
  release(id: Artifact["id"]): Promise<Artifact>;
}

/** The artifacts in an outcome's record. */
function madeBy(record: Json | undefined): readonly Artifact[] {
  const { artifact, artifacts } = isObject(record) ? record : {};
  const each = [artifact, ...Array.isArray(artifacts) ? artifacts : []];
  return each.flatMap((one) => Artifact.safeParse(one).data ?? []);
}

/** Makes the outboxes: a fold of the tasks' outcomes and releases. */
export function makeOutbox(parts: OutboxParts): Outbox {
  const of = async (task: TaskId): Promise<readonly Artifact[]> => {
    const found = new Map<string, Artifact>();
    for (let fromN = 0;;) {
      const page = await parts.store.events({
        task,
        fromN,
        kinds: ["outcome", "artifact"],
        limit: 1_000,
      });
      for (const event of page) {
        const body = bodyOf(event);
        if (event.kind === "artifact") {
          const known = found.get(String(body["artifact"]));
          if (known !== undefined) found.set(known.id, { ...known, state: "released" });
          continue;
        }
        for (const made of madeBy((await parts.readPrivate(event))?.["record"])) {
          found.set(made.id, made);
        }
      }
      const last = page.at(-1);
      if (last === undefined || page.length < 1_000) break;
      fromN = last.n + 1;
    }
    return [...found.values()].map((each) =>
      each.state === "quarantined" && each.expiresAt <= parts.now()
        ? { ...each, state: "expired" }
        : each
    );
  };
  const list = async (task: TaskId | undefined): Promise<readonly Artifact[]> => {
    if (task !== undefined) return await of(task);
    const all: Artifact[] = [];
    for await (const { id } of parts.tasks()) all.push(...await of(id));
    return all;
  };
  return Object.freeze({
    list,
    async release(id: Artifact["id"]): Promise<Artifact> {
      const found = (await list(undefined)).find((each) => each.id === id);
      if (found === undefined) {
        throw new Fault("notFound", `Cannot release "${id}": no such artifact`);
      }
      if (found.state !== "quarantined") {
        throw new Fault("conflict", `Cannot release "${id}": it is ${found.state}`);
      }
      const released: Artifact = { ...found, state: "released" };
      parts.contents.record([released]);
      await parts.log.append(TaskId.parse(found.task), [{
        kind: "artifact",
        body: { artifact: id, state: "released", actor: "operator" },
        private: { artifact: toJson(released) },
      }]);
      return released;
    },
  });
}

/** Reads an artifact's bytes. Rejects with `notFound` where they are gone, expired or changed. */
type ReadArtifact = (artifact: Artifact) => Promise<Uint8Array>;

/** Makes the reader of artifacts beneath `work`, which is STATE/kernel/work. */
export function makeReadArtifact(
  { work, read, now }: {
    readonly work: string;
    read(path: string): Promise<Uint8Array | undefined>;
    now(): number;
  },
): ReadArtifact {
  return async ({ id, task, digest, state, expiresAt }) => {
    const expired = state === "expired" || (state === "quarantined" && expiresAt <= now());
    const bytes = expired ? undefined : await read(`${work}/${task}/content/${digest}`);
    if (bytes !== undefined && sha256Hex(bytes) === digest) return bytes;
    throw new Fault(
      "notFound",
      `Cannot read artifact ${id}: ${expired ? "it has expired" : "its content is gone"}`,
    );
  };
}
