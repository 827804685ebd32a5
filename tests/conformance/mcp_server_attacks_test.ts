/** Attacks on the gateway, with its real process and rights. Each says what would have happened. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { atAddress, connect, type Served, textOf, tokenOf } from "./_served.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "mallory", version: "1" },
  },
};

/** What every test has: a folder that is served, alice's token and mallory's. */
async function served(
  f: (at: {
    readonly served: Served;
    readonly alice: string;
    readonly mallory: string;
    readonly machine: Parameters<Parameters<typeof onMachine>[0]>[0];
  }) => Promise<void>,
): Promise<void> {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", "call the supplier\n");
    const alice = await tokenOf(machine, "guest", "alice");
    const mallory = await tokenOf(machine, "anonymous", "mallory");
    const at = await atAddress(machine, ["--mount", `notes=${machine.dir}/notes`]);
    try {
      await f({ served: at, alice, mallory, machine });
    } finally {
      at.kill("SIGTERM");
      await at.ended;
    }
  });
}

function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** The head of the answer to raw bytes: what no fetch would send. */
async function raw(url: string, text: string, more?: ReadableStream<Uint8Array>): Promise<string> {
  const { hostname, port } = new URL(url);
  using conn = await Deno.connect({ hostname, port: Number(port) });
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  };
  await write(new TextEncoder().encode(text));
  try {
    for await (const chunk of more ?? []) await write(chunk);
  } catch (error) {
    // It was refused before its end.
    if (
      !(error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset)
    ) {
      throw error;
    }
  }
  const bytes = new Uint8Array(65_536);
  const length = await conn.read(bytes) ?? 0;
  return new TextDecoder().decode(bytes.subarray(0, length));
}

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

Deno.test("mallory with a token of her own has nothing of alice's session, and a revoked token nothing at all", async () => {
  await served(async ({ served: at, alice, mallory, machine }) => {
    const { client, transport } = await connect(at, alice);
    const id = transport.sessionId ?? "";
    assert.match(id, /^[0-9a-f]{48}$/);
    const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };
    const stolen = { ...bearer(mallory), "mcp-session-id": id };
    const nowhere = { ...bearer(mallory), "mcp-session-id": "0".repeat(48) };
    for (const headers of [stolen, nowhere]) {
      const answer = await post(at.url, list, headers);
      assert.equal(answer.status, 404);
      assert.match(await answer.text(), /Session not found/);
    }
    for (const method of ["GET", "DELETE"]) {
      const headers = { ...stolen, accept: "text/event-stream" };
      const answer = await fetch(at.url, { method, headers });
      assert.equal(answer.status, 404, `${method} of another token`);
      await answer.body?.cancel();
    }
    for (const odd of ["x y", "../../etc/passwd", "x".repeat(4_000), "%0d%0aX-Injected: 1"]) {
      const answer = await post(at.url, list, { ...bearer(alice), "mcp-session-id": odd });
      assert.equal(answer.status, 404);
      assert.equal(answer.headers.get("x-injected"), null);
      await answer.body?.cancel();
    }
    assert.ok((await client.listTools()).tools.length > 0, "alice's own goes on");
    await machine.remit(["mcp", "token", "revoke", "alice"]);
    const after = await post(at.url, list, { ...bearer(alice), "mcp-session-id": id });
    assert.equal(after.status, 401);
    await after.body?.cancel();
    await client.close();
  });
});

Deno.test("a thousand sessions of one token are a few, and others still get in (long)", async () => {
  await served(async ({ served: at, alice, mallory }) => {
    const counts = new Map<number, number>();
    for (let n = 0; n < 100; n++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => post(at.url, INITIALIZE, bearer(mallory))),
      );
      for (const answer of answers) {
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
        await answer.body?.cancel();
      }
    }
    const opened = counts.get(200) ?? 0;
    assert.ok(opened > 0 && opened <= 16, `${opened} sessions`);
    assert.equal([...counts.values()].reduce((a, b) => a + b), 1_000);
    assert.deepEqual([...counts.keys()].filter((status) => ![200, 429, 503].includes(status)), []);
    const { client } = await connect(at, alice);
    assert.ok((await client.listTools()).tools.length > 0);
    await client.close();
  });
});

