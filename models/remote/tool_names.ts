/** Names of tools on the wire: `[a-zA-Z0-9_-]{1,64}`, each back to the name that it stands for. @module */
import { sha256Hex } from "../../port/digest.ts";

const FITTING = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST = 64;
const MARK_CHARS = 8;

/** The names of one request, both ways. */
export interface ToolNames {
  /** The name on the wire of a name that the map was made of. */
  wire(name: string): string;
  /** The name that `wire` stands for; itself, cut to 128, when it was not advertised. */
  own(wire: string): string;
}

/**
 * Makes the map of a set of names; nothing else of the request has a say in it, nor their order. A name
 * that fits stays as it is. Another loses what does not fit and gets a mark of its digest.
 */
export function makeToolNames(names: Iterable<string>): ToolNames {
  const all = [...new Set(names)].toSorted();
  const toWire = new Map<string, string>();
  const toOwn = new Map<string, string>();
  const put = (name: string, wire: string): void => {
    toWire.set(name, wire);
    toOwn.set(wire, name);
  };
  for (const name of all) if (FITTING.test(name)) put(name, name);
  for (const name of all) {
    if (toWire.has(name)) continue;
    const stem = name.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, LONGEST - MARK_CHARS - 1);
    // Digests differ; a name that looks like one may still stand there.
    for (let mark = sha256Hex(name);; mark = sha256Hex(mark)) {
      const wire = `${stem}_${mark.slice(0, MARK_CHARS)}`;
      if (toOwn.has(wire)) continue;
      put(name, wire);
      break;
    }
  }
  return Object.freeze<ToolNames>({
    wire: (name) => {
      const wire = toWire.get(name);
      if (wire === undefined) throw new TypeError("Cannot name a tool: it was not in the set");
      return wire;
    },
    own: (wire) => toOwn.get(wire) ?? wire.slice(0, 128).toWellFormed(),
  });
}

/** A call's id as every provider takes it: itself where it fits, else one made of its digest. */
export function wireCallId(id: string): string {
  return /^[a-zA-Z0-9_-]{1,40}$/.test(id) ? id : `call_${sha256Hex(id).slice(0, 24)}`;
}
