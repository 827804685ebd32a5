import fc from "fast-check";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { EffectClass } from "../contracts/authority/mod.ts";
import { NO_POLICY, type PlacedRule } from "../contracts/policy/mod.ts";
import { processorTime } from "../tests/fake/processor_time.ts";
import { foldPath } from "../text/path_list.ts";
import { makeGlob, makePolicy, type Policy, type Subject } from "./policy.ts";

const ASKED: Subject = {
  profile: "operator",
  phase: "work",
  tool: "file_write",
  category: "mutate",
  effect: "mutateLocal",
  paths: ["desk/notes/a.md"],
};

function policyOf(...rules: Omit<PlacedRule, "at">[]): Policy {
  return makePolicy({
    ...NO_POLICY,
    rules: rules.map((rule, i) => ({ ...rule, at: `remit.yaml:${i + 1}` }) as PlacedRule),
  });
}

Deno.test("without a policy the built-in table decides", () => {
  const policy = makePolicy(NO_POLICY);
  const modes = EffectClass.options.map((effect) => policy.decide({ ...ASKED, effect }).mode);
  deepEqual(modes, ["auto", "auto", "consent", "forbidden", "forbidden", "stepUp", "stepUp"]);
  equal(
    policy.decide({ ...ASKED, effect: "outboundRead" }).rule,
    "built-in: network forbidden until granted",
  );
});

Deno.test("what the built-in table forbids names the rule that would grant it, and only that", () => {
  const destination = "https://a.example";
  const posting: Subject = { ...ASKED, effect: "outboundWrite", destination };
  const { why = "" } = makePolicy(NO_POLICY).decide(posting);
  equal(
    why,
    "ask the operator for a rule in remit.yaml, " +
      'rules: [{ effect: outboundWrite, destination: "https://a.example", mode: consent }]',
  );
  const policy = policyOf({ effect: "outboundWrite", destination, mode: "consent" });
  equal(policy.decide(posting).mode, "consent");
  equal(policy.decide({ ...posting, effect: "outboundRead" }).mode, "forbidden");
});

Deno.test("any matching forbid wins, wherever it stands; else the first match", () => {
  const policy = policyOf(
    { tool: "file_*", mode: "auto" },
    { tool: "file_write", mode: "stepUp" },
    { path: "desk/notes/**", mode: "forbidden", why: "closed for the audit" },
  );
  deepEqual(policy.decide(ASKED), {
    mode: "forbidden",
    rule: "remit.yaml:3",
    why: "closed for the audit",
  });
  equal(policy.decide({ ...ASKED, paths: ["desk/b.md"] }).rule, "remit.yaml:1");
  equal(policy.decide({ ...ASKED, paths: ["desk/b.md", "desk/notes/c.md"] }).mode, "forbidden");
});

Deno.test("a call over several paths has the mode of the gravest", () => {
  const policy = policyOf({ path: "desk/free/**", mode: "auto" }, {
    path: "desk/vault/**",
    mode: "stepUp",
  });
  equal(policy.decide({ ...ASKED, paths: ["desk/free/a"] }).mode, "auto");
  equal(policy.decide({ ...ASKED, paths: ["desk/free/a", "desk/other"] }).mode, "consent");
  equal(policy.decide({ ...ASKED, paths: ["desk/free/a", "desk/vault/b"] }).mode, "stepUp");
});

Deno.test("a rule by case alone can make stricter and never laxer", () => {
  const lax = policyOf({ path: "desk/Free/**", mode: "auto" });
  equal(lax.decide({ ...ASKED, paths: ["desk/free/a"] }).mode, "consent");
  const strict = policyOf({ path: "desk/Vault/**", mode: "stepUp" }, { mode: "auto" });
  equal(strict.decide({ ...ASKED, paths: ["desk/vault/a"] }).mode, "stepUp");
  equal(
    policyOf({ path: "desk/X/**", mode: "forbidden" }).decide({ ...ASKED, paths: ["desk/x/a"] })
      .mode,
    "forbidden",
  );
});

