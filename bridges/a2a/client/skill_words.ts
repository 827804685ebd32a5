/**
 * Converts a card to a listing for review: each skill is a tool, whose digest reveals changes. Used
 * by bridge.ts.
 * @module
 */
import type { McpToolWords } from "../../../contracts/exchange/mcp.ts";
import type { PeerWords } from "../../../contracts/exchange/exchange.ts";
import { cutText } from "../../mcp/client/mod.ts";
import type { PeerCard, PeerSkill } from "./card.ts";
import type { FoundCard } from "./find_card.ts";

/** The extension by which a peer declares that a repeated message is answered as the first time. */
const ONCE = "urn:remit:a2a:once";
/** The only tool of a peer without skills. */
const MESSAGE: PeerSkill = {
  ...{ id: "message", name: "", description: "Takes a message.", tags: [], examples: [] },
  ...{ inputModes: [], outputModes: [] },
};

const INPUT = {
  type: "object",
  properties: {
    message: { type: "string", minLength: 1, maxLength: 65_536, description: "What is said" },
    data: { type: "object", description: "Structured data beside it" },
    task: { type: "string", maxLength: 128, description: "Goes on with this task of the peer" },
    wait: { type: "boolean", description: "false: do not wait for its end" },
    context: { type: "string", maxLength: 128, description: "Groups tasks, as the peer named it" },
    files: {
      type: "array",
      maxItems: 8,
      items: {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1, maxLength: 256 },
          text: { type: "string", maxLength: 262_144 },
        },
        required: ["name", "text"],
        additionalProperties: false,
      },
    },
  },
  required: ["message"],
  additionalProperties: false,
} as const;

/** The listing of a card. */
export function wordsOf(found: FoundCard): PeerWords {
  const { card, spoken, signed, url } = found;
  const skills = card.skills.length === 0 ? [MESSAGE] : card.skills;
  return {
    protocol: cutText(`A2A ${spoken.version} ${spoken.binding}`, 32),
    server: {
      name: card.name,
      version: card.version,
      ...(card.provider === undefined ? {} : { title: card.provider }),
    },
    instructions: card.description,
    capabilities: [
      ...(card.streaming ? ["streaming"] : []),
      ...card.schemes.map((scheme) => cutText(`asks for ${scheme}`, 64)),
      ...card.extensions.map(({ uri }) => cutText(uri, 64)),
    ].slice(0, 32),
    tools: skills.map((skill) => toolOf(card, skill)),
    ...{ resources: [], templates: [], prompts: [] },
    left: [...card.left, ...signed.notes].slice(0, 64).map((each) => cutText(each, 512)),
    peer: { card: url, endpoint: spoken.url, binding: spoken.binding, keys: [...signed.keys] },
  };
}

function toolOf(card: PeerCard, skill: PeerSkill): McpToolWords {
  const once = card.extensions.some(({ uri }) => uri === ONCE);
  return {
    name: skill.id,
    ...(skill.name === "" ? {} : { title: skill.name }),
    description: descriptionOf(card, skill),
    inputSchema: INPUT as unknown as McpToolWords["inputSchema"],
    ...(once ? { annotations: { idempotentHint: true } } : {}),
  };
}

function descriptionOf(card: PeerCard, skill: PeerSkill): string {
  const listed = (what: string, items: readonly string[]): readonly string[] =>
    items.length === 0 ? [] : [`${what}: ${items.join(", ")}`];
  const takes = skill.inputModes.length === 0 ? card.inputModes : skill.inputModes;
  const gives = skill.outputModes.length === 0 ? card.outputModes : skill.outputModes;
  const own = skill.description === "" ? skill.name : skill.description;
  return [
    ...(own === "" ? [] : [own]),
    // An id that is a sentence reaches the model: show it to the reviewer as text.
    ...(/^[\w.:/-]{1,64}$/.test(skill.id) ? [] : [`Skill: ${skill.id}`]),
    ...listed("Tags", skill.tags),
    ...listed("Takes", takes),
    ...listed("Gives", gives),
    ...costOf(card),
    ...skill.examples.map((example) => `Example: ${example}`),
  ].join("\n");
}

/** The words of an extension about costs, such as `…/cost` or `…:pricing`. */
function costOf({ extensions }: PeerCard): readonly string[] {
  const found = extensions.find(({ uri }) =>
    /[/:](?:cost|price|pricing)s?(?:\/v?[0-9.]+)?$/.test(uri)
  );
  return found === undefined
    ? []
    : [`Cost: ${cutText(JSON.stringify(found.params ?? {}), 400)} (${found.uri})`];
}
