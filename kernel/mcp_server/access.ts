/** What a server asked to be allowed, counted with bounds: a hostile one asks a million times. @module */
import type { McpAccess } from "../../contracts/mod.ts";

/** Most distinct accesses that are kept apart; what comes after is counted as {@link OTHERS}. */
const DISTINCT = 500;
const VALUE = 1_024;
/** Stands for every value beyond. */
export const OTHERS = "(others)";

const KINDS: ReadonlySet<string> = new Set<McpAccess["permission"]>([
  ...["read", "write", "net", "env", "run", "sys", "ffi", "import"] as const,
]);

/** A book of accesses. */
export interface AccessBook {
  /** Tells whether it is the first of its kind and value. */
  note(permission: string, value: string | null, allowed: boolean): boolean;
  /** Everything so far: denied ones first, the most frequent first. */
  list(): readonly McpAccess[];
}

interface Row {
  readonly access: Omit<McpAccess, "times">;
  times: number;
}

/** Makes an empty book. */
export function makeAccessBook(): AccessBook {
  const rows = new Map<string, Row>();
  const counted = ({ access, times }: Row): McpAccess => ({ ...access, times });

  return Object.freeze<AccessBook>({
    note(permission, value, allowed): boolean {
      if (!isKind(permission)) return false;
      const short = value === null ? null : value.slice(0, VALUE);
      let key = `${permission} ${allowed} ${short ?? "\0"}`;
      let row = rows.get(key);
      if (row === undefined) {
        const shown = rows.size < DISTINCT ? short : OTHERS;
        key = shown === OTHERS ? `${permission} ${allowed} ${OTHERS}` : key;
        row = rows.get(key) ?? { access: { permission, value: shown, allowed }, times: 0 };
        rows.set(key, row);
      }
      row.times += 1;
      return row.times === 1;
    },
    list: () =>
      [...rows.values()].map(counted).sort((a, b) =>
        Number(a.allowed) - Number(b.allowed) || b.times - a.times
      ),
  });
}

function isKind(permission: string): permission is McpAccess["permission"] {
  return KINDS.has(permission);
}
