/** `model embed`: vectors for texts of the operator's own, how near they are, and which label fits. @module */
import { Label } from "../../../contracts/authority/mod.ts";
import { EXIT, Fault, toJson, unreachable } from "../../../contracts/base/mod.ts";
import { DEAREST } from "../../../contracts/model/mod.ts";
import type { ModelChoice } from "../../../contracts/task/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printJsonLines, printLines } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { announcementLines, tokensOf } from "../announcement.ts";
import { modelParts } from "../choice.ts";
import { resolveEmbedder } from "../embedder.ts";
import type { VectorUses } from "../powers.ts";
import type { ModelPart } from "../part.ts";
import { flag, oneOf } from "../../arguments/parse_arguments.ts";
import type { TextEmbedder } from "../../../contracts/model/model.ts";
import type { Basic } from "../../powers.ts";
import type { KernelLink } from "../../../launch/kernel/kernels.ts";
import * as z from "zod";

/** The texts of a command: its arguments, or the lines of standard input that are not empty. */
async function textsOf(command: Command<Basic | "readInput">): Promise<readonly string[]> {
  const { args } = command.parsed;
  if (args.length !== 1 || args[0] !== "-") return args;
  const lines = (await command.powers.readInput()).split(/\r?\n/);
  const texts = lines.filter((line) => line.trim() !== "");
  if (texts.length === 0) throw new Fault("invalidInput", "Cannot embed: no line came in");
  return texts;
}

/** Says where the texts go, if they leave this machine. */
function announce({ powers }: Command, { provider }: ModelPart, texts: readonly string[]): void {
  if (provider === undefined) return;
  const { screen } = powers;
  const request = texts.join("");
  const [where = ""] = announcementLines(provider, { request, money: 0 });
  const tokens = tokensOf(request);
  const { input } = provider.price ?? DEAREST;
  const money = (tokens * input / 1e6).toPrecision(2);
  screen.say(`  ${screen.paint.yellow("→")} ${where}`);
  screen.say(screen.paint.dim(`    about ${tokens} tokens, ${money} USD`));
}

/** What is to be done with the texts. */
type EmbedTask =
  | { readonly kind: "vectors" }
  | { readonly kind: "pair" }
  | { readonly kind: "near"; readonly query: string }
  | { readonly kind: "labels"; readonly labels: readonly string[] };

function embedTask({ parsed }: Command): EmbedTask {
  const [near, labels] = [flag(parsed, "near"), flag(parsed, "labels")];
  if (near !== undefined && labels !== undefined) {
    throw new Fault("invalidInput", "Cannot embed: --near orders and --labels sorts, choose one");
  }
  if (near !== undefined) return { kind: "near", query: near };
  if (labels === undefined) return { kind: parsed.args.length === 2 ? "pair" : "vectors" };
  const all = labels.split(",").map((each) => each.trim()).filter((each) => each !== "");
  if (all.length < 2 || new Set(all).size < all.length) {
    throw new Fault(
      "invalidInput",
      'Cannot choose among labels: name two or more different ones, as in --labels "a dog or another pet, a bank and its money"',
    );
  }
  return { kind: "labels", labels: all };
}

/** One text on one line, after what was found of it. */
const lineOf = (found: string, text: string): string =>
  `${found}  ${displayText(text, { max: 300 })}`;

/** Vectors of these texts, made at once: an embedder that knows no others. */
async function embeddedAt(
  embedder: KernelEmbedder,
  embedAll: VectorUses["embedAll"],
  texts: readonly string[],
): Promise<Pick<KernelEmbedder, "embed">> {
  const vectors = await embedAll(embedder, texts, new AbortController().signal);
  const known = new Map(texts.map((text, n) => [text, vectors[n]]));
  return {
    embed: (asked) =>
      Promise.resolve({ vectors: asked.flatMap((text) => known.get(text) ?? []), inputTokens: 0 }),
  };
}

