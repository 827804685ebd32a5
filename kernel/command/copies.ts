/** The kernel's side of a copy service. @module */
import { SERVES_NOTHING } from "../child/serves_nothing.ts";
import {
  type CollectBody,
  Collected,
  Fault,
  type Json,
  type PinBody,
  type PrepareBody,
  Prepared,
  toJson,
  Weight,
} from "../../contracts/mod.ts";
import * as z from "zod";
import { type Child, startChild } from "../child/child.ts";
import { howEnded, type SpawnPowers } from "../start/spawn.ts";
import type { StartLine } from "../start/line_parts.ts";

/** A copy service under way. Each method rejects with the service's fault, or `upstream`. */
export interface CopyService {
  readonly osPid: number;
  /** Resolves when it cannot be asked any more. */
  readonly closed: Promise<unknown>;
  pin(body: PinBody): Promise<void>;
  prepare(body: PrepareBody): Promise<Prepared>;
  weigh(): Promise<Weight>;
  collect(body: CollectBody): Promise<Collected>;
  /** Resolves when it is reaped. */
  kill(): Promise<void>;
}

/** Starts a copy service. */
export function startCopyService(
  line: StartLine,
  { spawn, now }: { readonly spawn: Pick<SpawnPowers, "start">; readonly now: () => number },
): CopyService {
  const child = startChild({ role: "toolhost", line, handler: SERVES_NOTHING, spawn, now });
  // TRUST: it read hostile names and files; what it says is parsed.
  const ask = async <T>(op: string, body: Json, schema: z.ZodType<T>): Promise<T> => {
    let raw: Json;
    try {
      raw = await child.port.ask(op, body);
    } catch (error) {
      throw await told(child, op, error);
    }
    const { success, data } = schema.safeParse(raw);
    if (success) return data;
    throw new Fault("upstream", `Cannot use what the copy service answers to "${op}"`);
  };
  return Object.freeze({
    osPid: child.osPid,
    closed: child.port.closed,
    pin: async (body: PinBody) => void await ask("pin", toJson(body), z.null()),
    prepare: (body: PrepareBody) => ask("prepare", toJson(body), Prepared),
    weigh: () => ask("weigh", null, Weight),
    collect: (body: CollectBody) => ask("collect", toJson(body), Collected),
    kill: () => child.kill(),
  });
}

async function told(child: Child, op: string, error: unknown): Promise<unknown> {
  const open = Symbol();
  const ended = await Promise.race([child.port.closed, Promise.resolve().then(() => open)]);
  if (!(error instanceof Fault) || ended === open) return error;
  const how = howEnded(await child.exited);
  return new Fault("upstream", `Cannot ${op} copies: their process ended (${how})`, {
    cause: error,
  });
}
