/**
 * Notices to tasks and the person about shared resources: structured messages in inboxes. A
 * worker's notice contains ids, times and its own text, and nothing that another worker wrote, so
 * that a stranger's claim cannot lower its colour. The one who must decide sees both texts, with
 * their colour. Wired in kernel/main_agents.ts.
 * @module
 */
import type { JsonObject } from "../../contracts/base/json.ts";
import { toJson } from "../../contracts/base/mod.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import { Box, type MessageKind, Sender } from "../../contracts/exchange/inbox.ts";
import type { AgentInbox, AgentMessage } from "../../contracts/exchange/mod.ts";
import {
  type ConflictReport,
  overlaps,
  partsOfResource,
  type ResourceChange,
  type ResourceLease,
  type ResourceRef,
  type SharedResource,
} from "../../contracts/task/resources.ts";
import { canonicalJson } from "../../port/mod.ts";

/** `schema` of a message about a resource, whose body is JSON. */
const RESOURCE_SCHEMA = "remit.resource/1";

/** The parts of {@link makeNotices}. */
export interface NoticeParts {
  readonly inbox: Pick<AgentInbox, "put" | "list" | "dismiss">;
  /** Whether a task is known and unfinished, so that it reads its inbox. */
  listens(task: TaskId): boolean;
  note(line: string): void;
}

/** Receives the registry's changes. */
export interface Notices {
  onChange(change: ResourceChange, before: SharedResource): void;
  onFinding(report: ConflictReport): void;
}

interface Notice {
  readonly to: TaskId | "host";
  readonly kind: MessageKind;
  /** Message id; a repeated id is one message. */
  readonly id: string;
  readonly resource: ResourceRef;
  readonly body: JsonObject;
  readonly from: Pick<ResourceLease, "colour" | "label">;
  readonly expiresAt?: number;
}

