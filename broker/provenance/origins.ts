/**
 * The known origins of each task's values: the person's words, contents of results, declared tools,
 * calls allowed without a question. Of results only salted hashes are stored. docs/provenance.md.
 * @module
 */
import type { Colour } from "../../contracts/authority/colour.ts";
import type { CallId, Digest, TaskId, ToolName } from "../../contracts/authority/ids.ts";
import type { ListedRecord, MadeCall, ValueKeeper } from "../../contracts/authority/origin.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { isObject, type JsonObject, toJsonObject } from "../../contracts/base/json.ts";
import { sha256Hex } from "../../port/digest.ts";
import { type Literal, makeStandsIn, type SaidWords } from "../../text/stands_in.ts";

/** Limits for one task: results with distinguished values, values of all results, records of servers. */
const MAX_SOURCES = 64;
const MAX_VALUES = 20_000;
const MAX_RECORDS = 4_000;
/** Messages of the person whose values count, and their total characters. */
const MAX_SAID = 256;
const MAX_SAID_LENGTH = 200_000;
/** Limits for one result: characters read, values, and characters of a value. */
const MAX_RESULT = 65_536;
const MAX_RESULT_VALUES = 2_000;
const MAX_VALUE_LENGTH = 256;

/** A result as an origin of values. */
export interface ResultSource {
  readonly call: CallId;
  readonly tool: ToolName;
  readonly colour: Colour;
}

/** A result that a task has read. */
export interface Heard extends ResultSource {
  /** `mcp:NAME`, `a2a:NAME`, or one of Remit's interfaces. */
  readonly interfaceId: string;
  readonly text: string;
  /** Records that the bridge found in the result. Untrusted. */
  readonly records: readonly ListedRecord[];
  /** Redacts secrets in displayed text. */
  redact(text: string): string;
}

/** The known origins of one task's values. */
export interface TaskOrigins {
  /** Whether a value is in the person's own words. */
  inRequest(value: Literal): boolean;
  /** The result that contains a value; undefined if none is known. */
  resultOf(value: Literal): ResultSource | undefined;
  /**
   * The result in which a server listed the only record with this id that the person's words name.
   * `name`: the argument's name, which must be the field's unless the field is `id`.
   */
  recordOf(interfaceId: string, name: string, id: string | number): ResultSource | undefined;
  /** One line of the fields that the server listed with this id, for people. Untrusted. */
  saysOf(interfaceId: string, name: string, id: string | number): string | undefined;
  /** Whether any tool was declared. */
  declares(): boolean;
  /**
   * Calls of a declared tool that may still be allowed without a question, this one included;
   * undefined if the tool was not declared.
   */
  left(tool: ToolName, key: Digest): number | undefined;
  /** Whether another call with these arguments was performed before. */
  passed(call: Pick<MadeCall, "tool" | "key"> & { said(): MadeCall["said"] }): boolean;
}

/** The known origins of all tasks' values, in this kernel's memory. */
export interface Provenance extends ValueKeeper {
  /** Records a result. Returns the data to store with its outcome, from which a later kernel restores. */
  heard(task: TaskId, heard: Heard): JsonObject | undefined;
  of(task: TaskId): TaskOrigins;
  forget(task: TaskId): void;
}

interface Kept {
  readonly said: SaidWords[];
  stands: ((value: Literal) => boolean) | undefined;
  folded: ((value: Literal) => boolean) | undefined;
  readonly sources: ResultSource[];
  /** Index of the first source that contained a value. */
  readonly values: Map<number, number>;
  /** By server: records that the person's words name. */
  readonly records: Map<string, NamedRecord[]>;
  /** By hash of server, field and id: the other fields. */
  readonly says: Map<number, string>;
  /** Servers that listed more records than are known. */
  readonly cut: Set<string>;
  /** Cache: whether a name is in the person's words. */
  readonly named: Map<string, boolean>;
  recordCount: number;
  declared: Map<ToolName, number> | undefined;
  /** The key of the first call for each tool and arguments. */
  readonly calls: Map<string, Digest>;
  readonly keys: Set<Digest>;
  readonly counts: Map<ToolName, number>;
}

/** A listed record: hashes of its ids, and of its values that are in the person's words. */
interface NamedRecord {
  readonly source: ResultSource;
  readonly ids: readonly number[];
  readonly names: readonly number[];
}

function nothingKept(): Kept {
  return {
    ...{
      said: [],
      stands: undefined,
      folded: undefined,
      sources: [],
      values: new Map(),
      records: new Map(),
      says: new Map(),
      cut: new Set(),
      named: new Map(),
    },
    ...{
      recordCount: 0,
      declared: undefined,
      calls: new Map(),
      keys: new Set(),
      counts: new Map(),
    },
  };
}

