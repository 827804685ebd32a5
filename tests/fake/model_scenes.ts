/** Providers on loopback behind the real command line, and scenes of short runs with them. */
import { streamAnthropic } from "../../models/_fixture/providers/anthropic.ts";
import {
  type Answer,
  type OpenaiVariant,
  type Provider,
  type Raw,
  type Said,
  serveAnthropic,
  serveOllama,
  serveOpenai,
} from "../../models/_fixture/providers/mod.ts";
import { streamOllama } from "../../models/_fixture/providers/ollama.ts";
import { streamOpenai } from "../../models/_fixture/providers/openai.ts";
import type { Finished, Machine } from "./remit.ts";

/** The only line of the file that agents are asked about. */
export const PLAN = "Leave on Monday.";

/** An answer that reads `plans/trip.txt`, its arguments in pieces. */
export const READS: Said = {
  text: ["I look."],
  calls: [{ name: "file_read", pieces: ['{"pa', 'th":"plans/', 'trip.txt"}'] }],
};

/** An answer that says `text`. */
export const says = (text: string): Said => ({ text: [...text.match(/.{1,7}/gsu) ?? []] });

/** An answer with the call that `remit model test` expects. */
export const CHECKS: Said = {
  calls: [{ name: "file_read", pieces: ['{"path":', '"check/note.txt"}'] }],
};

/** An answer with the code word of `remit model test`, which only the tool gave. */
export function tells(backend: Backend, provider: Provider): Raw {
  return {
    raw: (function* () {
      const [, word = ""] = /The code word is (\w+)/.exec(provider.received.at(-1)?.body ?? "") ??
        [];
      yield* backend.stream(says(word));
    })(),
  };
}

/** A provider of a kind, as strict as the real one. */
export interface Backend {
  readonly title: string;
  serve(answers?: readonly Answer[]): Provider;
  /** The model's name for `--model`. */
  ref(provider: Provider): string;
  /** The accepted key, and its name for `remit secret set`; absent: none. */
  readonly key?: { readonly value: string; readonly words: readonly string[] };
  /** The pieces of an answer that is made at the request. */
  stream(said: Said): Iterable<string | Uint8Array | Promise<unknown>>;
}

const openaiBackend = (variant: OpenaiVariant): Backend => ({
  title: `openai (${variant})`,
  serve: (answers = []) => serveOpenai({ variant, key: KEY, answers }),
  ref: ({ url }) => `openai:tiny@${url}`,
  key: { value: KEY, words: ["--header", "authorization", "--prefix", "Bearer "] },
  stream: (said) => streamOpenai(said, { fields: { model: "tiny" }, variant }),
});

/** The key of the providers in {@link BACKENDS}: no word of it is in an answer. */
export const KEY = "sk-quince-Larder-4491-basalt/0+7";

/** Large enough for all tools of a run and an answer. */
const LARGE = [{ name: "tiny:latest", contextTokens: 65_536 }];

/** Every kind of provider. */
export const BACKENDS: readonly Backend[] = [
  {
    title: "anthropic",
    serve: (answers = []) => serveAnthropic({ key: KEY, answers }),
    ref: ({ url }) => `anthropic:tiny@${url}`,
    key: { value: KEY, words: ["--header", "x-api-key"] },
    stream: (said) => streamAnthropic(said, "tiny"),
  },
  openaiBackend("openai"),
  openaiBackend("openrouter"),
  {
    title: "ollama",
    serve: (answers = []) => serveOllama({ answers, models: LARGE }),
    ref: ({ url }) => `ollama:tiny@${url}`,
    stream: (said) => streamOllama(said, "tiny"),
  },
];

/** Stores a provider's key, as a person does. */
export async function keepKey(
  machine: Machine,
  { key }: Backend,
  { origin, value = key?.value ?? "" }: { readonly origin: string; readonly value?: string },
): Promise<Finished | undefined> {
  if (key === undefined) return undefined;
  const words = ["secret", "set", "mine", "--origin", origin, ...key.words];
  return await machine.remit(words, `${value}\n`);
}

/** Writes the plan, and gives the words that mount it. */
export async function planned(machine: Machine): Promise<readonly string[]> {
  await machine.write("plans/trip.txt", `${PLAN}\n`);
  return ["--mount", `plans=${machine.dir}/plans`];
}

/** Writes the operator's own remit.yaml. */
export async function configured(machine: Machine, text: string): Promise<void> {
  const folder = `${machine.env["XDG_CONFIG_HOME"]}/remit`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/remit.yaml`, `version: 1\n${text}`);
}

/** The events of a task, from its log. */
export async function eventsOf(
  machine: Machine,
  task: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const done = await machine.remit(["log", task, "--json"]);
  return done.stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
