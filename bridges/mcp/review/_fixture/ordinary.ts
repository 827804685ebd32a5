/**
 * Descriptors of honest servers: the answers of server-filesystem, server-memory and server-everything 2026.8.31
 * (`real_servers.json`), and others in the style of widely used servers (`in_style.json`), with words
 * that a careless review would take for an attack: `IMPORTANT`, `You MUST`, keys, conversations, links.
 */
import { McpToolWords } from "../../../../contracts/exchange/mod.ts";

/** The tools of each server. */
export async function ordinaryServers(): Promise<
  Readonly<Record<string, readonly McpToolWords[]>>
> {
  const servers: Record<string, readonly McpToolWords[]> = {};
  for (const file of ["real_servers.json", "in_style.json"]) {
    const text = await Deno.readTextFile(new URL(file, import.meta.url));
    const read: Record<string, readonly unknown[]> = JSON.parse(text);
    for (const [name, tools] of Object.entries(read)) {
      servers[name] = tools.map((each) => McpToolWords.parse(each));
    }
  }
  return servers;
}
