import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { TaskId } from "../../../contracts/authority/mod.ts";
import { Fault, type Json, type JsonObject } from "../../../contracts/base/mod.ts";
import { ImportedServer, type McpOAuth, NO_GRANTS } from "../../../contracts/exchange/mod.ts";
import type { Child } from "../../core/child/child.ts";
import { makeMcpHttp, type McpHttpParts, type McpHttpService } from "./http.ts";
import { makeMcpTokens, type McpTokens } from "./tokens.ts";

const TASK = TaskId.parse("t000000000000");
const SECRET = "s3cr3t-of-alice";
const server = ImportedServer.parse({
  ...{ name: "far", launch: { kind: "http", url: "https://far.example/mcp" }, grants: NO_GRANTS },
  ...{ env: {}, secretEnv: [], secretHeaders: ["x-key"], tools: [], samplingTokens: 0 },
  ...{ offers: { resources: false, prompts: false }, elicitation: false, clearance: "public" },
});
const at = { task: TASK, server };
const OAUTH: McpOAuth = {
  ...{ tokenEndpoint: "https://login.example/token", clientId: "remit" },
  ...{ resource: "https://far.example/mcp", accessToken: "old-access-token" },
  refreshToken: "old-refresh-token",
};

interface Bench {
  readonly http: McpHttpService;
  readonly tokens: McpTokens;
  /** What the net service was asked, pieces of answers apart. */
  readonly asked: { op: string; body: JsonObject }[];
  readonly told: JsonObject[];
  /** Pieces that it was asked for. */
  readonly reads: () => number;
  revoke(): void;
}

const base64 = (text: string): string => new TextEncoder().encode(text).toBase64();

/** A net service of the test's: `answer` is what each stream begins with, `pieces` its body. */
function bench(
  answer: (body: JsonObject) => Json = () => ({ status: 200, headers: {} }),
  pieces: readonly string[] = [],
  token: () => Json = () => ({ access_token: "new-access-token", token_type: "Bearer" }),
): Bench {
  const asked: Bench["asked"] = [], told: JsonObject[] = [];
  let alive = true, read = 0;
  const child = {
    port: {
      ask(op: string, body: JsonObject): Promise<Json> {
        if (op !== "streamRead") asked.push({ op, body });
        if (op === "stream") return Promise.resolve().then(() => answer(body));
        if (op === "streamRead") return Promise.resolve({ bytes: base64(pieces[read++] ?? "") });
        const said = token();
        return Promise.resolve({
          ...{ status: 200, url: "", headers: {}, bytes: 0, cut: false, hops: [] },
          body: base64(JSON.stringify(said)),
        });
      },
      tell: (_op: string, body: JsonObject) => void told.push(body),
    },
  } as unknown as Child;
  let ids = 0;
  const net = { provide: () => Promise.resolve(child), freshId: () => `n${++ids}` };
  const tokens = makeMcpTokens({ net, powers: { now: () => 1_000_000, token: () => "t" } });
  const isLeased: McpHttpParts["isLeased"] = (task, { path }) =>
    alive && task === TASK && path === "far/net/far.example:443";
  const http = makeMcpHttp({ net, tokens, isLeased, log: { note: () => undefined } });
  return { http, tokens, asked, told, reads: () => read, revoke: () => alive = false };
}

const request = (changes: JsonObject = {}): JsonObject => ({
  ...{ id: "1", method: "POST", url: "https://far.example/mcp", headers: {}, body: "{}" },
  ...changes,
});
const code = (expected: string) => (error: unknown): boolean =>
  error instanceof Fault && error.code === expected;

Deno.test("a bridge reaches its server's own origin and no other", async () => {
  const { http, asked } = bench();
  for (
    const url of [
      "https://evil.example/mcp",
      "http://far.example/mcp",
      "https://far.example:8443/mcp",
      "https://far.example@evil.example/",
      "https://user:pass@far.example/mcp",
      "https://far.example.evil.example/",
      "//evil.example",
      "file:///etc/passwd",
      "not a url",
    ]
  ) await rejects(http.http(at, request({ url })), code("refused"), url);
  equal(asked.length, 0);
  await http.http(at, request({ url: "https://far.example/other?x=1" }));
  deepEqual(asked[0]?.body["allow"], [{ origin: "https://far.example", named: true }]);
});

