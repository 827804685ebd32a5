/** Real processes over one wiki, with the permissions that the wiki's process has. @module */
import type { Rig } from "./wiki_rig.ts";

/** A started writer: its lines, and its end. */
export interface Writer {
  /** The next line of output; undefined when the writer has ended. */
  line(): Promise<string | undefined>;
  kill(): void;
  /** Waits for the end; gives the text of stderr. */
  ended(): Promise<string>;
}

/** Starts `writer.ts`. */
export function startWriter(rig: Rig, mode: "ingest" | "apply" | "append", name: string): Writer {
  const both = `${rig.folder},${rig.stateFolder}`;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-check",
      "--cached-only",
      `--allow-read=${both}`,
      `--allow-write=${both}`,
      new URL("./writer.ts", import.meta.url).href,
      rig.folder,
      rig.stateFolder,
      mode,
      name,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stderr = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  async function line(): Promise<string | undefined> {
    for (;;) {
      const end = said.indexOf("\n");
      if (end !== -1) {
        const first = said.slice(0, end);
        said = said.slice(end + 1);
        return first;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      said += value;
    }
  }
  return {
    line,
    kill: () => child.kill("SIGKILL"),
    async ended() {
      while (await line() !== undefined) { /* what it says to the end is not asked for */ }
      await child.status;
      return await stderr;
    },
  };
}
