/** Questions to a model for the operator's own commands, through the kernel: label, money, egress. @module */
import * as z from "zod";
import {
  type Colour,
  DEAREST,
  Fault,
  type FaultCode,
  type Label,
  LocalConfig,
  RemoteConfig,
  toJson,
} from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { loadConfig } from "../../config/files.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { chooseModel } from "../../model/choice.ts";
import type { AskedProvider } from "../../model/part.ts";
import { numberOf } from "../command.ts";
import { flag } from "../../arguments/parse_arguments.ts";
import type { Basic } from "../../hands.ts";

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

const MOST_COST = 1_000;
const CHARS_A_TOKEN = 3;
const ENDS: ReadonlySet<FaultCode> = new Set(["budgetExhausted", "cancelled", "invalidInput"]);
const CONTEXT = 32_768;
const MILLION = 1e6;

/** Chooses a command's model (`--model`, else remit.yaml's), and reaches it. Throws as `chooseModel`. */
export async function openModel(
  command: Command<Basic | "mcpStore" | "models">,
): Promise<AskedModel> {
  const { hands, places, parsed } = command;
  const config = loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] });
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
  const most = numberOf(command, "max-cost", MOST_COST);
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
export function sayWhere({ hands }: Command, providers: readonly AskedProvider[]): void {
  const { say, paint } = hands.screen;
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
