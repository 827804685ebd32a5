/**
 * `deno task redteam:agentdojo`: fetches AgentDojo (MIT) and what its tasks need from PyPI into the
 * cache, once, and plays it with `remit redteam --suite agentdojo`, passing on flags of that
 * command. Nothing fetched enters the repository.
 * @module
 */
import { join } from "node:path";
import { placesOf } from "../launch/disk/places.ts";
import { print, ROOT } from "./process.ts";

const AGENTDOJO = "agentdojo==0.1.35";
/** The dependencies of AgentDojo that its tasks, tools and checkers import, without model providers' packages. */
const NEEDS = [
  ...["pydantic==2.13.4", "pyyaml==6.0.3", "docstring-parser==0.17.0", "deepdiff==8.6.1"],
  ...["email-validator==2.3.0", "typing-extensions==4.15.0"],
];

/** Runs a program with this process's streams; returns its exit code. */
async function run(program: string, args: readonly string[]): Promise<number> {
  const streams = { stdin: "null", stdout: "inherit", stderr: "inherit" } as const;
  return (await new Deno.Command(program, { args: [...args], cwd: ROOT, ...streams }).spawn()
    .status)
    .code;
}

/** Returns the folder that holds AgentDojo; undefined where pip cannot fetch it. */
async function provideAgentDojo(cache: string): Promise<string | undefined> {
  const folder = join(cache, AGENTDOJO.replace("==", "-"));
  const whole = join(folder, "whole");
  try {
    await Deno.stat(whole);
    return folder;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const pip = ["-m", "pip", "install", "--quiet", "--target", folder];
  if (await run("python3", [...pip, ...NEEDS]) !== 0) return undefined;
  // Without dependencies: the pipelines, and with them every provider's package, are never loaded.
  if (await run("python3", [...pip, "--no-deps", AGENTDOJO]) !== 0) return undefined;
  await Deno.writeTextFile(whole, "");
  return folder;
}

if (import.meta.main) {
  const places = placesOf({ cwd: ROOT, env: (name) => Deno.env.get(name), uid: 0 }, undefined);
  const folder = await provideAgentDojo(join(places.cache, "suites"));
  if (folder === undefined) {
    print(
      "Cannot fetch AgentDojo: pip failed; `remit redteam --suite agentdojo --from DIR` takes a folder that has it\n",
    );
    Deno.exit(1);
  }
  const chosen = Deno.args.some((word) => word.startsWith("agentdojo"));
  const suite = chosen ? [] : ["--suite", "agentdojo"];
  Deno.exit(
    await run(join(ROOT, "bin/remit"), ["redteam", ...suite, "--from", folder, ...Deno.args]),
  );
}
