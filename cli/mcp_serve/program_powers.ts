/** The gateway's program, built when it is first needed. docs/decision/0016. @module */
import {
  type BuiltProgram,
  type ProgramBuild,
  type ProgramSource,
  provideWarmProgram,
} from "../program/program_cache_powers.ts";
import { SERVE_MOST } from "./line.ts";

/** What it is made of. */
export const SERVE_PROGRAM: ProgramSource = {
  ...{ entry: "ingress/main.ts", platform: "browser", folder: "gateway", name: "gateway" },
  folders: ["bridges/a2a/serve", "bridges/mcp/serve", "contracts", "ingress", "port", "text"],
  pages: SERVE_MOST.pages,
};

/** Finds or builds it. @throws Fault `unavailable` when it does not build. */
export async function provideServeProgram(parts: ProgramBuild): Promise<BuiltProgram> {
  return await provideWarmProgram(SERVE_PROGRAM, parts);
}
