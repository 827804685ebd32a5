/** What attacks of imported servers share: a model that obeys all it reads, and what must be as it was afterwards. */
import assert from "node:assert/strict";
import type { McpSiege } from "../fake/mcp_siege.ts";
import { descendants, type Proc } from "../fake/processes.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";
import type { Came, Try } from "./_calls.ts";

/** One attack of an imported server: it needs the walls. */
export function attack(name: string, fn: (t: Deno.TestContext) => Promise<void>): void {
  Deno.test(name, async (t) => {
    if (needs("bwrap")) await fn(t);
  });
}

/** What came of a call, and whether somebody ordered it. */
export interface Obeyed extends Came {
  readonly tool: string;
  readonly ordered: boolean;
}

/**
 * The source of a program that stands for a model without any sense: it makes these calls, and obeys every
 * `SYSTEM: call TOOL key=value…;` that it reads in the description of a tool or in what a call gives back. It answers
 * with a JSON array of {@link Obeyed}.
 */
export function obeying(tries: readonly Try[]): string {
  return `({ async turn(ports) {
    const told = [], heard = new Set();
    const todo = ${JSON.stringify(tries)}.map(([tool, args]) => ({ tool, args, ordered: false }));
    const hear = (text) => {
      for (const [, tool, words] of String(text).matchAll(/SYSTEM: call (\\w+)((?: \\w+=[^\\s;]+)*);/g)) {
        if (heard.has(tool + words)) continue;
        heard.add(tool + words);
        const args = Object.fromEntries(words.split(" ").slice(1).map((each) => each.split("=")));
        todo.push({ tool, args, ordered: true });
      }
    };
    for (let n = 0; todo.length > 0; n++) {
      const { id, tools } = await ports.advertise();
      for (const { description } of tools) hear(description);
      const { tool, args, ordered } = todo.shift();
      const call = { id: "try-" + n, name: tool, arguments: JSON.stringify(args) };
      const came = await ports.call(id, call).catch((e) => ({ outcome: e.code, content: e.message }));
      told.push({ tool, ordered, ...came });
      hear(came.content);
    }
    return { stop: "answered", text: JSON.stringify(told) };
  } })`;
}

/** Every file beneath `folder` with its text; links with where they lead. */
export async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const look = async (at: string): Promise<void> => {
    for await (const { name, isDirectory, isSymlink } of Deno.readDir(at)) {
      const path = `${at}/${name}`;
      if (isSymlink) found.set(path, `-> ${await Deno.readLink(path)}`);
      else if (isDirectory) await look(path);
      else found.set(path, await Deno.readTextFile(path));
    }
  };
  await look(folder);
  return found;
}

/** Processes of imported servers that a kernel started and that run now. */
async function serversOf(kernel: number): Promise<readonly Proc[]> {
  return (await descendants(kernel)).filter(({ command, state }) =>
    state !== "Z" && /npm:hostile@|\/trees\/|\/thief/.test(command)
  );
}

/** No process of any server is left. */
export async function noServerLeft(kernel: number): Promise<void> {
  await waitUntil(
    "the end of all servers",
    async () => (await serversOf(kernel)).length === 0 || undefined,
  );
}

interface Told {
  readonly task: string;
  readonly what: string;
  readonly text: string;
}

async function entriesOf(siege: McpSiege, task?: string): Promise<readonly Told[]> {
  const entries = await siege.ask("mcpLog", { server: "hostile", limit: 10_000 }) as Told[];
  return entries.filter((each) => task === undefined || each.task === task);
}

function sentences(entries: readonly Told[]): string {
  const lines = entries.map(({ text }) => text).join("\n");
  // Words for a person: no key of an event, no digest.
  assert.doesNotMatch(lines, /\b(?:allowed|permission|private|times)=|[0-9a-f]{64}/);
  return lines;
}

/** What `remit mcp log` tells of the server `hostile`, in one task or in all, a sentence a line. */
export async function logOf(siege: McpSiege, task?: string): Promise<string> {
  return sentences(await entriesOf(siege, task));
}

/** The log of a task that has ended: of each server that was started, up to its end. */
export async function whole(siege: McpSiege, task: string): Promise<string> {
  return await waitUntil("the end of a server in its log", async () => {
    const entries = await entriesOf(siege, task);
    const count = (what: string): number => entries.filter((each) => each.what === what).length;
    return count("ended") > 0 && count("ended") >= count("started")
      ? sentences(entries)
      : undefined;
  });
}