/** An empty table of origins. */
export function makeProvenance(): Provenance {
  const tasks = new Map<TaskId, Kept>();
  const keptOf = (task: TaskId): Kept => {
    const kept = tasks.get(task) ?? nothingKept();
    tasks.set(task, kept);
    return kept;
  };

  return Object.freeze<Provenance>({
    knows: (task) => tasks.has(task),
    said(task, words): void {
      const kept = keptOf(task);
      const length = kept.said.reduce((sum, { text }) => sum + text.length, words.text.length);
      if (kept.said.length >= MAX_SAID || length > MAX_SAID_LENGTH) return;
      kept.said.push(words);
      kept.stands = undefined;
      kept.folded = undefined;
      // Records were filtered by the earlier words; a record with the same name may have been dropped.
      kept.records.clear();
      kept.named.clear();
    },
    heard(
      task,
      { call, tool, colour, interfaceId, text, records, redact },
    ): JsonObject | undefined {
      const kept = keptOf(task), source = { call, tool, colour };
      if (kept.sources.length < MAX_SOURCES && kept.values.size < MAX_VALUES) {
        const n = kept.sources.push(source) - 1;
        for (const value of valuesIn(text.slice(0, MAX_RESULT))) {
          if (kept.values.size >= MAX_VALUES) break;
          const hash = hashOf(task, value);
          if (!kept.values.has(hash)) kept.values.set(hash, n);
        }
      }
      if (records.some(({ length }) => length === 0)) {
        // The bridge omitted records: one of them may have the same name.
        kept.records.delete(interfaceId);
        kept.cut.add(interfaceId);
      }
      const named = records.flatMap((record): Omit<NamedRecord, "source">[] => {
        const ids = record.filter(([field]) => isId(field)).map(([field, value]) =>
          hashOf(task, value, fieldOf(field))
        );
        if (ids.length > 0 && kept.says.size < MAX_RECORDS) {
          const says = redact(saidOf(record)).slice(0, 200);
          for (const id of ids) {
            const at = beside(interfaceId, id), before = kept.says.get(at);
            // Two different descriptions of one id are both shown: the second may be a stranger's.
            kept.says.set(
              at,
              before === undefined || before === says ? says : `${before} | ${says}`.slice(0, 200),
            );
          }
        }
        const names = record.filter(([field, value]) =>
          isName(field, value) && isNamed(kept, value)
        );
        return names.length === 0
          ? []
          : [{ ids, names: names.map(([, value]) => hashOf(task, nameOf(value))) }];
      });
      for (const each of named) addRecord(kept, interfaceId, { source, ...each });
      return named.length === 0
        ? undefined
        : toJsonObject({ ...source, interfaceId, records: named });
    },
    declare(task, tools): void {
      const kept = keptOf(task);
      if (kept.declared !== undefined) {
        throw new Fault(
          "conflict",
          "Cannot declare tools: this task did so before; a call beyond that asks a person",
        );
      }
      kept.declared = new Map();
      for (const { tool, max } of tools) {
        kept.declared.set(tool, (kept.declared.get(tool) ?? 0) + max);
      }
    },
    performed(task, { tool, said, key }): void {
      const kept = keptOf(task), call = `${tool} ${said}`;
      // A call repeated after an answer or a crash is the same call.
      if (kept.keys.has(key)) return;
      kept.keys.add(key);
      if (!kept.calls.has(call)) kept.calls.set(call, key);
      kept.counts.set(tool, (kept.counts.get(tool) ?? 0) + 1);
    },
    restore(task, { call, tool, colour, interfaceId, records }): void {
      // TRUST: from this task's own log, written by `heard`.
      const source = { call, tool, colour } as unknown as ResultSource;
      for (const each of Array.isArray(records) ? records : []) {
        if (!isObject(each) || typeof interfaceId !== "string") continue;
        const { ids, names } = each as unknown as Pick<NamedRecord, "ids" | "names">;
        addRecord(keptOf(task), interfaceId, { source, ids, names });
      }
    },
    of(task): TaskOrigins {
      // Do not create an entry here: `knows` must stay false until the task's log is read.
      const kept = tasks.get(task) ?? nothingKept();
      return {
        inRequest: standsOf(kept),
        resultOf(value): ResultSource | undefined {
          const n = kept.values.get(hashOf(task, value));
          return n === undefined ? undefined : kept.sources[n];
        },
        recordOf(interfaceId, name, id): ResultSource | undefined {
          const all = kept.records.get(interfaceId) ?? [];
          if (all.length === 0 || kept.cut.has(interfaceId)) return undefined;
          const hashes = [fieldOf(name), "id"].map((field) => hashOf(task, id, field));
          const found = all.filter(({ ids }) => hashes.some((hash) => ids.includes(hash)));
          // INVARIANT: exactly one record has this id, and it has a name that no other record has (test: "a twin …").
          const [first] = found;
          if (first === undefined || found.some(({ ids }) => !isSame(ids, first.ids))) {
            return undefined;
          }
          const own = first.names.some((name) =>
            all.every(({ ids, names }) => !names.includes(name) || isSame(ids, first.ids))
          );
          return own ? first.source : undefined;
        },
        saysOf(interfaceId, name, id): string | undefined {
          if (kept.says.size === 0) return undefined;
          return [fieldOf(name), "id"]
            .map((field) => kept.says.get(beside(interfaceId, hashOf(task, id, field))))
            .find((says) => says !== undefined);
        },
        declares: () => kept.declared !== undefined,
        left(tool, key): number | undefined {
          const max = kept.declared?.get(tool);
          if (max === undefined) return undefined;
          const others = (kept.counts.get(tool) ?? 0) - (kept.keys.has(key) ? 1 : 0);
          return Math.max(0, max - others);
        },
        passed({ tool, said, key }): boolean {
          // The digest is the costliest part of a decision; skip it for the first call of a tool.
          if (!kept.counts.has(tool)) return false;
          const before = kept.calls.get(`${tool} ${said()}`);
          return before !== undefined && before !== key;
        },
      };
    },
    forget: (task) => void tasks.delete(task),
  });
}

