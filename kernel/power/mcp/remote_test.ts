/** A remote server through a real kernel and its net service: tokens, what it echoes, where it leads. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ImportedServer } from "../../../contracts/exchange/mod.ts";
import { evaluating, type McpSiege, withMcp } from "../../../tests/fake/mcp_siege.ts";
import { HAS_BWRAP } from "../../_fixture/small_children.ts";

const test = (name: string, fn: () => Promise<void>): void =>
  Deno.test({ name, ignore: !HAS_BWRAP, fn });

interface Far extends AsyncDisposable {
  readonly origin: string;
  /** Requests to it, without their bodies. */
  readonly heard: { readonly path: string; readonly authorization: string }[];
  /** The token that it takes now. */
  token: string;
  refreshes: number;
}

/** A server on this machine: what `eval` answers is what it was asked with, headers and all. */
function serveFar(): Far {
  const heard: Far["heard"] = [];
  const tool = (name: string): object => ({
    ...{ name, description: "Does." },
    inputSchema: { type: "object", properties: { code: { type: "string" } } },
    annotations: name === "look" ? { readOnlyHint: true } : {},
  });
  const answer = (request: Request, body: { method: string; params: Record<string, never> }) => {
    switch (body.method) {
      case "initialize":
        return {
          ...{ protocolVersion: "2025-11-25", capabilities: { tools: {} } },
          serverInfo: { name: "far", version: "1" },
        };
      case "tools/list":
        return { tools: ["eval", "look"].map(tool) };
      default: {
        const said = JSON.stringify(Object.fromEntries(request.headers));
        return { content: [{ type: "text", text: said }] };
      }
    }
  };
  const http = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    async (request) => {
      const { pathname } = new URL(request.url);
      const authorization = request.headers.get("authorization") ?? "";
      heard.push({ path: `${request.method} ${pathname}`, authorization });
      if (pathname === "/token") {
        far.refreshes += 1;
        const form = new URLSearchParams(await request.text());
        if (form.get("refresh_token") !== "refresh-1") return new Response("", { status: 400 });
        far.token = "fresh-access-token";
        return Response.json({
          ...{ access_token: far.token, token_type: "bearer", refresh_token: "refresh-2" },
          expires_in: 3600,
        });
      }
      if (authorization !== `Bearer ${far.token}`) return new Response("", { status: 401 });
      if (request.method !== "POST") return new Response("", { status: 405 });
      if (pathname === "/away") {
        return new Response("", { status: 307, headers: { location: "/mcp" } });
      }
      const body = await request.json();
      if (body.id === undefined) return new Response(null, { status: 202 });
      if (body.method.startsWith("server/")) {
        return Response.json({
          ...{ jsonrpc: "2.0", id: body.id, error: { code: -32601, message: "no" } },
        });
      }
      return Response.json({ jsonrpc: "2.0", id: body.id, result: answer(request, body) });
    },
  );
  const far: Far = {
    ...{ origin: `http://127.0.0.1:${http.addr.port}`, heard, token: "first", refreshes: 0 },
    [Symbol.asyncDispose]: () => http.shutdown(),
  };
  return far;
}

const serverAt = (siege: McpSiege, far: Far, path = "/mcp"): Promise<ImportedServer> =>
  siege.server("", { launch: { kind: "http", url: `${far.origin}${path}` } });

const CALL = `${evaluating("anything")}
  - say: "{{ tool.mcp_hostile_eval }}"`;

async function allowed(siege: McpSiege, server: ImportedServer): Promise<{
  readonly answer: string;
  readonly outcome: unknown;
  readonly log: string;
}> {
  const task = await siege.run({ mcp: [server], onQuestion: "ask", turns: CALL });
  const { body } = await task.first(({ event }) => event === "questionAsked");
  await siege.answer(String(body["question"]), "allow");
  await task.end;
  return {
    answer: String((await task.task())["answer"]),
    outcome: task.events.find(({ event }) => event === "outcome")?.body["outcome"],
    log: JSON.stringify(task.events),
  };
}

test("a remote server is asked with a token that is renewed; what it echoes has no secret in it", async () => {
  await using far = serveFar();
  await withMcp(async (siege) => {
    far.token = "not-the-one-that-was-lent";
    await siege.ask("mcpLend", {
      ...{ server: "hostile", env: {}, headers: {} },
      oauth: {
        ...{ tokenEndpoint: `${far.origin}/token`, clientId: "remit" },
        ...{ resource: `${far.origin}/mcp`, accessToken: "stale-access-token" },
        refreshToken: "refresh-1",
      },
    });
    const { answer, outcome, log } = await allowed(siege, await serverAt(siege, far));
    equal(outcome, "ok");
    match(answer, /"authorization":"Bearer ⟨redacted: secret⟩"/);
    for (const secret of ["stale-access-token", "fresh-access-token", "refresh-1", "refresh-2"]) {
      ok(!log.includes(secret), secret);
    }
    equal(far.refreshes, 1);
    const kept = await siege.ask("mcpTokens", { server: "hostile" }) as Record<string, string>;
    deepEqual([kept["accessToken"], kept["refreshToken"]], ["fresh-access-token", "refresh-2"]);
  });
});

test("a server that wants a login says so, and which command gives it", async () => {
  await using far = serveFar();
  await withMcp(async (siege) => {
    const { answer, outcome } = await allowed(siege, await serverAt(siege, far));
    equal(outcome, "executionError");
    match(answer, /remit mcp login hostile/);
  });
});

test("a server that redirects is not followed, and nothing is sent after it", async () => {
  await using far = serveFar();
  await withMcp(async (siege) => {
    await siege.ask("mcpLend", {
      ...{ server: "hostile", env: {}, headers: {} },
      oauth: {
        ...{ tokenEndpoint: `${far.origin}/token`, clientId: "remit" },
        ...{ resource: `${far.origin}/away`, accessToken: "first" },
      },
    });
    const { outcome } = await allowed(siege, await serverAt(siege, far, "/away"));
    ok(outcome !== "ok");
    equal(far.heard.some(({ path }) => path.endsWith("/mcp")), false);
  });
});

test("a look at a server of a URL says what it is, under no lease and with nothing on record", async () => {
  await using far = serveFar();
  await withMcp(async (siege) => {
    await siege.ask("mcpLend", {
      ...{ server: "hostile", env: {}, headers: {} },
      oauth: {
        ...{ tokenEndpoint: `${far.origin}/token`, clientId: "remit" },
        ...{ resource: `${far.origin}/mcp`, accessToken: "first" },
      },
    });
    const look = await siege.ask("mcpLook", {
      server: await serverAt(siege, far),
      observe: false,
      deadlineMs: 200_000,
    }) as { words?: { server: { name: string }; tools: unknown[] } };
    equal(look.words?.server.name, "far");
    equal(look.words?.tools.length, 2);
    deepEqual(await siege.ask("mcpLog", { server: "hostile", limit: 10 }), []);
  });
});
