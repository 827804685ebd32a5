/** A peer's skills, and what can be done with a task there, as the gate knows them. @module */
import type { JsonObject } from "../../../contracts/json.ts";
import { isPeer } from "../../../contracts/exchange.ts";
import type { ImportedServer } from "../../../contracts/mcp.ts";
import type { ToolBinding } from "../../../contracts/power.ts";
import { bindBound, type Bound, type McpBindParts, reviewed } from "../../mcp/binding/mod.ts";
import { peerDescriptor, type PeerTool } from "./peer_descriptors.ts";

/**
 * Binds what a task was handed of a peer. Nothing of it is what the peer says now.
 *
 * @throws ZodError when reviewed words do not fit a descriptor
 */
export function bindPeer(server: ImportedServer, parts: McpBindParts): readonly ToolBinding[] {
  const taken = new Set<string>(server.tools.map(({ name }) => name));
  const own = (tool: PeerTool, rest: Pick<Bound, "asking" | "graver">): readonly Bound[] => {
    const { descriptor, effect } = peerDescriptor(server, tool);
    const bound: Bound = { descriptor, effect, holds: "all", idempotent: true, ...rest };
    return taken.has(descriptor.name) ? [] : [bound];
  };
  const bound: readonly Bound[] = [
    ...server.tools.map((tool): Bound => ({
      ...reviewed(server, tool),
      asking: (args, { idempotencyKey, resolved: { label = "secret" } }) => ({
        op: "call",
        body: { tool: tool.tool, args, key: idempotencyKey, label },
      }),
    })),
    ...own("describe", { asking: () => describedBy(server) }),
    ...own("task", {
      // To look is to say a task's name; to cancel changes something there.
      graver: (args) => args["do"] === "cancel" ? "outboundWrite" : "outboundRead",
      asking: ({ task = "", do: what = "get" }) => ({ op: "task", body: { task, do: what } }),
    }),
    ...own("artifact", {
      asking: ({ task = "", artifact = "" }) => ({ op: "artifact", body: { task, artifact } }),
    }),
  ];
  return bindBound(server, bound, parts);
}

/** What was pinned, a line of JSON for the peer and one for each skill. */
function describedBy(server: ImportedServer): readonly string[] {
  const { name, launch, clearance, tools } = server;
  const who: JsonObject = isPeer(launch)
    ? {
      ...{ peer: name, card: launch.url, endpoint: launch.a2a.endpoint },
      ...{ binding: launch.a2a.binding, signedBy: [...launch.a2a.keys] },
      ...{ answersAre: "RED", mayBeTold: clearance },
    }
    : { peer: name };
  return [
    JSON.stringify(who),
    ...tools.map((tool) =>
      JSON.stringify({
        ...{ tool: tool.name, skill: tool.tool, effect: tool.effect },
        ...{ says: tool.description, takes: JSON.parse(tool.paramSchema) },
      })
    ),
  ];
}
