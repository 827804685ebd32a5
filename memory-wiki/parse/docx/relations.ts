/** What the parts of an Office file refer to. @module */
import type { Archive } from "../zip/archive.ts";
import { readXmlPart } from "../zip/read_xml.ts";

/** One reference. */
export interface Relation {
  readonly type: string;
  /** As written: a place in the archive, or an address outside of it that nobody follows. */
  readonly target: string;
  readonly external: boolean;
}

/** References by their id. */
export type Relations = ReadonlyMap<string, Relation>;

const MOST = 50_000;

/** Reads a `.rels` part; empty when it is missing. */
export async function readRelations(archive: Archive, part: string): Promise<Relations> {
  const relations = new Map<string, Relation>();
  await readXmlPart(archive, part, {
    open(name, attribute) {
      const [id, target] = [attribute("Id"), attribute("Target")];
      if (name !== "Relationship" || id === undefined || target === undefined) return;
      if (relations.has(id) || relations.size >= MOST) return;
      relations.set(id, {
        type: attribute("Type") ?? "",
        target,
        external: attribute("TargetMode") === "External",
      });
    },
    close: () => undefined,
    text: () => undefined,
  });
  return relations;
}

/** The name of the entry that the first inner reference of a type leads to. */
export function targetOf(relations: Relations, type: string, folder: string): string | undefined {
  for (const relation of relations.values()) {
    if (relation.external || !relation.type.endsWith(type)) continue;
    const { target } = relation;
    return target.startsWith("/") ? target.slice(1) : folder + target;
  }
  return undefined;
}