Deno.test("a rule grants the network to one destination, and to no other", () => {
  const policy = policyOf({ destination: "https://*.example.com", mode: "consent" });
  const mode = (destination: string): string =>
    policy.decide({ ...ASKED, effect: "outboundRead", destination }).mode;
  equal(mode("https://api.example.com"), "consent");
  equal(mode("https://api.example.com.mallory.net"), "forbidden");
  equal(mode("https://mallory.net/.example.com"), "forbidden");
  equal(mode("http://api.example.com"), "forbidden");
});

Deno.test("no rule lifts phase, administration, guests' silence or anonymity", () => {
  const policy = policyOf({ mode: "auto" });
  const forbidden: Partial<Subject>[] = [
    { phase: "plan" },
    { phase: "review", effect: "destructive" },
    { profile: "guest", effect: "admin" },
    { profile: "anonymous", effect: "admin" },
    { profile: "guest", effect: "outboundRead" },
    { profile: "guest", effect: "outboundWrite" },
    { profile: "anonymous", effect: "stage" },
    { profile: "anonymous" },
  ];
  for (const change of forbidden) {
    const ruling = policy.decide({ ...ASKED, ...change });
    equal(ruling.mode, "forbidden", JSON.stringify(change));
    ok(ruling.rule.startsWith("built-in: ") && ruling.why !== undefined);
  }
  equal(policy.decide({ ...ASKED, profile: "anonymous", effect: "read" }).mode, "auto");
  equal(policy.decide({ ...ASKED, profile: "guest" }).mode, "auto");
});

Deno.test("the never-list knows credentials by any spelling and leaves ordinary files alone", () => {
  const policy = makePolicy({
    ...NO_POLICY,
    never: [{ glob: "desk/diary/**", at: "remit.yaml:9" }],
  });
  const closed = [
    "keys.env",
    ".env",
    ".ENV.production",
    "sub/.envrc",
    ".ssh/config",
    ".SSH/known_hosts",
    ".ssh",
    "id_rsa",
    "id_ed25519.pub",
    "tls/server.KEY",
    "a.pem",
    ".netrc",
    ".npmrc",
    ".aws/credentials",
    ".docker/config.json",
    ".git-credentials",
    ".kube/cache/x",
    "vault.kdbx",
    "credentials.json",
    "credentials-prod.json",
    "diary/monday.md",
    "\u2024env",
    "keys\u200b.env",
    "ｋeys．env",
    "x\uff0f.env",
    "./.env",
    "keys.env/",
    "K\u212aeys.env",
  ];
  for (const name of closed) ok(policy.never(`desk/${name}`, "read"), name);
  const open = [
    "env.md",
    "environment.ts",
    "ssh.md",
    "key.ts",
    "monkey",
    "docs/config.json",
    "a.env.md",
  ];
  for (const name of open) equal(policy.never(`desk/${name}`, "read"), undefined, name);
  deepEqual(policy.never("desk/diary/monday.md", "read"), {
    glob: "desk/diary/**",
    at: "remit.yaml:9",
  });
  for (
    const name of [
      "remit.yaml",
      "Remit.YAML",
      "remit.lock",
      "answers.json",
      ".git/config",
      "a/.git/HEAD",
    ]
  ) {
    equal(policy.never(`desk/${name}`, "read"), undefined, name);
    ok(policy.never(`desk/${name}`, "write"), name);
  }
});

Deno.test("files that execute later are known, by any case", () => {
  const policy = makePolicy(NO_POLICY);
  for (
    const name of [
      "package.json",
      ".github/workflows/ci.yml",
      "Makefile",
      "run.sh",
      "deno.json",
      ".husky/pre-commit",
      "PACKAGE.JSON",
    ]
  ) {
    ok(policy.executes(`desk/${name}`), name);
  }
  for (const name of ["notes.md", "package.md", "shell.txt"]) {
    equal(policy.executes(`desk/${name}`), false, name);
  }
});

