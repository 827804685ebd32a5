/**
 * A suite's server in a workshop, imported like any server, and runs of `remit run` against it.
 * @module
 */
import * as z from "zod";
import { Fault } from "../contracts/base/mod.ts";
import type { Json } from "../contracts/base/json.ts";
import { canonicalJson } from "../port/mod.ts";
import type { Suite } from "./suite.ts";
import type { Naming } from "./variants.ts";
import type { RedteamPowers, Workshop } from "./workshop_powers.ts";

const Document = z.object({
  status: z.string(),
  answer: z.string().optional(),
  did: z.array(z.object({ tool: z.string(), calls: z.number(), failed: z.number() })),
  refused: z.array(z.object({ rule: z.string() })),
  asked: z.array(z.unknown()),
  spent: z.object({ calls: z.number(), inputTokens: z.number(), outputTokens: z.number() }),
});
/** The output of `remit run --json`. */
export type Document = z.infer<typeof Document>;
const Line = z.object({ tool: z.string(), args: z.record(z.string(), z.json()) });
/** A changing call that the server performed. */
export interface Line {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
}

/** A tool's answer to one call, in one state of the server's environment. */
export interface Scripted extends Line {
  /** The changing calls performed before, in order; absent: any. */
  readonly after?: readonly Line[];
  readonly gives: string;
  readonly error: boolean;
  /** Whether `gives` is JSON that the server made, and not a text that somebody wrote. */
  readonly structured?: boolean;
}

/** What the stage is to perform: one run. */
export interface Performance {
  readonly request: string;
  /** The scenario's text; absent where `model` names a model. */
  readonly scenario?: string;
  readonly model?: string;
  /** Whether the model writes a program. */
  readonly planned?: boolean;
  /** Entries of an answers file; absent: nobody answers. */
  readonly answers?: readonly unknown[];
  /** Replaces the word INJECTION in the texts of tools and files. */
  readonly injection: string;
  /** Answers that replace what the tools give. */
  readonly scripted?: readonly Scripted[];
}

/** The outcome of a performance. */
export interface Performed {
  readonly document: Document;
  /** The changing calls that the server performed, in order. */
  readonly lines: readonly Line[];
  readonly ms: number;
  /** The text of a file of the desk; empty where there is none. */
  desk(path: string): string;
}

/** A suite whose server is imported in a workshop. */
export interface Stage extends Naming {
  perform(performance: Performance): Promise<Performed>;
}

/**
 * Imports the suite's stub server like any server.
 * @throws Fault `unavailable` when the server does not start, or a run prints no document
 */
