/** Secrets taken out of what is shown. A net with holes: the never-list is the wall. @module */

/** What a secret looks like. Each pattern is anchored by literal text and bounded in length; a group is what stands before it. */
const SECRETS: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  {
    kind: "private key",
    // Never fails once it has begun, so that many beginnings cost no more than their length.
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
    // Begins at what is rare and looks back: each of a million `eyJ-` would look 4,096 characters ahead.
    pattern:
      /(?<=\b(eyJ[0-9A-Za-z_-]{10,4096}))\.eyJ[0-9A-Za-z_-]{10,8192}\.[0-9A-Za-z_-]{10,4096}/g,
  },
  {
    kind: "password in a URL",
    pattern: /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s:/@]{1,128}:[^\s:/@]{1,256}@/gi,
  },
];

/**
 * Replaces what looks like a secret by `⟨redacted: KIND⟩`.
 *
 * @example
 * ```ts
 * import { redact } from "./redact.ts";
 * redact("key AKIAABCDEFGHIJKLMNOP"); // "key ⟨redacted: AWS key⟩"
 * ```
 */
export function redact(text: string): string {
  return replaceSecrets(text, (kind) => `⟨redacted: ${kind}⟩`);
}

/** Replaces what looks like a secret by what `by` says of it. */
export function replaceSecrets(text: string, by: (kind: string, secret: string) => string): string {
  return SECRETS.reduce((shown, { kind, pattern }) => {
    let [clean, at] = ["", 0];
    for (const match of shown.matchAll(pattern)) {
      const from = match.index - (match[1] ?? "").length;
      // What was taken out already begins no other.
      if (from < at) continue;
      const to = match.index + match[0].length;
      clean += shown.slice(at, from) + by(kind, shown.slice(from, to));
      at = to;
    }
    return at === 0 ? shown : clean + shown.slice(at);
  }, text);
}
