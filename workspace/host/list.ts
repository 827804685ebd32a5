/** `file_list` and `file_stat`. Used by host.ts. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { HostCallAnswer } from "../../contracts/wire/wire_toolhost.ts";
import { type NamedPath, parsePath, SCRATCH } from "../path.ts";
import { count, maybeText, pathOf } from "./_args.ts";
import { fitLines, nameLine } from "./_cut.ts";
import { about } from "./_trouble.ts";
import { decode } from "./encoding.ts";
import { resolvePlace } from "./open.ts";
import type { HostCall, HostState } from "./state.ts";
import { CLEAN, mix, sourceOf, type Taint } from "./taint.ts";
import { readFolder, readStaged, stagedAt, taintOfName, WHOLE_LIMIT } from "./view.ts";
import { type Met, nothingLeftOut, sayLeftOut, walk } from "./walk.ts";

/** Maximum number of entries that one call lists. */
export const LIST_LIMIT = 5_000;

function lineOf(met: Met): string {
  const change = met.change;
  const mark = change === undefined ? "" : change.base === undefined ? " [new]" : " [staged]";
  const tail = met.kind === "folder" ? "/" : met.kind === "link" ? " [link]" : "";
  return `${nameLine(met.text)}${tail}${met.kind === "other" ? " [not a file]" : ""}${mark}`;
}

/** Lists a folder, or the tops of all mounts. */
export function fileList(state: HostState, call: HostCall): HostCallAnswer {
  const named = maybeText(call.args, "path");
  const depth = count(call.args, "depth", 1, 16);
  const limit = count(call.args, "limit", 500, LIST_LIMIT);
  const tops = named === undefined
    ? state.judge.mounts.filter((mount) => mount.apart !== true).map((mount) =>
      parsePath(mount.name)
    )
    : [parsePath(named)];
  const left = nothingLeftOut();
  const lines: string[] = [];
  let taint: Taint = CLEAN, more = false;
  for (const start of tops) {
    if (named === undefined) {
      const mode = state.judge.mounts.find((mount) => mount.name === start.mount)?.mode;
      lines.push(`${start.text}/ [mount, ${mode}]`);
    }
    taint = mix(taint, start.mount === SCRATCH ? call.caller : taintOfName(state, start));
    for (const met of walk(state, call, { start, depth, left })) {
      call.signal.throwIfAborted();
      if (lines.length >= limit) {
        more = true;
        break;
      }
      lines.push(lineOf(met));
      // Names are content: a marked file's name carries the file's taint.
      if (met.mount !== undefined) taint = mix(taint, state.taints.ofPath(met.mount, met.parts));
      if (met.change !== undefined) taint = mix(taint, met.change);
    }
  }
  const shown = fitLines(lines, call.bytes - 200);
  const notes = [
    ...(more ? [`[more than ${limit} entries: name a folder beneath, or a higher limit]`] : []),
    ...sayLeftOut(left, "listed"),
    ...(lines.length === 0 ? ["[empty]"] : []),
  ];
  return {
    content: [...(shown.text === "" ? [] : [shown.text]), ...notes].join("\n"),
    ...taint,
    sources: tops.map((start) => sourceOf(start.text, taint)),
    value: {
      entries: lines.length - shown.cut,
      cut: more || left.cut || left.deep > 0 || shown.cut > 0,
    },
  };
}

/** Describes a file or folder. */
export async function fileStat(state: HostState, call: HostCall): Promise<HostCallAnswer> {
  const path = pathOf(call.args);
  const change = stagedAt(state, call, path);
  if (change !== undefined) {
    const seen = await readStaged(state, change);
    const facts = { kind: "file", bytes: seen.bytes.length, staged: true, digest: seen.digest };
    return told(path, seen.taint, { ...facts, encoding: decode(seen.bytes).encoding });
  }
  if (path.mount === SCRATCH) {
    throw new Fault("notFound", `Cannot stat "${path.text}": it does not exist`);
  }
  const place = resolvePlace({ ...state, links: call.links }, path);
  const stat = about("stat", path.text, () => state.files.stat(place.full));
  if (stat === undefined) {
    throw new Fault("notFound", `Cannot stat "${path.text}": it does not exist`);
  }
  const facts = {
    kind: stat.kind === "other" ? "pipe, socket or device" : stat.kind,
    bytes: stat.bytes,
    modified: new Date(stat.modifiedMs).toISOString(),
    staged: false,
    ...(place.path.text === path.text ? {} : { linksTo: place.path.text }),
  };
  if (stat.kind !== "file" || stat.bytes > WHOLE_LIMIT) {
    return told(path, taintOfName(state, path), facts);
  }
  const seen = await readFolder(state, call, path);
  const encoding = decode(seen.bytes).encoding;
  return told(path, seen.taint, { ...facts, encoding, digest: seen.digest });
}

function told(
  path: NamedPath,
  taint: Taint,
  facts: Readonly<Record<string, string | number | boolean>>,
): HostCallAnswer {
  const value = { path: path.text, ...facts };
  const digest = facts["digest"];
  return {
    content: Object.entries(value).map(([key, fact]) => `${key}: ${fact}`).join("\n"),
    ...taint,
    sources: [sourceOf(path.text, taint)],
    value,
    ...(digest === undefined ? {} : { observed: String(digest) }),
  };
}
