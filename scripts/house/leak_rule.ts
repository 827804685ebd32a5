import { breach, type Finding } from "./source.ts";

// Joined at run time, so that this file does not break its own rule.
const REGISTRIES: readonly string[] = [
  ["registry", "npmjs", "org"],
  ["registry", "yarnpkg", "com"],
  ["npm", "jsr", "io"],
  ["jsr", "io"],
  ["pypi", "org"],
  ["files", "pythonhosted", "org"],
  ["crates", "io"],
  ["proxy", "golang", "org"],
  ["deb", "debian", "org"],
].map((parts) => parts.join("."));

const MACHINE_PATH =
  /(?:^|[\s"'`(=:])(\/(?:work\/(?:main|shared|\.)|tmp\/bash_jobs|Users\/[a-z]+\/|var\/folders\/))/;

/** Matches keys that say themselves that they are fake, as tests of redaction need them. */
const PLAINLY_FALSE = /example|abcdefgh|not.?real/i;

const SECRETS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: "an API key", pattern: /\bsk-(?:ant-|proj-)?[A-Za-z0-9_]{24,}/g },
  { what: "an access token", pattern: /\b(?:ghp|gho|ghs|github_pat|glpat|npm)_[A-Za-z0-9_]{20,}/g },
  { what: "a cloud key", pattern: /\bAKIA[0-9A-Z]{16}\b/g },
  { what: "a chat token", pattern: /\bxox[abpr]-[A-Za-z0-9-]{20,}/g },
  { what: "a private key", pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40,}/g },
];

/** Rule `leak`, for every text file: no registry's host name, no path of one machine, no secret. */
export function leakFindings(path: string, text: string): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (line: number, message: string): void => {
    findings.push(breach("leak", path, line, message));
  };
  for (const [index, line] of text.split("\n").entries()) {
    const host = REGISTRIES.find((name) => line.includes(name));
    if (host !== undefined) say(index + 1, "a registry's host name");
    if (MACHINE_PATH.test(line)) say(index + 1, "a path of one machine");
  }
  for (const { what, pattern } of SECRETS) {
    for (const match of text.matchAll(pattern)) {
      if (PLAINLY_FALSE.test(match[0])) continue;
      say(text.slice(0, match.index).split("\n").length, `${what} (or what looks like one)`);
    }
  }
  return findings;
}
