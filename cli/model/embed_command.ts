/** `model embed`: vectors for texts of the operator's own, or how near two texts are. Issue 4, TextEmbedder. @module */
import { z } from "zod";
import { DEAREST, EXIT, Fault, Label, toJson } from "../../contracts/mod.ts";
import { type Command, printJson, printJsonLines, printLines } from "../command.ts";
import { loadConfig } from "../config/files.ts";
import type { KernelLink } from "../hands.ts";
import { kernelFor } from "../kernel_for.ts";
import { announcementLines, tokensOf } from "./announcement.ts";
import { modelParts } from "./choice.ts";
import { resolveEmbedder } from "./embedder.ts";
import type { ModelPart } from "./part.ts";
import { flag, oneOf } from "../parse_arguments.ts";

/** Texts of one request to the kernel. */
const MOST_TEXTS = 256;

const Answer = z.object({
  model: z.string(),
  vectors: z.array(z.array(z.number())).max(MOST_TEXTS),
  inputTokens: z.number(),
  money: z.number(),
});

/** The texts of a command: its arguments, or the lines of standard input that are not empty. */
async function textsOf(command: Command): Promise<readonly string[]> {
  const { args } = command.parsed;
  if (args.length !== 1 || args[0] !== "-") return args;
  const lines = (await command.hands.readInput()).split(/\r?\n/);
  const texts = lines.filter((line) => line.trim() !== "");
  if (texts.length === 0) throw new Fault("invalidInput", "Cannot embed: no line came in");
  return texts;
}

/** Says where the texts go, if they leave this machine. */
function announce(
  { hands }: Command,
  { provider }: ModelPart,
  texts: readonly string[],
): void {
  if (provider === undefined) return;
  const { screen } = hands;
  const request = texts.join("");
  const [where = ""] = announcementLines(provider, { request, money: 0 });
  const tokens = tokensOf(request);
  const { input } = provider.price ?? DEAREST;
  const money = (tokens * input / 1e6).toPrecision(2);
  screen.say(`  ${screen.paint.yellow("→")} ${where}`);
  screen.say(screen.paint.dim(`    about ${tokens} tokens, ${money} USD`));
}

async function embed(
  link: Pick<KernelLink, "ask">,
  { choice }: ModelPart,
  { texts, label }: { readonly texts: readonly string[]; readonly label: Label },
): Promise<z.infer<typeof Answer>> {
  const all = { model: "", vectors: new Array<number[]>(), inputTokens: 0, money: 0 };
  for (let at = 0; at < texts.length; at += MOST_TEXTS) {
    const some = texts.slice(at, at + MOST_TEXTS);
    const asked = await link.ask("embed", toJson({ model: choice, texts: some, label }));
    const answer = Answer.parse(asked);
    all.model = answer.model;
    all.vectors.push(...answer.vectors);
    all.inputTokens += answer.inputTokens;
    all.money += answer.money;
  }
  return all;
}

/** The cosine of the angle between two vectors; 0 where one is all zero. */
export function similarity(a: readonly number[], b: readonly number[]): number {
  const inner = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, each, n) => sum + each * (y[n] ?? 0), 0);
  const lengths = Math.sqrt(inner(a, a) * inner(b, b));
  return lengths === 0 ? 0 : Math.max(-1, Math.min(1, inner(a, b) / lengths));
}

/** Runs the command. Two texts as arguments are compared; otherwise there is a line of JSON for each. */
export async function modelEmbed(command: Command): Promise<number> {
  const { hands, places, parsed } = command;
  const config = loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] });
  const label = oneOf(parsed, "label", Label.options) ?? "internal";
  const texts = await textsOf(command);
  const part = await resolveEmbedder(flag(parsed, "model") ?? config.embedder, {
    ...modelParts(command, config),
    lexicon: hands.models.lexicon,
  });
  const resolved = {
    choice: part.choice,
    lends: part.lend === undefined ? [] : [part.lend],
    programs: part.program === undefined ? [] : [part.program],
    providers: part.provider === undefined ? [] : [part.provider],
  };
  const link = await kernelFor(command, { config, mounts: [], resolved });
  try {
    announce(command, part, texts);
    const { model, vectors, ...used } = await embed(link, part, { texts, label });
    const [first, second, ...more] = vectors;
    const isPair = parsed.args.length === 2 && first !== undefined && second !== undefined;
    if (!isPair || more.length > 0) {
      printJsonLines(command, vectors.map((vector, n) => ({ n: n + 1, model, vector })));
    } else {
      const near = similarity(first, second);
      if (command.json) printJson(command, { similarity: near, model, ...used });
      else printLines(command, [near.toFixed(4)]);
    }
    return EXIT.success;
  } finally {
    link.close();
  }
}
