import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { batchesOf, joined } from "../../scripts/testing/batch.ts";
import { LONG_MARK, type Suite, type SuiteKind, suitesOf } from "../../scripts/testing/suite.ts";
import { sumTallies, tallyLine, tallyOf, tellsOfSkip } from "../../scripts/testing/tally.ts";
import { needs, SKIP_MARK } from "../needs.ts";

Deno.test("a run is counted from deno's last line, steps and times aside", () => {
  const output =
    "alice reads ... ok (1ms)\n\nFAILED | 3 passed (1 step) | 2 failed (1 step) | 1 ignored (62ms)\n";
  deepStrictEqual(tallyOf({ output, code: 1, strict: false }), {
    passed: 3,
    failed: 2,
    skipped: 1,
  });
});

Deno.test("a test that asked in vain for a program is skipped and not passed", () => {
  const output = `running 2 tests\n${SKIP_MARK}bwrap\nok | 2 passed | 0 failed (1ms)\n`;
  deepStrictEqual(tallyOf({ output, code: 0, strict: false }), {
    passed: 1,
    failed: 0,
    skipped: 1,
  });
});

Deno.test("a run that ends badly and names no failure is a failure", () => {
  deepStrictEqual(tallyOf({ output: "", code: 1, strict: false }), {
    passed: 0,
    failed: 1,
    skipped: 0,
  });
  const killed = { output: "ok | 4 passed | 0 failed (1ms)\n", code: 137, strict: false };
  deepStrictEqual(tallyOf(killed), { passed: 4, failed: 1, skipped: 0 });
});

Deno.test("where nothing may be skipped, an ignored test is a failed one", () => {
  const output = "walls ... ignored (0ms)\nok | 3 passed | 0 failed | 2 ignored (1ms)\n";
  deepStrictEqual(tallyOf({ output, code: 0, strict: true }), { passed: 3, failed: 2, skipped: 0 });
  deepStrictEqual(output.split("\n").map(tellsOfSkip), [true, false, false]);
});

Deno.test("the last line names skipped tests only where there are any", () => {
  strictEqual(tallyLine({ passed: 2, failed: 0, skipped: 0 }), "2 passed, 0 failed");
  const sum = sumTallies([{ passed: 2, failed: 0, skipped: 1 }, {
    passed: 1,
    failed: 1,
    skipped: 0,
  }]);
  strictEqual(tallyLine(sum), "3 passed, 1 failed, 1 skipped");
});

Deno.test("whole systems go first; long runs are made when asked, endless ones alone", () => {
  const paths = [
    "kernel/a_test.ts",
    "kernel/mod.ts",
    "tests/fault/a_test.ts",
    "tests/story/a_test.ts",
    "tests/story/b_test.ts",
    "tests/fault/kill_endless.ts",
  ];
  const read = (path: string): string =>
    path === "tests/story/b_test.ts" ? '"a siege ' + LONG_MARK + '"' : "";
  const names = (kind: SuiteKind): readonly string[] =>
    suitesOf(paths, { kind, only: [], read }).map(({ name, files, alone }) =>
      `${name} ${files.length}${alone ? " alone" : ""}`
    );
  deepStrictEqual(names("everyday"), [
    ...["tests/story 2", "tests/fault 1", "kernel 1", "doc examples 1"],
  ]);
  deepStrictEqual(names("long"), ["tests/story 1"]);
  deepStrictEqual(names("endless"), ["tests/fault/kill_endless.ts 1 alone"]);
});

Deno.test("a suite is run in batches: each file once, few where each is a whole system, doc examples whole", () => {
  const suite = (name: string, count: number, doc = false): Suite => {
    const files = Array.from({ length: count }, (_, n) => `${name}/${n}_test.ts`);
    return { name, files, alone: false, doc };
  };
  const suites = [suite("tests/story", 11), suite("kernel", 41), suite("doc examples", 50, true)];
  const sizes = (kind: SuiteKind): readonly number[] =>
    batchesOf(suites, kind).map(({ files }) => files.length);
  deepStrictEqual(sizes("everyday"), [4, 4, 3, 14, 14, 13, 50]);
  strictEqual(sizes("long").filter((size) => size === 1).length, 52);
  for (const each of suites) {
    const batches = batchesOf(suites, "everyday").filter(({ name }) => name === each.name);
    deepStrictEqual(batches.flatMap(({ files }) => files), each.files);
  }
});

Deno.test("a suite failed if one of its batches did, and tells what each failed one told", () => {
  const whole: Suite = { name: "kernel", files: [], alone: false, doc: false };
  const part = (failed: number, report: string) => {
    return { suite: whole, tally: { passed: 2, failed, skipped: 0 }, seconds: 1.5, report };
  };
  deepStrictEqual(joined(whole, [part(1, "a broke"), part(0, ""), part(1, "b broke")]), {
    suite: whole,
    tally: { passed: 6, failed: 2, skipped: 0 },
    seconds: 4.5,
    report: "a broke\nb broke",
  });
});

Deno.test("each test is in one of the two runs, told by the end of its name", async () => {
  const folder = await Deno.makeTempDir();
  const siege = `a siege ${LONG_MARK}`;
  const names = ["a", siege, "long)", `a ${LONG_MARK} way`, LONG_MARK, "x(song)"];
  const file = `${folder}/a_test.ts`;
  try {
    const lines = names.map((name) => `Deno.test(${JSON.stringify(name)}, () => {});`);
    await Deno.writeTextFile(file, lines.join("\n"));
    const ran = async (kind: SuiteKind): Promise<readonly string[]> => {
      const [suite] = suitesOf([file], { kind, only: [], read: () => `"${LONG_MARK}"` });
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: ["test", "--no-check", `--filter=${suite?.filter}`, file],
        env: { NO_COLOR: "1" },
      }).output();
      const said = new TextDecoder().decode(stdout);
      return names.filter((name) => said.includes(`\n${name} ... ok`));
    };
    deepStrictEqual(await ran("everyday"), ["a", "long)", `a ${LONG_MARK} way`, "x(song)"]);
    deepStrictEqual(await ran("long"), [siege, LONG_MARK]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a missing program skips on a person's machine and fails where CI is true", () => {
  const before = Deno.env.get("CI");
  try {
    Deno.env.set("CI", "true");
    throws(() => needs("no-such-program-anywhere"), /nothing is skipped/);
    strictEqual(needs("sh"), true);
  } finally {
    if (before === undefined) Deno.env.delete("CI");
    else Deno.env.set("CI", before);
  }
});