/** Does the task and prints what came of it. */
async function embed(
  command: Command<Basic | "models">,
  task: EmbedTask,
  { embedder, texts }: { readonly embedder: KernelEmbedder; readonly texts: readonly string[] },
): Promise<void> {
  const { makeReranker, makeClassifier, cosine, embedAll } = await command.powers.models.vectors();
  const { signal } = new AbortController();
  switch (task.kind) {
    case "near": {
      const scores = await makeReranker(embedder).rank(task.query, texts, { signal });
      const rows = texts.map((text, at) => ({ n: at + 1, score: scores[at] ?? 0, text }))
        .sort((a, b) => b.score - a.score);
      if (command.json) return printJsonLines(command, rows);
      return void printLines(
        command,
        rows.map(({ score, text }) => lineOf(score.toFixed(4), text)),
      );
    }
    case "labels": {
      const classifier = makeClassifier(
        await embeddedAt(embedder, embedAll, [...texts, ...task.labels]),
      );
      for (const [at, text] of texts.entries()) {
        const shares = await classifier.classify(text, task.labels, { signal });
        const scores = task.labels.map((label, n) => ({ label, score: shares[n] ?? 0 }))
          .sort((a, b) => b.score - a.score);
        const [best] = scores;
        if (command.json) printJsonLines(command, [{ n: at + 1, text, labels: scores }]);
        else if (best !== undefined) {
          const label = displayText(best.label, { max: 60 });
          printLines(command, [lineOf(`${best.score.toFixed(2)}  ${label}`, text)]);
        }
      }
      return;
    }
    case "pair": {
      const [first, second] = await embedAll(embedder, texts, signal);
      if (first === undefined || second === undefined) return;
      const near = cosine(first, second);
      if (command.json) printJson(command, { similarity: near, ...embedder.used() });
      else printLines(command, [near.toFixed(4)]);
      return;
    }
    case "vectors": {
      const vectors = await embedAll(embedder, texts, signal);
      const { model } = embedder.used();
      printJsonLines(command, vectors.map((each, n) => ({ n: n + 1, model, vector: [...each] })));
      return;
    }
    default:
      return unreachable(task);
  }
}

/**
 * Runs the command. Two texts as arguments are compared; with `--near` texts are put in order, with
 * `--labels` each gets the label that fits it best; otherwise there is a line of JSON for each.
 */
export async function modelEmbed(
  command: Command<Basic | "mcpStore" | "models" | "readInput">,
): Promise<number> {
  const { powers, places, parsed } = command;
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const label = oneOf(parsed, "label", Label.options) ?? "internal";
  const task = embedTask(command);
  const texts = await textsOf(command);
  const part = await resolveEmbedder(
    flag(parsed, "model") ?? config.embedder,
    modelParts(command, config),
  );
  const resolved = {
    choice: part.choice,
    lends: part.lend === undefined ? [] : [part.lend],
    programs: part.program === undefined ? [] : [part.program],
    providers: part.provider === undefined ? [] : [part.provider],
  };
  const link = await kernelFor(command, { config, mounts: [], resolved });
  try {
    const more = task.kind === "near" ? [task.query] : task.kind === "labels" ? task.labels : [];
    announce(command, part, [...texts, ...more]);
    const embedder = makeKernelEmbedder(link, part.choice, label);
    await embed(command, task, { embedder, texts });
    return EXIT.success;
  } finally {
    link.close();
  }
}

const Answer = z.object({
  model: z.string(),
  vectors: z.array(z.array(z.number())).max(256),
  inputTokens: z.number(),
  money: z.number(),
});

/** What was used so far. */
interface EmbedUse {
  /** Empty before the first text. */
  readonly model: string;
  readonly inputTokens: number;
  /** US dollars. */
  readonly money: number;
}

/** An embedder, at most 256 texts at once, and its use. */
interface KernelEmbedder extends Pick<TextEmbedder, "embed"> {
  used(): EmbedUse;
}

/** Makes it; every text is as confidential as `label` says. */
function makeKernelEmbedder(
  link: Pick<KernelLink, "ask">,
  choice: ModelChoice,
  label: Label,
): KernelEmbedder {
  let use: EmbedUse = { model: "", inputTokens: 0, money: 0 };
  return Object.freeze<KernelEmbedder>({
    used: () => use,
    async embed(texts) {
      const asked = await link.ask("embed", toJson({ model: choice, texts: [...texts], label }));
      const { model, vectors, inputTokens, money } = Answer.parse(asked);
      use = {
        model,
        inputTokens: use.inputTokens + inputTokens,
        money: use.money + money,
      };
      return { vectors: vectors.map((each) => Float32Array.from(each)), inputTokens };
    },
  });
}
