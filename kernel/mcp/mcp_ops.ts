/** What the operator does with imported servers through the control socket. @module */
import type {
  ImportedServer,
  Leases,
  McpLoan,
  McpLogEntry,
  McpLook,
  McpOAuth,
  Store,
} from "../../contracts/mod.ts";
import { beneath } from "../lease/scope.ts";
import type { McpServers } from "../mcp_server/servers.ts";
import { readMcpLog } from "./log.ts";
import type { McpTokens } from "./tokens.ts";
import type { ReadPrivate } from "../log/read_events.ts";

/** What {@link makeMcpOps} is handed. */
export interface McpOpsParts {
  readonly servers: Pick<McpServers, "revoke">;
  look: McpOps["mcpLook"];
  readonly tokens: Pick<McpTokens, "lend" | "changed" | "forget">;
  readonly leases: Pick<Leases, "list" | "alive" | "revoke">;
  readonly store: Pick<Store, "events">;
  readonly readPrivate: ReadPrivate;
}

/** The operations. */
export interface McpOps {
  mcpLook(asked: {
    readonly server: ImportedServer;
    readonly observe: boolean;
    readonly deadlineMs: number;
  }): Promise<McpLook>;
  mcpLend(loan: McpLoan): void;
  mcpTokens(asked: { readonly server: string }): McpOAuth | null;
  /** Resolves with how many processes there were. */
  mcpRevoke(asked: { readonly server: string }): Promise<{ readonly ended: number }>;
  mcpLog(asked: { readonly server: string; readonly limit: number }): Promise<
    readonly McpLogEntry[]
  >;
}

/** Makes them. */
export function makeMcpOps(
  { servers, look, tokens, leases, store, readPrivate }: McpOpsParts,
): McpOps {
  return Object.freeze<McpOps>({
    mcpLook: (asked) => look(asked),
    mcpLend: (loan) => tokens.lend(loan),
    mcpTokens: ({ server }) => tokens.changed(server) ?? null,
    async mcpRevoke({ server }) {
      tokens.forget(server);
      const ended = servers.revoke(server);
      const own = leases.list().filter(({ id, scope }) =>
        scope.resource === "mcp" && beneath(server, scope.path) && leases.alive(id)
      );
      for (const { id } of own) await leases.revoke(id, "its server was revoked by the operator");
      return { ended: await ended };
    },
    mcpLog: (asked) => readMcpLog(store, readPrivate, asked),
  });
}
