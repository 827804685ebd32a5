/** Requests to a server within a call: with the call's deadline, its progress and the log level that is wished. @module */
import { type CallToolRequestParams, LOG_LEVEL_META_KEY } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../contracts/json.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Connection } from "./connect.ts";
import type { Progress } from "./guard.ts";
import { RAW } from "./raw_results.ts";
import { upstreamFault } from "./upstream.ts";

/** On whose behalf a request is made. */
export interface Behalf {
  readonly signal: AbortSignal;
  /** `call tool "x"`, for faults. */
  readonly verb: string;
  /** Set: the server may report progress. */
  readonly hear?: (progress: Progress) => void;
}

/** Makes a request. Faults: of `upstreamFault`. */
export type Ask = (method: string, params: JsonObject, behalf: Behalf) => Promise<JsonObject>;

/** What requests take. */
export interface RequestParts {
  readonly connection: () => Connection;
  /** What the server is called, for faults. */
  readonly name: () => string | undefined;
  /** The log level that is wished; absent: none. */
  readonly level: () => string | undefined;
}

/** Longer than any deadline: the call's own signal ends a request. */
const NEVER_MS = 0x7fff_ffff;

/** Makes the way to ask. */
export function makeAsk({ connection, name, level }: RequestParts): Ask {
  let tokens = 0;
  return async (method, params, { signal, verb, hear }) => {
    const { client, guard, modern, http } = connection();
    const mirrored = modern && http;
    const token = `p${++tokens}`;
    const forget = hear === undefined ? () => {} : guard.listen(token, hear);
    const wished = modern ? level() : undefined;
    const meta = {
      ...(hear === undefined ? {} : { progressToken: token }),
      ...(wished === undefined ? {} : { [LOG_LEVEL_META_KEY]: wished }),
    };
    const whole = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    const options = { signal, timeout: NEVER_MS };
    try {
      // Since 2026 some arguments travel as headers, too: the SDK knows which from the list that it read itself.
      if (mirrored && method === "tools/list" && params["cursor"] === undefined) {
        return asObject(await client.listTools(whole, { ...options, cacheMode: "refresh" }));
      }
      if (mirrored && method === "tools/call") {
        return asObject(await client.callTool(whole as CallToolRequestParams, options));
      }
      return await client.request({ method, params: whole }, RAW, options);
    } catch (error) {
      throw upstreamFault(verb, error, name());
    } finally {
      forget();
    }
  };
}

// TRUST: from the server, and an object: the SDK has held it against the specification.
const asObject = (result: object): JsonObject => asJson(result) as JsonObject;
