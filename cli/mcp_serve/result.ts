/** What a host is told of a call: never more than it is cleared for. @module */
import {
  cleared,
  Fault,
  type Label,
  type Question,
  type ServeResult,
} from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Called } from "./caller.ts";
import type { LaneEnd } from "./lane.ts";
import type { Hands } from "../hands.ts";
import { showChange } from "../question/shown_content.ts";

/** Key of remit.yaml's `clearance` for hosts: what they are told leaves for their models. */
export const HOST_SINK = "mcp:host";
const SUMMARY = 4_000;
const ARGUMENTS = 2_000;

type Waiting = Extract<LaneEnd, { readonly kind: "waiting" }>;

/** What decides what a host is told. */
export interface TellingParts {
  readonly task: string;
  /** The most confidential text that hosts are told. */
  readonly clearance: Label;
  /** The host's own person may answer consent. */
  readonly selfConsent: boolean;
  /** What content of changes is read from. */
  readonly disk: Pick<Hands["disk"], "read">;
  /** How a person answers a question: commands to type. */
  where(question: string): string;
}

/** What a host is told of how a call stands. */
export function tellingOf(end: LaneEnd, parts: TellingParts): ServeResult {
  switch (end.kind) {
    case "done":
      return calledResult(end.called, parts);
    case "over":
      return {
        ...{ outcome: "cancelled", content: "", colour: "BLUE", label: "public" },
        ...{ task: parts.task, error: `Cannot call: ${end.why}; start a new session` },
      };
    case "waiting": {
      const before = end.called === undefined ? undefined : calledResult(end.called, parts);
      return {
        ...(before ??
          { content: "", colour: end.question.scope.colour, label: "public", task: parts.task }),
        outcome: before?.outcome ?? "waiting",
        waiting: waitingOf(end, parts),
      };
    }
  }
}

/** Whether the host's own person may answer: a consent that it is told whole, and none to administration. */
export function mayConsent(
  { kind, scope }: Question,
  { selfConsent, clearance }: Pick<TellingParts, "selfConsent" | "clearance">,
): boolean {
  return selfConsent && kind === "consent" && scope.effect !== "admin" &&
    cleared(scope.label, clearance);
}

function calledResult(called: Called, { task, clearance }: TellingParts): ServeResult {
  const { outcome, content, error, colour, label } = called;
  if (!cleared(label, clearance)) {
    return {
      ...{ outcome: "refusedByPolicy", content: "", colour, label: "public", task },
      error: `Cannot tell a host what came of it: it is "${label}", and hosts are cleared for ` +
        `"${clearance}"; the operator can write clearance: { "${HOST_SINK}": ${label} } in remit.yaml`,
    };
  }
  return {
    ...{ outcome, content, colour, label, task },
    ...(error === undefined ? {} : { error: error.slice(0, 8_000) }),
  };
}

/** What a question would change, read and hashed here; undefined where that cannot be shown whole. */
function contentOf(
  { question: { changes }, content }: Waiting,
  disk: TellingParts["disk"],
): string | undefined {
  if (changes.length === 0) return "";
  if (content === undefined) return undefined;
  try {
    const lines = changes.flatMap((change) => {
      const { lines, note } = showChange(disk, content, change);
      return [fileLine(change), ...(note === undefined ? [] : [`  ${note}`]), ...lines];
    });
    const text = lines.join("\n");
    return text.length <= SUMMARY / 4 * 3 ? text : undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return undefined;
  }
}

function fileLine({ base, next, path }: Question["changes"][number]): string {
  const how = base === undefined ? "new" : next === undefined ? "delete" : "change";
  return `${how} ${displayText(path, { max: 200 })}`;
}

function waitingOf(end: Waiting, parts: TellingParts): NonNullable<ServeResult["waiting"]> {
  const { question } = end, { id, kind, changes, argumentsText, scope } = question;
  const content = contentOf(end, parts.disk);
  const files = content === undefined
    ? [...changes.slice(0, 40).map(fileLine), "(too much to show here: see it at the terminal)"]
    : [content];
  // Content that the host is not cleared for is not told in a question either.
  const told = cleared(scope.label, parts.clearance);
  const what = !told ? `${scope.tool} (its particulars are "${scope.label}")` : [
    displayText(question.summary, { max: 1_000 }),
    ...(changes.length > 0 ? files : [displayText(argumentsText, { max: ARGUMENTS })]),
  ].join("\n");
  return {
    question: id,
    kind: kind === "consent" || kind === "stepUp" ? kind : "other",
    summary: what.slice(0, SUMMARY),
    where: parts.where(id),
    // What a person was not shown whole is nothing that they can agree to.
    elicit: mayConsent(question, parts) && content !== undefined && what.length <= SUMMARY &&
      argumentsText.length <= ARGUMENTS / 2,
  };
}
