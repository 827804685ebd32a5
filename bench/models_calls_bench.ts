/**
 * Conversations of calls that random weights write under a grammar, in the real process without rights:
 * every call must be of an advertised tool and fit its schema.
 * @module
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ChatMessage } from "../contracts/model/mod.ts";
import type { ToolDescriptor } from "../contracts/tool/mod.ts";
import type { OpenModel } from "../kernel/power/model/services.ts";
import { makeTinyGguf } from "../models/_fixture/tiny_gguf.ts";
import { makeBenchModels, NEVER, question, workspaceTools } from "./models/service.ts";
import type { Row } from "./row.ts";

const CONVERSATIONS = 1_000;
const TURNS = 2;
/** Tools that a conversation may call: others after so many, since a new table is read anew. */
const TOOLS = 3;
const A_TABLE = 125;

type Valid = (call: { readonly name: string; readonly arguments: string }) => boolean;

interface Counts {
  calls: number;
  valid: number;
  talking: number;
  tokens: number;
}

/** Gives the row; random weights that are eager to call. */
export async function callsBench(): Promise<Row[]> {
  await using models = await makeBenchModels(["local"]);
  const config = await models.keep(makeTinyGguf({ seed: 11, eager: true }), "wasm");
  const model = await models.services.provide({ ref: "gguf:eager", config });
  // Their descriptions would not fit into so small a model.
  const all = workspaceTools().map((tool) => ({ ...tool, description: tool.name }));
  const valid = validator(all);
  const counts: Counts = { calls: 0, valid: 0, talking: 0, tokens: 0 };
  const from = performance.now();
  for (let seed = 0; seed < CONVERSATIONS; seed++) {
    const tools = Array.from(
      { length: TOOLS },
      (_, n) => all[(Math.floor(seed / A_TABLE) * TOOLS + n) % all.length],
    )
      .filter((tool) => tool !== undefined);
    await conversation(model, { tools, seed, valid, counts });
  }
  const seconds = (performance.now() - from) / 1_000;
  model.release();
  const row = (name: string, value: number, unit: string): Row => (
    { name, value, unit, baseline: 0, ratio: 0, target: "shown", ok: true }
  );
  return [
    {
      name: `valid calls of ${CONVERSATIONS} conversations with random weights`,
      ...{ value: counts.valid, unit: "calls", baseline: counts.calls },
      ...{ ratio: counts.valid / counts.calls, target: "1.00×" },
      ok: counts.calls >= CONVERSATIONS / 2 && counts.valid === counts.calls,
    },
    row("conversations among them that called", counts.talking, ""),
    row("time of all of them", seconds, "s"),
    row("tokens that they wrote under a grammar, with reading", counts.tokens / seconds, "/s"),
  ];
}

async function conversation(
  model: OpenModel,
  { tools, seed, valid, counts }: {
    readonly tools: readonly ToolDescriptor[];
    readonly seed: number;
    readonly valid: Valid;
    readonly counts: Counts;
  },
): Promise<void> {
  const asked = question(`Do ${seed}`, { tools, maxTokens: 200, temperature: 1, seed });
  let messages: ChatMessage[] = asked.messages;
  let called = false;
  for (let turn = 0; turn < TURNS; turn++) {
    const options = { signal: NEVER, onChunk: (): void => {} };
    const { message, usage } = await model.infer({ ...asked, messages }, options);
    counts.tokens += usage.outputTokens;
    const { toolCalls = [] } = message;
    for (const call of toolCalls) {
      counts.calls++;
      const offered = tools.some(({ name }) => name === call.name);
      if (offered && valid(call)) counts.valid++;
    }
    called ||= toolCalls.length > 0;
    if (toolCalls.length === 0) break;
    const results = toolCalls.map(({ id }): ChatMessage => ({
      role: "tool",
      content: "ok",
      toolCallId: id,
      provenance: { origin: "tool", source: "bench", colour: "YELLOW", label: "internal" },
    }));
    messages = [...messages, message, ...results];
  }
  if (called) counts.talking++;
}

function validator(tools: readonly ToolDescriptor[]): Valid {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const checks = new Map(
    tools.map(({ name, paramSchema }) => [name as string, ajv.compile(JSON.parse(paramSchema))]),
  );
  return ({ name, arguments: text }) => {
    try {
      return checks.get(name)?.(JSON.parse(text)) === true;
    } catch {
      // Not JSON: not valid.
      return false;
    }
  };
}
