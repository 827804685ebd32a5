/** What goes wrong between alice and her provider ends in plain words, with the exit code that is documented. */
import assert from "node:assert/strict";
import {
  type Answer,
  ANTHROPIC_ERRORS,
  anthropicFailed,
  nobody,
  OLLAMA_ERRORS,
  OPENAI_ERRORS,
  type Provider,
} from "../../models/_fixture/providers/mod.ts";
import { EXIT } from "../../contracts/base/mod.ts";
import { BACKENDS, eventsOf, keepKey, KEY, planned, READS, says } from "../fake/model_scenes.ts";
import { type Finished, type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";

const [ANTHROPIC, OPENAI, , OLLAMA] = BACKENDS;

/** alice's machine with a provider and its key. */
async function withModel(
  backend: typeof BACKENDS[number] | undefined,
  f: (parts: {
    readonly machine: Machine;
    readonly provider: Provider;
    /** Runs with these answers; gives what was said, and how many requests came. */
    run(...answers: Answer[]): Promise<Finished & { readonly requests: number }>;
  }) => Promise<void>,
): Promise<void> {
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    await using provider = backend.serve();
    await keepKey(machine, backend, provider);
    const words = [...await planned(machine), "--model", backend.ref(provider)];
    await f({
      machine,
      provider,
      async run(...answers) {
        assert.equal(provider.waiting(), 0, "an answer of the last run is left");
        const before = provider.asked.length;
        provider.next(...answers);
        const done = await machine.remit(["run", "-p", "When?", ...words]);
        return { ...done, requests: provider.asked.length - before };
      },
    });
  });
}

/** Nothing on standard output, the words on the other, and the exit code. */
function assertFault(
  { code, stdout, stderr }: Finished,
  exit: number,
  says: RegExp,
): void {
  assert.match(stderr, says);
  assert.equal(code, exit, stderr);
  assert.equal(stdout, "", "what went wrong is no answer");
}

Deno.test("a provider that is busy is asked three times in all, and one that says when is waited for", async () => {
  await withModel(ANTHROPIC, async ({ run }) => {
    const { overloaded, rateLimit } = ANTHROPIC_ERRORS;
    const busy = await run(overloaded, overloaded, overloaded);
    assertFault(busy, EXIT.upstreamFailure, /failed: .*failed with 529: Overloaded/);
    assert.equal(busy.requests, 3);
    const soon = await run(rateLimit(1), overloaded, says("On Monday."));
    assert.deepEqual([soon.code, soon.stdout, soon.requests], [0, "On Monday.\n", 3], soon.stderr);
    const later = await run(rateLimit(3_600));
    assertFault(later, EXIT.rateLimited, /takes no more requests now; wait 3600 s, or set `rates`/);
    assert.equal(later.requests, 1, "an hour is not waited for, nor is it asked again before");
  });
});