function addRecord(kept: Kept, interfaceId: string, record: NamedRecord): void {
  if (kept.recordCount >= MAX_RECORDS) {
    // Overflow fails closed: an unknown record may have the same name as a known one.
    kept.records.clear();
    return;
  }
  kept.recordCount++;
  const all = kept.records.get(interfaceId) ?? [];
  kept.records.set(interfaceId, all);
  // The same record listed again replaces the earlier one.
  const before = all.findIndex(({ ids }) => isSame(ids, record.ids));
  if (before < 0) all.push(record);
  else all[before] = record;
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length > 0 && a.length === b.length && a.every((each, n) => each === b[n]);
}

/** 52 bits of a salted SHA-256 of a value, or of a field with its value. */
function hashOf(task: TaskId, value: Literal, field = ""): number {
  const text = `${task} ${typeof value} ${field}=${String(value).normalize()}`;
  return parseInt(sha256Hex(text).slice(0, 13), 16);
}

/** Hash of a server and an id's hash. */
function beside(interfaceId: string, id: number): number {
  return parseInt(sha256Hex(`${interfaceId} ${id}`).slice(0, 13), 16);
}

/** One line of a record's fields other than ids. */
function saidOf(record: ListedRecord): string {
  return record.filter(([field]) => !isId(field)).slice(0, 6)
    .map(([field, value]) => `${field}: ${String(value).slice(0, 60)}`).join("; ").slice(0, 200);
}

/** A field's name without the trailing underscore that Python code uses to avoid built-in names. */
function fieldOf(name: string): string {
  return name.replace(/_+$/, "");
}

function nameOf(value: string | number): string | number {
  return typeof value === "string" ? value.toLowerCase() : value;
}

const MIN_NAME_LENGTH = 3;
/** Maximum number of names looked up in a task's words. */
const MAX_NAMES = 4_000;
/** Fields that hold a record's name. */
const NAMING =
  /^(?:[a-z]+[_-])*(?:name|title|subject|filename|label|summary)$|[a-z](?:Name|Title|Subject)$/;

function isName(field: string, value: string | number): value is string {
  return typeof value === "string" && value.trim().length >= MIN_NAME_LENGTH &&
    NAMING.test(fieldOf(field));
}

function standsOf(kept: Kept): (value: Literal) => boolean {
  return kept.stands ??= makeStandsIn(kept.said);
}

function foldedOf(kept: Kept): (value: Literal) => boolean {
  return kept.folded ??= makeStandsIn(kept.said, { folded: true });
}

/**
 * Whether a name is in the person's words: exactly as written if it is one word, and then not a
 * plain lower-case word; case-insensitive if it is several words.
 */
function isNamed(kept: Kept, value: string | number): boolean {
  const name = String(value), before = kept.named.get(name);
  if (before !== undefined) return before;
  if (kept.named.size >= MAX_NAMES) return false;
  const several = /\S\s+\S/u.test(name);
  const stands = (several ? foldedOf(kept) : standsOf(kept))(name) &&
    (several || /[^\p{Ll}\p{M}]/u.test(name));
  kept.named.set(name, stands);
  return stands;
}

/** Whether a field or argument holds an id, by its name. */
export function isId(field: string): boolean {
  return /(?:^|[_-])(?:id|uid|uuid|guid)$|[a-z](?:Id|ID|Uid|Uuid)$/.test(fieldOf(field));
}

/** Quoted texts, texts after a colon or dash, and words. */
const VALUES = [
  /"((?:[^"\\\n]|\\.){2,256})"/gu,
  /(?:^|:|-)[ \t]+([^\n]{2,256})$/gmu,
  /[\p{L}\p{N}][\p{L}\p{N}._%+@:/#-]{0,255}/gu,
];
const NUMBER = /^-?\d+(?:\.\d+)?$/u;

/** The distinct values in a text; numbers both as numbers and as written. */
function valuesIn(text: string): ReadonlySet<Literal> {
  const values = new Set<Literal>();
  for (const pattern of VALUES) {
    for (const { 0: whole, 1: inner } of text.matchAll(pattern)) {
      const value = (inner ?? whole).trim().replace(/[.:,;]+$/u, "");
      if (value.length > MAX_VALUE_LENGTH || (value.length < 2 && !NUMBER.test(value))) continue;
      values.add(value);
      if (NUMBER.test(value)) values.add(Number(value));
      if (values.size >= MAX_RESULT_VALUES) return values;
    }
  }
  return values;
}
