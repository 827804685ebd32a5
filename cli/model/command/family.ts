/** The `model` commands, for help, parsing and dispatch, and the flags that `run` shares. @module */
import { type CommandSpec, type FlagSpec, simple } from "../../arguments/command_spec.ts";
import { family } from "../../arguments/family.ts";

/** Flags about the model, of commands that start an agent. */
export const MODEL_FLAGS: readonly FlagSpec[] = [
  { name: "temperature", value: "NUMBER", help: "0 to 2, where the model has it" },
  {
    name: "seed",
    value: "N",
    help: "the same seed and request give the same answer, where it can",
  },
  { name: "no-wait", help: "fail instead of waiting when the provider's rate is reached" },
  { name: "record", value: "FILE", help: "keep what goes to the provider and back, without keys" },
  { name: "replay", value: "FILE", help: "answer from a recording; nothing is sent" },
];
const YES: FlagSpec = { name: "yes", short: "y", help: "do it without asking; it is still shown" };

/** `model …`, in the order in which help lists them. */
const MODEL_COMMANDS: readonly CommandSpec[] = [
  simple("model list", "", [0, 0], "backends and their state, your models, the catalogue", [
    "remit model list",
  ]),
  simple("model use", "NAME", [1, 1], "make a model the one that runs without --model", [
    "remit model use ollama:qwen3:4b",
    "remit model use anthropic:NAME",
  ]),
  simple("model unload", "[NAME]", [0, 1], "free the memory of models that nothing uses now", [
    "remit model unload",
    "remit model unload gguf:qwen2.5-1.5b",
  ]),
  simple("model test", "[NAME]", [0, 1], "whether a model can drive the loop: a short check", [
    "remit model test ollama:qwen3:4b",
  ], MODEL_FLAGS.filter(({ name }) => name !== "no-wait")),
  simple(
    "model embed",
    "TEXT... | -",
    [1, 10_000],
    "how near texts are (- reads lines), which label fits each, or their vectors",
    [
      'remit model embed "a small dog" "a puppy"',
      'remit model embed --near "money back" - < letters.txt',
      'remit model embed --labels "a parcel that is damaged, a bank and its money" - < letters.txt',
      "remit model embed --model ollama:nomic-embed-text - < lines.txt",
    ],
    [
      {
        name: "model",
        value: "REF",
        help: "the embedder; absent: the one of remit.yaml",
      },
      {
        name: "near",
        value: "TEXT",
        help: "put the texts in order, the nearest to this one first",
      },
      {
        name: "labels",
        value: "A,B,…",
        help: "which of these descriptions, a few words each, fits each text best",
      },
      {
        name: "label",
        value: "public|internal|secret",
        help: "how confidential the texts are; absent: internal",
      },
    ],
  ),
  simple("model pull", "NAME", [1, 1], "get a model of the catalogue into the store", [
    "remit model pull qwen2.5-1.5b",
  ], [{ ...YES, help: "pin what comes, also where no digest of it is known yet" }]),
  simple("model add", "FILE.gguf", [1, 1], "copy weights of your own into the store", [
    "remit model add ~/models/mine.gguf --name mine",
  ], [
    { name: "name", value: "NAME", help: "what it is called; absent: as its file" },
    { name: "licence", value: "TEXT", help: "its licence; absent: what the file says" },
    { name: "signature", value: "FILE", help: "JSON with key and value (hex) over its digest" },
  ]),
  simple("model verify", "[NAME]", [0, 1], "check digests and signatures of the store", [
    "remit model verify",
  ]),
  simple("model remove", "NAME", [1, 1], "take weights out of the store", [
    "remit model remove qwen2.5-1.5b",
  ]),
  simple(
    "model accelerate",
    "",
    [0, 0],
    "fetch llama.cpp's native engine, for accelerated models",
    ["remit model accelerate", "remit model accelerate --gpu vulkan"],
    [YES, {
      name: "gpu",
      value: "cuda|vulkan|npu",
      help: "the build for graphics cards; absent: for the processor alone",
    }],
  ),
];

/** The family of `model` commands. */
export const MODELS = family(MODEL_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "interrupts",
  "keyboard",
  "mcpStore",
  "models",
  "readInput",
  "wikis",
], {
  "model list": async () => (await import("./list.ts")).modelList,
  "model use": async () => (await import("./use.ts")).modelUse,
  "model unload": async () => (await import("./unload.ts")).modelUnload,
  "model test": async () => (await import("./test_model.ts")).modelTest,
  "model embed": async () => (await import("./embed.ts")).modelEmbed,
  "model pull": async () => (await import("./weights.ts")).modelPull,
  "model add": async () => (await import("./weights.ts")).modelAdd,
  "model verify": async () => (await import("./weights.ts")).modelVerify,
  "model remove": async () => (await import("./weights.ts")).modelRemove,
  "model accelerate": async () => (await import("./accelerate.ts")).modelAccelerate,
});
