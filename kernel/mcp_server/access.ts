/** What a server asked to be allowed, counted with bounds: a hostile one asks a million times. @module */
import {
  type Json,
  type JsonObject,
  type McpAccess,
  type McpGrants,
  mcpHostOf,
} from "../../contracts/mod.ts";
import { beneath } from "../lease/scope.ts";

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

/** Most refusals that one answer tells of. */
const TOLD = 8;

/** What was refused a server while a call ran: the caller is told where the server only says that it failed. */
export interface RefusalBook {
  /** Takes a note of the log of servers, and keeps what was refused. */
  note(what: string, body: JsonObject): void;
  /** Notes how far it is; gives what was refused since, each once. */
  since(): () => readonly string[];
}

/** Makes an empty book. */
export function makeRefusalBook(): RefusalBook {
  const open = new Set<Set<string>>();
  return Object.freeze<RefusalBook>({
    note(what, { permission, value, host, allowed, ok }): void {
      const how = what === "access" ? String(permission) : "reach";
      const of = what === "access" ? value : host;
      const isRefusal = what === "access" ? allowed === false : what === "proxied" && ok === false;
      if (!isRefusal || typeof of !== "string") return;
      for (const each of open) {
        if (each.size < TOLD) each.add(`${how} ${JSON.stringify(of.slice(0, 500))}`);
      }
    },
    since() {
      const seen = new Set<string>();
      open.add(seen);
      return () => {
        open.delete(seen);
        return [...seen];
      };
    },
  });
}

/**
 * Of a program, whose walls report nothing: what the arguments of a call name and it was not granted. It could not have
 * read or reached that, whatever it says.
 */
export function ungrantedIn(
  args: Json | undefined,
  { read, write, net }: McpGrants,
): readonly string[] {
  const found = new Set<string>();
  const look = (value: Json | undefined, depth: number): void => {
    if (found.size >= TOLD || depth > 4) return;
    if (typeof value === "string") {
      if (/^https?:\/\/[^\s]+$/.test(value) && URL.canParse(value)) {
        const host = mcpHostOf(value);
        if (!net.includes(host)) found.add(`reach ${JSON.stringify(host.slice(0, 500))}`);
      } else if (/^\/[^\0\n]{1,500}$/.test(value) && value !== "/") {
        if (![...read, ...write].some((each) => beneath(each, value))) {
          found.add(`read ${JSON.stringify(value)}`);
        }
      }
    } else if (typeof value === "object" && value !== null) {
      for (const each of Object.values(value).slice(0, 64)) look(each, depth + 1);
    }
  };
  look(args, 0);
  return [...found];
}
