/**
 * Credentials in the arguments of calls that leave the machine. Their values stay in the kernel's
 * memory: logs, questions and the worker get a placeholder for each, and only the call itself gets
 * the value back.
 *
 * Recognition is incomplete, as with redaction: unknown formats pass. The never-list is the wall.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import type { EffectClass } from "../contracts/authority/colour.ts";
import type { TaskId } from "../contracts/authority/ids.ts";
import { isList, isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import type { ToolBinding } from "../contracts/task/power.ts";
import { canonicalJson } from "../port/mod.ts";
import { asksForSecret, isGivenSecret } from "../text/looks_secret.ts";
import { remembering } from "../text/path_list.ts";
import { parseArguments } from "./arguments.ts";
import { faultOf } from "./gate/parts.ts";

/** Credentials withheld from logs, by task. */
interface Withheld {
  /** The call with placeholders for credentials; the same object if it has none. */
  hide(task: TaskId, call: ToolCall): ToolCall;
  /** The call with its credentials; undefined if a placeholder's value no longer exists. */
  restore(task: TaskId, call: ToolCall): ToolCall | undefined;
  /** Replaces the task's credentials in a text by placeholders. */
  mask(task: TaskId, text: string): string;
  /** Remembers the secrets in a text so that `hide` recognises them elsewhere. */
  note(text: string): void;
  forget(task: TaskId): void;
}

/** Names of tools that send data to others, even where they only read. */
const TELLING = /^(?:mcp|a2a|peer|browser|web)_/;
const OUTBOUND: ReadonlySet<EffectClass> = new Set(["outboundRead", "outboundWrite"]);

/** Whether the arguments of a tool's calls leave the machine, or reach someone else's program. */
export function tellsOthers({ descriptor, effect }: ToolBinding): boolean {
  return TELLING.test(descriptor.name) || OUTBOUND.has(effect) || descriptor.category === "network";
}

const MARK = /⟨withheld: [^⟩]{1,64}⟩/g;
/** Whether a text contains a placeholder. */
export function holdsMark(text: string): boolean {
  return text.includes("⟨withheld: ");
}

/** Minimum lengths of values to replace: shorter ones occur in ordinary text. */
const MIN_LENGTH = 4, MIN_KNOWN_LENGTH = 8;
const MAX_KNOWN = 2_000;
/** Assignments such as `password=…` within a longer text; the third group is the value. */
const ASSIGNED =
  /\b(_?auth_?token|api_?key|access_?token|access_?key|client_?secret|password|passwd|passphrase)(["']?\s{0,4}[:=]\s{0,4}["']?)([^\s"',;&<>⟨⟩]{8,256})/gi;

interface TaskNotes {
  readonly markOf: Map<string, string>;
  readonly valueOf: Map<string, string>;
}

