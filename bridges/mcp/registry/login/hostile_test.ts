import assert from "node:assert/strict";
import { type Fault, isFaultCode } from "../../../../contracts/base/mod.ts";
import {
  browse,
  loginAt,
  loginPowers,
  netLink,
  startAuthWorld,
  type Twist,
} from "../../../../cli/_fixture/mcp_oauth.ts";
import { logIn } from "./login.ts";

/** A login at a world that is twisted, how it failed, and what of it was reached. */
async function fails(
  twist: Twist,
  expected: { readonly code: Fault["code"]; readonly message: RegExp },
  reached: { readonly token?: boolean } = {},
): Promise<readonly string[]> {
  assert.ok(isFaultCode(expected.code));
  await using world = startAuthWorld(twist);
  await assert.rejects(logIn(loginAt(world)), expected);
  assert.equal(world.shown.length > 0, reached.token === true, "the token endpoint was reached");
  return world.seen;
}

Deno.test("mallory's server names another server as the one that tokens are for", async () => {
  for (
    const resource of [
      "https://bank.example/mcp",
      "http://127.0.0.1:1/mcp",
      "/mcp",
      "https://bank.example@127.0.0.1/mcp",
    ]
  ) {
    await fails({ resource: (said) => ({ ...said, resource }) }, {
      code: "refused",
      message: /^Cannot log in: the server's own name|names another server/,
    });
  }
  const twist: Twist = {
    resource: (said, { server }) => ({ ...said, resource: `${server}/mc` }),
  };
  await fails(twist, { code: "refused", message: /names another server/ });
});

Deno.test("mallory's server has itself described elsewhere: nobody goes there", async () => {
  await using elsewhere = startAuthWorld();
  const place = `${elsewhere.server}/.well-known/oauth-protected-resource/mcp`;
  await fails({ challenge: () => `Bearer resource_metadata="${place}"` }, {
    code: "refused",
    message: /described by another one/,
  });
  assert.deepEqual(elsewhere.seen, []);
  const places: readonly (readonly [string, RegExp])[] = [
    ["file:///etc/passwd", /no plain https address/],
    ["javascript:1", /no plain https address/],
    ["x", /no plain https address/],
    ["http://169.254.169.254/latest/", /not https/],
    ["https://169.254.169.254/latest/", /described by another one/],
  ];
  for (const [bad, message] of places) {
    await fails({ challenge: () => `Bearer resource_metadata="${bad}"` }, {
      code: "refused",
      message,
    });
  }
});

Deno.test("mallory's authorization server lies inside: on a private address, in the cloud's metadata, without https", async () => {
  const inside = (issuer: string): Twist => ({
    resource: (said) => ({ ...said, authorization_servers: [issuer] }),
  });
  await fails(inside("http://auth.example.org"), { code: "refused", message: /not https/ });
  await fails(inside("http://10.0.0.7"), { code: "refused", message: /not https/ });
  await fails(inside("https://10.0.0.7"), { code: "refused", message: /a private address/ });
  await fails(inside("https://169.254.169.254"), { code: "refused", message: /link-local/ });
  await fails(inside("https://a:b@auth.example.org"), { code: "refused", message: /user name/ });
  await fails(inside("https://auth.example.org/#x"), { code: "refused", message: /fragment/ });
  await fails(inside("https://auth.example.org/?x"), { code: "refused", message: /question mark/ });
  await fails(inside("ftp://auth.example.org"), { code: "refused", message: /no plain https/ });
  // By name, as a resolver that mallory owns would tell it.
  await using world = startAuthWorld(inside("https://auth.example.org"));
  const link = netLink({ "auth.example.org": "10.0.0.7" });
  await assert.rejects(logIn(loginAt(world, { link })), {
    code: "refused",
    message: /leads to a private address/,
  });
});

Deno.test("a server on the web cannot name an authorization server on alice's own machine", async () => {
  await using local = startAuthWorld();
  const page = JSON.stringify({
    resource: "https://mcp.example.org/mcp",
    authorization_servers: [local.auth],
  });
  const link = {
    ask: (op: string) =>
      Promise.resolve(
        op === "stream" ? { status: 401, headers: {} } : {
          ...{ status: 200, url: "https://mcp.example.org/", headers: {}, body: btoa(page) },
          ...{ bytes: page.length, cut: false, hops: [] },
        },
      ),
    tell: () => undefined,
  };
  const server = new URL("https://mcp.example.org/mcp");
  await assert.rejects(logIn({ ...loginAt(local), link, server }), {
    code: "refused",
    message: /authorization server is not https/,
  });
  assert.deepEqual(local.seen, []);
});

Deno.test("an authorization server that speaks in another's name is not believed", async () => {
  for (const issuer of ["https://accounts.example.com", "http://127.0.0.1:1", "", "x"]) {
    await fails({ metadata: (said) => ({ ...said, issuer }) }, {
      code: "refused",
      message: /says that it is another one/,
    });
  }
});

