/** Mail's share of what main.ts wires: names, inboxes and proposals of tasks whose agent speaks in mail. @module */
import {
  type EventLog,
  LAL_PROGRAM,
  type Leases,
  type ProcessKeeper,
  programOf,
  Sender,
  type Store,
  type TaskId,
  type TaskRequest,
} from "../contracts/mod.ts";
import {
  MAIL_DESCRIPTORS,
  type MailParts,
  makeNamesStore,
  makeTaskMail,
  type Offers,
} from "../agents/mod.ts";
import { covers } from "./lease/scope.ts";
import type { MailTools } from "./task/task_tools.ts";
import type { TaskFamily } from "./task/task_host.ts";

/** What {@link wireMail} is handed. */
export interface WireMailParts extends Pick<MailParts, "inbox" | "redeem"> {
  readonly store: Pick<Store, "document">;
  readonly log: EventLog;
  readonly leases: Leases;
  readonly processes: Pick<ProcessKeeper, "get">;
  /** A task that runs. */
  family(task: MailParts["task"]): Pick<TaskFamily, "gate"> | undefined;
}

/** Mail of a kernel's tasks. */
export interface MainMail extends MailTools {
  /** One of them read a letter of the other: it may answer. */
  related(a: TaskId, b: TaskId): boolean;
}

/** Wires mail. */
export function wireMail(parts: WireMailParts): MainMail {
  const { leases, processes, family, redeem, inbox } = parts;
  const names = makeNamesStore(parts);
  const offers: Offers = new Map();
  const descriptors = Object.values(MAIL_DESCRIPTORS);
  const known: ReadonlySet<string> = new Set(descriptors.map(({ name }) => name));
  const correspondents = new Set<string>();
  return Object.freeze<MainMail>({
    descriptors,
    related: (a, b) => correspondents.has(`${a} ${b}`),
    of(task, request): ReturnType<MailTools["of"]> {
      const granted = request.agent?.capabilities?.some(({ tool }) => known.has(tool)) ?? false;
      if (programOf(request) !== LAL_PROGRAM && !granted) return undefined;
      const agent = request.agent?.name ?? "agent";
      return makeTaskMail({
        ...{ task, agent, leases, offers, covers, inbox, redeem },
        peer: peerOf(request),
        names: names.of(agent, task),
        processOf: processes.get,
        gate: () => family(task)?.gate,
        heard: (from) => void correspondents.add(`${task} ${from}`),
      });
    },
  });
}

/** The peer in whose name a task came, as its exchange stamped it. */
function peerOf({ ingress }: Partial<Pick<TaskRequest, "ingress">>): Sender | undefined {
  return ingress?.channel === "a2a" ? Sender.parse(ingress.principal) : undefined;
}
