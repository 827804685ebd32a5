import assert from "node:assert/strict";
import {
  browse,
  loginAt,
  loginPowers,
  netLink,
  startAuthWorld,
} from "../../../../cli/_fixture/mcp_oauth.ts";
import { logIn, type LoginPlan } from "./login.ts";

Deno.test("alice logs in: found by the refusal, registered, PKCE, resource and issuer checked, tokens for that server", async () => {
  await using world = startAuthWorld();
  const plans: LoginPlan[] = [];
  let opened = "";
  const oauth = await logIn(loginAt(world, {
    agree: (plan) => {
      plans.push(plan);
      return Promise.resolve(true);
    },
    show: (url) => {
      opened = url;
      void browse(url);
    },
  }));
  assert.deepEqual(oauth, {
    tokenEndpoint: `${world.auth}/token`,
    clientId: "client-1",
    resource: `${world.server}/mcp`,
    scope: "tickets:read tickets:write",
    accessToken: "access-1",
    expiresAt: 3_601_000,
    refreshToken: "refresh-1",
  });
  assert.deepEqual(plans.map(({ scope, resource, auth }) => [scope, resource, auth.issuer]), [
    ["tickets:read tickets:write", `${world.server}/mcp`, world.auth],
  ]);
  const said = new URL(opened).searchParams;
  assert.equal(said.get("code_challenge_method"), "S256");
  assert.equal(said.get("resource"), `${world.server}/mcp`);
  assert.match(said.get("redirect_uri") ?? "", /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  assert.match(said.get("state") ?? "", /^[\w-]{43}$/);
  const [registered] = world.registered;
  assert.deepEqual(registered?.["redirect_uris"], [said.get("redirect_uri")]);
  assert.equal(registered?.["token_endpoint_auth_method"], "none");
  assert.match(world.shown[0]?.["code_verifier"] ?? "", /^[\w-]{43}$/);
  assert.equal(world.shown[0]?.["client_id"], "client-1");
});

Deno.test("a server that says nothing with its refusal is found by its well-known addresses, an old one by its own", async () => {
  for (const bare of ["Basic realm=x", undefined]) {
    await using world = startAuthWorld({ challenge: () => bare });
    assert.equal((await logIn(loginAt(world))).accessToken, "access-1");
    assert.ok(world.seen.includes("GET /.well-known/oauth-protected-resource/mcp"));
  }
  // An old server is its own authorization server.
  await using auth = startAuthWorld();
  const old = await logIn(loginAt({ server: auth.auth }));
  assert.equal(old.resource, `${auth.auth}/mcp`);
  assert.ok(auth.seen.includes("GET /.well-known/oauth-protected-resource"));
});

Deno.test("a server that greets everybody, or takes no greeting, is asked once more, and its refusal is read", async () => {
  for (const status of [200, 400]) {
    const methods: string[] = [];
    await using world = startAuthWorld({
      challenge: () => `Bearer scope="tickets:read"`,
      answer: (path, request) => {
        if (path !== "/mcp") return undefined;
        const { headers } = request;
        methods.push(`${headers.get("mcp-protocol-version")} ${headers.get("mcp-session-id")}`);
        return methods.length > 1
          ? undefined
          : new Response("{}", { status, headers: { "mcp-session-id": "s1" } });
      },
    });
    assert.equal((await logIn(loginAt(world))).scope, "tickets:read");
    assert.deepEqual(methods, ["null null", status === 200 ? "2025-11-25 s1" : "2026-07-28 null"]);
  }
});

Deno.test("the scopes of the refusal come before all that there are, those of the person before both", async () => {
  await using world = startAuthWorld({
    challenge: () => `Bearer error="x", scope="tickets:read"`,
  });
  assert.equal((await logIn(loginAt(world))).scope, "tickets:read");
  assert.equal((await logIn(loginAt(world, { scope: "own" }))).scope, "own");
  await using silent = startAuthWorld({ resource: ({ scopes_supported: _, ...said }) => said });
  assert.equal((await logIn(loginAt(silent))).scope, undefined);
});

Deno.test("an app that was registered by hand is named by its id, shows its secret at the token endpoint alone", async () => {
  await using world = startAuthWorld({ metadata: ({ registration_endpoint: _, ...said }) => said });
  await assert.rejects(logIn(loginAt(world)), { code: "notFound", message: /--client-id/ });
  const oauth = await logIn(loginAt(world, { given: { id: "mine", secret: "s3cret:" } }));
  assert.equal(oauth.clientSecret, "s3cret:");
  assert.equal(world.shown[0]?.["authorization"], `Basic ${btoa("mine:s3cret%3A")}`);
  assert.equal(world.shown[0]?.["client_id"], undefined);
  await using posting = startAuthWorld({
    metadata: (said) => ({
      ...said,
      token_endpoint_auth_methods_supported: ["client_secret_post"],
    }),
  });
  await logIn(loginAt(posting, { given: { id: "mine", secret: "s3cret" } }));
  assert.equal(posting.shown[0]?.["client_secret"], "s3cret");
  const document = "https://remit.example.org/client.json";
  await assert.rejects(logIn(loginAt(world, { given: { document } })), { code: "refused" });
  await using named = startAuthWorld({
    metadata: (said) => ({ ...said, client_id_metadata_document_supported: true }),
  });
  assert.equal((await logIn(loginAt(named, { given: { document } }))).clientId, document);
  assert.deepEqual(named.registered, []);
});

Deno.test("where the person does not agree, nobody registers, listens or is shown anything", async () => {
  await using world = startAuthWorld();
  let listened = false;
  await assert.rejects(
    logIn(loginAt(world, {
      agree: () => Promise.resolve(false),
      powers: {
        ...loginPowers,
        listen: (...args) => {
          listened = true;
          return loginPowers.listen(...args);
        },
      },
    })),
    { code: "denied" },
  );
  assert.equal(listened, false);
  assert.deepEqual(world.registered, []);
});

Deno.test("nobody logs in within five minutes, or the person ends it: the address is gone", async () => {
  await using world = startAuthWorld();
  let opened = "";
  let late: () => void = () => undefined;
  await assert.rejects(
    logIn(loginAt(world, {
      powers: {
        ...loginPowers,
        after: (ms, run) => {
          assert.equal(ms, 300_000);
          late = run;
          return () => undefined;
        },
      },
      show: (url) => {
        opened = new URL(url).searchParams.get("redirect_uri") ?? "";
        late();
      },
    })),
    { code: "timedOut", message: /5 minutes/ },
  );
  await assert.rejects(fetch(opened), TypeError);
  const ending = new AbortController();
  const ended = new Error("ended");
  await assert.rejects(
    logIn(loginAt(world, { signal: ending.signal, show: () => ending.abort(ended) })),
    ended,
  );
});

Deno.test("an address that a browser elsewhere ended at is pasted, and judged as if it had come", async () => {
  await using world = startAuthWorld();
  const back = Promise.withResolvers<string>();
  const pastes = ["nonsense", "http://127.0.0.1:1/callback?code=x&state=y"];
  const oauth = await logIn(loginAt(world, {
    show: (url) =>
      void fetch(url, { redirect: "manual" }).then(async (answer) => {
        await answer.body?.cancel();
        back.resolve(answer.headers.get("location") ?? "");
      }),
    pasted: async (signal) => {
      if (signal.aborted) return undefined;
      return pastes.shift() ?? await back.promise;
    },
  }));
  assert.equal(oauth.accessToken, "access-1");
});

Deno.test("several authorization servers: the first, or the one that the person names, and no other", async () => {
  await using second = startAuthWorld();
  await using world = startAuthWorld({
    resource: (said, { auth }) => ({ ...said, authorization_servers: [auth, second.auth] }),
  });
  const others: (readonly string[])[] = [];
  const agree = (plan: LoginPlan): Promise<boolean> => {
    others.push(plan.others);
    return Promise.resolve(true);
  };
  assert.equal((await logIn(loginAt(world, { agree }))).tokenEndpoint, `${world.auth}/token`);
  const chosen = await logIn(loginAt(world, { agree, issuer: second.auth }));
  assert.equal(chosen.tokenEndpoint, `${second.auth}/token`);
  assert.deepEqual(others, [[second.auth], [world.auth]]);
  await assert.rejects(
    logIn(loginAt(world, { issuer: "https://evil.example" })),
    { code: "notFound", message: /does not name that authorization server/ },
  );
});

Deno.test("every request goes through the net service: without it nothing is reached", async () => {
  await using world = startAuthWorld();
  const asked: string[] = [];
  const link = netLink();
  await logIn(loginAt(world, {
    link: {
      ask: (op, body) => {
        const { url } = Object(body);
        asked.push(`${op} ${new URL(url).pathname}`);
        return link.ask(op, body);
      },
      tell: link.tell,
    },
  }));
  assert.deepEqual(asked, [
    "stream /mcp",
    "fetch /.well-known/oauth-protected-resource/mcp",
    "fetch /.well-known/oauth-authorization-server",
    "fetch /register",
    "fetch /token",
  ]);
});