Deno.test("what will not get better is asked once: no credit, a bad key, a model that is not there (long)", async () => {
  await withModel(OPENAI, async ({ run, machine, provider }) => {
    for (
      const [answer, exit, says] of [
        [OPENAI_ERRORS.noQuota, EXIT.refused, /has no credit left/],
        [{ status: 404, body: { error: { message: "no such model" } } }, 2, /has no model "tiny"/],
        [
          { status: 404, body: "404 page not found" },
          2,
          /nothing answers beneath \S+ \(404\); look/,
        ],
        [
          { raw: ["<html>Log in"], headers: { "content-type": "text/html" } },
          67,
          /with text\/html and no event of its protocol; look at the model's URL/,
        ],
        [
          { status: 307, headers: { location: "http://127.0.0.1:9/" } },
          67,
          /sends the request else/,
        ],
        [{ status: 400, body: { error: { message: "bad \x1b[2J" } } }, 2, /does not take the req/],
      ] as const
    ) {
      const done = await run(answer);
      assertFault(done, exit, says);
      assert.equal(done.requests, 1);
      // deno-lint-ignore no-control-regex -- it looks for them
      assert.doesNotMatch(done.stderr, /\x1b/);
    }
    const key = OPENAI?.key?.words ?? [];
    await machine.remit(
      ["secret", "set", "mine", "--origin", provider.origin, ...key],
      "sk-wrong-key-of-alice\n",
    );
    const refused = await run();
    assertFault(
      refused,
      EXIT.refused,
      /the provider refused the key; set it with `remit secret set`/,
    );
    assert.doesNotMatch(refused.stderr, /sk-wrong-key-of-alice/);
    assert.equal(refused.requests, 1);
    await machine.remit(["secret", "remove", "mine"]);
    const without = await run();
    assertFault(
      without,
      EXIT.refused,
      /asks for a key, and there is none; keep one with `remit se/,
    );
    // The command that it names is the one that helps.
    const [, command = ""] = /keep one with `remit ([^`]+)`/.exec(without.stderr) ?? [];
    const said = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) =>
      quoted ?? word ?? ""
    );
    assert.equal((await machine.remit(said, `${KEY}\n`)).code, 0, command);
    assert.equal((await run(says("Monday."))).code, 0);
  });
});

Deno.test("a conversation that is too long for a provider, in its own words, ends as context overflow (long)", async () => {
  for (
    const [backend, error] of [
      [ANTHROPIC, ANTHROPIC_ERRORS.tooLong],
      [OPENAI, OPENAI_ERRORS.tooLong],
      [OPENAI, OPENAI_ERRORS.tooLongLlamacpp],
      [OLLAMA, OLLAMA_ERRORS.tooLong],
    ] as const
  ) {
    await withModel(backend, async ({ run }) => {
      // Once more with less of it, and then no more.
      const done = await run(error, error);
      assertFault(done, EXIT.contextOverflow, /the conversation no longer fits the model/);
      assert.equal(done.requests, 2);
    });
  }
});

Deno.test("a content filter ends the turn, before an answer and in the midst of one, and says so (long)", async () => {
  await withModel(OPENAI, async ({ run }) => {
    for (
      const answer of [OPENAI_ERRORS.filtered, { text: ["half"], stop: "contentFilter" }] as const
    ) {
      const done = await run(answer);
      assertFault(done, EXIT.upstreamFailure, /failed: .*(content filter|refused to answer)/);
      assert.equal(done.requests, 1);
    }
  });
});

Deno.test("half a stream is no answer: it is asked for again a few times, and then the task says why it ended", async () => {
  for (const backend of [ANTHROPIC, OPENAI, OLLAMA]) {
    await withModel(backend, async ({ run, machine }) => {
      const done = await run({ text: ["You leave on "], cut: true });
      assertFault(done, EXIT.upstreamFailure, /broke off|breaks off|closed the connection/);
      assert.equal(done.requests, 4);
      // The tool of a turn that broke later stays on record.
      const later = await run(READS, { text: ["You"], cut: true });
      assert.equal(later.code, EXIT.upstreamFailure);
      assert.equal(later.requests, 5);
      assert.match(later.stderr, /✓ file_read/);
      assert.equal((await machine.remit(["audit", "verify"])).code, 0);
    });
  }
});

Deno.test("an error in the midst of a stream is what the provider says that it is (long)", async () => {
  await withModel(ANTHROPIC, async ({ run }) => {
    const breaks = { type: "overloaded_error", message: "Overloaded" };
    const done = await run(...Array.from({ length: 4 }, () => ({ text: ["You leave"], breaks })));
    assertFault(done, EXIT.upstreamFailure, /529: Overloaded/);
    assert.equal(done.requests, 4);
    const early = await run({ breaks }, says("Monday."));
    assert.deepEqual([early.code, early.stdout, early.requests], [0, "Monday.\n", 2]);
    const odd = await run(anthropicFailed(418, "odd", "a teapot"));
    assertFault(odd, EXIT.invalidInput, /does not take the request \(418\): a teapot/);
  });
});

Deno.test("nobody at the other end: the words name what to look at, and the log keeps that it failed (long)", async () => {
  await onMachine(async (machine) => {
    const words = ["run", "-p", "Hello", "--model", `openai:m@${nobody()}/v1`];
    const done = await machine.remit(words);
    assertFault(
      done,
      EXIT.upstreamFailure,
      /nothing listens at 127\.0\.0\.1:\d+; is the server run/,
    );
    const json = readRun((await machine.remit([...words, "--json"])).stdout);
    assert.deepEqual([json.status, json.exit, json.answer], [
      "failed",
      EXIT.upstreamFailure,
      undefined,
    ]);
    const [last] = (await eventsOf(machine, json.task)).filter(({ event }) =>
      event === "taskStatus"
    )
      .reverse();
    assert.deepEqual([last?.["status"], last?.["exit"]], ["failed", EXIT.upstreamFailure]);
    const unknown = await machine.remit([
      ...["run", "-p", "Hello", "--model", "openai:m@https://nowhere.invalid/v1"],
    ]);
    assertFault(unknown, EXIT.upstreamFailure, /the name of nowhere\.invalid is not known/);
  });
});

Deno.test("calls whose arguments are no JSON, or name no tool, are answered and the model goes on (long)", async () => {
  await withModel(OPENAI, async ({ run }) => {
    const call = (name: string, ...pieces: string[]): Answer => ({
      calls: [{ id: "c", name, pieces }],
    });
    const done = await run(
      call("file_read", '{"path": "plans/'),
      call("no_such_tool", "{}"),
      call("file_read"),
      READS,
      says("Monday."),
    );
    assert.deepEqual([done.code, done.stdout], [0, "Monday.\n"], done.stderr);
    assert.equal(done.requests, 5);
  });
});
