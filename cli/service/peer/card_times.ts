/** When a card's bytes were first served: `Last-Modified` says the same after a restart. @module */
import { join } from "node:path";
import * as z from "zod";
import type { DiskRead, DiskWrite } from "../../hands.ts";
import type { Places } from "../../disk/places.ts";

const FILE = "a2a_cards.json";
/** Cards that are remembered: the newest. */
const MOST = 256;
const Times = z.record(z.string().max(128), z.int().min(0));

/** Opens it. Gives the time of an ETag, milliseconds since 1970 in whole seconds; notes it when it is new. */
export function openCardTimes(
  disk: Pick<DiskRead & DiskWrite, "read" | "write">,
  { person }: Pick<Places, "person">,
): (etag: string, now: number) => number {
  const path = join(person, FILE);
  return (etag, now) => {
    const bytes = disk.read(path);
    const times = parseTimes(bytes === undefined ? "{}" : new TextDecoder().decode(bytes));
    const found = times[etag];
    if (found !== undefined) return found;
    const at = Math.floor(now / 1_000) * 1_000;
    const kept = Object.entries({ ...times, [etag]: at }).slice(-MOST);
    disk.write(path, `${JSON.stringify(Object.fromEntries(kept))}\n`);
    return at;
  };
}

/** A damaged file costs the old times and nothing else. */
function parseTimes(text: string): Record<string, number> {
  try {
    const parsed = Times.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
