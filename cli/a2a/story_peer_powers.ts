/** Starts another Remit for `--story a2a`: `remit serve` with its own state and configuration. @module */
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import type { StoryPeer } from "./story_peer.ts";

const HOST = "127.0.0.1";
const RIGHTS = ["read", "write", "env", "run", "net", "sys"].map((right) => `--allow-${right}`);

/**
 * Starts the peer beneath `folder` with this remit.yaml, and makes a token for its peer `name`.
 *
 * @throws Fault `unavailable` when it does not start
 */
export async function startStoryPeer(
  home: string,
  { folder, config, name }: {
    readonly folder: string;
    readonly config: string;
    readonly name: string;
  },
): Promise<StoryPeer> {
  const own = join(folder, "config");
  Deno.mkdirSync(join(own, "remit"), { recursive: true, mode: 0o700 });
  Deno.writeTextFileSync(join(own, "remit", "remit.yaml"), config);
  const words = (...more: string[]): Deno.Command =>
    new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--no-prompt", "--config", join(home, "deno.json"), ...RIGHTS],
        ...[join(home, "cli", "main.ts"), ...more, "--json", "--state", join(folder, "state")],
      ],
      cwd: folder,
      env: { XDG_CONFIG_HOME: own, NO_COLOR: "1" },
      ...{ stdin: "null", stdout: "piped", stderr: "piped" },
    });
  const token = stringOf(
    new TextDecoder().decode((await words("a2a", "token", "create", name).output()).stdout),
    "token",
  );
  const child = words("serve", `${HOST}:${freePort()}`).spawn();
  const errors = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    text += value ?? "";
    if (done || text.includes("\n")) break;
  }
  const url = stringOf(text, "url");
  const close = async (): Promise<void> => {
    end(child);
    await child.status;
    await reader.cancel();
    await errors;
  };
  if (url !== "" && token !== "") return Object.freeze({ url, token, close });
  await close();
  const why = (await errors).trim().split("\n").at(-1) ?? "";
  throw new Fault("unavailable", `Cannot play the story: the peer did not start: ${why}`);
}

function end(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGTERM");
  } catch (error) {
    // The process has ended already.
    if (!(error instanceof TypeError)) throw error;
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: HOST, port: 0 });
  return listener.addr.port;
}

/** A string in a JSON object; empty when there is none. */
function stringOf(text: string, name: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const found: unknown = Object(value)[name];
    return typeof found === "string" ? found : "";
  } catch {
    return "";
  }
}
