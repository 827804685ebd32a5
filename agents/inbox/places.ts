/** The order of arrival over all kernels: places are reserved by the thousand, so that few writes keep them. @module */
import type { DocumentWrite, Store } from "../../contracts/mod.ts";

const KIND = "inboxPlace";
const BLOCK = 1_000;

/** A place, and what is to be written with it. */
export interface Place {
  readonly n: number;
  readonly documents: readonly DocumentWrite[];
  kept(): void;
  dropped(): void;
}

/** Gives places in order. */
export interface Places {
  next(): Place;
}

/** Goes on where earlier kernels reserved places, and above `known`. */
export async function openPlaces(
  store: Pick<Store, "document">,
  known: number,
): Promise<Places> {
  const row = await store.document(KIND, KIND);
  const end = row?.body["end"];
  let version = row?.version ?? 0;
  let last = Math.max(known, typeof end === "number" ? end : 0);
  let reserved = last;
  /** A reservation is being written: nobody else writes one meanwhile. */
  let writing = false;

  return Object.freeze<Places>({
    next(): Place {
      last += 1;
      const n = last;
      if (n <= reserved || writing) {
        return { n, documents: [], kept: () => undefined, dropped: () => undefined };
      }
      writing = true;
      const to = n + BLOCK;
      return {
        n,
        documents: [{
          ...{ kind: KIND, id: KIND, task: KIND, expect: version },
          body: { end: to },
        }],
        kept(): void {
          writing = false;
          version += 1;
          reserved = to;
        },
        dropped(): void {
          writing = false;
        },
      };
    },
  });
}
