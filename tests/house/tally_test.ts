import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import { suitesOf } from "../../scripts/testing/suite.ts";
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

Deno.test("whole systems go first, and the long runs are made alone and only when asked", () => {
  const paths = [
    "kernel/a_test.ts",
    "kernel/mod.ts",
    "tests/fault/a_test.ts",
    "tests/story/a_test.ts",
    "tests/story/b_test.ts",
    "tests/fault/kill_long.ts",
  ];
  const names = (fault: boolean): readonly string[] =>
    suitesOf(paths, { fault, only: [] }).map(({ name, alone }) =>
      `${name}${alone ? " alone" : ""}`
    );
  deepStrictEqual(names(false), ["tests/story", "tests/fault", "kernel", "doc examples"]);
  deepStrictEqual(names(true), ["tests/fault/kill_long.ts alone"]);
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