/** The withheld credentials of a kernel. `draw` returns unguessable characters for placeholders. */
export function makeWithheld(draw: () => string): Withheld {
  const tasks = new Map<TaskId, TaskNotes>();
  /** Secrets redacted from results of this kernel, oldest first. */
  const seen = new Set<string>();

  const notesOf = (task: TaskId): TaskNotes => {
    const notes = tasks.get(task) ?? { markOf: new Map(), valueOf: new Map() };
    tasks.set(task, notes);
    return notes;
  };

  const markFor = ({ markOf, valueOf }: TaskNotes, kind: string, value: string): string => {
    const known = markOf.get(value);
    if (known !== undefined) return known;
    const mark = `⟨withheld: ${kind.slice(0, 40)} ${draw().slice(0, 12)}⟩`;
    markOf.set(value, mark);
    valueOf.set(mark, value);
    return mark;
  };

  /** Replaces known and recognised credentials in a text by placeholders. */
  const hideText = (notes: TaskNotes, text: string, name: string): string => {
    const mark = (kind: string, value: string): string => markFor(notes, kind, value);
    if (asksForSecret(name) && isGivenSecret(text) && !holdsMark(text)) {
      return mark(name.replace(/[^A-Za-z0-9_-]/g, ""), text);
    }
    let left = text;
    for (const value of [...notes.markOf.keys(), ...seen]) {
      if (value.length < MIN_KNOWN_LENGTH) continue;
      for (const form of formsOf(value)) {
        if (left.includes(form)) left = left.replaceAll(form, mark("known", form));
      }
    }
    left = replaceSecrets(left, mark);
    return left.replace(
      ASSIGNED,
      (whole, named: string, between: string, value: string) =>
        isGivenSecret(value) && !holdsMark(value) && /[0-9]/.test(value) && /[A-Za-z]/.test(value)
          ? `${named}${between}${mark(named, value)}`
          : whole,
    );
  };

  const mask = (task: TaskId, text: string): string => {
    const notes = tasks.get(task);
    if (notes === undefined) return text;
    let left = text;
    for (const [value, mark] of notes.markOf) {
      if (value.length >= MIN_LENGTH) left = left.replaceAll(value, mark);
    }
    return left;
  };

  return Object.freeze<Withheld>({
    hide(task, call) {
      const parsed = faultOf(() => parseArguments(call.arguments));
      // Unparseable arguments are never sent, but they are logged.
      if (parsed instanceof Fault) return { ...call, arguments: redact(call.arguments) };
      const notes = notesOf(task);
      let found = false;
      const args = mapTexts(parsed.args, (text, name) => {
        const hidden = hideText(notes, text, name);
        found ||= hidden !== text;
        return hidden;
      });
      return found ? { ...call, arguments: canonicalJson(args) } : call;
    },
    restore(task, call) {
      if (!holdsMark(call.arguments)) return call;
      const { valueOf } = notesOf(task);
      const parsed = faultOf(() => parseArguments(call.arguments));
      if (parsed instanceof Fault) return call;
      let lost = false;
      const args = mapTexts(parsed.args, (text) =>
        text.replace(MARK, (mark) => {
          const value = valueOf.get(mark);
          lost ||= value === undefined;
          return value ?? mark;
        }));
      return lost ? undefined : { ...call, arguments: canonicalJson(args) };
    },
    mask,
    note(text) {
      replaceSecrets(text, (_kind, secret) => {
        if (secret.length < MIN_KNOWN_LENGTH) return "";
        seen.delete(secret);
        seen.add(secret);
        const [oldest] = seen;
        if (seen.size > MAX_KNOWN && oldest !== undefined) seen.delete(oldest);
        return "";
      });
    },
    forget: (task) => void tasks.delete(task),
  });
}

/** A model's message for storage: the credentials in calls that reach others are replaced. */
export function hideInMessage(
  withheld: Withheld,
  message: ChatMessage,
  of: { readonly task: TaskId; readonly bindings: ReadonlyMap<string, ToolBinding> },
): ChatMessage {
  if (message.toolCalls === undefined || message.toolCalls.length === 0) return message;
  const toolCalls = message.toolCalls.map((call) => {
    const binding = of.bindings.get(call.name);
    return binding !== undefined && tellsOthers(binding) ? withheld.hide(of.task, call) : call;
  });
  if (toolCalls.every((call, n) => call === message.toolCalls?.[n])) return message;
  return { ...message, content: withheld.mask(of.task, message.content), toolCalls };
}

/** A value and its common encodings: percent, base64, base64url, hex. */
const formsOf = remembering((value: string): readonly string[] => {
  const bytes = new TextEncoder().encode(value);
  const base64 = btoa(String.fromCharCode(...bytes.slice(0, 20_000))).replace(/=+$/, "");
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const forms = [value, encodeURIComponent(value.toWellFormed()), base64, hex];
  return [...new Set([...forms, base64.replaceAll("+", "-").replaceAll("/", "_")])];
});

/** Maps every string within a value; `name` is the name of the enclosing field. */
export function mapTexts<T extends Json>(
  value: T,
  f: (text: string, name: string) => string,
  name?: string,
): T;
export function mapTexts(
  value: Json,
  f: (text: string, name: string) => string,
  name = "",
): Json {
  if (typeof value === "string") return f(value, name);
  if (isList(value)) return value.map((each) => mapTexts(each, f, name));
  if (!isObject(value)) return value;
  const mapped: JsonObject = Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, mapTexts(each, f, key)]),
  );
  return mapped;
}

