import { equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { foldPath, makePathList, NEVER } from "./path_list.ts";
import { processorTime } from "../tests/fake/processor_time.ts";

const list = (...globs: string[]): ReturnType<typeof makePathList> =>
  makePathList(globs.map((glob) => ({ glob, at: glob })));
const builtIn = list(...NEVER);

Deno.test("a name that some file system takes for a listed one is listed, however it is written", () => {
  const names = [
    ...[".env", ".ENV", ".e\u{200b}nv", "\u{feff}.env", ".env\u{fe0f}", "\u{ff0e}env", ".env."],
    ...[".env ", ".\u{ad}env.local", "keys.\u{ff25}NV", "x\\.env"],
  ];
  for (const name of names) {
    for (const path of [`desk/${name}`, `desk/a/${name}`, `desk/${name}/below`]) {
      ok(builtIn.find(path), JSON.stringify(path));
    }
    // A walk asks for the name alone: it must come to the same.
    ok(builtIn.findNext(`desk/a/${name}`), JSON.stringify(name));
  }
  for (const name of ["env", "environment.md", "a.env.md", "keys", "tfvars.md"]) {
    equal(builtIn.find(`desk/${name}`), undefined, name);
  }
});

Deno.test("files in which tools keep tokens, states and typed lines are listed", () => {
  const names = [
    ...[".vault-token", ".my.cnf", "prod.tfvars", "prod.auto.tfvars.json", "terraform.tfstate"],
    ...["terraform.tfstate.backup", ".bash_history", ".zsh_history", ".psql_history", ".s3cfg"],
    ...[".claude/.credentials.json", ".cargo/credentials.toml", ".dockercfg", "kubeconfig-prod"],
  ];
  for (const name of names) ok(builtIn.find(`desk/${name}`), name);
});

Deno.test("an exception takes off what its name calls an example, and nothing else", () => {
  const globs = [...NEVER, "!.env.example", "!**/samples/*", "!*.pem", "!.ssh/**", "!private/**"];
  const { find, findNext } = list(...globs, "private/**");
  for (const path of ["desk/.env.example", "desk/app/.ENV.Example", "desk/samples/.env.sample"]) {
    equal(find(path), undefined, path);
    equal(findNext(path), undefined, path);
  }
  const kept = [
    ...["desk/.env", "desk/.env.local", "desk/.env.example.local.bak/.env", "desk/.env.examples"],
    // No exception covers it; its name says no example; a folder above it is listed; a rule of one's own.
    ...[
      "desk/.env.template",
      "desk/server.pem",
      "desk/.ssh/config.example",
      "private/.env.example",
    ],
    ...["desk/.env.d/.env.example"],
  ];
  for (const path of kept) ok(find(path), path);
  ok(builtIn.find("desk/.env.example"), "without an exception it is listed");
});

Deno.test("a path holds from its mount or from the mount's top; a question mark is one character", () => {
  const { find } = list("desk/secret/**", "plans/q?.md", "/rooted/x/");
  ok(find("desk/secret/a") && find("any/plans/q1.md") && find("rooted/x/y"));
  equal(find("other/desk/secret/a/plans/q12.md".replace("desk/", "")), undefined);
});

Deno.test("asking for a name where its folder was judged comes to what asking for the path comes to", () => {
  const part = fc.constantFrom(
    "a",
    ".env",
    "b.pem",
    ".ssh",
    "x.",
    "c\\d.key",
    ".env.example",
    "\u{ff0e}env",
  );
  fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
    const { find, findNext } = list(...NEVER, "!.env.example", "a/b.pem");
    const path = ["desk", ...parts].join("/");
    const byWalk = parts.some((_, n) => findNext(["desk", ...parts.slice(0, n + 1)].join("/")));
    equal(find(path) !== undefined, byWalk, path);
  }));
});

Deno.test("mallory's names and globs take no exponential time", () => {
  const started = processorTime();
  list(`${"*a".repeat(40)}b`, `${"**/a/".repeat(25)}b`).find(
    Array(60).fill("a".repeat(200)).join("/"),
  );
  foldPath("\u{200b}".repeat(100_000));
  ok(processorTime() - started < 10_000);
});
