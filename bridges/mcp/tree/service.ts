/** What the tree process answers. See `contracts/wire_mcp.ts`, `McpTreeAsk`. @module */
import { Fault, type Json, McpTreeAsk, type PortHandler } from "../../../contracts/mod.ts";
import { makeTreeChecks } from "./check.ts";
import type { TreeDisk } from "./disk.ts";

/** Serves checks of the trees beneath `trees`, and of programs. */
export function makeTreeService(disk: TreeDisk, trees: string): PortHandler {
  const checks = makeTreeChecks(disk);
  const program = (path: string, sha256: string): string | null => {
    try {
      const found = disk.hash(path).sha256;
      return found === sha256 ? null : `it has the digest ${found.slice(0, 12)}…, reviewed was ` +
        `${sha256.slice(0, 12)}…`;
    } catch (error) {
      if (error instanceof Error) return `it cannot be read (${error.name})`;
      throw error;
    }
  };
  return Object.freeze<PortHandler>({
    ask(op: string, body: Json): Json {
      const asked = McpTreeAsk.safeParse({ op, body });
      if (!asked.success) {
        throw new Fault("invalidInput", `Cannot serve "${op.slice(0, 64)}": unknown`);
      }
      const { data } = asked;
      return data.op === "check"
        ? checks.check(`${trees}/${data.body.id}`, data.body.sha256) ?? null
        : program(data.body.path, data.body.sha256);
    },
    tell: () => undefined,
  });
}