Deno.test("a guest's call outside its profile is refused by the gate, and the file stays", async () => {
  await served(async ({ served: at, mallory, machine }) => {
    const { client } = await connect(at, mallory);
    const outside = [
      { name: "file_write", arguments: { path: "notes/plan.md", content: "gone\n" } },
      { name: "patch_apply", arguments: {} },
      { name: "file_read", arguments: { path: "notes/../../home/.ssh/id_ed25519" } },
      { name: "http_fetch", arguments: { url: "http://169.254.169.254/" } },
      { name: "no_such_tool", arguments: {} },
    ];
    for (const call of outside) {
      const refused = await client.callTool(call);
      assert.equal(refused.isError, true, call.name);
      assert.match(
        textOf(refused),
        /^(?:refusedByPolicy|unknownTool|invalidArguments): Cannot /,
        call.name,
      );
    }
    assert.equal(await machine.read("notes/plan.md"), "call the supplier\n");
    await client.close();
  });
});

Deno.test("a host that answers what nobody asked, with a state of its own making, is refused", async () => {
  await served(async ({ served: at, alice, machine }) => {
    const { client } = await connect(at, alice);
    await client.callTool({
      name: "file_write",
      arguments: { path: "notes/new.md", content: "x" },
    });
    const waiting = textOf(await client.callTool({ name: "patch_apply", arguments: {} }));
    const question = /\bq[0-9a-z]{12}\b/.exec(waiting)?.[0] ?? "";
    const state = btoa(JSON.stringify({ p: { call: "mcp-1", question }, exp: 9_999_999_999 }));
    const envelope = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    for (const requestState of [`v1.${state}.AAAA`, question, "", "x".repeat(10_000)]) {
      const answer = await post(at.url, {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "patch_apply",
          arguments: {},
          requestState,
          inputResponses: { consent: { action: "accept", content: { allow: true } } },
          _meta: envelope,
        },
      }, {
        ...bearer(alice),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "patch_apply",
      });
      assert.match(
        await answer.text(),
        /Invalid or expired requestState|waits for a person|nothing is staged/i,
      );
    }
    await assert.rejects(Deno.stat(`${machine.dir}/notes/new.md`));
    assert.match(
      (await machine.remit(["questions", "--json"])).stdout,
      new RegExp(question),
      "it is open",
    );
    await client.close();
  });
});

Deno.test("a gateway that is killed takes its sessions with it: no task goes on, no process is left", async () => {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", "call the supplier\n");
    const token = await tokenOf(machine);
    for (const whom of ["the gateway", "the command"]) {
      const at = await atAddress(machine, ["--mount", `notes=${machine.dir}/notes`]);
      const { client } = await connect(at, token);
      await client.callTool({ name: "file_read", arguments: { path: "notes/plan.md" } });
      const gateways = await gatewaysOf(at.pid);
      assert.ok(gateways.length > 0, "there is a gateway");
      Deno.kill(whom === "the gateway" ? gateways[0] ?? 0 : at.pid, "SIGKILL");
      const code = await at.ended;
      if (whom === "the gateway") assert.equal(code, 1, at.said());
      for (const pid of gateways) {
        await waitUntil(`the end of process ${pid}`, async () => await isGone(pid) || undefined);
      }
      await waitUntil("an idle kernel", async () => {
        const rows = JSON.parse((await machine.remit(["ps", "--json"])).stdout);
        return rows.length === 0 || undefined;
      });
      await client.close().catch(() => undefined);
    }
  });
});

async function gatewaysOf(pid: number): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await Deno.readTextFile(`/proc/${name}/stat`).catch(() => "");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent !== pid) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (line.includes("gateway.js")) found.push(Number(name));
    found.push(...await gatewaysOf(Number(name)));
  }
  return found;
}

async function isGone(pid: number): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => undefined);
  return stat === undefined || / Z /.test(stat.slice(stat.lastIndexOf(")")));
}
