/** A gateway of a real `remit serve` that mallory has taken over: her program in its place, and her words to it. */
import { equal } from "node:assert/strict";
import { SERVE_PROGRAM } from "../../../cli/mcp_serve/gateway_process_powers.ts";
import { programFile } from "../../../launch/program/program_cache_powers.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** What came of her words. */
export interface Came {
  readonly ok?: unknown;
  readonly code?: string;
  readonly why?: string;
}

/** The caches of this machine, with mallory's program in the place of the gateway's. */
export async function takenOver(dir: string): Promise<string> {
  const real = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  const own = `${dir}/cache`;
  await Deno.mkdir(`${own}/remit`, { recursive: true });
  const file = programFile(SERVE_PROGRAM, {
    home: ROOT.replace(/\/$/, ""),
    cache: `${own}/remit`,
  });
  const folder = file.slice(0, file.lastIndexOf("/"));
  const program = folder.slice(folder.lastIndexOf("/") + 1);
  for await (const { name } of Deno.readDir(real)) {
    if (name !== "remit") await Deno.symlink(`${real}/${name}`, `${own}/${name}`);
  }
  for await (const { name } of Deno.readDir(`${real}/remit`)) {
    if (name !== program) await Deno.symlink(`${real}/remit/${name}`, `${own}/remit/${name}`);
  }
  await Deno.mkdir(folder);
  const bundled = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--platform", "browser", "--config"],
      ...[`${ROOT}deno.json`, "-o", file, `${ROOT}tests/fake/hostile_gateway.ts`],
    ],
  }).output();
  equal(bundled.code, 0, new TextDecoder().decode(bundled.stderr));
  return own;
}

/** Mallory's words to her gateway. */
export function talk(url: string): {
  ask(op: string, body: unknown): Promise<Came>;
  say(what: object): Promise<Came>;
} {
  const say = async (what: object): Promise<Came> => {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(what) });
    return await answer.json();
  };
  return { say, ask: (op, body) => say({ op, body }) };
}
