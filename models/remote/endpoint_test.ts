import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";
import { faultOf } from "../_fixture/contract_suite.ts";
import { quickPowers } from "./_fixture/bench.ts";
import { openEndpoint, watchIdle } from "./open_endpoint.ts";
import { textOfBody } from "./answer/body.ts";

const credential = { header: "x-api-key", value: "sk-alice-0123456789" };
const { signal } = new AbortController();

/** An endpoint whose network answers `response`, and what it was asked. */
function endpoint(url: string, response: () => Response) {
  const asked: { readonly url: string; readonly init: RequestInit }[] = [];
  const made = openEndpoint({ model: "m", url, base: "/v1" }, credential, {
    ...quickPowers(),
    fetch: (input, init) => {
      asked.push({ url: String(input), init: init ?? {} });
      return Promise.resolve(response());
    },
  });
  return { ...made, asked };
}

Deno.test("requests go beneath the base URL, whose path is what it says or the protocol's own", async () => {
  for (
    const [url, want] of [
      ["https://a.example", "https://a.example/v1/x"],
      ["https://a.example/", "https://a.example/v1/x"],
      ["https://a.example/api/v2/", "https://a.example/api/v2/x"],
    ] as const
  ) {
    const made = endpoint(url, () => new Response("ok"));
    const { body } = await made.send({ method: "GET", path: "/x" }, { signal });
    assert.equal(await textOfBody(body), "ok");
    assert.equal(made.asked[0]?.url, want);
  }
});

Deno.test("another origin is refused before anything is sent", async () => {
  const made = endpoint("https://a.example/v1", () => new Response("caught"));
  const others = [
    "https://b.example/v1/x",
    "http://a.example/v1/x",
    "https://a.example:444/",
    "data:,x",
  ];
  for (const path of others) {
    assert.equal((await faultOf(made.send({ method: "GET", path }, { signal }))).code, "refused");
  }
  const odd = ["//b.example/x", "@b.example/", "/../../x"];
  for (const path of odd) {
    await made.send({ method: "GET", path }, { signal }).then(
      ({ body }) => textOfBody(body),
      (error: unknown) => assert.ok(error instanceof Fault || error instanceof TypeError),
    );
  }
  for (const { url } of made.asked) assert.equal(new URL(url).origin, "https://a.example");
});

Deno.test("the credential is the endpoint's alone: a caller's headers cannot carry another", async () => {
  const made = endpoint("https://a.example", () => new Response("ok"));
  const headers = {
    "x-api-key": "mine",
    authorization: "mine",
    cookie: "mine",
    accept: "text/plain",
  };
  await made.send({ method: "GET", path: "/x", headers }, { signal });
  const sent = new Headers(made.asked[0]?.init.headers);
  assert.deepEqual([...sent], [["accept", "text/plain"], ["x-api-key", credential.value]]);
  assert.equal(made.asked[0]?.init.redirect, "manual");
});

Deno.test("a URL that holds more than an origin and a path is refused", () => {
  const urls = [
    "ftp://a.example",
    "https://u:p@a.example",
    "https://a.example?k=1",
    "https://a.example#x",
    "x",
  ];
  for (const url of urls) {
    assert.throws(
      () => endpoint(url, () => new Response("")),
      (error) =>
        error instanceof Fault && error.code === "invalidInput" && !error.message.includes("u:p"),
    );
  }
});

Deno.test("what is this machine is told from what is not", () => {
  for (
    const url of [
      "http://localhost:1",
      "http://127.0.0.2",
      "http://[::1]",
      "http://0x7f.1",
      "http://[::ffff:127.0.0.1]",
    ]
  ) {
    assert.equal(isLoopback(new URL(url).hostname), true, url);
  }
  for (
    const url of [
      "http://10.0.0.1",
      "http://localhost.example",
      "http://mallory.localhost",
      "http://0.0.0.0",
      "http://[::2]",
    ]
  ) {
    assert.equal(isLoopback(new URL(url).hostname), false, url);
  }
});

Deno.test("silence is given up after its time, and what progresses is not", async () => {
  let time = 0;
  let turn = Promise.withResolvers<void>();
  const powers = {
    now: () => time,
    timer: {
      wait: async (ms: number) => {
        await turn.promise;
        time += ms;
      },
    },
  };
  const over = Promise.withResolvers<string>();
  const watch = watchIdle(powers, 60, () => over.resolve("over"));
  watch.progressed(100);
  turn.resolve();
  assert.equal(await over.promise, "over");
  assert.ok(time >= 100);
  turn = Promise.withResolvers();
  let called = false;
  const ended = watchIdle(powers, 60, () => {
    called = true;
  });
  ended.end();
  turn.resolve();
  await turn.promise;
  await undefined;
  assert.equal(called, false);
});
