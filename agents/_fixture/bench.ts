/** A service over hand-made parts, for tests of this folder. */
import { Digest, TaskId } from "../../contracts/authority/mod.ts";
import { type AgentService, makeHostedAgentService, type ServiceParts } from "../service.ts";
import { makeTaskKeeper, type TaskKeeper } from "../task/keeper.ts";
import { handPowers } from "../../broker/_fixture/hand_powers.ts";
import { handHost, historyOf, memoryLog, pastOf, requestOf, storeOf } from "./fakes.ts";

/** A service whose surroundings a test controls by hand. */
export interface Bench {
  readonly service: AgentService;
  readonly keeper: TaskKeeper;
  readonly host: ReturnType<typeof handHost>;
  readonly log: ReturnType<typeof memoryLog>;
  readonly powers: ReturnType<typeof handPowers>;
  /** Whether a question waits for a person. */
  asked: boolean;
  /** Whether nobody answered the question in time. */
  unanswered: boolean;
}

/** Digest of the bench kernel's rules. */
export const RULES = Digest.parse("1".repeat(64));

/** Makes a bench, over a log that an earlier bench may have written. */
export function bench(
  log = memoryLog(),
  concurrent = 4,
  inbox?: NonNullable<ServiceParts["inbox"]>,
  rules = RULES,
): Bench {
  const host = handHost();
  const powers = handPowers();
  const keeper = makeTaskKeeper({
    log: {
      head: log.head,
      // As the kernel's bus does: the owner of tasks sees what was committed.
      async append(task, events, documents, at) {
        const placed = await log.append(task, events, documents, at);
        for (const event of events) keeper.saw(TaskId.parse(task), { ...event, at: at ?? 1 });
        return placed;
      },
    },
    store: storeOf(log),
    history: historyOf(log),
    now: powers.now,
  });
  const service = makeHostedAgentService({
    keeper,
    host,
    powers,
    concurrent,
    ...{ harness: "test", rules },
    requestOf: (task) => {
      const created = log.events.find((each) => each.task === task)?.event.private?.["request"];
      return Promise.resolve({ ...requestOf(), ...created as object });
    },
    past: pastOf(),
    asked: () => made.asked,
    unanswered: () => made.unanswered,
    stranded: () => undefined,
    ...(inbox === undefined ? {} : { inbox }),
  });
  const made: Bench = { service, keeper, host, log, powers, asked: true, unanswered: false };
  return made;
}

/** Runs everything that is ready. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}
