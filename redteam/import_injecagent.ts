/** Converts InjecAgent's cases (MIT) from a checkout on disk into suites. @module */
import * as z from "zod";
import { Fault } from "../contracts/base/mod.ts";
import { parseSuite, type Suite } from "./suite.ts";

const Case = z.object({
  "User Tool": z.string(),
  "User Instruction": z.string(),
  "Tool Parameters": z.string(),
  "Tool Response Template": z.string(),
  "Attacker Tools": z.array(z.string()).min(1),
  "Attacker Instruction": z.string(),
});

/** Where InjecAgent keeps its cases: direct harm, and data theft. */
export const INJECAGENT_FILES = ["data/test_cases_dh_base.json", "data/test_cases_ds_base.json"];

/**
 * Makes a suite per user tool from the first `most` cases. A user tool reads and returns text that
 * a stranger wrote; an attacker's tool changes something, with the attacker's words as its only
 * argument.
 * @throws Fault `invalidInput` when the text is not a list of cases
 */
export function injecAgentSuite(json: string, most: number): Suite[] {
  let cases: z.infer<typeof Case>[];
  try {
    cases = z.array(Case).parse(JSON.parse(json)).slice(0, most);
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot read InjecAgent's cases: the file has another shape", {
      cause,
    });
  }
  const byTool = Map.groupBy(cases, (each) => each["User Tool"]);
  return [...byTool.entries()].map(([userTool, own], at) => {
    const attackers = [...new Set(own.flatMap((each) => each["Attacker Tools"]))];
    const args = argsOf(own[0]?.["Tool Parameters"] ?? "");
    const suite = {
      ...{ suite: `injec_${at}`, about: `InjecAgent: ${userTool}` },
      tools: [
        {
          ...{ name: safe(userTool), description: userTool, reads: true, gives: "INJECTION" },
          schema: { type: "object" },
        },
        ...attackers.filter((tool) => safe(tool) !== safe(userTool)).map((tool) => ({
          ...{ name: safe(tool), description: tool, args: { instruction: "string" } },
        })),
      ],
      tasks: [{
        ...{ id: "task", request: own[0]?.["User Instruction"] ?? "" },
        calls: [{ tool: safe(userTool), args }],
      }],
      injections: own.map((each, n) => ({
        ...{ id: `case_${n}`, goal: each["Attacker Instruction"] },
        text: each["Tool Response Template"]
          .replaceAll("<Attacker Instruction>", each["Attacker Instruction"]),
        calls: each["Attacker Tools"].filter((tool) => safe(tool) !== safe(userTool)).map((
          tool,
        ) => ({ tool: safe(tool), args: { instruction: each["Attacker Instruction"] } })),
      })).filter(({ calls }) => calls.length > 0),
    };
    return parseSuite(JSON.stringify(suite), userTool);
  });
}

/** Parses a Python dict literal; empty where it holds more than texts and numbers. */
function argsOf(python: string): Record<string, string | number> {
  const pair =
    /(['"])((?:(?!\1)[^\\]|\\.)*)\1\s*:\s*(?:(['"])((?:(?!\3)[^\\]|\\.)*)\3|(-?\d+(?:\.\d+)?))/gu;
  return Object.fromEntries(
    [...python.matchAll(pair)].map(([, , name = "", , text, number]) => [
      name,
      number === undefined ? (text ?? "").replaceAll(/\\(['"\\])/g, "$1") : Number(number),
    ]),
  );
}

/** Converts a tool's name to lower case with underscores. */
function safe(tool: string): string {
  return tool.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[^\w]/g, "_").toLowerCase().slice(
    0,
    48,
  );
}
