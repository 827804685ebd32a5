import assert from "node:assert/strict";
import { ASKED } from "./_fixture/bench.ts";
import {
  type Asked,
  faultOfNetwork,
  faultOfRefusal,
  faultOfStreamError,
} from "./provider_fault.ts";

Deno.test("a provider's way to say that a conversation is too long is understood, whichever it is", () => {
  const bodies = [
    `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
    `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`,
    `{"type":"error","error":{"type":"invalid_request_error","message":"input length and \`max_tokens\` exceed context limit: 199000 + 8192 > 200000"}}`,
    `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`,
    `{"object":"error","message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192.","type":"BadRequestError","code":400}`,
    `{"error":{"message":"You passed 40961 input tokens and requested 0 output tokens. However, the model's context length is only 40960 tokens, resulting in a maximum input length of 40960 tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`,
    `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`,
    `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`,
    `{"error":{"message":"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."}}`,
  ];
  for (const body of bodies) {
    for (const status of [400, 500]) {
      assert.equal(faultOfRefusal({ status, body }, ASKED).code, "contextOverflow", body);
    }
  }
});

Deno.test("each status has its fault, and only what is safe may be tried again", () => {
  const table = [
    [400, "invalidInput", false],
    [401, "refused", false],
    [402, "refused", false],
    [403, "refused", false],
    [404, "notFound", false],
    [408, "upstream", true],
    [409, "upstream", true],
    [413, "contextOverflow", false],
    [422, "invalidInput", false],
    [429, "rateLimited", true],
    [500, "upstream", true],
    [503, "upstream", true],
    [529, "upstream", true],
    [307, "upstream", false],
  ] as const;
  for (const [status, code, again] of table) {
    const fault = faultOfRefusal({ status, body: '{"error":{"message":"Why."}}' }, ASKED);
    assert.equal(fault.code, code, String(status));
    assert.equal(fault.detail?.["again"] === true, again, String(status));
    assert.match(fault.message, /^Cannot infer: /);
  }
});

Deno.test("a failing provider's wish to be left alone is told", () => {
  const { message } = faultOfRefusal({ status: 529, body: "Busy", afterMs: 89_500 }, ASKED);
  assert.equal(message, "Cannot infer: host failed with 529, and asks to wait 90 s: Busy");
});

Deno.test("a wrong key is told with what sets it; an account without credit is not tried again", () => {
  const refused = (status: number, key: Asked["key"], body = ""): string => {
    const { code, message } = faultOfRefusal({ status, body }, { ...ASKED, key });
    assert.equal(code, "refused");
    return message;
  };
  assert.match(refused(401, "kept"), /refused the key; set it with `remit secret set`/);
  assert.match(refused(401, "lent"), /refused the key of the environment; export another/);
  assert.match(refused(401, "none"), /asks for a key, and there is none; keep one with `remit sec/);
  assert.match(refused(403, "kept", '{"error":"region"}'), /the request or its key[^]*: region$/);
  // Google's, which is a list of one.
  const google =
    '[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]';
  assert.match(refused(400, "kept", google), /refused the key[^]*: API key not valid\. Please/);
  const body =
    '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}';
  const credit = faultOfRefusal({ status: 429, body }, ASKED);
  assert.equal(credit.code, "refused");
  assert.equal(credit.detail, undefined);
});

Deno.test("a model that is not there is told from an address where no provider answers", () => {
  const of = (body: string): string => {
    const { code, message } = faultOfRefusal({ status: 404, body }, ASKED);
    assert.equal(code, "notFound");
    return message;
  };
  for (
    const body of [
      '{"error":{"message":"The model `x` does not exist or you do not have access to it."}}',
      '{"type":"error","error":{"type":"not_found_error","message":"model: x"}}',
      '{"error":{"message":"No endpoints found for x.","code":404}}',
      '{"error":"tiny was not found"}',
    ]
  ) assert.match(of(body), /^Cannot infer: host has no model "tiny": /);
  for (
    const body of [
      "404 page not found",
      '{"detail":"Not Found"}',
      '{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}',
      '{"error":{"message":"Invalid URL (POST /v1/v1/chat/completions)"}}',
      "",
    ]
  ) {
    assert.match(
      of(body),
      /nothing answers beneath https:\/\/host\/v1 \(404\); look at the model's URL/,
    );
  }
});

Deno.test("a provider's words are one line of at most 300 characters, whatever they were", () => {
  const words = ['"line\\nbreak\\u001b[31m"', `"${"x".repeat(10_000)}"`, '{"a":{"b":[1]}}'];
  for (const each of words) {
    const { message } = faultOfRefusal({ status: 400, body: `{"error":${each}}` }, ASKED);
    assert.doesNotMatch(message, /\p{Cc}/u);
    assert.ok(message.length < 400);
  }
  assert.match(
    faultOfRefusal({ status: 502, body: "<html><p>Bad gateway" }, ASKED).message,
    /: Bad gateway$/,
  );
});

Deno.test("a provider's own words are found in whatever form it sends them", () => {
  const raw = JSON.stringify({ error: { message: "image too large" } });
  const forms: readonly (readonly [unknown, string])[] = [
    [{ error: { message: "quota over", type: "x" } }, "quota over"],
    [{ error: "no memory" }, "no memory"],
    [{ error: "Bad Request", message: "the field is missing" }, "the field is missing"],
    [{ error: { message: null, detail: "gone away" } }, "gone away"],
    [{ error: { message: { detail: "deep words" } } }, "deep words"],
    [{ detail: [{ loc: ["body"], msg: "first" }, { loc: [], msg: "second" }] }, "first; second"],
    [{ errors: [{ message: "one" }, "two"] }, "one; two"],
    [{ title: "Not now", status: 400 }, "Not now"],
    [{ object: "error", message: "wrong template", code: 400 }, "wrong template"],
    [{ error: "invalid_request", error_description: "words" }, "words"],
    [{ error: { message: "Provider returned error", metadata: { raw } } }, "image too large"],
    [[{ error: { message: "in a list" } }], "in a list"],
    ["plain words", "plain words"],
    ["<!DOCTYPE html><html><style>p{}</style><h1>Sorry</h1></html>", "Sorry"],
  ];
  for (const [form, words] of forms) {
    const body = typeof form === "string" ? form : JSON.stringify(form);
    const { message } = faultOfRefusal({ status: 400, body }, ASKED);
    assert.ok(message.trimEnd().endsWith(words), `${message} | ${words}`);
  }
});

Deno.test("an error in the midst of a stream means what its kind says", () => {
  const of = (error: unknown): string => faultOfStreamError(error, ASKED).code;
  assert.equal(of({ type: "overloaded_error", message: "Overloaded" }), "upstream");
  assert.equal(of({ type: "rate_limit_error", message: "slow" }), "rateLimited");
  assert.equal(
    of({ type: "invalid_request_error", message: "prompt is too long: 9 > 8" }),
    "contextOverflow",
  );
  assert.equal(of({ message: "x", code: 502 }), "upstream");
  assert.equal(of({ message: "x", type: "requests", code: "rate_limit_exceeded" }), "rateLimited");
  assert.equal(of({ message: "x", type: "error", code: 429 }), "rateLimited");
  assert.equal(of({ message: "x", code: "429" }), "rateLimited");
  assert.equal(of({ type: "invalid_request_error", code: "invalid_api_key" }), "refused");
  assert.equal(of({ message: "x", status: "RESOURCE_EXHAUSTED" }), "rateLimited");
  assert.equal(of({ code: { valueOf: 1 }, type: ["x"], status: 7 }), "upstream");
  assert.equal(of("something"), "upstream");
  assert.equal(of(null), "upstream");
});

Deno.test("a broken network is told by what broke", () => {
  const broke = (why: string, answered = false): string => {
    const error = new TypeError("fetch failed", { cause: new Error(why) });
    return faultOfNetwork(error, { host: "host", answered }).message;
  };
  assert.match(broke("client error (Connect): dns error: failed to lookup"), /name of host is not/);
  assert.match(broke("tcp connect error: Connection refused (os error 111)"), /nothing listens/);
  assert.match(broke("invalid peer certificate: UnknownIssuer"), /no certificate/);
  assert.match(broke("received corrupt message of type InvalidContentType"), /does not speak TLS/);
  assert.match(broke("connection closed before message completed"), /without an answer/);
  assert.match(broke("connection closed before message completed", true), /broke off/);
});
