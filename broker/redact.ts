/** Secrets taken out of what is shown. A net with holes: the never-list is the wall. @module */

/** What a secret looks like. Each pattern is anchored by literal text and bounded in length. */
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
  { kind: "bearer token", pattern: /\bbearer\s{1,8}[0-9A-Za-z._~+/-]{20,4096}={0,2}/gi },
  {
    kind: "JWT",
    pattern: /\beyJ[0-9A-Za-z_-]{10,4096}\.eyJ[0-9A-Za-z_-]{10,8192}\.[0-9A-Za-z_-]{10,4096}/g,
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
  return SECRETS.reduce(
    (shown, { kind, pattern }) => shown.replace(pattern, `⟨redacted: ${kind}⟩`),
    text,
  );
}
