/** What a server offers, as text for a model: its own words, so data. @module */
import type { McpPromptWords, McpResourceWords, McpWords } from "../../../contracts/mcp.ts";

/** Most characters of one text of the server's in a list. */
const SHOWN = 300;

/** The resources and templates, a line of JSON each. */
export function listedResources({ resources, templates }: McpWords): readonly string[] {
  return [...resources, ...templates].map((each) => JSON.stringify(resourceLine(each)));
}

/** The prompts, a line of JSON each. */
export function listedPrompts({ prompts }: McpWords): readonly string[] {
  return prompts.map((each) => JSON.stringify(promptLine(each)));
}

function resourceLine(resource: McpResourceWords): object {
  const { uri, uriTemplate, name, description, mimeType } = resource;
  return { uri, uriTemplate, name, mimeType, description: description?.slice(0, SHOWN) };
}

function promptLine({ name, description, arguments: named }: McpPromptWords): object {
  return {
    name,
    description: description?.slice(0, SHOWN),
    arguments: named.map((each) => ({
      name: each.name,
      required: each.required ?? false,
      description: each.description?.slice(0, SHOWN),
    })),
  };
}