Deno.test("guests and anonymous sessions use local models; labels above clearance stay home", () => {
  const policy = makePolicy({ ...NO_POLICY, clearance: { "model:anthropic:x": "secret" } });
  const remote = { ref: "anthropic:y", remote: true }, local = { ref: "scripted:a", remote: false };
  ok(!policy.modelAllowed("guest", remote, "public").allowed);
  ok(!policy.modelAllowed("anonymous", remote, "public").allowed);
  ok(policy.modelAllowed("guest", local, "secret").allowed);
  ok(policy.modelAllowed("operator", remote, "internal").allowed);
  ok(!policy.modelAllowed("operator", remote, "secret").allowed);
  ok(policy.modelAllowed("operator", { ref: "anthropic:x", remote: true }, "secret").allowed);
});

Deno.test("a sink nobody spoke of is cleared for public text only", () => {
  const policy = makePolicy({ ...NO_POLICY, clearance: { "https://Wiki.example": "internal" } });
  equal(policy.clearance("https://a.example"), "public");
  equal(policy.clearance("https://wiki.example"), "internal");
  equal(policy.clearance("outbox"), "internal");
  equal(policy.clearance("__proto__"), "public");
  equal(policy.clearance(""), "public");
});

Deno.test("a policy of more than a thousand rules is refused", () => {
  throws(
    () => policyOf(...Array.from({ length: 1_001 }, () => ({ mode: "auto" as const }))),
    /1000 rules/,
  );
});

const match = (glob: string, path: string): boolean => makeGlob(glob).matches(path.split("/"));

Deno.test("a star stays within a part, two stars cross parts, and nothing else is special", () => {
  for (
    const [glob, path, fits] of [
      ["a/*.md", "a/b.md", true],
      ["a/*.md", "a/b/c.md", false],
      ["a/**", "a", true],
      ["a/**", "a/b/c", true],
      ["a/**/z", "a/z", true],
      ["a/**/z", "a/b/c/z", true],
      ["a/**/z", "a/b/c/zz", false],
      ["**/b/**/d", "a/b/b/c/d", true],
      ["*", "", true],
      ["a*b*c", "abc", true],
      ["a*b*c", "aXbYc", true],
      ["a*b*c", "acb", false],
      ["aa*aa", "aaa", false],
      ["a?c", "abc", false],
      ["[ab]", "a", false],
      ["a.c", "abc", false],
    ] as const
  ) equal(match(glob, path), fits, `${glob} ${path}`);
});

/** The same meaning, written as a regular expression: slow on hostile patterns, right on small ones. */
function slow(glob: string): RegExp {
  const parts = glob.split("/").map((part) =>
    part === "**"
      ? "**"
      : part.replaceAll(/[.*+?^${}()|[\]\\]/g, (c) => c === "*" ? "[^/]*" : `\\${c}`)
  );
  return new RegExp(
    `^/${parts.map((part) => part === "**" ? "(?:[^/]*/)*" : `${part}/`).join("")}$`,
  );
}

Deno.test("globs mean what the equivalent regular expression means", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), minLength: 1, maxLength: 4 });
  const part = fc.oneof(letters.map((p) => p === "**" ? "*" : p), fc.constant("**"));
  const glob = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
  const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 4 });
  const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("/"));
  fc.assert(
    fc.property(glob, path, (g, p) => equal(match(g, p), slow(g).test(`/${p}/`), `${g} ${p}`)),
    { numRuns: 5_000 },
  );
});

Deno.test("mallory's patterns take no longer than their length allows", () => {
  const began = processorTime();
  equal(match(`${"a*".repeat(2_000)}b`, "a".repeat(4_000)), false);
  equal(match(`${"**/a/".repeat(800)}b`, Array(2_000).fill("a").join("/")), false);
  equal(match(`${"**/".repeat(1_300)}b`, Array(2_000).fill("a").join("/")), false);
  equal(match(`${"*a".repeat(2_000)}`, "b".repeat(4_000)), false);
  // Exponential matching of any of these would not end this year.
  ok(processorTime() - began < 20_000);
});

Deno.test("names that a file system may take for one are folded into one", () => {
  equal(foldPath("ＫEYS．ENV"), "keys.env");
  equal(foldPath(".g\u200cit"), ".git");
  equal(foldPath("\u212a"), "k");
  equal(foldPath("cafe\u0301"), foldPath("caf\u00e9"));
});