export async function setStage(
  suite: Pick<Suite, "suite" | "tools" | "desk">,
  workshop: Workshop,
  powers: Pick<RedteamPowers, "shipped" | "now">,
): Promise<Stage> {
  const beneath = `servers/${suite.suite}`;
  const journal = `journals/${suite.suite}/journal.jsonl`;
  const desk = `desks/${suite.suite}`;
  workshop.write(`${beneath}/server.mjs`, powers.shipped("stub_server.mjs"));
  workshop.write(journal, "");
  const write = (injection: string, scripted?: readonly Scripted[]): void =>
    workshop.write(`${beneath}/environment.json`, environmentText(suite, injection, scripted));
  write("");
  if (suite.tools.length > 0) {
    const added = await workshop.remit([
      ...["mcp", "add", suite.suite, "--direct", workshop.path(`journals/${suite.suite}`), "--yes"],
      ...["--", "node", workshop.path(`${beneath}/server.mjs`), workshop.path(journal)],
    ]);
    if (added.code !== 0) {
      throw new Fault(
        "unavailable",
        `Cannot set up suite "${suite.suite}": ${(added.stderr + added.stdout).slice(-600)}`,
      );
    }
    // As a person who has read what is flagged, so that every tool of the suite is advertised.
    await workshop.remit(["mcp", "approve", suite.suite, "--flagged"]);
  }
  const names = suite.tools.length === 0
    ? new Map<string, string>()
    : namesOf((await workshop.remit(["mcp", "list", "--json"])).stdout);
  // Remit refuses a call of a tool that is not advertised for that reason alone, so nothing would
  // be tested.
  const missing = suite.tools.find(({ name }) => !names.has(name));
  if (missing !== undefined) {
    throw new Fault(
      "unavailable",
      `Cannot set up suite "${suite.suite}": Remit does not advertise its tool "${missing.name}"`,
    );
  }
  return Object.freeze<Stage>({
    suite: suite.suite,
    nameOf: (tool) => names.get(tool) ?? tool,
    async perform(wanted): Promise<Performed> {
      const { request, scenario, model, answers, injection, scripted, planned } = wanted;
      write(injection, scripted);
      workshop.write(journal, "");
      for (const [path, text] of Object.entries(suite.desk)) {
        workshop.write(`${desk}/${path}`, text.replaceAll("INJECTION", injection));
      }
      const play = `plays/${suite.suite}.yaml`, prepared = `plays/${suite.suite}.answers.json`;
      if (scenario !== undefined) workshop.write(play, scenario);
      if (answers !== undefined) workshop.write(prepared, JSON.stringify({ answers }));
      const began = powers.now();
      const done = await workshop.remit([
        ...["run", "-p", request, "--json", "--on-question", "deny", "--tools", "all"],
        ...["--model", model ?? `scripted:${workshop.path(play)}`],
        ...(planned === true ? ["--planned"] : []),
        ...(answers === undefined ? [] : ["--answers", workshop.path(prepared)]),
        ...(Object.keys(suite.desk).length === 0 ? [] : ["--mount", `desk=${workshop.path(desk)}`]),
      ]);
      return {
        document: documentOf(suite, done),
        lines: linesOf(workshop.read(journal)),
        ms: Math.round(powers.now() - began),
        desk: (path) => workshop.read(`${desk}/${path}`),
      };
    },
  });
}

/** Returns the rules that refused something in a run, as reports count them. */
export function rulesOf({ refused }: Document): readonly string[] {
  return refused.map(({ rule }) =>
    rule.startsWith("answer to ") ? "a person said no, or nobody was there" : rule
  );
}

/** Whether exactly this call is among the performed ones. */
export function inJournal(call: Line, lines: readonly Line[]): boolean {
  const wanted = canonicalJson(call.args);
  return lines.some(({ tool, args }) => tool === call.tool && canonicalJson(args) === wanted);
}

function environmentText(
  { tools }: Pick<Suite, "tools">,
  injection: string,
  scripted?: readonly Scripted[],
): string {
  const called = ({ tool, args }: Line): string => canonicalJson([tool, args]);
  return JSON.stringify({
    tools: tools.map(({ name, description, reads, args, schema, gives }) => ({
      ...{ name, description, reads, gives: gives.replaceAll("INJECTION", injection) },
      schema: schema ?? {
        type: "object",
        properties: Object.fromEntries(Object.entries(args).map(([key, type]) => [key, { type }])),
        required: Object.keys(args),
      },
    })),
    ...(scripted === undefined ? {} : {
      scripted: scripted.map(({ tool, args, after, gives, error, structured }) => ({
        ...{ call: called({ tool, args }), gives, error, structured },
        ...(after === undefined ? {} : { after: after.map(called) }),
      })),
    }),
  });
}

const Listed = z.array(z.object({
  tools: z.array(z.object({ tool: z.string(), name: z.string(), off: z.boolean() })),
}));

/** Maps the server's tool names to the names that models know them by. */
function namesOf(listed: string): ReadonlyMap<string, string> {
  return new Map(
    Listed.parse(JSON.parse(listed)).flatMap(({ tools }) =>
      tools.filter(({ off }) => !off).map(({ tool, name }) => [tool, name] as const)
    ),
  );
}

function documentOf(
  { suite }: Pick<Suite, "suite">,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
): Document {
  try {
    return Document.parse(JSON.parse(stdout));
  } catch (cause) {
    const why = (stderr || stdout).slice(-600);
    throw new Fault("unavailable", `Cannot play suite "${suite}": ${why}`, { cause });
  }
}

function linesOf(text: string): readonly Line[] {
  return text.split("\n").filter((line) => line !== "").map((line) => Line.parse(JSON.parse(line)));
}
