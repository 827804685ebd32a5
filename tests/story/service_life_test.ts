/** alice's service from its start to its end: one for a state, its gateway killed, logins, draining. */
import assert from "node:assert/strict";
import { onMachine } from "../fake/remit.ts";
import { configure, startService } from "../fake/service.ts";
import { waitUntil } from "../fake/wait_until.ts";

const PLAY = "scenario: none\nturns:\n  - say: Hello.\n    loop: true\n";

/** The gateway's process, of those that a service started. */
async function gatewayOf(pid: number): Promise<number> {
  const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
  for (const child of children.split(" ").filter((each) => each.trim() !== "")) {
    const line = await Deno.readTextFile(`/proc/${child}/cmdline`);
    if (line.includes("gateway.js")) return Number(child);
  }
  throw new Error("Cannot find the gateway: none runs");
}

/** An issuer of access tokens on this machine, as remit.yaml names it. */
async function startIssuer() {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new TypeError("Cannot make a pair of keys");
  const jwk = { ...await crypto.subtle.exportKey("jwk", pair.publicKey), kid: "k1" };
  const asked: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    (request) => {
      const { pathname, origin } = new URL(request.url);
      asked.push(pathname);
      return pathname === "/jwks"
        ? Response.json({ keys: [jwk] })
        : pathname === "/.well-known/oauth-authorization-server"
        ? Response.json({ issuer: origin, jwks_uri: `${origin}/jwks` })
        : new Response(null, { status: 404 });
    },
  );
  const issuer = `http://127.0.0.1:${server.addr.port}`;
  const base64url = (bytes: Uint8Array): string =>
    bytes.toBase64({ alphabet: "base64url", omitPadding: true });
  const text = (value: object): string =>
    base64url(new TextEncoder().encode(JSON.stringify(value)));
  return {
    ...{ issuer, asked, server },
    async token(sub: string): Promise<string> {
      const claims = { iss: issuer, aud: "remit", sub, exp: Date.now() / 1_000 + 60 };
      const signed = `${text({ alg: "EdDSA", typ: "at+jwt", kid: "k1" })}.${text(claims)}`;
      const bytes = new TextEncoder().encode(signed);
      const signature = await crypto.subtle.sign("Ed25519", pair.privateKey, bytes);
      return `${signed}.${base64url(new Uint8Array(signature))}`;
    },
  };
}

Deno.test("alice's service is one of its state, gets over its gateway's death, logs in once, and ends when told", async () => {
  await onMachine(async (alice) => {
    const { issuer, server, token: tokenOf, asked } = await startIssuer();
    await configure(
      alice,
      `model: scripted:${await alice.write("play.yaml", PLAY)}
peers:
  bob: { accept: ask }
  carol: { auth: { issuer: "${issuer}", audience: remit, subject: carol } }
`,
    );
    const token = (await alice.remit(["a2a", "token", "create", "bob"])).stdout.trim();
    const service = await startService(alice);
    const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${service.url}${path}`, { headers });
    const ready = async (): Promise<number> => {
      const response = await get("/readyz");
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await ready(), 200);

    const second = await alice.remit(["serve", "127.0.0.1:0"]);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /another "remit serve" is at work in this state/);

    const before = await (await get("/.well-known/agent-card.json")).text();
    Deno.kill(await gatewayOf(service.pid), "SIGKILL");
    await waitUntil("words on the gateway's end", () => {
      return /the gateway has ended .*started again/.test(service.said()) || undefined;
    });
    const card = await waitUntil("the gateway's return", async () => {
      try {
        return await (await get("/.well-known/agent-card.json")).text();
      } catch (error) {
        // Nobody listens for a moment.
        if (error instanceof TypeError) return undefined;
        throw error;
      }
    });
    assert.equal(card, before);
    const listed = async (bearer: string): Promise<number> => {
      const headers = { authorization: `Bearer ${bearer}`, "a2a-version": "1.0" };
      const response = await get("/a2a/v1/tasks", headers);
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await listed(token), 200);
    assert.equal(await listed(await tokenOf("carol")), 200, "an access token of her issuer");
    assert.equal(await listed(await tokenOf("mallory")), 401);
    assert.equal(await listed(await tokenOf("bob")), 401, "bob shows a token of alice's");
    assert.deepEqual(asked, ["/.well-known/oauth-authorization-server", "/jwks"]);
    await server.shutdown();

    const { url } = await alice.json(["serve", "login"]) as { url: string };
    assert.ok(url.startsWith(`${service.url}/login?code=`), url);
    const socket = (await Array.fromAsync(Deno.readDir(`${alice.env["XDG_RUNTIME_DIR"]}`)))
      .map(({ name }) => `${alice.env["XDG_RUNTIME_DIR"]}/${name}/serve`);
    assert.deepEqual(socket.map((path) => (Deno.statSync(path).mode ?? 0) & 0o777), [0o600]);

    service.kill("SIGTERM");
    assert.equal(await service.ended, 0, service.said());
    const late = await alice.remit(["serve", "login"]);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /no service runs in this state/);
  });
});

Deno.test("a service that could not do what remit.yaml says does not begin, and says the line", async () => {
  await onMachine(async (alice) => {
    const play = await alice.write("play.yaml", PLAY);
    const said = async (text: string): Promise<string> => {
      await configure(alice, `model: scripted:${play}\n${text}`);
      const done = await alice.remit(["serve", "127.0.0.1:0", "--once-ready"]);
      assert.notEqual(done.code, 0, text);
      return done.stderr;
    };
    assert.match(
      await said("peers:\n  bob: { agent: nobody }\n"),
      /peers\.bob \(.*remit\.yaml:4\): Cannot run agent "nobody"/,
    );
    assert.match(
      await said("peers:\n  bob: { mounts: [desk] }\n"),
      /remit\.yaml:4\): Cannot hand over folder "desk"/,
    );
    assert.match(
      await said("peers:\n  bob: { skills: [x] }\n"),
      /remit\.yaml:4\): "serve.skills" names no skill "x"/,
    );
    assert.match(
      await said("peers:\n  bob: { model: 'scripted:gone.yaml' }\n"),
      /peers\.bob .*gone\.yaml/,
    );
    await configure(alice, `model: scripted:${play}\nserve: { page: true, listen: "0.0.0.0:0" }\n`);
    const far = await alice.remit(["serve", "--once-ready"]);
    assert.equal(far.code, 2);
    assert.match(far.stderr, /Cannot serve the page at 0\.0\.0\.0/);
  });
});
