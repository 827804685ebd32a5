/** Powers of wikis for tests: real folders; a process that answers as a test specifies. @module */
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { WikiStatus } from "../../contracts/wire/mod.ts";
import { makePathList, NEVER } from "../../text/path_list.ts";
import type { WikiLink, WikiPowers, WikiStart } from "../../memory-wiki/host/powers.ts";
import { makeWikiPowers } from "../../memory-wiki/host/process/wiki_process_powers.ts";

/** Answers of a fake process, by op. `tell` sends a notice to the command. */
export type WikiOps = Readonly<
  Record<string, (body: Json, tell: (op: string, body: unknown) => void) => unknown>
>;

/** Requests to the fake process. */
export interface WikiSeen {
  readonly asked: (readonly [string, Json])[];
  readonly started: WikiStart[];
  closed: number;
}

/** An empty wiki. */
export const EMPTY_WIKI: WikiStatus = {
  ...{ folder: "/", pages: 0, sources: 0, passages: 0, generation: 1, index: "fresh" },
  ...{ repaired: [], patches: 0, notesWaiting: 0 },
};

/** Makes a wiki's folder as its process would. */
export function layWiki(folder: string): void {
  for (const name of ["raw", "pages"]) Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
  for (const name of ["AGENTS.md", "index.md", "log.md"]) {
    Deno.writeTextFileSync(`${folder}/${name}`, `# ${name}\n`);
  }
}

const never = makePathList(NEVER.map((glob) => ({ glob, at: "test" })));
const none = (): never => {
  throw new Fault("unavailable", "Cannot start: a test has none");
};

/** Makes the powers. Without `ops` the process cannot be opened. */
export function fakeWikis(
  parts: {
    readonly ops?: WikiOps;
    readonly input?: Uint8Array;
    readonly fetch?: WikiPowers["fetch"];
    readonly edit?: (file: string) => number;
  } = {},
): WikiPowers & { readonly seen: WikiSeen } {
  const seen: WikiSeen = { asked: [], started: [], closed: 0 };
  const real = makeWikiPowers({
    screen: { say: () => undefined },
    provideProgram: none,
    namespace: none,
    inside: { deno: "", denoDir: "" },
    makeParser: () => ({ parse: none, close: () => Promise.resolve() }),
    openContents: none,
    isNever: (path) => never.find(path) !== undefined,
    fetch: parts.fetch ?? none,
  });
  const open = (start: WikiStart): Promise<WikiLink> => {
    const { ops } = parts;
    if (ops === undefined) return Promise.reject(new Fault("unavailable", "Cannot open: no ops"));
    seen.started.push(start);
    if (start.create) layWiki(start.folder);
    let listener: (op: string, body: Json) => void = () => undefined;
    return Promise.resolve({
      status: EMPTY_WIKI,
      async ask(op, body): Promise<Json> {
        seen.asked.push([op, body]);
        const serve = ops[op];
        if (serve === undefined) throw new Fault("invalidInput", `Cannot serve "${op}"`);
        return await Promise.resolve(
          toJson(serve(body, (told, value) => listener(told, toJson(value)))),
        );
      },
      onTell: (next) => void (listener = next),
      inside: (path) => path,
      close(): Promise<void> {
        seen.closed += 1;
        return Promise.resolve();
      },
    });
  };
  return {
    ...real,
    ready: () => Promise.resolve(),
    open,
    input: () => Promise.resolve(parts.input ?? new Uint8Array()),
    edit: (_editor, file) => Promise.resolve(parts.edit?.(file) ?? 0),
    seen,
  };
}