/** Makes the notices. */
export function makeNotices(parts: NoticeParts): Notices {
  const { inbox } = parts;

  const send = async (notice: Notice): Promise<void> => {
    const { to, id, resource, body, from, expiresAt } = notice;
    if (to !== "host" && !parts.listens(to)) return;
    const box = Box.parse(to === "host" ? to : `task:${to}`);
    const sender = Sender.parse(`resource:${partsOfResource(resource).name}`);
    // A second interrupt adds nothing, and would be quarantined.
    const waits = notice.kind === "interrupt" &&
      inbox.list({ box, state: "queued" }).some(({ message }) =>
        message.kind === "interrupt" && message.sender === sender
      );
    const message: AgentMessage = {
      ...{ id, sender, kind: waits ? "resourceEvent" : notice.kind },
      ...{ body: canonicalJson(body), schema: RESOURCE_SCHEMA },
      ...{ artifactRefs: [], requestedActions: [], requestedAuthority: [] },
      ...(expiresAt === undefined ? {} : { expiresAt }),
    };
    await inbox.put(message, { box, colour: from.colour, label: from.label });
  };
  const tell = (notice: Notice): void =>
    void send(notice).catch((error: unknown) =>
      // The inbox is full or rate limited; the change is in the log and in `remit resources`.
      parts.note(`Nobody was told of ${notice.resource}: ${String(error)}`)
    );

  /** Dismisses the question about a conflict that needs no decision any more. */
  const settle = ({ id, supervisor }: ConflictReport): void => {
    const box = Box.parse(supervisor === "host" ? supervisor : `task:${supervisor}`);
    const asked = inbox.list({ box, state: "queued" }).find(({ message }) =>
      message.id === `${id}-decide`
    );
    if (asked === undefined) return;
    inbox.dismiss(asked.id, "it is decided, or over").catch((error: unknown) =>
      // The message is being shown, or was settled meanwhile.
      parts.note(`The message about conflict ${id} stays: ${String(error)}`)
    );
  };

  const onConflict = (report: ConflictReport, { leases }: SharedResource): void => {
    if (report.state !== "open") return;
    const { id, resource, supervisor, claimant, holder } = report;
    const held = leases.find((lease) => lease.id === report.lease);
    const until = held === undefined ? {} : { expiresAt: held.expiresAt };
    // The claimant knows from the answer to its claim.
    if (supervisor === "host" || supervisor !== claimant.task || claimant.child !== undefined) {
      tell({
        ...{ to: supervisor, kind: "question", id: `${id}-decide`, resource, ...until },
        body: {
          ...{ event: "conflict", resource, report: toJson(report), decide: howTo(report) },
          ...(held === undefined ? {} : { held: toJson(held) }),
        },
        from: report,
      });
    }
    if (held === undefined || holder === undefined || holder.task === supervisor) return;
    tell({
      ...{ to: holder.task, kind: "resourceEvent", id: `${id}-wanted`, resource, ...until },
      body: {
        ...{ event: "wanted", resource, conflict: id, lease: held.id, scope: held.scope },
        ...{ by: claimant.task, supervisor, next: "release it when you are done with it" },
      },
      from: held,
    });
  };

  const onEnded = (
    change: Extract<ResourceChange, { what: "ended" }>,
    { ref: resource, leases, watches, conflicts }: SharedResource,
  ): void => {
    for (const report of conflicts) {
      if (report.lease === change.lease && report.state === "open") settle(report);
    }
    const lease = leases.find(({ id }) => id === change.lease);
    if (lease === undefined) return;
    const { id, owner, scope } = lease, { reason, at } = change;
    // A child process has no inbox; its parent ended the claim.
    const byParent = reason === "supervisor" && owner.child !== undefined;
    const byOthers = reason === "operator" || (reason === "supervisor" && !byParent);
    if (byOthers || reason === "expired") {
      tell({
        ...{ to: owner.task, kind: byOthers ? "interrupt" : "resourceEvent" },
        ...{ id: `${id}-ended`, resource },
        body: {
          ...{ event: "ended", resource, lease: id, scope, reason, at, agent: owner.agent },
          next: byOthers
            ? "stop working on it: others may now"
            : "claim it again before you go on with it: others may have changed it",
        },
        from: lease,
      });
    }
    for (const watch of watches) {
      if (watch.task === owner.task || !overlaps(watch.scope, scope)) continue;
      tell({
        ...{ to: watch.task, kind: "resourceEvent", id: `${id}-free`, resource },
        body: { event: "free", resource, lease: id, scope: watch.scope, at },
        from: watch,
      });
    }
  };

  return Object.freeze<Notices>({
    onChange(change, before): void {
      const { ref: resource } = before;
      switch (change.what) {
        case "conflict":
          return onConflict(change.report, before);
        case "ended":
          return onEnded(change, before);
        case "decided": {
          const report = before.conflicts.find(({ id }) => id === change.conflict);
          if (report === undefined) return;
          settle(report);
          const { conflict, decision, approver } = change;
          return tell({
            ...{ to: report.claimant.task, kind: "resourceEvent", id: `${conflict}-decided` },
            resource,
            body: {
              ...{ event: "decided", resource, conflict, decision, approver },
              ...{ scope: report.scope, agent: report.claimant.agent, next: NEXT[decision] },
            },
            from: report.own,
          });
        }
        case "over": {
          const report = before.conflicts.find(({ id }) => id === change.conflict);
          return report === undefined ? undefined : settle(report);
        }
        case "written":
          for (const { task, scope, once, ...from } of before.watches) {
            if (once || !overlaps(scope, change.scope)) continue;
            tell({
              ...{ to: task, kind: "resourceEvent", resource, from },
              id: `${resource}-${before.createdAt}-${before.generation}`,
              body: { event: "changed", resource, scope, version: change.version.kind },
            });
          }
          return;
        default:
      }
    },
    onFinding(report): void {
      const { id, resource, claimant } = report;
      // A finding of a merge queue or wiki contains nothing secret from the claimant.
      tell({
        ...{ to: claimant.task, kind: "reviewFinding", id: `${id}-finding`, resource },
        body: { event: "conflict", resource, report: toJson(report) },
        from: report,
      });
    },
  });
}

const NEXT: Readonly<Record<NonNullable<ConflictReport["decision"]>, string>> = {
  share: "you have a shared claim on it now",
  release: "it is free: claim it",
  refuse: "leave it to the other, and do something else",
};

function howTo({ id, supervisor }: ConflictReport): string {
  return supervisor === "host"
    ? `remit resources decide ${id} share|release|refuse`
    : `call resource_release with {"conflict":"${id}","decision":"share" or "release" or "refuse"}`;
}
