/** `--fleet URL`: what is asked, of whom, with which token, and what is made of answers that mallory may have written. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";

interface Posted {
  readonly url: string;
  readonly token: string;
  readonly body: string;
}
type Answer = { readonly status: number; readonly body: string };

function world(
  answer: Answer | ((posted: Posted) => Answer),
  env: Readonly<Record<string, string>> = { REMIT_FLEET_TOKEN: "remit_fleet_secret" },
) {
  const posted: Posted[] = [];
  const powers = {
    ...fakePowers({ env }),
    gateways: {
      post(url: string, asked: { readonly token: string; readonly body: string }) {
        const one = { url, ...asked };
        posted.push(one);
        return Promise.resolve(typeof answer === "function" ? answer(one) : answer);
      },
      pause: () => Promise.resolve(),
    },
  };
  return { powers, posted };
}
const value = (of: unknown): Answer => ({ status: 200, body: JSON.stringify({ value: of }) });

Deno.test("tasks are asked of the gateway with the token, and no kernel of this machine is started", async () => {
  const { powers, posted } = world(value([]));
  equal(await runCommandLine(["--fleet", "https://fleet.example/", "tasks"], powers), 0);
  deepEqual(posted.map(({ url, token }) => [url, token]), [
    ["https://fleet.example/fleet", "remit_fleet_secret"],
  ]);
  equal(JSON.parse(posted[0]?.body ?? "").op, "tasks");
  equal(powers.kernels_.wishes.length, 0);
  match(powers.screen.outs.join(""), /no tasks/);
});

for (
  const [what, words, why] of [
    ["a token in the clear", ["--fleet", "http://fleet.example", "tasks"], /travel in the clear/],
    ["a password in the address", ["--fleet", "https://u:p@h", "tasks"], /write https/],
    ["no address", ["--fleet", "fleet", "tasks"], /write https/],
    ["no default", ["--fleet", "default", "tasks"], /"fleet.url" in remit.yaml/],
    ["a command that is not served", ["--fleet", "https://h", "diff", "t1"], /over a fleet/],
    ["the database's address", ["--fleet", "https://h", "fleet", "enroll", "k"], /over a fleet/],
    ["a session", ["--fleet", "https://h"], /Cannot run "a session" over a fleet/],
  ] as const
) {
  Deno.test(`${what} is refused before anything is asked`, async () => {
    const { powers, posted } = world(value([]));
    ok(await runCommandLine(words, powers) !== 0);
    match(powers.screen.lines.join("\n"), why);
    equal(posted.length, 0);
  });
}

Deno.test("without a token it says how to get one; a kept one goes to its own gateway alone", async () => {
  const { powers, posted } = world(value([]), {});
  ok(await runCommandLine(["--fleet", "https://one.example", "tasks"], powers) !== 0);
  match(powers.screen.lines.join("\n"), /remit fleet login https:\/\/one.example/);
  const input = {
    ...powers,
    keyboard: undefined,
    readInput: () => Promise.resolve("kept-token-1\n"),
  };
  equal(await runCommandLine(["fleet", "login", "https://one.example"], input), 0);
  equal(await runCommandLine(["--fleet", "https://one.example", "tasks"], powers), 0);
  equal(posted.at(-1)?.token, "kept-token-1");
  ok(await runCommandLine(["--fleet", "https://two.example", "tasks"], powers) !== 0);
  equal(posted.length, 1);
  // No kernel, and so no agent, is ever told of it.
  equal(await runCommandLine(["secret", "list", "--json"], powers), 0);
  match(powers.screen.outs.at(-1) ?? "", /fleet:one.example/);
});

for (
  const [what, answer, why] of [
    ["a wrong token", { status: 401, body: "{}" }, /does not know the token/],
    ["another server", { status: 200, body: "<html>" }, /no gateway of this version/],
    ["neither value nor fault", { status: 200, body: '{"x":1}' }, /no gateway of this version/],
    ["too much", { status: 429, body: "" }, /too often/],
    [
      "a fault with control characters",
      { status: 200, body: JSON.stringify({ fault: { code: "odd", message: "a\u001b[2Jb" } }) },
      /a.*b/,
    ],
  ] as const
) {
  Deno.test(`${what} is a refusal in plain words`, async () => {
    const { powers } = world(answer);
    ok(await runCommandLine(["--fleet", "https://h.example", "questions"], powers) !== 0);
    const said = powers.screen.lines.join("\n");
    match(said, why);
    ok(!said.includes("\u001b[2J"));
  });
}

Deno.test("a log is followed by looking again, and ends with its task", async () => {
  const event = (n: number, status: string) => ({
    ...{ kind: "event", n, at: 1, event: "taskStatus" },
    body: { status, ...(status === "done" ? { exit: 0 } : {}) },
  });
  const pages = [[event(0, "open")], [], [], [event(1, "done")], []];
  const { powers, posted } = world(({ body }) =>
    JSON.parse(body).op === "log" ? value(pages.shift() ?? []) : value([])
  );
  const words = ["--fleet", "https://h.example", "log", "t000000000001", "--follow"];
  equal(await runCommandLine(words, powers), 0);
  equal(powers.screen.outs.length, 2);
  const froms = posted.map(({ body }) => JSON.parse(body).body.from).filter((n) => n !== undefined);
  deepEqual(froms.slice(0, 5), [0, 1, 1, 1, 2]);
});