// Redaction of secrets in displayed text.

/** Patterns of secrets. Each is anchored by literal text and bounded in length; group 1, if any, precedes the match. */
const SECRETS: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  {
    kind: "private key",
    // Never fails after its first line, so that many such lines cost linear time.
    pattern:
      /-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[A-Za-z0-9+/=\s:,.-]){0,20000}(?:-----END [A-Z ]{0,48}-----)?/g,
  },
  { kind: "AWS key", pattern: /\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{16}\b/g },
  {
    kind: "AWS secret",
    pattern: /\baws_?secret_?(?:access_?)?key["']?\s{0,8}[:=]\s{0,8}["']?[0-9A-Za-z/+]{40}\b/gi,
  },
  { kind: "GitHub token", pattern: /\b(?:gh[pousr]_[0-9A-Za-z]{30,255}|github_pat_\w{40,255})/g },
  { kind: "GitLab token", pattern: /\bglpat-[0-9A-Za-z_-]{20,128}/g },
  { kind: "Slack token", pattern: /\bxox[abeoprs]-[0-9A-Za-z-]{10,255}/g },
  { kind: "Google key", pattern: /\bAIza[0-9A-Za-z_-]{35}/g },
  { kind: "API key", pattern: /\b(?:sk|rk|pk)[-_][0-9A-Za-z_-]{20,255}/g },
  { kind: "npm token", pattern: /\bnpm_[0-9A-Za-z]{36}\b/g },
  {
    kind: "API key",
    pattern:
      /\b(?:hf_[0-9A-Za-z]{30,64}|gsk_[0-9A-Za-z]{40,64}|nvapi-[0-9A-Za-z_-]{40,80}|r8_[0-9A-Za-z]{37}|tvly-[0-9A-Za-z-]{28,64}|xai-[0-9A-Za-z]{60,100}|dop_v1_[0-9a-f]{64}|pypi-AgEI[0-9A-Za-z_-]{50,255}|SG\.[0-9A-Za-z_-]{16,32}\.[0-9A-Za-z_-]{32,64}|lin_api_[0-9A-Za-z]{30,64}|AGE-SECRET-KEY-1[0-9A-Z]{58})/g,
  },
  { kind: "bearer token", pattern: /\bbearer\s{1,8}[0-9A-Za-z._~+/-]{20,4096}={0,2}/gi },
  {
    kind: "JWT",
    // Anchored at the rare `.eyJ` and looks back; otherwise each of a million `eyJ-` would scan 4,096 characters ahead.
    pattern:
      /(?<=\b(eyJ[0-9A-Za-z_-]{10,4096}))\.eyJ[0-9A-Za-z_-]{10,8192}\.[0-9A-Za-z_-]{10,4096}/g,
  },
  {
    kind: "password in a URL",
    pattern: /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s:/@]{1,128}:[^\s:/@]{1,256}@/gi,
  },
];

/**
 * Replaces recognised secrets by `⟨redacted: KIND⟩`.
 *
 * @example
 * ```ts
 * import { redact } from "./credentials.ts";
 * redact("key AKIAABCDEFGHIJKLMNOP"); // "key ⟨redacted: AWS key⟩"
 * ```
 */
export function redact(text: string): string {
  return replaceSecrets(text, (kind) => `⟨redacted: ${kind}⟩`);
}

/** Replaces recognised secrets by the result of `by`. */
function replaceSecrets(text: string, by: (kind: string, secret: string) => string): string {
  return SECRETS.reduce((shown, { kind, pattern }) => {
    let [clean, at] = ["", 0];
    for (const match of shown.matchAll(pattern)) {
      const from = match.index - (match[1] ?? "").length;
      // Skip matches that overlap the previous one.
      if (from < at) continue;
      const to = match.index + match[0].length;
      clean += shown.slice(at, from) + by(kind, shown.slice(from, to));
      at = to;
    }
    return at === 0 ? shown : clean + shown.slice(at);
  }, text);
}
