/** The effect of an imported tool: computed of what its server was granted. DESIGN section 3. @module */
import {
  type EffectClass,
  type ImportedTool,
  isPeer,
  type McpGrants,
  type McpLaunch,
  mcpSocketsOf,
  type McpToolWords,
} from "../../../contracts/mod.ts";

/** What decides about effects beside a server's own words. */
export interface EffectAt {
  readonly grants: McpGrants;
  readonly launch: McpLaunch;
}

/** See {@link effectOf}. */
export type ToolEffect = Pick<ImportedTool, "effect" | "holds" | "idempotent">;

/**
 * The highest effect that the server's grants allow during a call of the tool. What the tool says of
 * itself can only raise it; that it only reads is believed where it is enforced: the accesses of an npm
 * server are decided one by one.
 */
export function effectOf(
  { annotations = {} }: Pick<McpToolWords, "annotations">,
  { grants, launch }: EffectAt,
): ToolEffect {
  // A message to a peer is a message, whatever it says that it does with it.
  if (isPeer(launch)) {
    return {
      ...{ effect: "outboundWrite", holds: "all" },
      idempotent: annotations.idempotentHint === true,
    };
  }
  const saysRead = annotations.readOnlyHint === true;
  const remote = launch.kind === "http";
  const writes = grants.write.length > 0;
  const reaches = remote || grants.net.length > 0;
  // Whoever listens there does what it is told, and only the server knows what that is.
  const tells = mcpSocketsOf(grants.net).length > 0;
  const enforced = tells ? false : launch.kind === "npm" || (launch.kind === "program" && !writes);
  const holds = saysRead && enforced ? "read" : "all";
  const local: EffectClass = writes && holds === "all" ? "mutateLocal" : "read";
  const outbound: EffectClass = tells || annotations.readOnlyHint === false
    ? "outboundWrite"
    : "outboundRead";
  const granted = reaches ? outbound : local;
  // Without anything to change, a destructive tool has nothing to destroy.
  const effect = annotations.destructiveHint === true && granted !== "read"
    ? "destructive"
    : granted;
  const again = effect === "read" || (saysRead && !tells) || annotations.idempotentHint === true;
  return { effect, holds, idempotent: again && effect !== "destructive" };
}