Deno.test("a bridge sets the protocol's headers, and none that would speak for the operator", async () => {
  const { http, tokens, asked } = bench();
  tokens.lend({ server: "far", env: {}, headers: { "x-key": SECRET, "x-other": "no" } });
  await http.http(
    at,
    request({
      headers: {
        ...{ Accept: "text/event-stream", "Mcp-Session-Id": "s", "content-type": "a/b" },
        ...{ Authorization: "Bearer forged", cookie: "a=b", host: "evil", "x-key": "forged" },
        ...{ "x-forwarded-for": "127.0.0.1", "proxy-authorization": "x" },
      },
    }),
  );
  deepEqual(asked[0]?.body["headers"], {
    ...{ accept: "text/event-stream", "mcp-session-id": "s", "content-type": "a/b" },
    "x-key": SECRET,
  });
});

Deno.test("a header that nobody reviewed is not sent, though it was lent", async () => {
  const { http, tokens, asked } = bench();
  tokens.lend({ server: "far", env: {}, headers: { authorization: "Bearer x" } });
  await http.http(at, request());
  deepEqual(asked[0]?.body["headers"], {});
});

Deno.test("mallory's server sends the secrets back, and the bridge does not see them", async () => {
  const { http, tokens } = bench(
    () => ({ status: 200, headers: { "x-echo": SECRET } }),
    [`data: ${SECRET.slice(0, 5)}`, `${SECRET.slice(5)} and ${btoa(SECRET)}\n\n`],
  );
  tokens.lend({ server: "far", env: {}, headers: { "x-key": SECRET } });
  const head = await http.http(at, request()) as { headers: JsonObject };
  equal(JSON.stringify(head).includes(SECRET), false);
  let body = "";
  for (;;) {
    const { bytes } = await http.httpRead(at, { id: "1" }) as { bytes: string };
    if (bytes === "") break;
    body += new TextDecoder().decode(Uint8Array.fromBase64(bytes));
  }
  equal(body, "data: ⟨redacted: secret⟩ and ⟨redacted: secret⟩\n\n");
});

Deno.test("one piece is asked for ahead of a bridge, and no more of one that does not read", async () => {
  const { http, reads } = bench(undefined, ["a", "b", "c"]);
  await http.http(at, request());
  equal(reads(), 1);
  const said: Json[] = [];
  for (let i = 0; i < 4; i++) said.push(await http.httpRead(at, { id: "1" }));
  deepEqual(said, [...["a", "b", "c"].map((text) => ({ bytes: base64(text) })), { bytes: "" }]);
  equal(reads(), 4);
});

Deno.test("a redirect is not followed and gets no token", async () => {
  const { http, tokens, asked, told } = bench(() => ({
    ...{ status: 307, headers: { location: "https://evil.example/" } },
  }));
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
  await rejects(http.http(at, request()), code("refused"));
  equal(asked.length, 1);
  equal(told.length, 1);
});

Deno.test("a token that is refused is renewed once, and the request made again", async () => {
  const { http, tokens, asked } = bench((body) => {
    const { authorization } = body["headers"] as JsonObject;
    return { status: authorization === "Bearer new-access-token" ? 200 : 401, headers: {} };
  });
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
  const answer = await http.http(at, request()) as { status: number };
  equal(answer.status, 200);
  deepEqual(asked.map(({ op }) => op), ["stream", "fetch", "stream"]);
  const form = new URLSearchParams(String(asked[1]?.body["body"]));
  deepEqual(Object.fromEntries(form), {
    ...{ grant_type: "refresh_token", refresh_token: "old-refresh-token", client_id: "remit" },
    resource: "https://far.example/mcp",
  });
  deepEqual(asked[1]?.body["allow"], [{ origin: "https://login.example", named: false }]);
  equal(tokens.changed("far")?.accessToken, "new-access-token");
});

Deno.test("a server that refuses every token is asked twice and no more", async () => {
  const { http, tokens, asked } = bench(() => ({ status: 401, headers: {} }));
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
  const answer = await http.http(at, request()) as { status: number };
  equal(answer.status, 401);
  deepEqual(asked.map(({ op }) => op), ["stream", "fetch", "stream"]);
});

