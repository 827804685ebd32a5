/** Recognizes keys, tokens and passwords by a name or by their form. @module */

/** Words in names of variables, flags and parameters that hold secrets. */
const NAMES =
  /(?:^|_)(?:api_?key|access_?key|secret_?key|private_?key|key|keys|token|tokens|secret|secrets|pass|passwd|password|passphrase|pwd|credential|credentials|auth|authorization|bearer|pat|jwt|dsn|cookie|session|signature|connection_?string|connstr|database_?url|db_?url|redis_?url|mongo_?uri|webhook_?url)(?:_|$)/;
/** As {@link NAMES}, for tools' arguments: without words of ordinary arguments, such as a table's `key` or `page_token`. */
const ASKED =
  /(?:^|_)(?:api_?keys?|access_?keys?|secret_?keys?|private_?keys?|ssh_?keys?|auth_?keys?|license_?keys?|encryption_?keys?|token|secrets?|passwd|passwords?|passphrase|pwd|credentials?|authorization|bearer|jwt|cookies?|connection_?string|connstr|dsn)(?:_|$)/;
/** Uses of `token` as a position in a list, or as a count. */
const NO_TOKEN =
  /(?:^|_)(?:page|next|prev|previous|cursor|continuation|sync|resume|start|stop|end|max|min|num|count|total|limit)_?token(?:_|$)|(?:^|_)token_?(?:count|limit|budget)(?:_|$)/;
/** The prefixes of services' keys. */
const PREFIXES =
  /^(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abpres]|AKIA|ASIA|AIza|ya29|hf|npm|pypi|dop_v1|lin_api|ntn|secret|figd|key|tvly|r8|gsk|nvapi)[-_A-Za-z0-9]{1}[-_A-Za-z0-9.]{10,}$|^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|^-----BEGIN [A-Z ]*PRIVATE KEY/;
/** Shortest random text, characters. */
const MIN_RANDOM = 20;
/** Entropy of random text, bits per character: words and paths have less, as they mix fewer kinds of characters. */
const MIN_BITS = 3.4;

/** `apiKey` → `api_key`. */
function parted(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/[^A-Za-z0-9]+/g, "_").toLowerCase();
}

/** Whether the name of a variable, flag, header or parameter says that its value is a secret. */
export function namesSecret(name: string): boolean {
  return NAMES.test(parted(name));
}

/** Whether a tool's parameter of this name asks for a key, a token or a password. */
export function asksForSecret(name: string): boolean {
  const words = parted(name);
  return ASKED.test(words) && !NO_TOKEN.test(words);
}

/** A placeholder for a secret: a variable, a handle, a blank. */
const STAND_IN =
  /^(?:<[^>]*>|\$\{?[A-Za-z_]\w*\}?|\{\{[^}]*\}\}|%[A-Z_]+%|secret:[a-z0-9_-]+|your[-_ ].*|[*•x.…]+|⟨[^⟩]*⟩)$/i;

/** Whether an argument that asks for a secret was given one. */
export function isGivenSecret(value: string): boolean {
  const text = value.trim();
  return text.length >= 4 && !isPlain(text) && !STAND_IN.test(text);
}

function bits(text: string): number {
  const count = new Map<string, number>();
  for (const character of text) count.set(character, (count.get(character) ?? 0) + 1);
  const all = [...text].length;
  return [...count.values()].reduce((sum, n) => sum - (n / all) * Math.log2(n / all), 0);
}

/** Whether a text looks generated: long, of mixed characters, without words. */
function isRandom(word: string): boolean {
  if (word.length < MIN_RANDOM || !/^[A-Za-z0-9_+=~-]+$/.test(word)) return false;
  if (!/[0-9]/.test(word) || !/[A-Za-z]/.test(word)) return false;
  // Names of packages, models and folders: words with a number somewhere.
  if (/^[a-z]+(?:[-_][a-z0-9]{1,10})+$/i.test(word) && !/[-_][0-9a-f]{16,}/i.test(word)) {
    return false;
  }
  return bits(word) >= MIN_BITS || /^[0-9a-f]{32,}$/i.test(word);
}

/** Whether a value alone looks like a secret: a key's prefix, a password in an address, a run of random characters. */
export function holdsSecret(value: string): boolean {
  const text = value.trim().replace(/^(?:Bearer|Basic|Token)\s+/i, "");
  if (PREFIXES.test(text)) return true;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return addressHolds(text);
  // A path: folders may be named by a hash.
  if (/^(?:~|\.{1,2})?\//.test(text)) return text.split("/").some((part) => PREFIXES.test(part));
  return text.split(/[\s,;:/=@&?#]+/).some(isRandom);
}

function addressHolds(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return /:\/\/[^/@\s]+:[^/@\s]+@/.test(text);
  if (url.password !== "") return true;
  for (const [name, value] of url.searchParams) {
    if (value !== "" && (namesSecret(name) || PREFIXES.test(value) || isRandom(value))) return true;
  }
  return url.pathname.split("/").some((part) => PREFIXES.test(part) || isRandom(part));
}

/** Whether the value of a variable or parameter of this name should be kept as a secret. */
export function isSecret(name: string, value: string): boolean {
  return value !== "" && (holdsSecret(value) || (namesSecret(name) && !isPlain(value)));
}

/** Whether a value is an ordinary setting, as a name like `AUTH` may hold: a switch, a path. */
function isPlain(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|none|null|[0-9]{1,5})$/i.test(value) ||
    /^[~.]?\.?\/[^\s:@]*$/.test(value);
}

/** The indexes, from 0, of a program's arguments that hold a key. */
export function secretArguments(args: readonly string[]): readonly number[] {
  return args.flatMap((word, at) => {
    const before = args[at - 1] ?? "";
    const [, flag = "", value = ""] = /^(-{1,2}[^=\s]+|[A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(word) ??
      [];
    const named = flag === ""
      ? /^--?[a-z]/i.test(before) && !word.startsWith("-") && isSecret(before, word)
      : isSecret(flag, value);
    return named || holdsSecret(word) ? [at] : [];
  });
}
