/** Questions to a model for the operator's own commands, through the kernel: label, money, egress. @module */
import * as z from "zod";
import type { Colour, Label } from "../../../contracts/authority/mod.ts";
import { Fault, type FaultCode, toJson } from "../../../contracts/base/mod.ts";
import { DEAREST, LocalConfig, RemoteConfig } from "../../../contracts/model/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { flag } from "../../arguments/parse_arguments.ts";
import type { Command } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { chooseModel } from "../../model/choice.ts";
import type { AskedProvider } from "../../../contracts/model/mod.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { numberOf } from "../command.ts";
import type { Basic } from "../../powers.ts";

/** One question, as the wiki's process or a command words it. */
export interface ModelAsk {
  readonly system: string;
  readonly user: string;
  /** JSON Schema as text. */
  readonly responseSchema?: string | undefined;
  readonly maxTokens: number;
  readonly label: Label;
  readonly colour: Colour;
}

const Answer = z.object({
  text: z.string(),
  finishReason: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  money: z.number(),
});
/** What a model said, and what that took. */
export type Asked = z.infer<typeof Answer>;

/** A model that answers. */
export interface AskedModel {
  /** As the operator called it. */
  readonly name: string;
  readonly contextTokens: number;
  /** Those that text goes to, beyond this machine. */
  readonly providers: readonly AskedProvider[];
  /** US dollars of so many tokens, as far as known. */
  priceOf(tokens: { readonly input: number; readonly output: number }): number;
  ask(request: ModelAsk): Promise<Asked>;
  close(): void;
}

const MAX_COST = 1_000;
const CHARS_A_TOKEN = 3;
const ENDS: ReadonlySet<FaultCode> = new Set(["budgetExhausted", "cancelled", "invalidInput"]);
const CONTEXT = 32_768;
const MILLION = 1e6;

/** Chooses a command's model (`--model`, else remit.yaml's), and reaches it. Throws as `chooseModel`. */
export async function openModel(
  command: Command<Basic | "mcpStore" | "models">,
): Promise<AskedModel> {
  const { powers, places, parsed } = command;
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const resolved = await chooseModel(command, {}, config);
  const { choice, providers } = resolved;
  const link = await kernelFor(command, { config, mounts: [], resolved });
  const model = { ref: choice.ref, config: choice.config };
  return Object.freeze<AskedModel>({
    name: flag(parsed, "model") ?? config.model ?? choice.ref,
    contextTokens: contextOf(choice.config),
    providers,
    priceOf({ input, output }): number {
      const [provider] = providers;
      if (provider === undefined) return 0;
      const price = provider.price ?? DEAREST;
      return (input * price.input + output * price.output) / MILLION;
    },
    async ask(request): Promise<Asked> {
      const { responseSchema, ...rest } = request;
      const asked = await link.ask(
        "ask",
        toJson({ model, ...rest, ...(responseSchema === undefined ? {} : { responseSchema }) }),
      );
      const answer = Answer.safeParse(asked);
      if (answer.success) return answer.data;
      throw new Fault("upstream", "Cannot ask the model: the kernel's answer does not read");
    },
    close: () => link.close(),
  });
}

function contextOf(config: string): number {
  const value: unknown = JSON.parse(config);
  const remote = RemoteConfig.safeParse(value);
  if (remote.success) return remote.data.contextTokens ?? CONTEXT;
  const local = LocalConfig.safeParse(value);
  return local.success ? local.data.contextTokens ?? CONTEXT : CONTEXT;
}

/** Refuses with `budgetExhausted` what may cost more than `--max-cost`, beside what was `spent` already; `verb` is what cannot be done then. */
export function refuseAbove(
  command: Command,
  model: Pick<AskedModel, "priceOf">,
  { system, user, maxTokens }: Pick<ModelAsk, "system" | "user" | "maxTokens">,
  verb: string,
  spent = 0,
): void {
  const most = numberOf(command, "max-cost", MAX_COST);
  const input = Math.ceil((system.length + user.length) / CHARS_A_TOKEN);
  const worst = spent + model.priceOf({ input, output: maxTokens });
  if (most === undefined || worst <= most) return;
  throw new Fault(
    "budgetExhausted",
    `Cannot ${verb}: it may cost ${usd(worst)}, and --max-cost says ${usd(most)}`,
  );
}

/** A model's answer, or why there is none. Throws what ends a command: a limit, a stop, a request that is wrong. */
export async function askOrWhy(
  model: Pick<AskedModel, "ask">,
  request: ModelAsk,
): Promise<Asked | string> {
  try {
    return await model.ask(request);
  } catch (error) {
    if (!(error instanceof Fault) || ENDS.has(error.code)) throw error;
    return error.message;
  }
}

/** US dollars for people. */
export function usd(value: number): string {
  return `${value > 0 && value < 0.01 ? value.toPrecision(2) : value.toFixed(2)} USD`;
}

/** Says where text goes, if it leaves this machine. */
export function sayWhere({ powers }: Command, providers: readonly AskedProvider[]): void {
  const { say, paint } = powers.screen;
  for (const { host, model, encrypted, price } of providers) {
    const bare = encrypted ? "" : ", and is NOT encrypted on its way";
    say(
      `  ${paint.yellow("→")} text leaves this machine for ${
        displayText(host, { max: 200 })
      }, model ${displayText(model, { max: 120 })}${bare}`,
    );
    if (price === undefined) {
      say(paint.dim(
        `    price unknown: counted as ${DEAREST.input}/${DEAREST.output} USD a million tokens; set models.NAME.price in remit.yaml`,
      ));
    }
  }
}

/** The JSON of an answer, also where a model puts it in a fence; undefined when there is none. */
export function readJsonAnswer(text: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n```/.exec(text)?.[1];
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  for (const each of [text, fenced ?? "", from < 0 ? "" : text.slice(from, to + 1)]) {
    try {
      return JSON.parse(each);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

interface PlannedCost {
  /** What is read, in words. */
  readonly reads: string;
  /** Tokens, as far as can be told before. */
  readonly input: number;
  readonly output: number;
  /** US dollars. */
  readonly maxCost?: number | undefined;
}

/** Tokens a second that a model writes, as a guess for how long it takes. */
const SPEED = { remote: 60, local: 12 };

/** Says it. */
export function sayCost(
  command: Command,
  model: AskedModel,
  { reads, input, output, maxCost }: PlannedCost,
): void {
  const { say, paint } = command.powers.screen;
  const remote = model.providers.length > 0;
  const price = remote
    ? `at most ${usd(model.priceOf({ input, output }))}`
    : "free, on this machine";
  say(paint.bold(`model ${displayText(model.name, { max: 100 })}`));
  say(`  reads    ${reads}`);
  say(`  tokens   about ${input} in, at most ${output} out`);
  say(`  price    ${price}${maxCost === undefined ? "" : `; stops at ${usd(maxCost)}`}`);
  say(`  time     about ${spanText(output / (remote ? SPEED.remote : SPEED.local))}`);
  sayWhere(command, model.providers);
}

function spanText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
