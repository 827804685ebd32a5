/** Redacts texts by the rules of remit.yaml before they leave the machine. @module */
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import type { Json } from "../../../contracts/base/json.ts";
import type { RedactRule } from "../../../contracts/model/model_config.ts";

type Redact = (text: string) => string;

/** Makes a function that applies each rule in turn and writes `[redacted KIND]` or `[redacted word]`. */
export function makeRedact(rules: readonly RedactRule[]): Redact {
  const steps = rules.flatMap((rule): Redact[] =>
    "word" in rule
      ? [wordStep(rule.word)]
      : FINDERS[rule.kind].map((find) => replacing(find, `[redacted ${rule.kind}]`))
  );
  return (text) => steps.reduce((left, step) => step(left), text);
}

/** Redacts the texts of messages: contents, arguments of calls, results. */
export function redactMessages(
  messages: readonly ChatMessage[],
  redact: Redact,
): readonly ChatMessage[] {
  return messages.map((message) => ({
    ...message,
    content: redact(message.content),
    ...(message.toolCalls === undefined ? {} : {
      toolCalls: message.toolCalls.map((call) => ({
        ...call,
        arguments: redactArguments(call.arguments, redact),
      })),
    }),
  }));
}

/** Arguments remain JSON: a redacted number becomes a string. */
function redactArguments(text: string, redact: Redact): string {
  let changed = false;
  const one = (value: string): string => {
    const left = redact(value);
    if (left !== value) changed = true;
    return left;
  };
  const walk = (value: Json): Json => {
    if (typeof value === "string") return one(value);
    if (typeof value === "number") {
      return one(String(value)) === String(value) ? value : one(String(value));
    }
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map(walk);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [one(key), walk(each)]));
  };
  try {
    const left = walk(JSON.parse(text));
    return changed ? JSON.stringify(left) : text;
  } catch {
    // Not JSON, or nested too deeply: redacted as text.
    return redact(text);
  }
}

function replacing(find: Find, mark: string): Redact {
  return (text) => {
    let out = "";
    let done = 0;
    for (const [from, to] of find(text)) {
      out += text.slice(done, from) + mark;
      done = to;
    }
    return done === 0 ? text : out + text.slice(done);
  };
}

/** Matches whole words, ignoring case. */
function wordStep(word: string): Redact {
  const before = /^[\p{L}\p{N}_]/u.test(word) ? "(?<![\\p{L}\\p{N}_])" : "";
  const after = /[\p{L}\p{N}_]$/u.test(word) ? "(?![\\p{L}\\p{N}_])" : "";
  const literal = word.replace(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&");
  const pattern = new RegExp(`${before}${literal}${after}`, "giu");
  return (text) => text.replace(pattern, "[redacted word]");
}

// Patterns of the redaction rules. Each is a linear scan: bounded lookahead, no nested repetition (test: "a
// million hostile characters …").

/** A range of UTF-16 units, end exclusive. */
type Span = readonly [from: number, to: number];

/** Kinds of rules other than words. */
type RedactKind = Extract<RedactRule, { kind: unknown }>["kind"];

/** Finds ranges in order, without overlap. */
type Find = (text: string) => Iterable<Span>;

const EMAIL =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}-])/gu;
/** With a country code or a trunk zero; and the North American form. */
const PHONE =
  /(?<![\p{L}\p{N}.+-])(?:(?:\+|00|\(?0)(?:[ \t().\/-]{0,2}\d){6,16}|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})(?![\p{L}\p{N}])/gu;
const DIGIT_GROUPS = /(?<![\p{L}\p{N}])\d+(?:[ -]\d+)*(?![\p{L}\p{N}])/gu;
const IBAN_HEAD = /(?<![\p{L}\p{N}])[A-Za-z]{2}\d{2}/gu;
const PEM_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE)[A-Z ]{0,8}-----/g;
const TOKENS: readonly RegExp[] = [
  /(?<![A-Za-z0-9_-])(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abposr]|hf|npm|pypi|dop_v1|shpat|whsec)[-_][-_A-Za-z0-9.]{12,512}/g,
  /(?<![A-Za-z0-9_-])(?:AIza|ya29\.|SG\.)[-_A-Za-z0-9.]{20,512}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,2048}/g,
];
const IPV4 = /(?<![\p{L}\p{N}.])\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\p{N}]|\.\d)/gu;
const IPV6 = /(?<![\p{L}\p{N}:.])[0-9A-Fa-f:]{2,39}(?![\p{L}\p{N}:])/gu;