Deno.test("its endpoints are judged as it is: no other scheme, no clear text, no password", async () => {
  const endpoints = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];
  const bad = [
    ...["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://evil.example/t"],
    ...["https://a:b@auth.example/t", "https://auth.example/t#x", "https://auth.example\\@evil/"],
    ...["https://auth.example/\u001b]0;x", "//evil.example/", "https://"],
  ];
  for (const endpoint of endpoints) {
    for (const url of bad) {
      await fails({ metadata: (said) => ({ ...said, [endpoint]: url }) }, {
        code: "refused",
        message: /^Cannot log in: its (?:page|token|place)/,
      });
    }
  }
});

Deno.test("without a proof for codes nobody logs in: no PKCE, or only in clear", async () => {
  for (const methods of [undefined, [], ["plain"], ["s256"]]) {
    await fails({ metadata: (said) => ({ ...said, code_challenge_methods_supported: methods }) }, {
      code: "refused",
      message: /PKCE/,
    });
  }
});

Deno.test("a page to log in at that says already what we say is refused: an open redirect", async () => {
  for (
    const twist of [
      "redirect_uri=https://evil.example/",
      "state=x",
      "client_id=evil",
      "code_challenge=x",
      "scope=all",
      "resource=https%3A%2F%2Fbank.example",
      "response_type=token",
    ]
  ) {
    await fails({
      metadata: (said) => ({
        ...said,
        authorization_endpoint: `${said["authorization_endpoint"]}?${twist}`,
      }),
    }, { code: "refused", message: /already says/ });
  }
});

Deno.test("the token endpoint sends the code on to mallory: it is not followed, and the login is over", async () => {
  await using thief = startAuthWorld();
  for (const status of [301, 302, 303, 307, 308]) {
    const seen = await fails({
      answer: (path) =>
        path === "/token"
          ? new Response(null, { status, headers: { location: `${thief.auth}/token` } })
          : undefined,
    }, { code: "refused", message: /sends the request on to another place/ });
    assert.ok(seen.includes("POST /token"));
  }
  assert.deepEqual(thief.seen, []);
});

Deno.test("metadata that is sent on to another origin, is no JSON, is endless or of another shape is refused", async () => {
  await using thief = startAuthWorld();
  const at = "/.well-known/oauth-authorization-server";
  const metadata = (answer: () => Response): Twist => ({
    answer: (path) => path === at ? answer() : undefined,
  });
  await fails(
    metadata(() =>
      new Response(null, { status: 302, headers: { location: `${thief.auth}${at}` } })
    ),
    { code: "refused", message: /sends the request on/ },
  );
  assert.deepEqual(thief.seen, []);
  const gone = { code: "notFound", message: /does not say how to log in/ } as const;
  await fails(metadata(() => new Response("<html>log in here</html>")), gone);
  await fails(metadata(() => new Response(`{"issuer":"${"x".repeat(300_000)}"}`)), gone);
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  await fails(metadata(() => new Response(deep)), { code: "upstream", message: /does not read/ });
  await fails(metadata(() => Response.json({ issuer: 1 })), {
    code: "upstream",
    message: /does not read/,
  });
  await fails(metadata(() => new Response(null, { status: 503 })), {
    code: "upstream",
    message: /answers 503/,
  });
  await fails({ resource: () => ({ resource: ["x"] }) }, {
    code: "upstream",
    message: /does not read/,
  });
  await fails({ resource: (said) => ({ ...said, bearer_methods_supported: ["query"] }) }, {
    code: "refused",
    message: /another way than by a header/,
  });
});

Deno.test("a mix-up: an answer in another authorization server's name ends the login before its code is shown", async () => {
  const back = (change: (to: URLSearchParams) => void): Twist => ({
    back: (to) => {
      change(to.searchParams);
      return to;
    },
  });
  const message = /from another authorization server/;
  await fails(back((to) => to.set("iss", "https://evil.example")), { code: "refused", message });
  await fails(back((to) => to.set("iss", "nonsense")), { code: "refused", message });
  // It said that it always says who it is.
  await fails(back((to) => to.delete("iss")), { code: "refused", message });
  await fails({
    ...back((to) => to.set("iss", "https://evil.example")),
    metadata: ({ authorization_response_iss_parameter_supported: _, ...said }) => said,
  }, { code: "refused", message });
});

