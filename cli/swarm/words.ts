/** Describes a swarm in words: its events, its issues, its cost. @module */
import { liveOf, spentOf, type SwarmEvent, type SwarmState } from "../../swarm/mod.ts";
import { displayText } from "../../text/mod.ts";

const short = (text: string, max = 300): string =>
  displayText(text.split("\n", 1)[0] ?? "", { max });

/** The lines for an event that the state includes already. */
export function eventLine(state: SwarmState, event: SwarmEvent): readonly string[] {
  switch (event.kind) {
    case "assigned":
      return [
        `${event.issue}  ${
          event.stage !== undefined
            ? `the ${event.stage} is settled`
            : event.work === "author"
            ? "a worker begins"
            : "a reviewer begins"
        } (${event.role}${event.model === "" ? "" : `, ${short(event.model, 80)}`})`,
      ];
    case "ended": {
      const issue = state.attempts.find(({ n }) => n === event.attempt)?.issue ?? "";
      const { outcome } = event;
      if (outcome.kind === "patch") {
        return [`${issue}  changed ${outcome.paths.map((path) => short(path, 80)).join(", ")}`];
      }
      if (outcome.kind === "settled") return [`${issue}  passed: ${short(outcome.document)}`];
      if (outcome.kind === "nothing") return [`${issue}  ${outcome.reason}: ${short(outcome.why)}`];
      return [
        `${issue}  ${outcome.kind} by a reviewer: ${short(outcome.review.behaviour, 160)}`,
        ...outcome.review.findings.map(({ path, what }) =>
          `${issue}    ${short(path, 80)}: ${short(what, 160)}`
        ),
      ];
    }
    case "checked":
      return [
        `${event.issue}  ${event.ok ? "checks are good" : `checks fail: ${short(event.said)}`}`,
      ];
    case "conflict":
      return [
        `${event.issue}  conflicts in ${
          event.paths.map((path) => short(path, 80)).join(", ")
        } with ${
          event.others.map(({ issue, task }) => `${issue} (task ${task})`).join(", ") ||
          "what was merged"
        }`,
      ];
    case "contested":
      return [
        `${event.issue}  "${
          short(event.scope, 80)
        }" is claimed by task ${event.holder}: its change is merged once that is over, or you decide: ` +
        `remit resources decide ${event.conflict} share|release|refuse`,
      ];
    case "merged":
      return [`${event.issue}  merged as ${event.commit.slice(0, 12)}`];
    case "closed":
      return [`${event.issue}  ${event.status}: ${short(event.why)}`];
    default:
      return [];
  }
}

/** The state of each issue, for `--json`. */
export function issueRows(state: SwarmState): readonly object[] {
  return [...state.issues.values()].map((of) => ({
    ...{ id: of.issue.id, title: of.issue.title, status: of.status },
    ...(of.why === "" ? {} : { why: of.why }),
    ...(of.merged === undefined ? {} : { commit: of.merged.commit, paths: of.merged.paths }),
    conflicts: of.conflicts.map(({ paths, others }) => ({ paths, others })),
    contested: of.contested.map(({ conflict, scope, holder }) => ({ conflict, scope, holder })),
    ...(Object.keys(of.passed).length === 0 ? {} : { passed: of.passed }),
    attempts: of.attempts.map(({ n, work, stage, role, model, provider, task, ended }) => ({
      ...{ n, work, role, model, provider },
      ...(stage === undefined ? {} : { stage }),
      ...(task === undefined ? {} : { task }),
      ...(ended === undefined ? {} : { outcome: ended.outcome, money: ended.money }),
    })),
    handoffs: of.handoffs,
  }));
}

/** A line for each issue, and a last one for the whole. */
export function summaryLines(state: SwarmState): readonly string[] {
  const issues = [...state.issues.values()];
  const width = Math.max(...issues.map(({ issue }) => issue.id.length));
  return [
    "",
    ...issues.map((of) => {
      const reviewers = of.attempts.filter(({ ended }) => ended?.outcome.kind === "approved");
      const how = of.status === "merged"
        ? `merged, approved by ${
          reviewers.map(({ role, provider }) => `${role} (${short(provider, 80)})`).join(", ")
        }`
        : of.status === "open"
        ? liveOf(of) === undefined ? "not begun, or waits" : "under way"
        : `${of.status}: ${short(of.why)}`;
      return `${of.issue.id.padEnd(width)}  ${how}`;
    }),
    `${state.attempts.length} tasks, ${spentOf(state).toFixed(4)} USD${
      state.finished === undefined ? "" : `; ${state.finished.status}: ${short(state.finished.why)}`
    }`,
  ];
}
