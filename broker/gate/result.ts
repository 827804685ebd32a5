/** Turns the end of a call into its result: guarded, redacted, cut to size. Used by perform.ts and ask.ts. @module */
import { Colour, Label, mixColour, mixLabel, mixTaints } from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import type { Guarded, GuardFlag } from "../../contracts/model/model_aux.ts";
import type { Meanwhile, PowerResult } from "../../contracts/task/power.ts";
import type { Source } from "../../contracts/authority/question.ts";
import type { Outcome, ToolResult } from "../../contracts/tool/tool.ts";
import { sha256Hex } from "../../port/digest.ts";
import { canonicalJson } from "../../port/mod.ts";
import type { Ran } from "./perform.ts";
import { faultOf, type GateParts, type Judged, OUTCOME_OF } from "./parts.ts";
import { tell } from "./step_mode.ts";

/** The end of a call, ready for the second commit. */
interface Ended {
  readonly result: ToolResult;
  /** The power's result, if it is to be committed. */
  readonly power: PowerResult | undefined;
  /** Bytes and SHA-256 of the content before redaction and cut; combined with those of messages that came meanwhile. */
  readonly bytes: number;
  readonly digest: Digest;
  /** The colour that a person's signature gave the result and its sources, if it raises theirs. */
  readonly lifted?: Colour;
  /** The advisor's sentences, for the log. */
  readonly advice: readonly string[];
  /** An error that is not a fault: recorded, then thrown again. */
  readonly bug: unknown;
}

/** The end of a call with the messages that came while it ran. */
export interface EndedWith extends Ended {
  /** The messages that are shown and committed. */
  readonly came: Meanwhile | undefined;
  /** Sources of everything shown. */
  readonly sources: readonly Source[];
}

const MAX_ERROR = 8_000;
/** Maximum UTF-16 units of a result's content, below the limit of its schema. */
const MAX_CONTENT = 999_000;

type EndParts = Pick<
  GateParts,
  "processes" | "redact" | "guards" | "policy" | "advisor" | "signed"
>;

/** Turns the end of a power's work into a result, and charges its size. */
export function endOf(
  parts: EndParts,
  judged: Judged,
  ran: Ran,
  flags: readonly GuardFlag[],
): Ended {
  switch (ran.kind) {
    case "done":
      return doneOf(parts, judged, ran.result, flags);
    case "stopped":
      return failedOf(parts, judged, ran.why);
    case "failed":
      return failedOf(parts, judged, ran.error);
  }
}

/** Appends messages that came meanwhile if size and budget allow; otherwise none of them. */
export function withMeanwhile(
  parts: EndParts,
  { known: { tool, process } }: Judged,
  ended: Ended,
  came: Meanwhile | undefined,
): EndedWith {
  const { result, lifted } = ended;
  const read = (ended.power?.sources ?? []).map((each) =>
    lifted === undefined ? each : { ...each, colour: noWorse(each.colour, lifted) }
  );
  const raw = came?.content.toWellFormed() ?? "", text = parts.redact(raw);
  const fits = result.content.length + text.length <= MAX_CONTENT;
  const charged = (): void => parts.processes.charge(process.pid, { resultBytes: text.length });
  if (came === undefined || !fits || refusedBy(charged) !== undefined) {
    return { ...ended, came: undefined, sources: read };
  }
  const whole = cutText(raw, Infinity);
  return {
    ...ended,
    result: {
      ...result,
      content: result.content === "" ? text : `${result.content}\n${text}`,
      ...mixTaints(result, came),
    },
    bytes: ended.bytes + whole.bytes,
    digest: sha256Hex(ended.digest, whole.digest),
    advice: [...ended.advice, ...adviceAfter(parts, { tool, content: raw })],
    came,
    sources: [...read, ...came.sources.filter((each) => !read.some((one) => isSame(each, one)))],
  };
}

/** The better of two colours. */
function noWorse(a: Colour, b: Colour): Colour {
  return mixColour(a, b) === a ? b : a;
}

function isSame(a: Source, b: Source): boolean {
  return a.source === b.source && a.colour === b.colour && a.label === b.label;
}

function doneOf(
  parts: EndParts,
  judged: Judged,
  power: PowerResult,
  flags: readonly GuardFlag[],
): Ended {
  const { known, decision } = judged;
  const { pid } = known.process, { processes } = parts;
  const unpaid = refusedBy(() => processes.charge(pid, { writtenBytes: power.writtenBytes ?? 0 }));
  // Dropping a staged change is safe: it is not in the log yet.
  if (unpaid !== undefined && decision.effect === "stage") return failedOf(parts, judged, unpaid);

  const raw = power.content.toWellFormed();
  const limit = parts.policy.resultBytes(known.tool) ?? known.binding.resultBytes;
  const whole = cutText(raw, Infinity);
  const shown = cutText(parts.redact(tell(judged.read, raw)), limit);
  const broke = refusedBy(() => processes.charge(pid, { resultBytes: shown.text.length }));
  let colour = power.colour;
  for (const guard of parts.guards?.after ?? []) {
    const lowered = guard({ tool: known.tool, content: raw });
    if (lowered !== undefined) colour = mixColour(colour, lowered.colour);
  }
  // A person has signed exactly these bytes, but a model guard may still flag them as hostile.
  const given = power.failed === undefined && broke === undefined;
  const signed = colour === "BLUE" || !given ? undefined : parts.signed?.(sha256Hex(shown.text));
  const flagged = flags.some(({ raises }) => raises !== "advise");
  const lifted = flagged || signed === undefined || noWorse(colour, signed) === colour
    ? undefined
    : signed;
  colour = flagged ? "RED" : lifted ?? colour;
  return {
    result: {
      callId: known.callId,
      outcome: power.failed === undefined ? "ok" : "executionError",
      content: broke === undefined ? shown.text : `⟨withheld: ${broke.message}⟩`,
      ...(power.failed === undefined
        ? {}
        : { error: tell(judged.read, power.failed).slice(0, MAX_ERROR) }),
      colour,
      label: power.label,
    },
    power,
    ...(lifted === undefined ? {} : { lifted }),
    bytes: whole.bytes,
    digest: whole.digest,
    advice: [
      ...flags.map(({ advice }) => advice.slice(0, MAX_ADVICE_LENGTH)),
      ...adviceAfter(parts, { tool: known.tool, content: raw }),
    ].slice(0, MAX_ADVICE),
    bug: undefined,
  };
}