/** IBAN length by country (ISO 13616 registry). */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  ("AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 " +
    "EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 " +
    "KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 " +
    "PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 " +
    "VA22 VG24 XK20").split(" ").map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

/** The finders of each kind. */
const FINDERS: Readonly<Record<RedactKind, readonly Find[]>> = {
  email: [matching(EMAIL)],
  phone: [matching(PHONE)],
  card: [cards],
  iban: [ibans],
  key: [pems, ...TOKENS.map((pattern) => matching(pattern))],
  ip: [
    matching(IPV4, (found) => found.split(".").every((part) => Number(part) <= 255)),
    matching(IPV6, (found) => found.split(":").length > 2 && URL.canParse(`http://[${found}]/`)),
  ],
};

function matching(pattern: RegExp, holds: (found: string) => boolean = () => true): Find {
  return function* (text) {
    for (const { 0: found, index } of text.matchAll(pattern)) {
      if (holds(found)) yield [index, index + found.length];
    }
  };
}

/** Card numbers in groups of digits: 13 to 19 digits with a card's first digit and a valid Luhn checksum. */
function* cards(text: string): Generator<Span, void> {
  for (const { 0: run, index } of text.matchAll(DIGIT_GROUPS)) {
    const groups = [...run.matchAll(/\d+/g)];
    for (let first = 0; first < groups.length;) {
      const last = lastOfCard(groups, first);
      const [from, to] = [groups[first], groups[last]];
      if (from !== undefined && to !== undefined) {
        yield [index + from.index, index + to.index + to[0].length];
      }
      first = Math.max(first, last) + 1;
    }
  }
}

/** The last group of a card number that begins with group `first`; -1 for none. */
function lastOfCard(groups: readonly RegExpExecArray[], first: number): number {
  if (!/^[2-6]/.test(groups[first]?.[0] ?? "")) return -1;
  let digits = "";
  let found = -1;
  for (let n = first; n < groups.length; n++) {
    digits += groups[n]?.[0] ?? "";
    if (digits.length > 19) break;
    if (digits.length >= 13 && isLuhn(digits)) found = n;
  }
  return found;
}

function* ibans(text: string): Generator<Span, void> {
  for (const { 0: head, index } of text.matchAll(IBAN_HEAD)) {
    const length = IBAN_LENGTHS[head.slice(0, 2).toUpperCase()];
    if (length === undefined) continue;
    let iban = "";
    let at = index;
    for (; iban.length < length && at < text.length; at++) {
      const character = text.charAt(at);
      if (/[A-Za-z0-9]/.test(character)) iban += character;
      else if (!/[ \u00a0-]/.test(character) || !/[A-Za-z0-9]/.test(text.charAt(at - 1))) break;
    }
    const ends = !/[\p{L}\p{N}]/u.test(text.charAt(at));
    if (iban.length === length && ends && isIban(iban.toUpperCase())) yield [index, at];
  }
}

/** PEM blocks from first to last line. */
function* pems(text: string): Generator<Span, void> {
  let after = 0;
  for (const { 0: head, index } of text.matchAll(PEM_HEAD)) {
    if (index < after) continue;
    const end = text.indexOf("-----END ", index + head.length);
    if (end < 0) return;
    const close = text.indexOf("-----", end + 9);
    after = close < 0 || close > end + 80 ? end + 9 : close + 5;
    yield [index, after];
  }
}

/** ISO/IEC 7812: every second digit from the right is doubled. */
function isLuhn(number: string): boolean {
  let sum = 0;
  for (let n = 0; n < number.length; n++) {
    const digit = Number(number[number.length - 1 - n]);
    const doubled = n % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 13616: move the first four characters to the end, count letters from 10; the remainder by 97 is 1. */
function isIban(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
