import { languageModelContract } from "../_fixture/contract_suite.ts";
import {
  ANTHROPIC_KEY,
  OPENAI_KEY,
  type OpenaiVariant,
  serveAnthropic,
  serveOpenai,
} from "../_fixture/providers/mod.ts";
import { openBody, quickPowers } from "./_fixture/bench.ts";
import { openAnthropic } from "./anthropic/open.ts";
import { openOpenai } from "./openai/open.ts";

languageModelContract("anthropic", async (answers) => {
  const server = serveAnthropic({ answers });
  const open = openBody("anthropic", server.url, { key: ANTHROPIC_KEY });
  return {
    model: await openAnthropic(open, quickPowers()),
    asked: () => server.asked,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

const VARIANTS: readonly OpenaiVariant[] = ["openai", "llamacpp", "vllm", "lmstudio", "openrouter"];

for (const variant of VARIANTS) {
  languageModelContract(`openai (${variant})`, async (answers) => {
    const server = serveOpenai({ variant, answers });
    const open = openBody("openai", server.url, { key: OPENAI_KEY });
    return {
      model: await openOpenai(open, quickPowers()),
      asked: () => server.asked,
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  });
}
