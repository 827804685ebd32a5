/** Prompts for common tasks. Their words are the operator's own; a host's arguments stay arguments. @module */
import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import { Fault } from "../../../contracts/fault.ts";
import type { ServePrompt } from "../../../contracts/wire_serve.ts";

const ARGUMENT = 20_000;

/** A prompt as a host is shown it. */
export function promptOf({ name, title, description, arguments: taken }: ServePrompt): Prompt {
  return { name, title, description, arguments: taken.map((each) => ({ ...each })) };
}

/** A prompt with its arguments in place. @throws Fault `notFound`, `invalidInput` */
export function fillPrompt(
  prompts: readonly ServePrompt[],
  name: string,
  given: Readonly<Record<string, string>>,
): GetPromptResult {
  const prompt = prompts.find((each) => each.name === name);
  if (prompt === undefined) {
    throw new Fault("notFound", "Cannot give the prompt: there is no such prompt");
  }
  for (const { name: each, required } of prompt.arguments) {
    if (required && (given[each] ?? "").trim() === "") {
      throw new Fault("invalidInput", `Cannot give the prompt: its argument "${each}" is missing`);
    }
  }
  // Filled in one pass: an argument that looks like a place for another stays text.
  const text = prompt.text.replace(/\{\{([a-z0-9_]+)\}\}/g, (_, each: string) => {
    const value = Object.hasOwn(given, each) ? given[each] : undefined;
    return (value ?? "").slice(0, ARGUMENT);
  });
  return {
    description: prompt.description,
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}
