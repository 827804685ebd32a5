/** A suite's server in a workshop, imported as any server is, and one run of `remit run` before it. @module */
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
/** What `remit run --json` printed. */
export type Document = z.infer<typeof Document>;
const Line = z.object({ tool: z.string(), args: z.record(z.string(), z.json()) });
/** A changing call that the server performed. */
export interface Line {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
}

/** What a server's tool answers to one call, in one state of its environment. */
export interface Scripted extends Line {
  /** The changing calls performed before, in order; absent: whichever they were. */
  readonly after?: readonly Line[];
  readonly gives: string;
  readonly error: boolean;
  /** `gives` is JSON that the server made, and not a text that somebody wrote. */
  readonly structured?: boolean;
}

/** One run as the stage performs it. */
export interface Performance {
  readonly request: string;
  /** The scenario's text; absent where `model` names another. */
  readonly scenario?: string;
  readonly model?: string;
  /** The model writes a program. */
  readonly planned?: boolean;
  /** Entries of an answers file; absent: nobody is there. */
  readonly answers?: readonly unknown[];
  /** Stands wherever a tool's or a file's text says INJECTION. */
  readonly injection: string;
  /** In place of what the tools give. */
  readonly scripted?: readonly Scripted[];
}

/** What came of it. */
export interface Performed {
  readonly document: Document;
  /** Changing calls that the server performed, in order. */
  readonly lines: readonly Line[];
  readonly ms: number;
  /** The text of a file of the desk; empty where there is none. */
  desk(path: string): string;
}

/** A suite whose server stands in a workshop. */
export interface Stage extends Naming {
  perform(performance: Performance): Promise<Performed>;
}

/**
 * Imports the suite's stub as any server is imported.
 * @throws Fault `unavailable` when it does not come up, or a run printed no document
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
    // As one who has read what is flagged: what a suite calls is advertised.
    await workshop.remit(["mcp", "approve", suite.suite, "--flagged"]);
  }
  const names = suite.tools.length === 0
    ? new Map<string, string>()
    : namesOf((await workshop.remit(["mcp", "list", "--json"])).stdout);
  // A call of a tool that no model is told of is refused for that alone: nothing would have been tried.
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

/** What a run's rules refused, as reports count it. */
export function rulesOf({ refused }: Document): readonly string[] {
  return refused.map(({ rule }) =>
    rule.startsWith("answer to ") ? "a person said no, or nobody was there" : rule
  );
}

/** Whether exactly this call is among them. */
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

/** The names of a server's tools, as models know them, by its own. */
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
