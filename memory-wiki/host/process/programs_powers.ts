/** The wiki's programs, built when first needed. docs/decision/0013 and 0014. @module */
import {
  type BuiltProgram,
  type ProgramBuild,
  programFile,
  type ProgramSource,
  provideWarmProgram,
} from "../../../launch/program/program_cache_powers.ts";
import { WASM_PAGES } from "../../../contracts/base/mod.ts";
import { PARSER_PAGES } from "./parser_process_powers.ts";

/** `wiki` serves one wiki, `parser` parses one document. */
export type WikiProgram = "wiki" | "parser";

const SOURCES: Readonly<Record<WikiProgram, ProgramSource>> = {
  wiki: {
    ...{ entry: "memory-wiki/main.ts", platform: "deno", folder: "wiki", name: "wiki" },
    folders: ["contracts", "memory-wiki", "port", "text"],
    // Shared with the kernel, which starts it, too.
    pages: WASM_PAGES.wiki,
  },
  parser: {
    // No Node.js layer and no permissions.
    ...{
      entry: "memory-wiki/parse/main.ts",
      platform: "browser",
      folder: "parser",
      name: "parser",
    },
    folders: ["contracts", "memory-wiki/parse", "port", "tools-wasm/web_read"],
    pages: PARSER_PAGES,
  },
};

/** Path of the built program for these sources. */
export function wikiProgramFile(
  which: WikiProgram,
  parts: Pick<ProgramBuild, "home" | "cache" | "known">,
): string {
  return programFile(SOURCES[which], parts);
}

/** Finds or builds a program. @throws Fault `unavailable` when it does not build. */
export async function provideWikiProgram(
  which: WikiProgram,
  parts: ProgramBuild,
): Promise<BuiltProgram> {
  return await provideWarmProgram(SOURCES[which], parts);
}
