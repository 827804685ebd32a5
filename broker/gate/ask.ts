/** The question that a call comes to. @module */
import { QuestionId } from "../../contracts/authority/ids.ts";
import type {
  AnswerScope,
  Digest,
  EffectClass,
  Question,
  TaskId,
} from "../../contracts/authority/mod.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { covers } from "../grants.ts";
import { QUESTION_TTL_MS } from "../questions.ts";
import { adviceBefore } from "./result.ts";
import type { GateParts, Judged } from "./parts.ts";
import { tell } from "./step_mode.ts";

/** Effects for which an answer may be remembered, when nothing else speaks against it. */
const REMEMBERED: ReadonlySet<EffectClass> = new Set([
  "read",
  "stage",
  "mutateLocal",
  "outboundRead",
  "outboundWrite",
]);

/**
 * The open question for this very call, or a new one, charged to the process. One that was asked
 * when things stood otherwise lapses: its answer would cover nothing.
 * @throws {Fault} `budgetExhausted` when no more questions may be asked.
 */
export async function provideQuestion(
  parts: Pick<GateParts, "questions" | "processes" | "powers" | "advisor">,
  judged: Judged,
): Promise<Question> {
  const { known, read, scope } = judged;
  const { process } = known;
  for (const open of asked(parts, { task: process.task, callId: known.callId, scope })) {
    if (covers(open.scope, scope) && open.kind === judged.needs) return open;
    await parts.questions.lapse({ question: open.id });
  }
  parts.processes.charge(process.pid, { questions: 1 });
  const now = parts.powers.now();
  const remember = remembered(judged);
  const { summary, changes = [] } = read.resolved;
  const advice = adviceBefore(parts, judged);
  const agents = agentsAbove(parts, process);
  return {
    id: QuestionId.parse(parts.powers.id("q")),
    task: process.task,
    pid: process.pid,
    kind: judged.needs,
    callId: known.callId,
    turn: process.turn,
    scope,
    argumentsText: judged.decision.argumentsText,
    summary: tell(read, summary).slice(0, 1_024),
    changes: [...changes],
    executes: [...judged.executes],
    sources: process.sources.slice(-100),
    ...(advice.length === 0 ? {} : { advice: [...advice] }),
    ...(judged.origins === undefined
      ? {}
      : { origins: [...judged.origins.values], declared: judged.origins.declared }),
    ...(agents.length > 1 ? { agents } : {}),
    lease: judged.decision.lease,
    rule: judged.decision.rule.slice(0, 512),
    ...(remember === undefined ? {} : { remember }),
    asked: Math.max(1, process.usage.questions),
    createdAt: now,
    expiresAt: now + QUESTION_TTL_MS,
    state: "open",
  };
}

/** Names of a process's agent and of those that started it, the first one first. */
function agentsAbove(
  { processes }: Pick<GateParts, "processes">,
  { spec, ppid }: ProcessRow,
): string[] {
  const above = ppid === undefined ? undefined : processes.get(ppid);
  return [...(above === undefined ? [] : agentsAbove({ processes }, above)), spec.slice(0, 64)];
}

function asked(
  parts: Pick<GateParts, "questions">,
  call: { readonly task: TaskId; readonly callId: string; readonly scope: AnswerScope },
): readonly Question[] {
  const same = (digest: Digest): boolean => digest === call.scope.arguments;
  return parts.questions.open(call.task).filter((open) =>
    open.callId === call.callId && open.scope.tool === call.scope.tool &&
    same(open.scope.arguments)
  );
}

/** The rule that an answer for the turn or session stores: never wider than what is shown. */
function remembered({ needs, scope, read, executes }: Judged): string | undefined {
  if (needs !== "consent" || !REMEMBERED.has(scope.effect)) return undefined;
  if (executes.length > 0 || (read.resolved.changes ?? []).length > 0) return undefined;
  const to = scope.destination === undefined ? "" : ` to ${scope.destination}`;
  return `allow ${scope.tool} with exactly these arguments${to}`.slice(0, 1_024);
}
