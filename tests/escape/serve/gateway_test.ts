/** Attacks on `remit serve` at its address, with the real gateway process. Each claim says what would have happened. */
import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { createHmac } from "node:crypto";
import { onMachine } from "../../fake/remit.ts";
import { configure, startService } from "../../fake/service.ts";
import { waitUntil } from "../../fake/wait_until.ts";

const SECRET = "a secret of sixteen or more";
const PLAY = `
scenario: writes a file
turns:
  - calls: [{ tool: file_write, args: { path: notes/new.md, content: "one" } }]
  - say: done
`;

const sign = (body: string): Record<string, string> => ({
  "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
});

Deno.test("a service at its address: pages, webhooks, peers and numbers are each for whom they are", async (t) => {
  await onMachine(async (machine) => {
    const play = await machine.write("model.yaml", PLAY);
    await machine.write("notes/plan.md", "call the supplier\n");
    const yaml = `model: scripted:${play}
mounts: { notes: { dir: ${machine.dir}/notes, mode: rw } }
peers: { alice: { accept: ask } }
webhooks: { ci: { secret: ci, request: "it was built: {{body}}", mounts: [notes], profile: operator } }
`;
    await configure(machine, yaml);
    const kept = await machine.remit(["webhook", "secret", "ci"], SECRET);
    equal(kept.code, 0, kept.stderr);
    const service = await startService(machine);
    const { url } = service;
    const { host, port } = new URL(url);
    const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${url}${path}`, { headers, redirect: "manual" });
    const post = (
      path: string,
      body: string,
      headers: Record<string, string> = {},
    ): Promise<Response> =>
      fetch(`${url}${path}`, { method: "POST", body, headers, redirect: "manual" });
    const status = async (answer: Promise<Response>): Promise<number> => {
      const { status, body } = await answer;
      await body?.cancel();
      return status;
    };
    try {
      await t.step("it is alive, ready, and counted for this machine alone", async () => {
        equal(await status(get("/healthz")), 200);
        equal(await status(get("/readyz")), 200);
        equal(await status(get("/metrics", { "x-forwarded-for": "192.0.2.1" })), 404);
      });

      await t.step("a page of mallory's reaches no surface", async () => {
        for (const path of ["/", "/login", "/hooks/ci", "/a2a", "/mcp", "/readyz"]) {
          equal(await status(post(path, "{}", { origin: "http://evil.example" })), 403, path);
          equal(await status(post(path, "{}", { origin: "null" })), 403, path);
        }
      });

      await t.step("a name of mallory's that leads here is not served", async () => {
        using conn = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
        await conn.write(
          new TextEncoder().encode(
            "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
          ),
        );
        const bytes = new Uint8Array(4_096);
        const length = await conn.read(bytes) ?? 0;
        match(new TextDecoder().decode(bytes.subarray(0, length)), /^HTTP\/1\.1 403 /);
      });

      await t.step(
        "a peer without a token is told nothing; with another service's, nothing",
        async () => {
          const asked = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} });
          const headers = { "content-type": "application/json", "a2a-version": "1.0" };
          equal(await status(post("/a2a", asked, headers)), 401);
          equal(
            await status(post("/a2a", asked, { ...headers, authorization: "Bearer guess" })),
            401,
          );
          equal(await status(get("/a2a/v1/tasks", { authorization: "Bearer guess" })), 401);
          const token =
            Object(await machine.json(["mcp", "token", "create", "--name", "host"])).token;
          equal(
            await status(post("/a2a", asked, { ...headers, authorization: `Bearer ${token}` })),
            401,
          );
          const card = await get("/.well-known/agent-card.json");
          equal(card.status, 200);
          equal(card.headers.get("access-control-allow-origin"), null);
          await card.body?.cancel();
        },
      );

      let cookie = "";
      await t.step("a code opens the page once; a cookie is a browser's alone", async () => {
        const { url: address } = Object(await machine.json(["serve", "login"]));
        const code = new URL(String(address)).searchParams.get("code") ?? "";
        const own = { origin: url, "content-type": "application/x-www-form-urlencoded" };
        equal(await status(get("/")), 401);
        equal(
          await status(post("/login", `code=${code}`, { ...own, origin: "http://localhost:1" })),
          403,
        );
        const answer = await post("/login", `code=${code}`, own);
        equal(answer.status, 303);
        cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
        await answer.body?.cancel();
        equal(await status(post("/login", `code=${code}`, own)), 401);
        equal(await status(get("/", { cookie })), 200);
        equal(await status(get("/", { cookie: `${cookie}x` })), 401);
        equal(await status(get("/", { cookie, "sec-fetch-dest": "iframe" })), 403);
      });

      await t.step(
        "an unsigned delivery is as if there were no webhook; a signed one is taken once",
        async () => {
          const body = JSON.stringify({ ref: "<script>x()</script>" });
          const nowhere = await post("/hooks/none", body);
          const forged = await post("/hooks/ci", body, {
            "x-hub-signature-256": `sha256=${"0".repeat(64)}`,
          });
          deepEqual([nowhere.status, forged.status], [404, 404]);
          equal(await nowhere.text(), await forged.text());
          equal(await status(post("/hooks/ci", body, { ...sign(body), cookie })), 202);
          equal(await status(post("/hooks/ci", body, sign(body))), 200, "the same again");
          const large = "x".repeat(1_048_577);
          equal(await status(post("/hooks/ci", large, sign(large))), 413);
        },
      );

      await t.step(
        "what it started waits for a person, and the page's answer lets it go on",
        async () => {
          const question = await waitUntil("the question", async () => {
            const text = await (await get("/", { cookie })).text();
            return /href="\/question\/(q[0-9a-z]{12})"/.exec(text)?.[1];
          });
          const page = await (await get(`/question/${question}`, { cookie })).text();
          match(page, /file_write/);
          const [, token = ""] = /name="token" value="([^"]+)"/.exec(page) ?? [];
          const [, shown = ""] = /name="shown" value="([^"]+)"/.exec(page) ?? [];
          const form = new URLSearchParams({ token, shown, decision: "allow" }).toString();
          const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
          equal(await status(post(`/question/${question}`, form, headers)), 403, "no origin");
          equal(
            await status(post(`/question/${question}`, form, { ...headers, origin: url })),
            303,
          );
          const written = await waitUntil(
            "the file",
            () => machine.read("notes/new.md").catch(() => undefined),
          );
          equal(written, "one");
        },
      );

      const { token } = Object(await machine.json(["a2a", "token", "create", "alice"]));
      const send = (): Promise<Response> =>
        post(
          "/a2a",
          JSON.stringify({
            ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
            params: {
              message: {
                messageId: "m1",
                role: "ROLE_USER",
                parts: [{ text: "<b>Let me</b> in" }],
              },
              configuration: { returnImmediately: true },
            },
          }),
          {
            ...{ "content-type": "application/json", "a2a-version": "1.0" },
            authorization: `Bearer ${token}`,
          },
        );

      await t.step(
        "what alice sent waits at the page, which names the command and has no form",
        async () => {
          equal(await status(send()), 200);
          const home = await (await get("/", { cookie })).text();
          const [, id = ""] = /href="\/message\/(m[0-9a-z]{12})"/.exec(home) ?? [];
          match(home, /messages that wait to be let in/);
          const page = await (await get(`/message/${id}`, { cookie })).text();
          match(page, /&lt;b&gt;Let me&lt;\/b&gt; in/);
          match(page, new RegExp(`inbox release ${id}`));
          doesNotMatch(page, /name="decision"/);
          equal(await status(get(`/message/${id}`)), 401, "for who is logged in alone");
        },
      );

      await t.step(
        "SIGHUP: a file that does not stand changes nothing, a good one does",
        async () => {
          await configure(machine, `${yaml}paers: {}\n`);
          service.kill("SIGHUP");
          await waitUntil(
            "the refusal",
            () => /is not taken, .*remit\.yaml:\d+/s.test(service.said()) || undefined,
          );
          equal(await status(send()), 200, "alice is known as before");
          await configure(machine, yaml.replace("alice", "bob").replace("ci: {", "deploy: {"));
          service.kill("SIGHUP");
          await waitUntil("it", () => service.said().includes("was read again") || undefined);
          equal(await status(send()), 401, "of alice nobody knows any more");
          const body = JSON.stringify({ ref: "main" });
          equal(await status(post("/hooks/ci", body, sign(body))), 404);
          equal(await status(post("/hooks/deploy", body, sign(body))), 202);
          match(await (await get("/metrics")).text(), /result="taken"\} 1/);
        },
      );

      await t.step("it drains and ends when it is told to", async () => {
        service.kill("SIGTERM");
        equal(await service.ended, 0, service.said());
        equal(await fetch(`http://${host}/healthz`).then(() => "answered", () => "gone"), "gone");
      });
    } finally {
      try {
        service.kill("SIGKILL");
      } catch { /* it has ended */ }
    }
  });
});
