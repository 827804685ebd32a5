/** Attacks on the gateway's door, with its real process and rights: tokens, names, bodies. Each says what would have happened. */
import assert from "node:assert/strict";
import { bearer, INITIALIZE, post, raw, served } from "./_mcp_attacks.ts";
import { connect } from "./_served.ts";

Deno.test("mallory without a token, or with a wrong one, is told nothing but how to show one", async () => {
  await served(async ({ served: { url }, alice }) => {
    for (
      const headers of [
        {},
        bearer("remit_mcp_AAAA"),
        bearer(alice.slice(0, -1)),
        bearer(`${alice}x`),
        { authorization: `Basic ${btoa(`bob:${alice}`)}` },
        { authorization: alice },
        { cookie: `token=${alice}` },
      ]
    ) {
      for (const method of ["POST", "GET", "DELETE"]) {
        const answer = await fetch(url, {
          method,
          headers,
          ...(method === "POST" ? { body: JSON.stringify(INITIALIZE) } : {}),
        });
        assert.equal(answer.status, 401);
        assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer realm="remit"/);
        assert.equal(answer.headers.get("mcp-session-id"), null);
        assert.deepEqual(await answer.json(), { error: "a token is needed" });
      }
    }
    // In the address it is no token: addresses are logged.
    const asked = await post(`${url}?access_token=${alice}`, INITIALIZE, {});
    assert.equal(asked.status, 401);
    await asked.body?.cancel();
  });
});

Deno.test("whoever tries tokens is slowed down", async () => {
  await served(async ({ served: { url }, alice }) => {
    const statuses: number[] = [];
    for (let n = 0; n < 40; n++) {
      const answer = await post(url, INITIALIZE, bearer(`guess-${n}`));
      statuses.push(answer.status);
      await answer.body?.cancel();
    }
    assert.ok(statuses.filter((status) => status === 429).length >= 15, statuses.join(" "));
    const right = await post(url, INITIALIZE, bearer(alice));
    assert.equal(right.status, 200, "a right one from the same address is let in");
    await right.body?.cancel();
  });
});

Deno.test("a page of mallory's that leads its name to this machine, or is open in a browser here, gets nothing", async () => {
  await served(async ({ served: { url }, alice }) => {
    const { host, port } = new URL(url);
    const asking = (name: string, more: string): Promise<string> =>
      raw(
        url,
        `GET /healthz HTTP/1.1\r\nHost: ${name}\r\n${more}Authorization: Bearer ${alice}\r\nConnection: close\r\n\r\n`,
      );
    assert.match(await asking(host, ""), /^HTTP\/1\.1 200 /);
    assert.match(await asking(`localhost:${port}`, ""), /^HTTP\/1\.1 200 /);
    assert.match(await asking(host, `Origin: http://localhost:${port}\r\n`), /^HTTP\/1\.1 200 /);
    for (
      const name of [
        "evil.example",
        `evil.example:${port}`,
        "127.0.0.1",
        `127.0.0.1.evil.example:${port}`,
        `${host}@evil.example`,
        `localhost.evil.example:${port}`,
        `127.0.0.2:${port}`,
      ]
    ) {
      assert.match(await asking(name, ""), /^HTTP\/1\.1 40[03] /, name);
    }
    for (
      const origin of [
        "http://evil.example",
        "null",
        "",
        `http://localhost.evil.example:${port}`,
        `https://localhost:${port}`,
        "file://",
        `http://127.0.0.1:${Number(port) + 1}`,
      ]
    ) {
      assert.match(await asking(host, `Origin: ${origin}\r\n`), /^HTTP\/1\.1 403 /, origin);
    }
    const answer = await fetch(url, {
      method: "OPTIONS",
      headers: { origin: "http://evil.example", "access-control-request-method": "POST" },
    });
    assert.equal(answer.headers.get("access-control-allow-origin"), null);
    await answer.body?.cancel();
  });
});

Deno.test("a huge body is not taken in, declared or not, and the gateway goes on", async () => {
  await served(async ({ served: { url }, alice }) => {
    const head = (more: string): string =>
      `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${alice}\r\n` +
      `Content-Type: application/json\r\n${more}\r\n`;
    assert.match(await raw(url, head("Content-Length: 5000000\r\n")), /^HTTP\/1\.1 413 /);
    const chunk = new TextEncoder().encode(`10000\r\n${" ".repeat(65_536)}\r\n`);
    let sent = 0;
    const flood = new ReadableStream<Uint8Array>({
      pull(controller): void {
        if (sent++ < 70) controller.enqueue(chunk);
        else controller.close();
      },
    });
    assert.match(await raw(url, head("Transfer-Encoding: chunked\r\n"), flood), /^HTTP\/1\.1 413 /);
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    for (const body of [deep, "{", '{"jsonrpc":"2.0"}', "[]", "\u0000", '{"__proto__":{"id":1}}']) {
      const answer = await post(url, body, bearer(alice));
      assert.ok(
        answer.status >= 400 && answer.status < 500,
        `${answer.status} for ${body.slice(0, 20)}`,
      );
      assert.doesNotMatch(await answer.text(), /\bat .*\.(?:ts|js|mjs)\b|file:\/\//, "no stack");
    }
    const { client } = await connect({ url }, alice);
    assert.ok((await client.listTools()).tools.length > 0);
    await client.close();
  });
});

Deno.test("a body that never ends is given up, and holds nobody else up", async () => {
  const root = new URL("../../", import.meta.url).pathname;
  const gateway = new Deno.Command(Deno.execPath(), {
    args: [
      ...[
        "run",
        "--quiet",
        "--no-prompt",
        `--config=${root}deno.json`,
        "--unstable-no-legacy-abort",
      ],
      ...["--allow-net=127.0.0.1:0", `${root}tests/conformance/fixture_gateway.ts`, "", "200"],
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = gateway.stdout.getReader();
  try {
    const { value } = await reader.read();
    const { address, token } = JSON.parse(new TextDecoder().decode(value));
    const url = `http://${address}/mcp`;
    const slow = raw(
      url,
      `POST /mcp HTTP/1.1\r\nHost: ${address}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{`,
    );
    const answer = await post(url, INITIALIZE, bearer(token));
    assert.equal(answer.status, 200);
    await answer.body?.cancel();
    assert.match(await slow, /^HTTP\/1\.1 408 /);
  } finally {
    await reader.cancel();
    gateway.kill("SIGKILL");
    await gateway.status;
  }
});
