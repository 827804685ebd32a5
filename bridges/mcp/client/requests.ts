/** Sends requests of a call to a server, with its deadline, progress and log level. @module */
import {
  type CallToolRequestParams,
  InsufficientScopeError,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../contracts/base/json.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Connection } from "./connect.ts";
import type { Progress } from "./guard.ts";
import { Fault, type FaultCode } from "../../../contracts/base/fault.ts";
import { cutText, MAX_ERROR_UNITS } from "./limits.ts";

/** The call on whose behalf a request is made. */
export interface Behalf {
  readonly signal: AbortSignal;
  /** `call tool "x"`, for faults. */
  readonly verb: string;
  /** Receives progress; absent: none is asked for. */
  readonly hear?: (progress: Progress) => void;
}

/** Sends a request and resolves with its result. Throws the faults of {@link upstreamFault}. */
export type Ask = (method: string, params: JsonObject, behalf: Behalf) => Promise<JsonObject>;

interface RequestParts {
  readonly connection: () => Connection;
  /** The server's name, for faults. */
  readonly name: () => string | undefined;
  /** The log level that the server should use; undefined: none. */
  readonly level: () => string | undefined;
}

/** The SDK's own timeout, beyond any deadline: the call's signal ends a request. */
const NEVER_MS = 0x7fff_ffff;

/** Makes the function that sends requests. */
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
      // Since revision 2026-07-28 some arguments are sent as headers, too: the SDK finds them in
      // its own listing.
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

// TRUST: from the server; the SDK has checked it against the specification's schema.
const asObject = (result: object): JsonObject => asJson(result) as JsonObject;

/** A Standard Schema that accepts everything: the guard has checked the message already. */
const RAW: {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "remit";
    readonly validate: (value: unknown) => { readonly value: JsonObject };
    readonly types?: { readonly input: unknown; readonly output: JsonObject };
  };
} = Object.freeze({
  "~standard": {
    version: 1,
    vendor: "remit",
    // TRUST: from the server; the guard passes no result that is no object.
    validate: (value) => ({ value: value as JsonObject }),
  },
});

/** Converts an error of the SDK; `verb` is like `call tool "x"`. The server's own text is cut. */
export function upstreamFault(verb: string, error: unknown, server: string = "NAME"): Fault {
  if (error instanceof Fault) return error;
  const fault = (code: FaultCode, why: string): Fault =>
    new Fault(code, `Cannot ${verb}: ${cutText(why, MAX_ERROR_UNITS)}`, { cause: error });
  if (error instanceof ProtocolError) {
    return fault("upstream", `the server answered with error ${error.code}: ${error.message}`);
  }
  if (error instanceof InsufficientScopeError) {
    const login = `\`remit mcp login ${server}${scopeOf(error.requiredScope)}\``;
    const why = `the server wants more rights than the login has; ${login} asks for them`;
    return new Fault("upstream", `Cannot ${verb}: ${why}`, { detail: { status: 403 } });
  }
  if (error instanceof SdkHttpError) {
    if (error.status === 401) {
      const why = `the server asks for a login; \`remit mcp login ${server}\` makes one`;
      return new Fault("upstream", `Cannot ${verb}: ${why}`, { detail: { status: 401 } });
    }
    const { status } = error;
    const why = `the server answered with HTTP ${status}`;
    return new Fault("upstream", `Cannot ${verb}: ${why}`, {
      cause: error,
      ...(status === undefined ? {} : { detail: { status } }),
    });
  }
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) return fault("timedOut", "no answer in time");
    if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.NotConnected) {
      return fault("gone", "the connection ended");
    }
    return fault("upstream", error.message);
  }
  return fault("upstream", error instanceof Error ? error.message : "it failed");
}

/** Scopes without characters special to a shell: people paste the command that names them. */
const SCOPES = /^[A-Za-z0-9:/._~%+@=-]+(?: [A-Za-z0-9:/._~%+@=-]+)*$/;

function scopeOf(scope: string | undefined): string {
  const plain = scope !== undefined && scope.length <= 512 && SCOPES.test(scope);
  return plain ? ` --scope "${scope}"` : "";
}
