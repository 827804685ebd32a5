/**
 * mallory's server had a name that led to the web when alice added it. Now the name leads to alice's own machine, where
 * another service listens (DNS rebinding). Were it asked, her requests, with her token, would be that service's.
 */
import assert from "node:assert/strict";
import { onMachine } from "../../fake/remit.ts";
import { needs } from "../../needs.ts";

Deno.test("mallory turns the name of her server to alice's own machine: nothing is asked there, also by the next kernel", async () => {
  if (!needs("bwrap")) return;
  const heard: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    async (request) => {
      heard.push(request.method);
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method } = await request.json();
      if (id === undefined) return new Response(null, { status: 202 });
      const capabilities = { tools: {} }, serverInfo = { name: "far", version: "1" };
      const results: Record<string, unknown> = {
        initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo },
        "tools/list": { tools: [{ name: "look", inputSchema: { type: "object" } }] },
      };
      const result = results[method];
      const error = { code: -32_601, message: "no" };
      return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) });
    },
  );
  const origin = `http://localhost:${server.addr.port}`;
  try {
    await onMachine(async (alice) => {
      const added = await alice.remit(["mcp", "add", "far", `${origin}/mcp`, "--yes"]);
      assert.equal(added.code, 0, added.stderr);
      const file = `${alice.state}/kernel/origins`;
      // One that led here when it was named may go on doing so.
      assert.equal(await Deno.readTextFile(file), `private ${origin}\n`);
      assert.equal((await alice.remit(["mcp", "inspect", "far"])).code, 0);
      await alice.remit(["stop"]);
      await Deno.writeTextFile(file, `public ${origin}\n`);
      heard.length = 0;
      const turned = await alice.remit(["mcp", "inspect", "far"]);
      assert.notEqual(turned.code, 0);
      assert.match(turned.stdout + turned.stderr, /led to public ones when it was named/);
      assert.deepEqual(heard, []);
      assert.equal(
        await Deno.readTextFile(file),
        `public ${origin}\n`,
        "it is not forgotten by that",
      );
    });
  } finally {
    await server.shutdown();
  }
});
