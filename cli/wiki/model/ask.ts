/** Asks a model for the operator's commands, through the kernel's checks of label and cost. @module */
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

/** One request to a model, worded by the wiki's process or a command. */
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
/** A model's answer, with tokens and US dollars. */
export type Asked = z.infer<typeof Answer>;

/** A model that the kernel can reach. */
export interface AskedModel {
  /** The operator's name for the model. */
  readonly name: string;
  readonly contextTokens: number;
  /** Providers beyond this machine that receive the text; empty for a local model. */
  readonly providers: readonly AskedProvider[];
  /** US dollars for these tokens; an unknown price counts as the highest. */
  priceOf(tokens: { readonly input: number; readonly output: number }): number;
  ask(request: ModelAsk): Promise<Asked>;
  close(): void;
}

const MAX_COST = 1_000;
const CHARS_PER_TOKEN = 3;
/** Faults that end the command; after any other the command goes on without an answer. */
const FATAL: ReadonlySet<FaultCode> = new Set(["budgetExhausted", "cancelled", "invalidInput"]);
const DEFAULT_CONTEXT_TOKENS = 32_768;
const MILLION = 1e6;

/** Chooses the model of `--model` or remit.yaml and reaches it. Throws as `chooseModel`. */
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
      const answer = Answer.safeParse(await link.ask("ask", toJson({ model, ...request })));
      if (answer.success) return answer.data;
      throw new Fault("upstream", "Cannot ask the model: the kernel's answer does not read");
    },
    close: () => link.close(),
  });
}

function contextOf(config: string): number {
  const value: unknown = JSON.parse(config);
  const remote = RemoteConfig.safeParse(value);
  if (remote.success) return remote.data.contextTokens ?? DEFAULT_CONTEXT_TOKENS;
  const local = LocalConfig.safeParse(value);
  return local.success
    ? local.data.contextTokens ?? DEFAULT_CONTEXT_TOKENS
    : DEFAULT_CONTEXT_TOKENS;
}

/** Throws `budgetExhausted` where `spent` US dollars and the request's worst case exceed `--max-cost`. */
export function refuseAbove(
  command: Command,
  model: Pick<AskedModel, "priceOf">,
  request: Pick<ModelAsk, "system" | "user" | "maxTokens">,
  verb: string,
  spent = 0,
): void {
  const maxCost = numberOf(command, "max-cost", MAX_COST);
  const tokens = { input: inputTokens(request), output: request.maxTokens };
  const worst = spent + model.priceOf(tokens);
  if (maxCost === undefined || worst <= maxCost) return;
  throw new Fault(
    "budgetExhausted",
    `Cannot ${verb}: it may cost ${usd(worst)}, and --max-cost says ${usd(maxCost)}`,
  );
}

/** A model's answer, or the fault that left none. Throws the faults that `fatal` names. */
export async function askOrFault(
  model: Pick<AskedModel, "ask">,
  request: ModelAsk,
  fatal: ReadonlySet<FaultCode> = FATAL,
): Promise<Asked | Fault> {
  try {
    return await model.ask(request);
  } catch (error) {
    if (!(error instanceof Fault) || fatal.has(error.code)) throw error;
    return error;
  }
}

/** Tokens of a request's texts, estimated. */
export function inputTokens({ system, user }: Pick<ModelAsk, "system" | "user">): number {
  return Math.ceil((system.length + user.length) / CHARS_PER_TOKEN);
}

/** US dollars as text: two decimals, or two significant digits below a cent. */
export function usd(value: number): string {
  return `${value > 0 && value < 0.01 ? value.toPrecision(2) : value.toFixed(2)} USD`;
}

/** Warns, for each provider, that text leaves this machine. */
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

/** The JSON of an answer, also inside a Markdown fence or prose; undefined without any. */
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
  /** What the model reads, in words. */
  readonly reads: string;
  /** Tokens, estimated. */
  readonly input: number;
  readonly output: number;
  /** US dollars. */
  readonly maxCost?: number | undefined;
}

/** Tokens a second that a model writes: a guess, for the estimated duration. */
const SPEED = { remote: 60, local: 12 };

/** Prints what a model will read, the tokens, price and time, before the operator is asked. */
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
