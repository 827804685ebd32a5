import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { COMMANDS, FAMILIES } from "./command_table.ts";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
import { helpText } from "./help.ts";
import { flag, has, oneOf, parseArguments } from "./parse_arguments.ts";

const refused = (argv: readonly string[], pattern: RegExp): void => {
  assert.throws(
    () => parseArguments(argv),
    (error: unknown) =>
      error instanceof Fault && error.code === "invalidInput" && pattern.test(error.message),
  );
};

Deno.test("every command in the table has work, help and an example", () => {
  for (const { spec, works } of FAMILIES) {
    assert.deepEqual(works.toSorted(), spec.map((each) => each.name).toSorted());
  }
  assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length);
  for (const command of COMMANDS) {
    assert.ok(command.examples.length > 0, command.name);
    assert.match(helpText(command), /Examples:/);
  }
});

Deno.test("a newcomer's help is one screen that leaves no command out, and names the whole list", async () => {
  const shown = async (argv: readonly string[]): Promise<string> => {
    const powers = fakePowers();
    assert.equal(await runCommandLine(argv, powers), 0);
    return powers.screen.outs.join("");
  };
  const overview = await shown(["--help"]);
  const lines = overview.split("\n");
  assert.ok(lines.length <= 44 && lines.every((line) => line.length <= 104), overview);
  for (const { name } of COMMANDS) {
    const [word = ""] = name.split(" ");
    assert.match(overview, new RegExp(`[ ,]${word}[ ,\n]`), `${name} is not named`);
  }
  assert.equal(await shown(["help"]), overview);
  const every = await shown(["help", "all"]);
  assert.equal(await shown(["help", "all", "--state", "/tmp/x"]), every);
  for (const { name, args } of COMMANDS) assert.ok(every.includes(`${name} ${args}`.trim()), name);
  assert.equal(await shown(["help", "lease", "list"]), await shown(["lease", "list", "--help"]));
  assert.match(await shown(["help", "wiki"]), /^remit wiki COMMAND/);
});

Deno.test("flags may stand before, between and after the words of a command", () => {
  const parsed = parseArguments(["--state", "/s", "task", "--json", "show", "t1"]);
  assert.equal(parsed.command.name, "task show");
  assert.deepEqual(parsed.args, ["t1"]);
  assert.equal(flag(parsed, "state"), "/s");
  assert.ok(has(parsed, "json"));
});

Deno.test("a value is not taken for a command", () => {
  assert.equal(parseArguments(["run", "-p", "kill"]).command.name, "run");
  assert.equal(parseArguments(["-c"]).command.name, "");
});

Deno.test("alice reads standard input with a dash, as a word or as a value", () => {
  assert.deepEqual(parseArguments(["run", "-"]).args, ["-"]);
  assert.equal(flag(parseArguments(["run", "-p", "-"]), "request"), "-");
});

Deno.test("a flag that does not exist is refused with those that do", () => {
  refused(["run", "--modl", "x"], /--modl: did you mean --model\? remit run takes .*--mount/);
  refused(["ps", "--mount", "a=b"], /remit ps takes/);
});

Deno.test("a word that does not exist is refused with those that do", () => {
  refused(["rnu"], /"rnu": there is run, /);
  refused(["task"], /say which: list, show, cancel/);
  refused(["task", "frob"], /there is list, show, cancel/);
});

Deno.test("a flag without its value, a switch with one, and a flag given twice are refused", () => {
  refused(["run", "--model"], /needs a value/);
  refused(["run", "--model", "--json"], /needs a value/);
  refused(["ps", "--json=yes"], /takes no value/);
  refused(["run", "--model", "a:b", "--model", "c:d"], /given twice/);
});

Deno.test("many of a thing are its list", () => {
  for (const [word, name] of [["tasks", "task list"], ["models", "model list"]] as const) {
    assert.equal(parseArguments([word]).command.name, name);
  }
  refused(["tasks", "t1"], /remit task list with 1 argument|"remit task list"/);
});

Deno.test("too few and too many words are refused with the usage", () => {
  refused(["kill"], /remit kill PID \[SIGNAL\]/);
  refused(["ps", "now"], /1 argument: it is remit ps$/);
  refused(["log"], /remit log TASK \("remit task list" names tasks\)/);
  assert.equal(parseArguments(["kill", "--help"]).command.name, "kill");
});

Deno.test("mounts may be many, and a word out of a closed set is checked", () => {
  const parsed = parseArguments(["run", "--mount", "a=.", "--mount=b=.:ro"]);
  assert.deepEqual(parsed.flags.get("mount"), ["a=.", "b=.:ro"]);
  assert.throws(() => oneOf(parseArguments(["run", "--profile", "root"]), "profile", ["guest"]));
});

Deno.test("what follows two dashes is never a flag", () => {
  assert.deepEqual(parseArguments(["run", "--", "--json"]).args, ["--json"]);
});
