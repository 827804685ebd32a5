/** Builds the question for a call. Used by gate.ts. @module */
import { QuestionId } from "../../contracts/authority/ids.ts";
import type { EffectClass, Question } from "../../contracts/authority/mod.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { isImported } from "../../contracts/tool/tool.ts";
import { covers } from "../grants.ts";
import { earlierCall } from "../provenance/earlier_call.ts";
import { QUESTION_TTL_MS } from "../questions.ts";
import { adviceBefore } from "./result.ts";
import type { GateParts, Judged } from "./parts.ts";
import { tell } from "./step_mode.ts";

/** Effects for which an answer may be remembered, if nothing else excludes it. */
const REMEMBERED: ReadonlySet<EffectClass> = new Set([
  "read",
  "stage",
  "mutateLocal",
  "outboundRead",
  "outboundWrite",
]);

/**
 * The open question for exactly this call, or a new one, charged to the process. An open question
 * from a different state lapses: its answer would no longer cover the call.
 * @throws {Fault} `budgetExhausted` when no more questions may be asked.
 */
export async function provideQuestion(
  parts:
    & Pick<
      GateParts,
      "questions" | "processes" | "powers" | "advisor" | "reasonFor" | "earlier" | "redact"
    >
    & { readonly signal: AbortSignal },
  judged: Judged,
): Promise<Question> {
  const { known, read, scope } = judged;
  const { process } = known;
  for (const open of parts.questions.open(process.task)) {
    const isSameCall = open.callId === known.callId && open.scope.tool === scope.tool &&
      open.scope.arguments === scope.arguments;
    if (!isSameCall) continue;
    if (covers(open.scope, scope) && open.kind === judged.needs) return open;
    await parts.questions.lapse({ question: open.id });
  }
  const { argumentsText } = judged.decision;
  const reason = await parts.reasonFor?.(
    process,
    { tool: scope.tool, argumentsText },
    parts.signal,
  );
  const past = await seen(parts, judged);
  parts.processes.charge(process.pid, { questions: 1 });
  const now = parts.powers.now();
  const remember = remembered(judged);
  const { summary, changes = [], plan } = read.resolved;
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
    argumentsText,
    summary: tell(read, summary).slice(0, 1_024),
    changes: [...changes],
    executes: [...judged.executes],
    ...(plan === undefined ? {} : { plan: { program: plan.program, sites: [...plan.sites] } }),
    sources: process.sources.slice(-100),
    ...(advice.length === 0 ? {} : { advice: [...advice] }),
    ...(judged.origins === undefined
      ? {}
      : { origins: [...judged.origins.values], declared: judged.origins.declared }),
    ...past,
    ...(agents.length > 1 ? { agents } : {}),
    ...(reason === undefined ? {} : { reason: redacted(reason, parts.redact) }),
    lease: judged.decision.lease,
    rule: judged.decision.rule.slice(0, 512),
    ...(remember === undefined ? {} : { remember }),
    asked: Math.max(1, process.usage.questions),
    createdAt: now,
    expiresAt: now + QUESTION_TTL_MS,
    state: "open",
  };
}

const DESCRIBED = 300;

/** The tool's description and its last call, for a call that leaves the task. */
async function seen(
  { earlier, redact }: Pick<GateParts, "earlier" | "redact">,
  { known, read, origins, decision }: Judged,
): Promise<Pick<Question, "earlier" | "described">> {
  // Step 2 has compared this description with the reviewed one.
  const text = redact(known.descriptor.description.toWellFormed());
  const described = text.length <= DESCRIBED ? text : `${text.slice(0, DESCRIBED - 1)}…`;
  const of = isImported(known.descriptor) ? { described: described.toWellFormed() } : {};
  if (earlier === undefined || origins === undefined) return of;
  const past = await earlier(known.process, { tool: known.tool, key: read.key() });
  return {
    ...of,
    earlier: past === undefined ? null : earlierCall(decision.argumentsText, {
      ...past,
      argumentsText: redact(past.argumentsText),
    }),
  };
}

/** The reason with secrets redacted, as it is shown and stored. */
function redacted(
  { why, authority, without }: NonNullable<Question["reason"]>,
  redact: GateParts["redact"],
): NonNullable<Question["reason"]> {
  const safe = (text: string): string => redact(text.toWellFormed()).slice(0, 500);
  return { why: safe(why), authority: safe(authority), without: safe(without) };
}

/** Names of a process's agent and its ancestors, outermost first. */
function agentsAbove(
  { processes }: Pick<GateParts, "processes">,
  { spec, ppid }: ProcessRow,
): string[] {
  const above = ppid === undefined ? undefined : processes.get(ppid);
  return [...(above === undefined ? [] : agentsAbove({ processes }, above)), spec.slice(0, 64)];
}

/** The rule that an answer for the turn or session stores; never wider than the question. */
function remembered({ needs, scope, read, executes }: Judged): string | undefined {
  if (needs !== "consent" || !REMEMBERED.has(scope.effect)) return undefined;
  // A program needs a new answer for each run.
  if (read.resolved.plan !== undefined) return undefined;
  if (executes.length > 0 || (read.resolved.changes ?? []).length > 0) return undefined;
  const to = scope.destination === undefined ? "" : ` to ${scope.destination}`;
  return `allow ${scope.tool} with exactly these arguments${to}`.slice(0, 1_024);
}
