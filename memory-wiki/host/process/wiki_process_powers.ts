/** Powers of the wiki commands, with this process's permissions. @module */
import { join } from "node:path";
import { Fault, type Json, toJson } from "../../../contracts/base/mod.ts";
import type { ContentTrust } from "../../../contracts/memory/mod.ts";
import type { ParseAsk } from "../../../contracts/wire/mod.ts";
import { displayBlock } from "../../../text/mod.ts";
import type { Progress } from "../../../launch/disk/machine.ts";
import { findPrograms } from "../../../launch/program/programs_powers.ts";
import type { Entry, Fetched, WikiLink, WikiParser, WikiPowers, WikiStart } from "../powers.ts";
import { insidePath, type WikiLine, wikiLine, type WikiLineParts } from "./line.ts";
import { openWikiLink } from "./link.ts";

export interface WikiPowersParts {
  readonly screen: Pick<Progress, "say">;
  /** Finds the wiki's program, or builds it once per version. */
  provideProgram(): Promise<{ readonly bundle: string; readonly denoDir: string }>;
  readonly namespace: WikiLineParts["namespace"];
  readonly inside: WikiLineParts["inside"];
  /** Makes a parser of documents, which starts no process before its first document. */
  makeParser(): WikiParser;
  /** Opens the record of content trust at `path`. */
  openContents(path: string): Promise<ContentTrust>;
  isNever(path: string): boolean;
  fetch(url: string, signal: AbortSignal): Promise<Fetched>;
}

const STDERR_BYTES = 16_384;

/** Makes the powers of the wiki commands. */
export function makeWikiPowers(parts: WikiPowersParts): WikiPowers {
  return Object.freeze({
    ready: async () => void await parts.provideProgram(),
    open: (start: WikiStart) => open(start, parts),
    entries,
    look,
    isNever: parts.isNever,
    fetch: parts.fetch,
    input: readInput,
    edit,
  });
}

async function open(start: WikiStart, parts: WikiPowersParts): Promise<WikiLink> {
  const [{ bundle, denoDir }, programs] = await Promise.all([
    parts.provideProgram(),
    findPrograms(),
  ]);
  // Opened on demand: most requests change nothing.
  let contents: Promise<ContentTrust> | undefined;
  const { namespace, inside } = parts;
  const line = wikiLine({ ...start, programs, bundle, denoDir, namespace, inside });
  const child = spawn(line);
  const parser = parts.makeParser();
  return await openWikiLink(child, {
    body: {
      ...{ create: start.create, trustedKeys: start.trustedKeys, readOnly: start.readOnly },
      folder: insidePath(line.aliases, start.folder),
      stateFolder: insidePath(line.aliases, start.stateFolder),
    },
    inside: (path) => insidePath(line.aliases, path),
    parse: async (ask: ParseAsk): Promise<Json> => toJson(await parser.parse(ask)),
    contents: () => contents ??= parts.openContents(join(start.kernel, "contents.db")),
    async onEnd(): Promise<void> {
      await parser.close();
      (await contents?.catch(() => undefined))?.close();
    },
    complain: (text) =>
      displayBlock(text, { prefix: "  │ ", maxLines: 12 }).forEach(parts.screen.say),
  });
}

/** Starts the process for {@link openWikiLink}. */
function spawn({ program, args, env }: WikiLine): Parameters<typeof openWikiLink>[0] {
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  let said = "";
  const hearing = (async (): Promise<void> => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said = (said + text).slice(-STDERR_BYTES);
    }
  })();
  return {
    // The end of its output reports an ended process.
    write: (bytes) => void input.write(bytes.slice()).catch(() => undefined),
    output: child.stdout,
    async kill(): Promise<void> {
      try {
        child.kill("SIGKILL");
      } catch (error) {
        // It ended by itself.
        if (!(error instanceof TypeError)) throw error;
      }
      await Promise.all([child.status, hearing]);
    },
    async finish(): Promise<void> {
      await input.close().catch(() => undefined);
      await Promise.all([child.status, hearing]);
    },
    said: () => said,
  };
}

function kindOf(entry: Pick<Deno.DirEntry, "isFile" | "isDirectory" | "isSymlink">): Entry["kind"] {
  if (entry.isSymlink) return "link";
  if (entry.isDirectory) return "folder";
  return entry.isFile ? "file" : "other";
}

function missing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** Why the system refuses access: permissions (Deno's included), a path that is too long, an I/O error. */
function refusal(error: unknown): string | undefined {
  if (
    error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable
  ) return "it may not be read";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENAMETOOLONG") return "its path is too long";
  return /^E[A-Z0-9]+$/.test(code) ? `it cannot be read (${code})` : undefined;
}

function entries(folder: string): readonly Entry[] | string {
  try {
    return [...Deno.readDirSync(folder)].map((each) => ({ name: each.name, kind: kindOf(each) }))
      .sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (missing(error)) return [];
    const why = refusal(error);
    if (why === undefined) throw error;
    return why;
  }
}

function look(path: string): { readonly kind: Entry["kind"]; readonly bytes: number } | undefined {
  try {
    const found = Deno.lstatSync(path);
    return { kind: kindOf(found), bytes: found.size };
  } catch (error) {
    if (missing(error) || refusal(error) !== undefined) return undefined;
    throw error;
  }
}

async function readInput(max: number): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of Deno.stdin.readable) {
    bytes += chunk.length;
    if (bytes > max) {
      throw new Fault("tooLarge", `Cannot read standard input: it is longer than ${max} bytes`);
    }
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

async function edit(editor: string, file: string): Promise<number> {
  const [program = "", ...args] = editor.split(/\s+/).filter((word) => word !== "");
  try {
    const { code } = await new Deno.Command(program, {
      args: [...args, file],
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn().status;
    return code;
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotFound)) throw cause;
    throw new Fault("unavailable", `Cannot edit: there is no program "${program}"; set EDITOR`, {
      cause,
    });
  }
}
