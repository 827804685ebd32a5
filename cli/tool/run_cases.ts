/** Builds a plugin's folder and runs its cases in a plugin host, a process without permissions. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import type { PluginHost } from "../plugin/kit.ts";
import { type Candidate, openCandidate } from "../plugin/source.ts";
import { type CaseEnd, CASES_NAME, mismatches, parseToolCases, type ToolCase } from "./cases.ts";
import { makeToolWorld } from "./world.ts";
import type { Basic } from "../hands.ts";

/** One case, run. */
export interface CaseRun {
  readonly name: string;
  readonly tool: string;
  /** Milliseconds. */
  readonly ms: number;
  /** Empty when it came out as expected. Untrusted words. */
  readonly wrong: readonly string[];
  readonly logs: readonly string[];
}

/** Everything that testing a folder came to. */
export interface CaseRuns {
  readonly candidate: Candidate;
  readonly runs: readonly CaseRun[];
}

async function runOne(host: PluginHost, each: ToolCase): Promise<CaseEnd> {
  const world = makeToolWorld(each);
  try {
    const { value, logs } = await host.call(each.tool, each.args, world.serve);
    return { value, logs, writes: world.writes() };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { code, message, detail } = error;
    const told = detail?.["logs"];
    const logs = Array.isArray(told) ? told.filter((line) => typeof line === "string") : [];
    return { fault: { code, message }, logs, writes: world.writes() };
  }
}

/**
 * Builds and tests the plugin in a folder.
 *
 * @throws Fault `notFound` without a `tool_test.yaml`, `invalidInput` when it does not build, `refused` by the load gate.
 */
export async function runCases(
  command: Command<Basic | "plugins">,
  folder: string,
): Promise<CaseRuns> {
  const { disk, around, plugins } = command.hands;
  const bytes = disk.read(join(folder, CASES_NAME));
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot test "${folder}": it has no ${CASES_NAME}`);
  }
  const cases = parseToolCases(new TextDecoder().decode(bytes));
  const candidate = await openCandidate(command, folder);
  let host: PluginHost | undefined;
  const runs: CaseRun[] = [];
  try {
    for (const each of cases) {
      // After an overrun there is a new one.
      host ??= await plugins.host(candidate);
      const before = around.now();
      const end = await runOne(host, each);
      if ("fault" in end && (end.fault.code === "timedOut" || end.fault.code === "gone")) {
        await host.close();
        host = undefined;
      }
      const { logs } = end;
      const wrong = mismatches(each.expect, end);
      runs.push({
        name: each.name ?? each.tool,
        tool: each.tool,
        ms: around.now() - before,
        wrong,
        logs,
      });
    }
  } finally {
    await host?.close();
  }
  return { candidate, runs };
}

/** Lines about runs, safe to show. */
export function runLines(
  paint: { readonly green: (text: string) => string; readonly red: (text: string) => string },
  runs: readonly CaseRun[],
): readonly string[] {
  const lines = runs.flatMap(({ name, ms, wrong, logs }) => {
    const title = `${displayText(name, { max: 120 })} (${ms} ms)`;
    if (wrong.length === 0) return [`${paint.green("ok  ")}  ${title}`];
    return [
      `${paint.red("FAIL")}  ${title}`,
      ...wrong.map((each) => `        ${displayText(each, { max: 1_000 })}`),
      ...logs.slice(-20).map((line) => `        log: ${displayText(line, { max: 300 })}`),
    ];
  });
  const failed = runs.filter(({ wrong }) => wrong.length > 0).length;
  return [...lines, `${runs.length - failed} passed, ${failed} failed`];
}
