/** The gate without a disk: what a decision costs. @module */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Ajv } from "ajv";
import { makeProvenance, type Provenance } from "../broker/provenance/origins.ts";
import { CallId, TaskId, ToolName } from "../contracts/authority/mod.ts";
import type { JsonObject } from "../contracts/base/mod.ts";
import type { ToolBinding } from "../contracts/task/mod.ts";
import { fixedPowers, makeBenchGate } from "./_gate.ts";
import { median } from "./quantile.ts";
import { atMost, type Row, shown } from "./row.ts";
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
    ...await provenanceRows(),
  ];
}

const PAY = ToolName.parse("mcp_bank_pay");
const WORDS = "Read my letters, then pay 98.70 to UK12345 for 'Car Rental'.";
const PAID = { amount: 98.7, subject: "Car Rental", to: "UK12345" };
const RESULTS = 100, RESULT_BYTES = 2_048;
/** Targets: a decision beside one that looks at no value; megabytes of what is kept of a task. */
const WITH_ORIGINS = 2, INDEX_MB = 2;

/** A server's answer of 2 KB, in which each line is another. */
function resultOf(n: number): string {
  let text = "";
  for (let i = 0; text.length < RESULT_BYTES; i++) {
    text += `{"id":"tx-${n}-${i}","to":"payee-${n}-${i}@x.example","amount":${n * 1_000 + i}.5}\n`;
  }
  return text.slice(0, RESULT_BYTES);
}

/** Tells a task's words, declares the tool, and lets it hear the results, as its bridge tells them. */
function hearAll(provenance: Provenance, task: TaskId): void {
  provenance.said(task, { text: WORDS });
  provenance.declare(task, [{ tool: PAY, max: 1_000 }]);
  for (let n = 0; n < RESULTS; n++) {
    const text = resultOf(n);
    const records = text.split("\n").flatMap((line) =>
      line.endsWith("}") ? [Object.entries(JSON.parse(line) as Record<string, string>)] : []
    );
    provenance.heard(task, {
      ...{ call: CallId.parse(`r${n}`), tool: PAY, colour: "RED", interfaceId: "mcp:bank" },
      ...{ text, records, redact: (each) => each },
    });
  }
}

/** A payment whose values stand in the request, after 100 results of 2 KB; and what is kept of them. */
async function provenanceRows(): Promise<Row[]> {
  const [known, asked] = [await payment(true), await payment(false)];
  const { value, baseline } = medians(known, asked);
  const tasks = 16, mb = 1_048_576;
  // Each before and after is what is left when nothing else is held.
  const provenance = makeProvenance(), before = heldBytes();
  for (let n = 0; n < tasks; n++) {
    hearAll(provenance, TaskId.parse(`t${n.toString(36).padStart(12, "0")}`));
  }
  const kept = (heldBytes() - before) / tasks / mb;
  if (!provenance.knows(TaskId.parse("t000000000000"))) throw new Error("nothing was kept");
  const name = `gate decision by origins, after ${RESULTS} results of 2 KB`;
  const size = shown({ name: "origins kept of such a task", value: kept, unit: "MB", baseline: 0 });
  return [
    atMost({ name, value, unit: "µs", baseline }, WITH_ORIGINS, "the same without origins"),
    { ...size, target: `≤ ${INDEX_MB} MB`, ok: kept <= INDEX_MB },
  ];
}

/** Bytes of the heap that are held: what nobody holds is collected first. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
  return Deno.memoryUsage().heapUsed;
}

async function payment(withOrigins: boolean): Promise<() => void> {
  const binding: ToolBinding = {
    descriptor: Object.freeze({
      ...{ name: PAY, description: "Pays.", interfaceId: "mcp:bank", methodName: "pay" },
      paramSchema: JSON.stringify({
        type: "object",
        properties: {
          to: { type: "string" },
          amount: { type: "number" },
          subject: { type: "string" },
        },
      }),
      ...{ permission: "consent", category: "network" } as const,
    }),
    effect: "outboundWrite",
    granted: true,
    ...{ deadlineMs: 1_000, resultBytes: 1_000 },
    resolve: () => ({
      scopes: [{ resource: "net", right: "use", path: "mcp:bank" }],
      ...{ effect: "outboundWrite", digests: {}, summary: "Pay.", idempotent: false },
      ...{ destination: "mcp:bank", clearance: "internal" },
    }),
    invoke: () => Promise.reject(new Error("not in this bench")),
  };
  const provenance = makeProvenance();
  const { gate, process } = await makeBenchGate({
    ...{ tools: () => [binding], powers: fixedPowers() },
    ...(withOrigins ? { provenance } : {}),
  });
  process.colour = "RED";
  hearAll(provenance, process.task);
  const call = { id: CallId.parse("c1"), name: PAY, arguments: JSON.stringify(PAID) };
  const { id } = gate.advertise(process.pid), kind = withOrigins ? "allow" : "ask";
  return () => {
    const decision = gate.decide(process.pid, call, id);
    if (decision.kind !== kind) throw new Error(JSON.stringify(decision));
  };
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