function refusedBy(charge: () => void): Fault | undefined {
  const paid = faultOf(charge);
  return paid instanceof Fault ? paid : undefined;
}

function failedOf(parts: EndParts, judged: Judged, error: unknown): Ended {
  const { known } = judged, { process } = known;
  const fault = error instanceof Fault ? error : undefined;
  const outcome: Outcome = fault === undefined ? "executionError" : OUTCOME_OF[fault.code];
  const words = fault?.message ?? `Cannot finish "${known.tool}": the tool failed`;
  const detail = fault?.code === "conflict" && fault.detail !== undefined
    ? canonicalJson(fault.detail)
    : "";
  const content = cutText(parts.redact(tell(judged.read, detail)), known.binding.resultBytes);
  // A fault may carry the colour and label of what it read; the default is the process's.
  const colour = Colour.safeParse(fault?.detail?.["colour"]);
  const label = Label.safeParse(fault?.detail?.["label"]);
  return {
    result: {
      callId: known.callId,
      outcome,
      content: content.text,
      error: parts.redact(tell(judged.read, words.toWellFormed())).slice(0, MAX_ERROR),
      colour: colour.success ? mixColour(process.colour, colour.data) : process.colour,
      label: label.success ? mixLabel(process.label, label.data) : process.label,
    },
    power: undefined,
    bytes: content.bytes,
    digest: content.digest,
    advice: [],
    bug: fault === undefined ? error : undefined,
  };
}

/** A text cut to size, with size and digest of the original. */
interface Cut {
  readonly text: string;
  /** Bytes of UTF-8 before the cut. */
  readonly bytes: number;
  readonly digest: Digest;
}

const MAX_UNITS = 990_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Cuts `text` to `most` bytes of UTF-8, never within a character. Keeps its beginning and its end,
 * where errors usually are, and puts between them how much is shown and the SHA-256 of the
 * original.
 */
export function cutText(text: string, most: number): Cut {
  const whole = encoder.encode(text);
  const digest = sha256Hex(whole);
  const limit = Math.min(most, MAX_UNITS);
  if (whole.length <= limit) return { text, bytes: whole.length, digest };
  const continues = (at: number): boolean => ((whole[at] ?? 0) & 0xc0) === 0x80;
  let end = Math.ceil(limit / 2), begin = whole.length - Math.floor(limit / 2);
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && continues(end)) end--;
  while (begin < whole.length && continues(begin)) begin++;
  const shown = end + whole.length - begin;
  const notice = `\n⟨cut: ${shown} of ${whole.length} bytes shown; sha256 ${digest}⟩\n`;
  return {
    text: decoder.decode(whole.subarray(0, end)) + notice + decoder.decode(whole.subarray(begin)),
    bytes: whole.length,
    digest,
  };
}

// The advisor's sentences about a call: shown with its question and recorded. No decision uses
// them: {@link JudgeParts} has no advisor.

/** Maximum number of sentences, and characters of each. */
const MAX_ADVICE = 8, MAX_ADVICE_LENGTH = 200;

/** Sentences about the arguments of a call, for its question. */
export function adviceBefore(
  parts: Pick<GateParts, "advisor">,
  { known, read }: Pick<Judged, "known" | "read">,
): readonly string[] {
  return [
    ...read.flags.map(({ advice }) => advice.slice(0, MAX_ADVICE_LENGTH)),
    ...adviceOf(parts, { stage: "beforeTool", tool: known.tool, text: read.argumentsText }),
  ].slice(0, MAX_ADVICE);
}

/** Sentences about a call's result, for the log. */
function adviceAfter(
  parts: Pick<GateParts, "advisor">,
  { tool, content }: { readonly tool: string; readonly content: string },
): readonly string[] {
  return adviceOf(parts, { stage: "afterTool", tool, text: content });
}

function adviceOf({ advisor }: Pick<GateParts, "advisor">, guarded: Guarded): readonly string[] {
  if (advisor === undefined) return [];
  try {
    return advisor.check(guarded).slice(0, MAX_ADVICE).map((each) =>
      each.slice(0, MAX_ADVICE_LENGTH)
    );
  } catch (error) {
    // INVARIANT: an advisor that fails stops no call (test: "… with any advisor and with none").
    return [`the advisor failed: ${error instanceof Error ? error.name : "it threw"}`];
  }
}
