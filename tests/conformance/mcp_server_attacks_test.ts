/** Attacks on the gateway's sessions, with its real process and rights. Each says what would have happened. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { bearer, INITIALIZE, post, served } from "./_mcp_attacks.ts";
import { atAddress, connect, textOf, tokenOf } from "./_served.ts";

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
