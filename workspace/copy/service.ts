/**
 * Answers the kernel for the runs of one task, one after the other: `prepare`, `weigh` while the
 * program runs, `collect`. A service that holds a single program answers `pin` instead. Used by
 * main.ts.
 * @module
 */
import type { CollectBody, PinBody, PrepareBody } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { type Json, toJson } from "../../contracts/base/json.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import { FsTrouble } from "../host/files.ts";
import { type HostPowers, type HostState, makeHostState } from "../host/state.ts";
import { collectChanges } from "./collect.ts";
import type { Copies } from "./copies.ts";
import type { CopyFiles } from "./copy_files.ts";
import { copyMounts } from "./prepare.ts";
import type { Earlier } from "./reuse.ts";
import type { Sha256 } from "../host/content.ts";

/** The powers of the service. */
interface CopyPowers extends HostPowers {
  readonly copies: CopyFiles;
}

/** Makes the handler of the service's port. */
export function makeCopyService(powers: CopyPowers): PortHandler {
  const { copies: files, sha256, now } = powers;
  let open: { readonly state: HostState; readonly copies: Copies } | undefined;
  let earlier: Earlier | undefined;
  /** After a failed step the state of the copies is unknown, so every later step is refused. */
  let broken = false;

  const prepare = async (body: PrepareBody): Promise<Json> => {
    if (open !== undefined) throw new Fault("badFrame", "Cannot prepare: a run is under way");
    const state = makeHostState(body.setup, powers);
    const copies = await copyMounts({ state, files, now }, body, earlier);
    checkFolder(files, copies.place, body.cwd);
    if (body.ahead) earlier = { copies, untouched: true };
    else open = { state, copies };
    const { place, entries, bytes, withheld, taint, contents } = copies;
    const generation = Number(place.slice(body.work.length + 1));
    const facts = { generation, files: entries.size, bytes, withheld, ...taint };
    return toJson({ ...facts, contents: [...contents] });
  };

  const opened = (): NonNullable<typeof open> => {
    if (open === undefined) throw new Fault("badFrame", "Cannot collect: nothing was prepared");
    return open;
  };

  const collect = async (body: CollectBody): Promise<Json> => {
    const { state, copies } = opened();
    const { collected, remade } = await collectChanges({ state, files }, copies, body);
    // The program and its children have ended, so the copies no longer change.
    const sealedMs = remade.size === 0 ? copies.sealedMs : Infinity;
    const entries = new Map(copies.entries);
    for (const [path, copied] of remade) {
      if (copied === undefined) entries.delete(path);
      else entries.set(path, copied);
    }
    earlier = { copies: { ...copies, entries, sealedMs }, untouched: collected.untouched };
    open = undefined;
    return toJson(collected);
  };

  return Object.freeze({
    async ask(op: string, body: Json): Promise<Json> {
      if (broken) throw new Fault("badFrame", `Cannot ${op}: a step before it failed`);
      // TRUST: from the kernel, whose frames the port has parsed.
      try {
        if (op === "pin") {
          await pinProgram({ files, sha256 }, body as unknown as PinBody);
          return null;
        }
        if (op === "prepare") return await prepare(body as unknown as PrepareBody);
        if (op === "weigh") return weigh(files, opened().copies.place);
        if (op === "collect") return await collect(body as unknown as CollectBody);
      } catch (error) {
        broken = true;
        if (!(error instanceof FsTrouble)) throw error;
        const full = error.code === "noSpace";
        const why = full ? "no space is left on the disk" : "the file system failed";
        throw new Fault(full ? "storeFull" : "upstream", `Cannot ${op} the copies: ${why}`, {
          cause: error,
        });
      }
      throw new Fault("badFrame", `Cannot answer "${op}": a copy service knows no such thing`);
    },
    tell: () => undefined,
  });
}

/** Checks that a program starts in a real folder of its copy, not behind a link. Throws Fault. */
function checkFolder(files: CopyFiles, place: string, cwd: string): void {
  const parts = cwd.split("/");
  for (let end = 1; end <= parts.length; end++) {
    const kind = files.stat([place, ...parts.slice(0, end)].join("/"))?.kind;
    if (kind === "folder") continue;
    const why = kind === undefined ? "it does not exist" : "it is no folder, or led to by a link";
    throw new Fault(kind === undefined ? "notFound" : "refused", `Cannot run in "${cwd}": ${why}`);
  }
}

/** Counts files and bytes beneath a folder; skips what a running program removes meanwhile. */
function weigh(files: CopyFiles, folder: string): Json {
  let count = 0, bytes = 0;
  const todo = [folder];
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    try {
      for (const { name, kind } of files.list(at)) {
        count++;
        if (kind === "folder") todo.push(`${at}/${name}`);
        else bytes += files.stat(`${at}/${name}`)?.bytes ?? 0;
      }
    } catch (error) {
      if (!(error instanceof FsTrouble)) throw error;
    }
  }
  return { files: count, bytes };
}

// Only a private copy of exactly the approved bytes is run.

/** Everybody may run and read the pinned copy; nobody may write it. */
const PINNED_MODE = 0o555;

/**
 * Checks the program against its approved digest and pins its bytes.
 *
 * @throws Fault `refused` when the digest differs, `notFound` when the file is gone
 */
async function pinProgram(
  { files, sha256 }: { readonly files: CopyFiles; readonly sha256: Sha256 },
  { file, sha256: decided, pin, draft: name }: PinBody,
): Promise<void> {
  const before = files.stat(file);
  if (before?.kind !== "file") {
    throw new Fault("notFound", "Cannot run the program: its file is gone");
  }
  const bytes = files.read(file);
  const found = await sha256(bytes);
  if (found !== decided || files.stat(file)?.mark !== before.mark) {
    throw new Fault(
      "refused",
      "Cannot run the program: its file was replaced since it was granted (restart the kernel to " +
        "have the new one asked for)",
      { detail: { expected: decided, found } },
    );
  }
  if (files.stat(pin) === undefined) {
    // Two calls at once write the same bytes, so either rename may win.
    const draft = `${pin}.${name}`;
    files.write(draft, [bytes], { mode: PINNED_MODE });
    files.rename(draft, pin);
  }
}
