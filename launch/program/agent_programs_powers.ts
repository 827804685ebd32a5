/**
 * Programs around a foreign agent: its client and the relay to its provider, built before its first
 * run. Used by launch/kernel/config_powers.ts and cli/agent/commands.ts.
 * @module
 */
import type { GrantedCommand } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { findCommands } from "./command_programs_powers.ts";
import {
  type ProgramBuild,
  programFile,
  type ProgramSource,
  provideProgram,
} from "./program_cache_powers.ts";

const sourceOf = (name: "client" | "relay"): ProgramSource => ({
  ...{ entry: `bridges/acp/${name}/main.ts`, platform: "deno", folder: `agent-${name}`, name },
  folders: ["contracts", "port", "text", `bridges/acp/${name}`],
});
const CLIENT = sourceOf("client"), RELAY = sourceOf("relay");

/** This machine's architecture in the words of npm packages. */
export const ARCH = Deno.build.arch === "aarch64" ? "arm64" : "x64";

/** Paths of both programs, built or not. */
export function agentPrograms(
  parts: Pick<ProgramBuild, "home" | "cache" | "known">,
): Pick<KernelConfig["bundles"], "agentClient" | "agentRelay"> {
  return { agentClient: programFile(CLIENT, parts), agentRelay: programFile(RELAY, parts) };
}

/** Finds or builds both programs. @throws Fault `unavailable` when one does not build */
export async function provideAgentPrograms(parts: ProgramBuild): Promise<void> {
  await provideProgram(CLIENT, parts);
  await provideProgram(RELAY, parts);
}

/** The program that agents' clients run on: this process's own Deno. */
export function clientProgram(): Pick<GrantedCommand, "program" | "sha256"> {
  const { commands: [found] } = findCommands({ deno: { program: Deno.execPath() } }, "");
  if (found === undefined) throw new TypeError("Cannot find the program that this is");
  return { program: found.program, sha256: found.sha256 };
}
