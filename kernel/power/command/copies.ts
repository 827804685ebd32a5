/** The kernel's side of a copy service. @module */
import { causeOf } from "../../core/child/child.ts";
import * as z from "zod";
import { mixColour, mixLabel } from "../../../contracts/authority/colour.ts";
import { Collected, Prepared, Weight } from "../../../contracts/tool/command.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { toJson } from "../../../contracts/base/json.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import type { ContentColours, ContentLookup } from "../../../contracts/memory/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { CollectBody, PinBody, PrepareBody } from "../../../contracts/tool/mod.ts";
import type { SetupBody } from "../../../contracts/wire/mod.ts";
import { SERVES_NOTHING, startChild } from "../../core/child/child.ts";
import { COPY_PLACES } from "../../core/start/command_line.ts";
import type { StartLine } from "../../core/start/line_parts.ts";
import { type SpawnPowers } from "../../core/start/spawn.ts";
import { hostMount } from "../toolhost/toolhost.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";
import type { CommandRan, CommandRun } from "./run.ts";

/** A running copy service. Each method rejects with the service's fault, or `upstream`. */
export interface CopyService {
  readonly osPid: number;
  /** Resolves once the service takes no more requests. */
  readonly closed: Promise<unknown>;
  pin(body: PinBody): Promise<void>;
  prepare(body: PrepareBody): Promise<Prepared>;
  weigh(): Promise<Weight>;
  collect(body: CollectBody): Promise<Collected>;
  /** Kills the service; resolves once it is reaped. */
  kill(): Promise<void>;
}

/** Contents looked up at a time, so that 20,000 of them do not block the kernel. */
const SLICE = 500;

interface CopyServiceParts {
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
  /** Mixes colour and label of all contents that a run can read. */
  const lookUp = async (digests: readonly string[]): Promise<void> => {
    read = { colour: "BLUE", label: "public" };
    for (let at = 0; at < digests.length; at += SLICE) {
      if (at > 0) await new Promise<void>((resolve) => void powers.after(0, resolve));
      read = mixed(contents.of(digests.slice(at, at + SLICE)));
    }
  };
  // TRUST: the service read hostile names and files, so its answers are parsed.
  const ask = async <T>(op: string, body: Json, schema: z.ZodType<T>): Promise<T> => {
    let raw: Json;
    try {
      raw = await child.port.ask(op, body);
    } catch (error) {
      throw await causeOf(
        child,
        error,
        (how) => `Cannot ${op} copies: their process ended (${how})`,
      );
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

/** Milliseconds between two measurements, at least. */
const WEIGH_MS = 300;
/** Measuring takes at most this share of the time. */
const SHARE = 1 / 20;
/** Files and bytes that copies may grow to while a program runs. */
const MAX_FILES = 40_000;
const MAX_BYTES = 1024 * 1024 * 1024;

/** Measures copies until the returned function is called; `onTooMuch` is called at most once. */
export function watchWeight(
  { service, powers, name, most = { files: MAX_FILES, bytes: MAX_BYTES } }: {
    readonly service: Pick<CopyService, "weigh">;
    readonly powers: Pick<Powers, "now" | "after">;
    readonly name: string;
    /** The largest permitted size of the copies. */
    readonly most?: Readonly<Record<"files" | "bytes", number>>;
  },
  onTooMuch: (fault: Fault) => void,
): () => void {
  let over = false;
  let cancel = (): void => {};
  const tell = (fault: Fault): void => {
    if (over) return;
    over = true;
    onTooMuch(fault);
  };
  const look = async (): Promise<void> => {
    const began = powers.now();
    try {
      const { files, bytes } = await service.weigh();
      if (over) return;
      if (files > most.files || bytes > most.bytes) {
        tell(new Fault("tooLarge", `Cannot finish ${name}: it wrote too many files or bytes`));
      } else cancel = powers.after(Math.max(WEIGH_MS, (powers.now() - began) / SHARE), look);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      tell(error);
    }
  };
  cancel = powers.after(WEIGH_MS, look);
  return () => {
    over = true;
    cancel();
  };
}

/** The program's changes, without files that another tool staged meanwhile. */
export function kept(
  { staged, unstaged, left }: Collected,
  before: ReadonlyMap<string, { readonly next?: string | undefined }>,
  folders: Pick<TaskFolders, "overlay">,
): Pick<CommandRan, "staged" | "unstaged" | "left" | "writtenBytes"> {
  const now = new Map(folders.overlay().map((change) => [change.path, change]));
  const same = (path: string): boolean => {
    const [then, since] = [before.get(path), now.get(path)];
    return (then === undefined) === (since === undefined) && then?.next === since?.next;
  };
  const lost = [...staged.map(({ path }) => path), ...unstaged].filter((path) => !same(path));
  const mine = staged.filter(({ path }) => same(path));
  return {
    staged: mine,
    unstaged: unstaged.filter(same),
    left: [...left, ...lost.map((path) => `${path}: it was staged by another call meanwhile`)],
    writtenBytes: mine.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Colour and label of everything that a run read, mixed with its caller's. */
export function mixed(
  run: Pick<CommandRun, "colour" | "label">,
  read: Prepared,
): Pick<CommandRan, "colour" | "label" | "withheld"> {
  return {
    colour: mixColour(run.colour, read.colour),
    label: mixLabel(run.label, read.label),
    withheld: read.withheld,
  };
}

/** A task's mounts and staged changes, for a copy service. */
export function setup(folders: TaskFolders, mounts: readonly string[]): SetupBody {
  return {
    mounts: folders.mounts.filter(({ name }) => mounts.includes(name)).map((each) =>
      hostMount(each, `${COPY_PLACES.mounts}/${each.name}`)
    ),
    content: COPY_PLACES.content,
    scratch: COPY_PLACES.content,
    never: folders.never,
    overlay: folders.overlay().filter(({ path }) => mounts.includes(path.split("/", 1)[0] ?? "")),
    scratchQuota: 0,
  };
}
