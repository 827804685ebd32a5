/** A wiki in its real process, with the real rights: only its folder, its state and the ingested files. @module */
import assert from "node:assert/strict";
import type { Json, PortHandler } from "../../contracts/base/mod.ts";
import { type ContentTrust, NOTHING_KNOWN, serveContents } from "../../contracts/memory/mod.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { WIKI_PORT_LIMITS } from "../../contracts/wire/wire_wiki.ts";
import { makePort, type Port } from "../../port/mod.ts";
import type { AskedWiki, Folders } from "./opened_wiki.ts";

const FLAGS = [
  ...["--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"],
  ...["--cached-only", "--ignore-env", "--deny-net", "--deny-run", "--deny-sys", "--deny-ffi"],
  "--deny-import",
];

let built: Promise<string> | undefined;

async function build(entry: URL): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "remit-wiki-program-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const file = `${folder}/wiki.js`;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--config", config, "--platform", "deno"]
      .concat("--minify", "-o", file, entry.pathname),
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return file;
}

/** Path of the bundled program: built once, removed with the test process. */
function wikiProgram(): Promise<string> {
  built ??= build(new URL("../main.ts", import.meta.url));
  return built;
}

/** A wiki's process, and our end of its port. */
export interface WikiProcess extends AskedWiki, AsyncDisposable {
  readonly port: Port;
  readonly pid: number;
  readonly told: readonly { readonly op: string; readonly body: Json }[];
  /** Sends SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
}

/** How a process is started, besides its folders. */
export interface StartOptions {
  readonly entry?: URL;
  readonly parse?: (ask: Json) => Json;
  /** Maximum number of open files; absent: as for this process. */
  readonly openFiles?: number;
  /** Called with each notice of the process. */
  readonly heard?: (op: string, body: Json) => void;
  readonly contents?: ContentTrust;
}

/** Starts the process for these folders. Opens nothing. */
export async function startWiki(
  { folder, state, files }: Folders,
  { entry, parse, openFiles, heard = () => {}, contents = NOTHING_KNOWN }: StartOptions = {},
): Promise<WikiProcess> {
  const file = entry === undefined ? await wikiProgram() : await build(entry);
  const rights = [`--allow-read=${folder},${state},${files}`, `--allow-write=${folder},${state}`];
  const line = [Deno.execPath(), "run", ...FLAGS, ...rights, file];
  const [program = "", ...args] = openFiles === undefined
    ? line
    : ["/bin/sh", "-c", `ulimit -n ${openFiles}; exec "$@"`, "wiki", ...line];
  const child = new Deno.Command(program, {
    args,
    clearEnv: true,
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = child.stdin.getWriter();
  const told: { op: string; body: Json }[] = [];
  const handler: PortHandler = {
    ask(op, body) {
      const served = serveContents(contents, op, body);
      if (served !== undefined) return served;
      if (op === "parse" && parse !== undefined) return parse(body);
      throw new Fault("unavailable", `Cannot serve ${op}: not in this test`);
    },
    tell(op, body) {
      told.push({ op, body });
      heard(op, body);
    },
  };
  const port = makePort({
    handler,
    limits: WIKI_PORT_LIMITS,
    write: (bytes) => {
      // A process that has ended takes no input: its exit reports that.
      input.write(bytes.slice()).catch(() => port.close("the process takes no input"));
    },
  });
  const pumped = (async () => {
    for await (const bytes of child.stdout) port.feed(bytes);
    port.close("the process ended");
  })();
  const gone = async (): Promise<void> => {
    await pumped;
    await child.status;
    await input.abort().catch(() => undefined);
  };
  return {
    ...{ port, told, pid: child.pid },
    ask: async (op, body) =>
      JSON.parse(JSON.stringify(await port.ask(op, JSON.parse(JSON.stringify(body))))),
    async kill() {
      child.kill("SIGKILL");
      await gone();
    },
    async [Symbol.asyncDispose]() {
      await input.close().catch(() => undefined);
      await gone();
    },
  };
}

/** Starts the process and opens the wiki. */
export async function openProcess(
  folders: Folders,
  options: StartOptions = {},
): Promise<WikiProcess> {
  const wiki = await startWiki(folders, options);
  const { folder, state } = folders;
  await wiki.ask("open", {
    ...{ folder, stateFolder: state, create: true, trustedKeys: [], readOnly: false },
  });
  return wiki;
}
