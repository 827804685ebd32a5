/**
 * Serves the kernel's plugin wire (contracts/wire/wire_plugin.ts) for one built-in plugin. Used by
 * main.ts.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import type { Port, PortHandler } from "../contracts/base/port.ts";
import type { Session } from "./session.ts";
import { webAnswerOf } from "./web_answer.ts";

export interface ServiceParts {
  readonly port: Pick<Port, "ask">;
  /** Starts the browser at the first call. */
  start(): Promise<Session>;
}

export function makeService({ port, start }: ServiceParts): PortHandler {
  let session: Promise<Session> | undefined;
  /** Functions that cancel each call in progress. */
  const cancelling = new Map<string, () => void>();

  const provide = (): Promise<Session> => {
    if (session !== undefined) return session;
    const made = start();
    session = made;
    made.catch(() => void (session = undefined));
    return made;
  };

  const call = async (body: JsonObject): Promise<Json> => {
    const { id, tool, args, bytes } = body;
    if (
      typeof id !== "string" || typeof tool !== "string" || args === undefined || !isObject(args)
    ) {
      throw new Fault("badFrame", "Cannot serve a call: it does not parse");
    }
    const cancelled = Promise.withResolvers<never>();
    // A cancel may come before anything awaits this promise.
    cancelled.promise.catch(() => undefined);
    cancelling.set(
      id,
      () => cancelled.reject(new Fault("cancelled", "Cannot go on: the call was cancelled")),
    );
    const host = (fn: string, given: JsonObject): Promise<Json> =>
      Promise.race([port.ask("host", { call: id, fn, args: given }), cancelled.promise]);
    try {
      const open = await Promise.race([provide(), cancelled.promise]);
      const run = open.run({
        ...{ tool, args },
        fetch: async (request) => webAnswerOf(await host("http.fetch", request)),
        write: (path, text) => host("fs.write", { path, text }),
      });
      // A cancelled run finishes by itself; only the next call waits for it.
      const value = await Promise.race([run, cancelled.promise]);
      return { value: fitting(value, Number(bytes)), logs: [] };
    } catch (error) {
      throw faultOf(error, tool);
    } finally {
      cancelling.delete(id);
    }
  };

  return Object.freeze({
    ask(op: string, body: Json): Json | Promise<Json> {
      if (op === "load" || op === "engine") return null;
      if (op === "call" && isObject(body)) return call(body);
      throw new Fault("unknownCapability", `Cannot serve "${op.slice(0, 64)}": unknown`);
    },
    tell(op: string, body: Json): void {
      if (op !== "cancel" || !isObject(body)) return;
      const { id } = body;
      if (typeof id === "string") cancelling.get(id)?.();
    },
  });
}

/** Errors of Chromium or its wire go to the caller as faults: the process continues. */
function faultOf(error: unknown, tool: string): Fault {
  if (error instanceof Fault) return error;
  const why = error instanceof Error ? error.message.split("\n")[0]?.slice(0, 300) ?? "" : "";
  return new Fault("upstream", `Cannot finish "${tool.slice(0, 64)}": the browser says: ${why}`, {
    cause: error,
  });
}

function fitting(value: Json, bytes: number): Json {
  if (typeof value !== "string" || !(value.length > bytes)) return value;
  return `${value.slice(0, bytes).toWellFormed()}…`;
}