Deno.test("what is wrong with the answer is said: no code, the person said no, words of mallory's made harmless", async () => {
  const back = (query: string): Twist => ({
    back: (to) => {
      const own = new URL(to);
      own.searchParams.delete("code");
      return new URL(`${own.href}${query}`);
    },
  });
  await fails(back(""), { code: "refused", message: /holds no code/ });
  await fails(back("&code="), { code: "refused", message: /holds no code/ });
  await fails(back("&code=%0d%0ax"), { code: "refused", message: /holds no code/ });
  await fails(back("&error=access_denied"), { code: "denied", message: /access_denied/ });
  await fails(back("&error=x&error_description=%1b%5b2Jgone%0aCannot"), {
    code: "refused",
    message: /^[\x20-\x7e]*\\u\{1b\}\[2Jgone[\x20-\x7e]*$/,
  });
});

Deno.test("mallory's page injects a code of mallory's, a state that was guessed, another name: the login waits for its own", async () => {
  await using world = startAuthWorld();
  const statuses: number[] = [];
  const pages: string[] = [];
  const oauth = await logIn(loginAt(world, {
    show: (url) =>
      void (async (): Promise<void> => {
        const said = new URL(url).searchParams;
        const back = said.get("redirect_uri") ?? "";
        const state = said.get("state") ?? "";
        const iss = encodeURIComponent(world.auth);
        const tries: readonly (readonly [string, RequestInit])[] = [
          [`${back}?code=mallory&state=guessed&iss=${iss}`, {}],
          [`${back}?code=mallory&iss=${iss}`, {}],
          [`${back}?code=mallory&state=${state}&state=${state}&iss=${iss}`, {}],
          [`${back}?code=mallory&code=x&state=${state}&iss=${iss}`, {}],
          [`${back}?error=access_denied`, {}],
          [`${back}?code=mallory&state=${state}&iss=${iss}`, { method: "POST" }],
          [`${back}x?code=mallory&state=${state}&iss=${iss}`, {}],
          [`${new URL(back).origin}/`, {}],
        ];
        for (const [address, init] of tries) {
          const answer = await fetch(address, init);
          statuses.push(answer.status);
          pages.push(await answer.text());
        }
        // A page of mallory's whose name leads here now: a rebound name.
        const { port } = new URL(back);
        using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
        const path = `/callback?code=mallory&state=${state}&iss=${iss}`;
        await connection.write(
          new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nHost: evil.example:${port}\r\n\r\n`),
        );
        const buffer = new Uint8Array(64);
        await connection.read(buffer);
        statuses.push(Number(new TextDecoder().decode(buffer).slice(9, 12)));
        await browse(url);
      })(),
  }));
  assert.equal(oauth.accessToken, "access-1");
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 405, 404, 404, 403]);
  assert.equal(pages.join("").includes("mallory"), false);
  assert.deepEqual(world.shown.map(({ code }) => code), ["code-1"]);
});

Deno.test("a login is answered once: what comes behind it is nothing", async () => {
  await using world = startAuthWorld();
  const second = Promise.withResolvers<number | undefined>();
  const { listen } = loginPowers;
  await logIn(loginAt(world, {
    powers: {
      ...loginPowers,
      listen: (port, answer) =>
        listen(port, (seen) => {
          const page = answer(seen);
          second.resolve(answer(seen).status);
          return page;
        }),
    },
  }));
  assert.equal(await second.promise, 404);
  assert.equal(world.shown.length, 1);
});

Deno.test("another code than was asked for is worth nothing: the verifier stays here", async () => {
  // Mallory puts a code of a login of mallory's in place of alice's, at the right state.
  await fails(
    {
      back: (to) => {
        to.searchParams.set("code", "mallory");
        return to;
      },
    },
    { code: "upstream", message: /invalid_grant/ },
    { token: true },
  );
});

Deno.test("a registration that names another redirect, or does not read, ends the login", async () => {
  await fails({ registered: (said) => ({ ...said, redirect_uris: ["https://evil.example/"] }) }, {
    code: "refused",
    message: /another place to send the code to/,
  });
  for (const client_id of [undefined, 1, "", "a\r\nb", "x".repeat(5_000)]) {
    await fails({ registered: (said) => ({ ...said, client_id }) }, {
      code: "upstream",
      message: /registration does not read/,
    });
  }
  await fails({
    answer: (path) =>
      path === "/register" ? Response.json({ error: "\u001b[2J" }, { status: 400 }) : undefined,
  }, { code: "upstream", message: /it answers 400$/ });
});

Deno.test("tokens that do not read are not kept, and no refusal repeats one", async () => {
  const bad: readonly Readonly<Record<string, unknown>>[] = [
    { access_token: "a\r\nx-other: 1" },
    { access_token: "" },
    { access_token: 1 },
    { access_token: "s3cret\u0000" },
    { token_type: "mac", access_token: "s3cret" },
    { token_type: undefined },
    { expires_in: -1 },
    { expires_in: "soon" },
    { refresh_token: "s3cret\n" },
  ];
  for (const more of bad) {
    await fails(
      { token: (said) => ({ ...said, ...more }) },
      { code: "upstream", message: /^(?!.*s3cret).*token/ },
      { token: true },
    );
  }
  await fails({
    answer: (path) =>
      path === "/token"
        ? Response.json({ error: "x", error_description: "\u001b[2Jlook" }, { status: 400 })
        : undefined,
  }, { code: "upstream", message: /^[\x20-\x7e]*u\{1b\}[\x20-\x7e]*$/ });
});
