/** What a model would be asked: every part of the sources that are not done. @module */
import { cleared, type Label, mixLabel, type WikiSource } from "../../contracts/mod.ts";
import type { WorkPlan } from "../../contracts/wire_wiki.ts";
import { Fault } from "../../contracts/fault.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { OpenWiki } from "../ops/open_wiki.ts";
import { answerTokens, LEAST_CONTEXT, type Part, partsOf, shownLine, tokensOf } from "./parts.ts";
import { SYSTEM_V1 } from "./prompt_v1.ts";
import { EXTRACTION_SCHEMA_V1, SCHEMA_VERSION } from "./schema_v1.ts";
import { linesOf } from "./source_lines.ts";
import { makeWorkStore, type StoredItem } from "./work_store.ts";

/** Answers are shorter than they may be: of a part's tokens, so many parts come back. */
const ANSWER_SHARE = 0.6;

/** What is planned for. */
export interface PlanAsk {
  readonly model: string;
  readonly contextTokens: number;
  /** Sources with these keys, and those whose keys begin so; absent: all. */
  readonly of?: { readonly keys: readonly string[]; readonly prefixes: readonly string[] };
  /** Also what is done, and what was answered. */
  readonly again?: boolean;
  readonly clearance: Label;
}

/** Names one part for one model: an answer holds for these bytes and lines, in whichever run. */
function itemId(ask: Pick<PlanAsk, "model">, source: WikiSource, part: Part): string {
  const { digest, textDigest } = source;
  return sha256Hex(
    JSON.stringify([SCHEMA_VERSION, ask.model, digest, textDigest, part.from, part.to]),
  ).slice(0, 24);
}

/**
 * Makes the plan, and the run that holds it. The same sources, model and context give the same run.
 * @throws Fault `contextOverflow` when the context is too small for any part.
 */
export function planWork({ store, hands, answered }: OpenWiki, ask: PlanAsk): WorkPlan {
  const { model, contextTokens, again = false, clearance, of } = ask;
  if (contextTokens < LEAST_CONTEXT) {
    throw new Fault(
      "contextOverflow",
      `Cannot plan the ingest: the model takes ${contextTokens} tokens, ${LEAST_CONTEXT} are needed`,
    );
  }
  const work = makeWorkStore(store.documents);
  const keys = new Set(of?.keys);
  const isAsked = (key: string): boolean =>
    of === undefined || keys.has(key) || of.prefixes.some((prefix) => key.startsWith(prefix));
  const sources = store.sources.list({ clearance, state: "current" }).filter((source) =>
    isAsked(source.key) &&
    cleared(source.label, clearance) && (source.expiresAt ?? Infinity) > hands.now() &&
    (again || !work.isDone(model, source.digest))
  );
  const fixed = tokensOf(SYSTEM_V1) + tokensOf(EXTRACTION_SCHEMA_V1) + 100;
  const items: StoredItem[] = [];
  let [inputTokens, outputTokens, done] = [0, 0, 0];
  let label: Label = "public";
  for (const source of sources) {
    label = mixLabel(label, source.label);
    const lines = linesOf(store, source);
    for (const part of partsOf(lines, contextTokens)) {
      const id = itemId(ask, source, part);
      if (again) {
        work.dropAnswer(id);
        answered.delete(id);
      }
      items.push({ id, source: source.id, from: part.from, to: part.to });
      if (work.answer(id)?.done === true) {
        done++;
        continue;
      }
      const shown = lines.slice(part.from - 1, part.to).map(shownLine).join("\n");
      const tokens = tokensOf(shown) + 3 * (part.to - part.from + 1);
      inputTokens += fixed + tokens;
      outputTokens += Math.min(answerTokens(contextTokens), 200 + Math.ceil(tokens * ANSWER_SHARE));
    }
  }
  const run = sha256Hex(JSON.stringify([model, contextTokens, items.map(({ id }) => id)]))
    .slice(0, 16);
  work.putRun({ run, model, contextTokens, items, merged: [] });
  return {
    ...{ run, sources: sources.length, items: items.length, done },
    ...{ inputTokens, outputTokens, label },
  };
}
