/** The programs of the wiki memory, each built when it is first needed. docs/decision/0013 and 0014. @module */
import {
  type BuiltProgram,
  type ProgramBuild,
  programFile,
  type ProgramSource,
  provideWarmProgram,
} from "../../../launch/program/program_cache_powers.ts";
import { WASM_PAGES } from "../../../contracts/base/mod.ts";
import { PARSER_PAGES } from "./parser_process_powers.ts";

/** `wiki` holds one wiki, `parser` makes text of one document. */
export type WikiProgram = "wiki" | "parser";

const SOURCES: Readonly<Record<WikiProgram, ProgramSource>> = {
  wiki: {
    ...{ entry: "memory-wiki/main.ts", platform: "deno", folder: "wiki", name: "wiki" },
    folders: ["contracts", "memory-wiki", "port", "text"],
    // The kernel starts it, too.
    pages: WASM_PAGES.wiki,
  },
  parser: {
    // It has no Node.js layer and no permission that one needs.
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

/** Where the program of these sources lies once it is built. */
export function wikiProgramFile(
  which: WikiProgram,
  parts: Pick<ProgramBuild, "home" | "cache" | "known">,
): string {
  return programFile(SOURCES[which], parts);
}

/** Finds or builds it. @throws Fault `unavailable` when it does not build. */
export async function provideWikiProgram(
  which: WikiProgram,
  parts: ProgramBuild,
): Promise<BuiltProgram> {
  return await provideWarmProgram(SOURCES[which], parts);
}
