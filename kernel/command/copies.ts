/** The kernel's side of a copy service. @module */
import { SERVES_NOTHING } from "../child/serves_nothing.ts";
import {
  type CollectBody,
  Collected,
  type ContentColours,
  type ContentLookup,
  Fault,
  type Json,
  mixColour,
  mixLabel,
  type PinBody,
  type Powers,
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

/** Contents that are looked up in one go: the kernel's other work is not held up by 20,000. */
const SLICE = 500;

/** What {@link startCopyService} is handed. */
export interface CopyServiceParts {
  readonly spawn: Pick<SpawnPowers, "start">;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly contents: ContentLookup;
}

/** Starts a copy service. */
export function startCopyService(
  line: StartLine,
  { spawn, powers, contents }: CopyServiceParts,
): CopyService {
  const { now } = powers;
  const child = startChild({ role: "toolhost", line, handler: SERVES_NOTHING, spawn, now });
  let read: ContentColours = { colour: "BLUE", label: "public" };
  const mixed = (each: ContentColours): ContentColours => ({
    colour: mixColour(each.colour, read.colour),
    label: mixLabel(each.label, read.label),
  });
  /** What is known of the contents that a run can read. */
  const lookUp = async (digests: readonly string[]): Promise<void> => {
    read = { colour: "BLUE", label: "public" };
    for (let at = 0; at < digests.length; at += SLICE) {
      if (at > 0) await new Promise<void>((resolve) => void powers.after(0, resolve));
      read = mixed(contents.of(digests.slice(at, at + SLICE)));
    }
  };
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
    async prepare(body: PrepareBody): Promise<Prepared> {
      const prepared = await ask("prepare", toJson(body), Prepared);
      await lookUp(prepared.contents);
      return { ...prepared, ...mixed(prepared) };
    },
    weigh: () => ask("weigh", null, Weight),
    collect: (body: CollectBody) => ask("collect", toJson({ ...body, ...mixed(body) }), Collected),
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
