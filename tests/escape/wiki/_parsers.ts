/** Readers of documents over the real parser, or over mallory's program in its place. */
import { dirname, join } from "node:path";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
import type { Parsed } from "../../../contracts/wire/mod.ts";
import { makeWikiParser } from "../../../memory-wiki/host/process/parser_powers.ts";
import { provideWikiProgram } from "../../../memory-wiki/host/process/programs_powers.ts";
import { cache } from "../../fake/siege.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** One parser, as the tests use it. */
export interface ParserUnderTest {
  parse(kind: SourceKind, content: string | Uint8Array, name?: string): Promise<Parsed>;
  close(): Promise<void>;
  /** Part of the command line of each of its processes. */
  readonly program: string;
}

/** Runs `f` with the real parser. */
export async function withParser(
  f: (parser: ParserUnderTest) => Promise<void>,
  deadlineMs?: number,
): Promise<void> {
  const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
  await over(await provideWikiProgram("parser", parts), deadlineMs, f);
}

/**
 * Runs `f` with mallory's program in the parser's place: what an exploited library would be. `reads`
 * is the body of an async function of `name` that answers `parse`.
 */
export async function withMallory(
  reads: string,
  f: (parser: ParserUnderTest) => Promise<void>,
  deadlineMs?: number,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "remit-parser-" });
  try {
    const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
    const { denoDir } = await provideWikiProgram("parser", parts);
    const bundle = await writeMallory(folder, reads.replaceAll("$CACHE", denoDir));
    await over({ bundle, denoDir }, deadlineMs, f);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Writes mallory's program into a folder; gives its path. */
export async function writeMallory(folder: string, reads: string): Promise<string> {
  const file = join(folder, "mallory.js");
  await Deno.writeTextFile(
    file,
    `import { serveChild } from "${ROOT}port/child_powers.ts";
const text = (said) => ({ text: String(said), title: "", parser: "mallory@1", notes: [] });
let name = "";
await serveChild((port) => ({
  ask(op, body) {
    if (op === "begin") name = body.name;
    return op === "parse" ? (async () => { ${reads} })() : null;
  },
  tell() {},
}), { frameBytes: 1 << 30 });
`,
  );
  return file;
}

async function over(
  program: { readonly bundle: string; readonly denoDir: string },
  deadlineMs: number | undefined,
  f: (parser: ParserUnderTest) => Promise<void>,
): Promise<void> {
  const parser = makeWikiParser({
    provideProgram: () => Promise.resolve(program),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  try {
    await f({
      parse(kind, content, name = "a document") {
        const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
        return parser.parse({ kind, name, bytes: bytes.toBase64() });
      },
      close: parser.close,
      program: dirname(program.bundle),
    });
  } finally {
    await parser.close();
  }
}
