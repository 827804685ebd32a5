/** `wiki ingest … --model`: a model reads the sources and proposes one patch to review. @module */
import { EXIT, type ExitCode } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText } from "../../command.ts";
import { readFinish, readItem, readPlan, readTaken } from "../../../memory-wiki/host/answers.ts";
import { askOperator, counted, numberOf, type OpenWiki, operatorName } from "../command.ts";
import type { Ingested } from "../ingest/files.ts";
import { type AskedModel, inputTokens, openModel, sayCost, usd } from "./ask.ts";
import type { Basic } from "../../powers.ts";

/** Exit code of an ingest by a model, and its part of the `--json` document. */
export interface ModelIngest {
  readonly exit: ExitCode;
  readonly document: Readonly<Record<string, unknown>>;
}

type Plan = ReturnType<typeof readPlan>;

const MAX_COST = 10_000;
/** Requests for one item, at most; a model that fails that often will not answer. */
const MAX_TRIES = 3;
/** Stop after this many requests when not a single answer was usable. */
const MAX_USELESS = 8;

/** Shows the cost, asks once, lets the model read, proposes one patch. Throws `denied`, `refused`. */
export async function ingestByModel(
  command: Command<Basic | "keyboard" | "mcpStore" | "models">,
  wiki: OpenWiki,
  taken: readonly Pick<Ingested, "of">[],
): Promise<ModelIngest> {
  const maxCost = numberOf(command, "max-cost", MAX_COST);
  const model = await openModel(command);
  try {
    const { name, contextTokens } = model;
    const of = {
      keys: taken.flatMap((each) => "key" in each.of ? [each.of.key] : []),
      prefixes: taken.flatMap((each) => "prefix" in each.of ? [each.of.prefix] : []),
    };
    const plan = readPlan(await wiki.ask("workPlan", { model: name, contextTokens, of }));
    if (plan.items === 0) {
      command.powers.screen.say("  the model has read all of it already");
      return { exit: EXIT.success, document: { items: 0 } };
    }
    const answered = plan.done === 0 ? "" : `, ${plan.done} of them answered already`;
    sayCost(command, model, {
      reads: `${counted(plan.sources, "source")} in ${
        counted(plan.items, "request")
      }${answered}; the highest label is ${plan.label}`,
      ...{ input: plan.inputTokens, output: plan.outputTokens, maxCost },
    });
    await askOperator(command, "have a model read them", "go on?", { yes: true });
    return await work(command, { wiki, model, plan, maxCost });
  } finally {
    model.close();
  }
}

async function work(
  command: Command,
  parts: {
    readonly wiki: OpenWiki;
    readonly model: AskedModel;
    readonly plan: Plan;
    readonly maxCost: number | undefined;
  },
): Promise<ModelIngest> {
  const { wiki, model, plan, maxCost } = parts;
  const { screen } = command.powers;
  const used = { requests: 0, inputTokens: 0, outputTokens: 0, money: 0 };
  const tries = new Map<string, number>();
  let problems = 0;
  let done = plan.done;
  for (;;) {
    const item = readItem(await wiki.ask("workNext", { run: plan.run }));
    if (item === null) break;
    const tried = (tries.get(item.id) ?? 0) + 1;
    tries.set(item.id, tried);
    const worst = model.priceOf({ input: inputTokens(item), output: item.maxTokens });
    // Ask only when the worst case fits the limit: a paid answer is never thrown away.
    const tooDear = maxCost !== undefined && used.money + worst > maxCost;
    const hopeless = tried > MAX_TRIES || (used.requests >= MAX_USELESS && done === plan.done);
    if (tooDear || hopeless) {
      return stopped(command, { why: tooDear ? "cost" : "tries", used, done, plan });
    }
    screen.hint(`  ${done}/${plan.items}  ${displayText(item.source, { max: 60 })} …`);
    const { system, user, responseSchema, maxTokens, label, colour } = item;
    const answer = await model.ask({ system, user, responseSchema, maxTokens, label, colour });
    used.requests += 1;
    used.inputTokens += answer.inputTokens;
    used.outputTokens += answer.outputTokens;
    used.money += answer.money;
    const taken = readTaken(
      await wiki.ask("workTaken", { run: plan.run, item: item.id, text: answer.text }),
    );
    if (taken.ok) done += 1;
    for (const each of taken.problems.slice(0, 3)) {
      problems += 1;
      screen.say(
        `  ${screen.paint.yellow("!")} ${displayText(item.source, { max: 80 })}: ${
          displayText(each, { max: 200 })
        }`,
      );
    }
  }
  screen.hint("");
  return await finish(command, { ...parts, used, problems });
}

interface Used {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly money: number;
}

function stopped(
  command: Command,
  { why, used, done, plan }: {
    readonly why: "cost" | "tries";
    readonly used: Used;
    readonly done: number;
    readonly plan: Plan;
  },
): ModelIngest {
  const { screen } = command.powers;
  screen.hint("");
  screen.say(
    why === "cost"
      ? `  stopped: the next request could pass --max-cost; ${
        usd(used.money)
      } spent, ${done} of ${plan.items} done; the same command goes on`
      : `  stopped: the model gives no answer that fits; ${done} of ${plan.items} done`,
  );
  return {
    exit: why === "cost" ? EXIT.budgetExhausted : EXIT.upstreamFailure,
    document: { items: plan.items, done, stopped: why, ...used },
  };
}

async function finish(
  command: Command,
  { wiki, plan, used, problems }: {
    readonly wiki: OpenWiki;
    readonly plan: Plan;
    readonly used: Used;
    readonly problems: number;
  },
): Promise<ModelIngest> {
  const { screen } = command.powers;
  const by = operatorName(command.powers);
  const { patch, contradictions, left } = readFinish(
    await wiki.ask("workFinish", { run: plan.run, by }),
  );
  const tokens = `${used.inputTokens} tokens in, ${used.outputTokens} out, ${usd(used.money)}`;
  screen.say(`  ${counted(used.requests, "request")}, ${tokens}`);
  for (const each of contradictions) {
    screen.say(
      `  ${screen.paint.yellow("contradiction")} ${displayText(each.message, { max: 300 })}`,
    );
  }
  if (left.length > 0) {
    screen.say(
      `  ${screen.paint.yellow("!")} ${
        counted(left.length, "request")
      } got no answer that fits; the same command asks again`,
    );
  }
  if (patch === null) screen.say("  nothing in them changes a page");
  else {
    screen.say(
      `  one patch of ${counted(patch.changes.length, "page")} waits: ${
        screen.paint.cyan(commandText(command, `wiki review ${patch.id}`))
      }`,
    );
  }
  return {
    exit: left.length === 0 ? EXIT.success : EXIT.failure,
    document: {
      items: plan.items,
      done: plan.items - left.length,
      problems,
      patch: patch?.id ?? null,
      ...used,
      contradictions,
    },
  };
}
