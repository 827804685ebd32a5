/** The gate without a disk: what a decision costs. @module */
import { Ajv } from "ajv";
import { CallId, ToolName } from "../contracts/authority/mod.ts";
import type { JsonObject } from "../contracts/base/mod.ts";
import type { ToolBinding } from "../contracts/task/mod.ts";
import { fixedPowers, makeBenchGate } from "./_gate.ts";
import { median } from "./quantile.ts";
import { atMost, type Row } from "./row.ts";
import { processorTime } from "../tests/fake/processor_time.ts";

const PATH = { type: "string", minLength: 1, maxLength: 4_096 } as const;
const SMALL_SCHEMA = {
  type: "object",
  properties: {
    path: PATH,
    from: { type: "integer", minimum: 1 },
    to: { type: "integer", minimum: 1 },
    maxBytes: { type: "integer", minimum: 1, maximum: 1_048_576 },
  },
  required: ["path"],
  additionalProperties: false,
} as const;
const LARGE_SCHEMA = {
  type: "object",
  properties: {
    path: PATH,
    edits: {
      type: "array",
      maxItems: 100,
      items: {
        type: "object",
        properties: {
          from: { type: "integer" },
          to: { type: "integer" },
          text: { type: "string", maxLength: 65_536 },
        },
        required: ["from", "to", "text"],
        additionalProperties: false,
      },
    },
  },
  required: ["path", "edits"],
  additionalProperties: false,
} as const;

const SMALL = { from: 10, maxBytes: 16_384, path: "desk/decision/0007-why.md", to: 80 };
const LARGE = {
  edits: Array.from({ length: 5 }, (_, i) => ({
    from: i,
    text: "some replaced text that is of ordinary length, a line or so.\n".repeat(3),
    to: i + 3,
  })),
  path: "desk/notes/monday.md",
};

/** Rows for `deno task bench`: a decision at two sizes, against parsing and checking alone. */
export async function gateBench(): Promise<Row[]> {
  return [
    await row("gate decision, small arguments", { args: SMALL, schema: SMALL_SCHEMA, most: 6 }),
    await row("gate decision, 1 KB of arguments", { args: LARGE, schema: LARGE_SCHEMA, most: 2 }),
  ];
}

async function row(
  name: string,
  load: { readonly args: JsonObject; readonly schema: object; readonly most: number },
): Promise<Row> {
  const text = JSON.stringify(load.args);
  const decide = await decider(text, JSON.stringify(load.schema));
  const check = new Ajv({ strict: false }).compile(load.schema);
  const { value, baseline } = medians(decide, () => {
    if (!check(JSON.parse(text))) throw new Error("the arguments do not fit");
  });
  return atMost({ name, value, unit: "µs", baseline }, load.most, "parsing and checking alone");
}

/** Medians of 60 rounds each, in turn; microseconds of processor time a call, which others do not lengthen. */
function medians(a: () => void, b: () => void): { value: number; baseline: number } {
  const calls = 1_000, rounds = 60;
  const took = (f: () => void): number => {
    const began = processorTime();
    for (let i = 0; i < calls; i++) f();
    return (processorTime() - began) / calls * 1_000;
  };
  for (let i = 0; i < 50; i++) took(a), took(b);
  const as: number[] = [], bs: number[] = [];
  for (let i = 0; i < rounds; i++) as.push(took(a)), bs.push(took(b));
  return { value: median(as), baseline: median(bs) };
}

async function decider(text: string, paramSchema: string): Promise<() => void> {
  const binding: ToolBinding = {
    descriptor: Object.freeze({
      name: ToolName.parse("file_read"),
      description: "Reads a file.",
      interfaceId: "Files",
      methodName: "read",
      paramSchema,
      permission: "auto",
      category: "read",
    }),
    effect: "read",
    deadlineMs: 1_000,
    resultBytes: 1_000,
    resolve: (args) => ({
      scopes: [{ resource: "mount", right: "read", path: String(args["path"]) }],
      effect: "read",
      digests: {},
      summary: "Read a file.",
      idempotent: true,
    }),
    invoke: () => Promise.reject(new Error("not in this bench")),
  };
  const { gate, process } = await makeBenchGate({ tools: () => [binding], powers: fixedPowers() });
  const call = { id: CallId.parse("c1"), name: "file_read", arguments: text };
  const { id } = gate.advertise(process.pid);
  return () => {
    const decision = gate.decide(process.pid, call, id);
    if (decision.kind !== "allow") throw new Error(JSON.stringify(decision));
  };
}
