import assert from "node:assert/strict";
import { makeDesk } from "./_fixture/desk.ts";
import { assertSameAsGnu } from "./_fixture/gnu.ts";

Deno.test("a day or an hour that there is not is refused, not counted on into the next", async () => {
  const { run } = makeDesk({});
  for (
    const time of [
      "2023-02-29",
      "2023-02-30",
      "2023-04-31",
      "2023-13-01",
      "2023-00-01",
      "2023-01-00",
      "2023-02-28T24:00",
      "2023-02-28 24:00:00",
      "2023-02-28T23:60",
      "2023-02-28T23:59:60",
    ]
  ) {
    const { exit, stdout, stderr } = await run("date", ["-d", time]);
    assert.deepEqual([exit, stdout], [2, ""], time);
    assert.match(stderr, /no such time/, time);
  }
  await assertSameAsGnu({}, [
    ["date", "-u", "-d", "2024-02-29T23:59:59", "+%F %T"],
    ["date", "-u", "-d", "2000-02-29", "+%s"],
    ["date", "-u", "-d", "0001-01-01", "+%F"],
  ]);
});
