/**
 * The calls of a planned program as a person sees them and the gate enforces them.
 * docs/planned_programs.md. Used by planned.ts.
 * @module
 */
import type { PlanArgument, PlanSite, PlanTemplate } from "../../contracts/authority/plan.ts";
import type { Digest } from "../../contracts/authority/ids.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../../contracts/base/json.ts";
import { PLAN_RUN } from "../../contracts/exchange/planned.ts";
import type { ToolBinding } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { destroysByName, isImported, type ToolDescriptor } from "../../contracts/tool/tool.ts";

/** Calls of a place in an unbounded loop: where the planner names no number, and at most. */
export const USUAL_TIMES = 10, MAX_TIMES = 500;

/** Characters of a value in a question. */
const MAX_SHOWN = 1_000;
const MAX_ARGUMENTS = 256;

/** A place in a program's text that makes a call. */
export interface SiteFacts {
  readonly site: number;
  readonly tool: string;
  readonly times: number;
  readonly under: readonly number[];
  readonly template: Extract<PlanTemplate, { record: unknown }>;
}

/** A place as a person sees it. @throws Fault `unknownTool`, `invalidArguments` */
export function siteOf(
  site: SiteFacts,
  { args, caller, standsIn, digestOf, tools }: {
    /** A tool's digest, independent of its mode. */
    readonly digestOf: (descriptor: ToolDescriptor) => Digest;
    readonly args: JsonObject;
    readonly caller: ProcessRow;
    standsIn(value: string | number | boolean | null): boolean;
    readonly tools: ReadonlyMap<string, ToolBinding>;
  },
): PlanSite {
  const advertised = caller.snapshot?.tools.find(({ name }) => name === site.tool);
  const binding = advertised && tools.get(advertised.name);
  if (advertised === undefined || binding === undefined || advertised.name === PLAN_RUN) {
    throw new Fault(
      "unknownTool",
      `Cannot take the program: call ${site.site} is of tools.${
        site.tool.slice(0, 64)
      }, which this task does not have`,
    );
  }
  checkArguments(advertised, site);
  const wanted = isObject(args["atMost"]) ? args["atMost"][site.tool] : undefined;
  const loops = Math.min(typeof wanted === "number" ? wanted : USUAL_TIMES, MAX_TIMES);
  return {
    ...{ site: site.site, tool: advertised.name, descriptor: digestOf(advertised) },
    atMost: Number.isFinite(site.times) ? Math.min(Math.max(site.times, 1), 10_000) : loops,
    becomes: becomes(advertised, binding),
    under: [...site.under],
    arguments: argumentsOf(site.template, standsIn),
  };
}

/** The treatment of a call once a person has agreed to the plan. */
function becomes(
  descriptor: ToolDescriptor,
  { effect }: ToolBinding,
): PlanSite["becomes"] {
  const { permission, category } = descriptor;
  if (permission === "forbidden") return "refused";
  if (permission === "stepUp" || effect === "destructive" || effect === "admin") return "asks";
  if (category === "destroy" || category === "admin") return "asks";
  if (permission === "auto" && (effect === "read" || effect === "stage")) return "passes";
  // A server may name a destructive tool plainly without annotating it.
  return isImported(descriptor) && destroysByName(descriptor) ? "asks" : "covered";
}

/** Refuses misspelt arguments before a person is asked. */
function checkArguments(
  { name, paramSchema }: ToolDescriptor,
  { site, template }: SiteFacts,
): void {
  // TRUST: a descriptor's schema was parsed when it was reviewed.
  const { properties, required, additionalProperties } = JSON.parse(paramSchema) as JsonObject;
  const given = Object.keys(template.record);
  const missing = Array.isArray(required)
    ? required.find((each) => !given.includes(String(each)))
    : undefined;
  const known = isObject(properties) ? Object.keys(properties) : [];
  const unknown = additionalProperties === false
    ? given.find((each) => !known.includes(each))
    : undefined;
  if (missing === undefined && unknown === undefined) return;
  throw new Fault(
    "invalidArguments",
    `Cannot take the program: call ${site} of ${name} ${
      missing === undefined
        ? `names ${JSON.stringify(unknown)}`
        : `leaves out ${JSON.stringify(missing)}`
    }; it takes: ${known.join(", ")}`,
  );
}

function argumentsOf(
  template: PlanTemplate,
  standsIn: (value: string | number | boolean | null) => boolean,
): PlanArgument[] {
  const found: PlanArgument[] = [];
  const look = (at: PlanTemplate, name: string): void => {
    const within = (key: string | number): string => name === "" ? String(key) : `${name}.${key}`;
    if ("record" in at) {
      for (const [key, each] of Object.entries(at.record)) look(each, within(key));
    } else if ("list" in at) at.list.forEach((each, n) => look(each, within(n)));
    else if ("from" in at) add({ name, origin: "derived", from: [...at.from] });
    else lookLiteral(at.literal, name);
  };
  const lookLiteral = (literal: Json, name: string): void => {
    const parts = literal !== null && typeof literal === "object" ? Object.entries(literal) : [];
    for (const [key, each] of parts) lookLiteral(each, name === "" ? key : `${name}.${key}`);
    if (parts.length > 0) return;
    const plain = literal === null || typeof literal !== "object" ? literal : undefined;
    const text = JSON.stringify(literal);
    add({
      name,
      origin: plain !== undefined && standsIn(plain) ? "request" : "planner",
      value: text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`,
    });
  };
  const add = (argument: PlanArgument): void => {
    if (found.length >= MAX_ARGUMENTS) {
      throw new Fault(
        "tooLarge",
        `Cannot take the program: a call has more than ${MAX_ARGUMENTS} values`,
      );
    }
    found.push({ ...argument, name: argument.name.slice(0, 256).toWellFormed() });
  };
  look(template, "");
  return found;
}