Deno.test("a token goes to the resource that it was issued for, whatever the server is called", async () => {
  const { http, tokens, asked } = bench();
  tokens.lend({
    ...{ server: "far", env: {}, headers: {} },
    oauth: { ...OAUTH, resource: "https://other.example/mcp" },
  });
  await http.http(at, request());
  deepEqual(asked[0]?.body["headers"], {});
});

Deno.test("twenty requests with one refused token renew it once: a rotated one is good once", async () => {
  const { http, tokens, asked } = bench((body) => {
    const { authorization } = body["headers"] as JsonObject;
    return { status: authorization === "Bearer new-access-token" ? 200 : 401, headers: {} };
  });
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => http.http(at, request({ id: `r${n}` }))),
  );
  equal(asked.filter(({ op }) => op === "fetch").length, 1);
});

Deno.test("a token that is about to expire is renewed before it is used", async () => {
  const { http, tokens, asked } = bench();
  tokens.lend({
    ...{ server: "far", env: {}, headers: {} },
    oauth: { ...OAUTH, expiresAt: 1_000_000 + 10_000 },
  });
  await http.http(at, request());
  deepEqual(asked.map(({ op }) => op), ["fetch", "stream"]);
});

Deno.test("a command line that lends the token before the last again takes nothing back", async () => {
  const { tokens } = bench();
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
  await tokens.renew(server, await tokens.headers(server));
  equal(tokens.changed("far")?.accessToken, "new-access-token");
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
  equal(tokens.changed("far")?.accessToken, "new-access-token");
  const other = { ...OAUTH, accessToken: "another", refreshToken: "another" };
  tokens.lend({ server: "far", env: {}, headers: {}, oauth: other });
  equal(tokens.changed("far"), undefined);
  equal((await tokens.headers(server)).headers["authorization"], "Bearer another");
});

Deno.test("a token endpoint that answers nonsense renews nothing", async () => {
  for (
    const said of [
      "no object",
      {},
      { access_token: "a\r\nx: y", token_type: "Bearer" },
      { access_token: "a", token_type: "mac" },
    ]
  ) {
    const { tokens } = bench(undefined, [], () => said);
    tokens.lend({ server: "far", env: {}, headers: {}, oauth: OAUTH });
    equal(await tokens.renew(server, await tokens.headers(server)), false);
    equal(tokens.changed("far"), undefined);
  }
});

Deno.test("a lease that is taken back ends a server's way out", async () => {
  const { http, revoke } = bench();
  await http.http(at, request());
  revoke();
  await rejects(http.http(at, request({ id: "2" })), code("leaseRevoked"));
});

Deno.test("a bridge that floods with streams is refused, and what it leaves open is ended", async () => {
  const { http, told } = bench();
  for (let n = 0; n < 32; n++) await http.http(at, request({ id: `r${n}` }));
  await rejects(http.http(at, request({ id: "more" })), code("rateLimited"));
  await rejects(http.http(at, request({ id: "r1" })), code("conflict"));
  http.httpCancel(at, { id: "r0" });
  equal(told.length, 1);
  http.ended(at);
  equal(told.length, 32);
  await rejects(http.httpRead(at, { id: "r5" }), code("unknownCapability"));
});

Deno.test("what a bridge says is parsed before anything is done with it", async () => {
  const { http } = bench();
  for (const body of [null, [], {}, request({ method: "CONNECT" }), request({ id: 3 })]) {
    await rejects(http.http(at, body), code("badFrame"));
  }
});

Deno.test("the environment of a server has the lent values of reviewed names alone", () => {
  const { tokens } = bench();
  tokens.lend({ server: "far", env: { API_KEY: "k", LD_PRELOAD: "/x" }, headers: {} });
  const named = ImportedServer.parse({ ...server, secretEnv: ["API_KEY", "OTHER"] });
  deepEqual(tokens.env(named), { API_KEY: "k" });
  tokens.forget("far");
  deepEqual(tokens.env(named), {});
  match(String(named.name), /far/);
});
