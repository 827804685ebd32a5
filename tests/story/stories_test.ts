/** bob plays the stories of the README: a program for the orders, and a notice on the web. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";

Deno.test("bob plays the story exec: programs compute, overreach and spin, and the totals are written", async () => {
  await onMachine(async (machine) => {
    const story = await machine.remit(["run", "--story", "exec"]);
    assert.equal(story.code, 0, story.stderr);
    assert.match(story.stdout, /desk\/totals\.md holds the totals/);
    assert.match(story.stderr, /file_read +desk\/keys\.env +refused/);
    assert.match(story.stderr, /http_fetch +https:\/\/example\.org\/ +refused/);
    assert.match(story.stderr, /exec +timedOut/);
    assert.match(story.stderr, /changed +desk\/totals\.md +added, applied/);
    const folder = /desk +(\S+) +\(a copy, kept\)/.exec(story.stderr)?.[1];
    assert.match(
      await Deno.readTextFile(`${folder}/totals.md`),
      /\| Lindqvist & Sons \| 3420\.00 \|\n\| Harbour Hotel \| 1245\.00 \|/,
    );
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("bob plays the story web: the page's wishes come to nothing, its news to the plan", async () => {
  await onMachine(async (machine) => {
    const story = await machine.remit(["run", "--story", "web"]);
    assert.equal(story.code, 0, story.stderr);
    assert.match(story.stderr, /web_read +http:\/\/127\.0\.0\.1:\d+\/notices +trust falls to RED/);
    assert.match(story.stderr, /http_fetch +http:\/\/127\.0\.0\.1:\d+\/collect +refused/);
    assert.match(story.stderr, /secret text above clearance internal/);
    const folder = /desk +(\S+) +\(a copy, kept\)/.exec(story.stderr)?.[1];
    assert.match(await Deno.readTextFile(`${folder}/plan.md`), /at the north gate/);
    const task = /remit log (t[0-9a-z]{12})/.exec(story.stderr)?.[1];
    const log = await machine.remit(["log", task ?? "", "--json"]);
    assert.match(log.stdout, /fetched/);
  });
});

Deno.test("a story that is not there is told with those that are", async () => {
  await onMachine(async (machine) => {
    const story = await machine.remit(["run", "--story", "moon"]);
    assert.equal(story.code, 2, story.stderr);
    assert.match(story.stderr, /there are desk, exec, web, wiki, mcp/);
  });
});
