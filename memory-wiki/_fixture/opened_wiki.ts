/** A real wiki in its own folder, behind the service's handler, for tests within one process. @module */
import assert from "node:assert/strict";
import type { Label } from "../../contracts/authority/mod.ts";
import { Fault, type Json, type PortHandler } from "../../contracts/base/mod.ts";
import { NOTHING_KNOWN, serveContents } from "../../contracts/memory/mod.ts";
import type { IngestFiles, WikiStatus } from "../../contracts/wire/mod.ts";
import { makeSourceReader } from "../ingest/source_reader_powers.ts";
import { makeOpenWiki } from "../open_wiki_powers.ts";
import { makeWikiService } from "../service.ts";

/** Folders for one wiki, its state, and files to ingest. */
export interface Folders extends AsyncDisposable {
  readonly folder: string;
  readonly state: string;
  readonly files: string;
}

/** Makes the folders. */
export async function makeFolders(): Promise<Folders> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-wiki-" }));
  const [folder, state, files] = [`${root}/wiki`, `${root}/state`, `${root}/files`];
  for (const path of [folder, state, files]) await Deno.mkdir(path, { mode: 0o700 });
  return {
    folder,
    state,
    files,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

/** A way to send requests to a wiki, in a process or not. */
export interface AskedWiki {
  /** Answers have the shapes of contracts/wire/wire_wiki.ts; a test says which. */
  // deno-lint-ignore no-explicit-any -- each op has another shape, and a test that reads a wrong one fails
  ask(op: string, body: unknown): Promise<any>;
}

/** A wiki that was opened in this process. */
export interface OpenedWiki extends AskedWiki {
  readonly handler: PortHandler;
  readonly status: WikiStatus;
  readonly told: readonly { readonly op: string; readonly body: Json }[];
  /** The clock that the wiki reads, milliseconds; turned by hand. */
  readonly clock: { now: number };
}

/** Opens the wiki of these folders. */
export async function openFolders(
  { folder, state }: Folders,
  more: {
    readonly readOnly?: boolean;
    readonly trustedKeys?: readonly string[];
    readonly parse?: (ask: Json) => Json;
  } = {},
): Promise<OpenedWiki> {
  const told: { op: string; body: Json }[] = [];
  const clock = { now: Date.now() + 60_000 };
  const port = {
    ask: (op: string, body: Json) =>
      Promise.resolve().then(() => {
        const served = serveContents(NOTHING_KNOWN, op, body);
        if (served !== undefined) return served;
        if (more.parse === undefined) {
          throw new Fault("unavailable", "Cannot parse: no parser here");
        }
        return more.parse(body);
      }),
    tell: (op: string, body: Json) => void told.push({ op, body }),
  };
  const handler = makeWikiService(port, {
    now: () => clock.now,
    reader: makeSourceReader(),
    open: makeOpenWiki(),
  });
  const ask = async (op: string, body: unknown) =>
    JSON.parse(JSON.stringify(await handler.ask(op, JSON.parse(JSON.stringify(body)))));
  const { readOnly = false, trustedKeys = [] } = more;
  const status = await ask("open", {
    ...{ folder, stateFolder: state, create: !readOnly, trustedKeys, readOnly },
  });
  return { handler, status, told, clock, ask };
}

/** The arguments of `ingestFiles` for files of a folder. */
export function ingestOf(
  { files }: Pick<Folders, "files">,
  names: readonly string[],
  more: Partial<Omit<IngestFiles, "files">> & {
    readonly kind?: IngestFiles["files"][number]["kind"];
  } = {},
): IngestFiles {
  const { kind = "markdown", ...rest } = more;
  return {
    files: names.map((name) => ({
      path: `${files}/${name}`,
      key: `file:${files}/${name}`,
      kind,
      name,
      origin: `${files}/${name}`,
    })),
    ...{
      label: "internal",
      colour: "YELLOW",
      owner: "alice",
      by: "operator",
      maxBytes: 10_000_000,
    },
    ...rest,
  };
}

/** Writes a file and ingests it. */
export async function takeIn(
  wiki: AskedWiki,
  folders: Folders,
  files: Readonly<Record<string, string>>,
  trust: { readonly label?: Label; readonly colour?: "BLUE" | "YELLOW" | "RED" } = {},
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folders.files}/${name}`, text);
  }
  const report = await wiki.ask("ingestFiles", ingestOf(folders, Object.keys(files), trust));
  assert.deepEqual(report.failed, []);
}

/** The fault of a call that must be refused. */
export async function refusal(promise: Promise<unknown>): Promise<Fault> {
  const error: unknown = await promise.then(() => undefined, (reason: unknown) => reason);
  assert.ok(error instanceof Fault, String(error instanceof Error ? error.stack : error));
  return error;
}
