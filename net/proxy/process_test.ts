import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { bundled } from "../../port/_fixture/bundled_child.ts";
import type { Json } from "../../contracts/base/json.ts";
import type { NetProxied } from "../../contracts/wire/wire_net.ts";
import { makeCertificate } from "../_fixture/certificate.ts";
import { startNet } from "../_fixture/net_child.ts";
import { isFault } from "../_fixture/parts.ts";
import { connectTo } from "../_fixture/proxy.ts";
import { reply, startSite } from "../_fixture/site.ts";

const BWRAP = "/usr/bin/bwrap";
const hasBwrap = (() => {
  try {
    return new Deno.Command(BWRAP, { args: ["--ro-bind", "/", "/", "/bin/true"] })
      .outputSync().success;
  } catch {
    return false;
  }
})();
const CHUNK = new Uint8Array(64 * 1024);

/** A server as it is run for a task: a namespace without network, with one socket. */
function inNamespace(socket: string, script: string): Promise<Deno.CommandOutput> {
  const deno = Deno.execPath();
  const env = { HTTP_PROXY: "unix:/run/net.sock", HTTPS_PROXY: "unix:/run/net.sock" };
  return new Deno.Command(BWRAP, {
    args: [
      ...["--unshare-all", "--new-session", "--die-with-parent", "--clearenv"],
      ...Object.entries({ ...env, DENO_DIR: "/tmp/dd", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" })
        .flatMap(([name, value]) => ["--setenv", name, value]),
      ...["/lib", "/lib64", "/usr/lib"].flatMap((each) => ["--ro-bind-try", each, each]),
      ...["--ro-bind", deno, "/deno", "--proc", "/proc", "--tmpfs", "/tmp"],
      ...["--ro-bind", script, "/server.ts", "--bind", socket, "/run/net.sock"],
      ...["--", "/deno", "run", "--no-config", "--no-lock", "--quiet", "-A", "/server.ts"],
    ],
    stdin: "null",
  }).output();
}

async function world() {
  const folder = await Deno.makeTempDir({ prefix: "remit-proxy-" });
  const built = await bundled(new URL("../main.ts", import.meta.url));
  return {
    folder,
    file: built.file,
    async [Symbol.asyncDispose](): Promise<void> {
      await built[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const heldBytes = (pid: number): number => {
  const kib = /VmRSS:\s+(\d+) kB/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1];
  return Number(kib) * 1024;
};

Deno.test({
  name:
    "a server in a namespace without network reaches granted hosts by the socket, and nothing else",
  ignore: !hasBwrap,
  async fn(): Promise<void> {
    await using made = await world();
    const { folder, file } = made;
    const socket = `${folder}/p-0`;
    const tls = await makeCertificate(["localhost"]);
    await Deno.writeTextFile(`${folder}/roots.pem`, tls.cert);
    const told: NetProxied[] = [];
    await using net = startNet(file, {
      sockets: [socket],
      roots: `${folder}/roots.pem`,
      heard: (_op, body) => told.push(body as unknown as NetProxied),
    });
    await using site = startSite(({ method, body }) => reply(200, {}, `${method} ${body.length}`));
    await using safe = startSite(() => reply(200, {}, "secure"), { tls });
    const host = `localhost:${site.port}`;
    const safeHost = `localhost:${safe.port}`;
    const allow = [{ host, named: true }, { host: safeHost, named: true }];
    equal(await net.port.ask("proxyOpen", { id: "s", path: socket, allow }), null);
    const script = `${folder}/server.ts`;
    const tries: Readonly<Record<string, string>> = {
      plain:
        `(await fetch("http://${host}/a", { method: "POST", body: "x".repeat(200_000) })).text()`,
      secure: `(await fetch("https://${safeHost}/b")).text()`,
      elsewhere: `(await fetch("http://localhost:8099/")).status`,
      metadata: `(await fetch("http://169.254.169.254/latest/")).status`,
      past:
        `fetch("http://${host}/", { client: Deno.createHttpClient({ proxy: { url: "http://127.0.0.1:9" } }) })`,
      direct: `Deno.connect({ hostname: "127.0.0.1", port: ${site.port} })`,
      name: `Deno.resolveDns("example.org", "A")`,
    };
    await Deno.writeTextFile(
      script,
      Object.entries(tries).map(([name, code]) =>
        `try { console.log("${name}", await (${code})); } catch { console.log("${name}", "failed"); }`
      ).join("\n"),
    );
    const { stdout, stderr } = await inNamespace(socket, script);
    const text = new TextDecoder();
    deepEqual(text.decode(stdout).trim().split("\n"), [
      ...["plain POST 200000", "secure secure", "elsewhere 403", "metadata 403"],
      ...["past failed", "direct failed", "name failed"],
    ], text.decode(stderr));
    deepEqual(told.map(({ host, ok }) => [host, ok]), [
      ...[[host, true], [safeHost, true], ["localhost:8099", false], ["169.254.169.254:80", false]],
    ]);
    equal(await net.port.ask("proxyClose", { id: "s" }), null);
    throws(() => Deno.statSync(socket), Deno.errors.NotFound);
  },
});

Deno.test("a net service listens at the paths that it was given, and at no other", async () => {
  await using made = await world();
  const { folder, file } = made;
  await using net = startNet(file, { sockets: [`${folder}/p-0`] });
  const open = (path: string): Promise<Json> =>
    net.port.ask("proxyOpen", { id: path, path, allow: [] });
  await rejects(open(`${folder}/p-1`), isFault("unavailable"));
  await rejects(open(`${folder}/../p-0`), isFault("unavailable"));
  await open(`${folder}/p-0`);
  using client = await connectTo(`${folder}/p-0`);
  await client.write("GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n");
  match(await client.rest(), /^HTTP\/1\.1 403 /);
});

Deno.test("a reader that is slow holds the sender up, in a stream and at a proxy: memory stays small", async () => {
  await using made = await world();
  const { folder, file } = made;
  const socket = `${folder}/p-0`;
  let written = 0;
  await using site = startSite(({ target }) =>
    target === "/small" ? reply(200, {}, "small") : async (write, gone) => {
      await write("HTTP/1.1 200 OK\r\n\r\n");
      const hung = gone.then(() => {
        throw new Error("the other side hung up");
      });
      hung.catch(() => undefined);
      for (let n = 0; n < 4_096; n++) {
        await Promise.race([write(CHUNK), hung]);
        written += CHUNK.length;
      }
    }
  );
  await using net = startNet(file, { sockets: [socket] });
  const host = `127.0.0.1:${site.port}`;
  const allow = [{ origin: site.origin, named: true }];
  const ask = {
    ...{ method: "GET", headers: {}, allow, requestBytes: 0, responseBytes: 1e9 },
    ...{ headMs: 10_000, idleMs: 10_000, redirects: 0, deadlineMs: 10_000 },
  };
  // A round trip to somewhere else is time in which the sender could run ahead.
  const pause = () => net.port.ask("fetch", { ...ask, id: "f", url: `${site.origin}/small` });
  await pause();
  const before = heldBytes(net.pid);
  await net.port.ask("stream", { ...ask, id: "big", url: `${site.origin}/big` });
  let read = 0;
  let ahead = 0;
  for (let n = 0; n < 100; n++) {
    const { bytes } = await net.port.ask("streamRead", { id: "big" }) as { bytes: string };
    read += atob(bytes).length;
    await pause();
    ahead = Math.max(ahead, written - read);
  }
  equal(ahead < 24 * 1024 * 1024, true, `${ahead} bytes ahead`);
  net.port.tell("cancel", { id: "big" });
  await site.hungUp;

  await net.port.ask("proxyOpen", { id: "p", path: socket, allow: [{ host, named: true }] });
  using client = await connectTo(socket);
  written = 0;
  await client.write(`GET http://${host}/big HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  for (let n = 0; n < 50; n++) {
    await client.read();
    await pause();
  }
  equal(written < 24 * 1024 * 1024, true, `${written} bytes ahead`);
  const grown = heldBytes(net.pid) - before;
  equal(grown < 96 * 1024 * 1024, true, `${grown} bytes more`);
});
