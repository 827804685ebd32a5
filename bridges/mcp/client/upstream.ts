/** What went wrong with a server, as a fault. @module */
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import { Fault, type FaultCode } from "../../../contracts/fault.ts";
import { cutText } from "./cut.ts";
import { ERROR_UNITS } from "./limits.ts";

/** Makes a fault of what the SDK threw. `verb` is `call tool "x"`; what the server wrote is cut. */
export function upstreamFault(verb: string, error: unknown, server: string = "NAME"): Fault {
  if (error instanceof Fault) return error;
  const fault = (code: FaultCode, why: string): Fault =>
    new Fault(code, `Cannot ${verb}: ${cutText(why, ERROR_UNITS)}`, { cause: error });
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

/** Scopes that a server names: nothing that a shell would take for more than a word, as people paste it. */
const SCOPES = /^[A-Za-z0-9:/._~%+@=-]+(?: [A-Za-z0-9:/._~%+@=-]+)*$/;

function scopeOf(scope: string | undefined): string {
  const plain = scope !== undefined && scope.length <= 512 && SCOPES.test(scope);
  return plain ? ` --scope "${scope}"` : "";
}
