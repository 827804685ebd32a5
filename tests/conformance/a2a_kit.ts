/**
 * Runs the A2A project's own kit (a2aproject/a2a-tck, branch 1.0-dev) against `remit serve`: real kernel, service, gateway
 * and net service, with a scripted model that does what the ids of the kit's messages say (a2a_kit.yaml), and a person who
 * allows whatever is asked. The kit knows no tokens: a proxy of ours adds the peer's and passes everything else on.
 *
 * `deno run -A tests/conformance/a2a_kit.ts KIT PYTHON [PYTEST-ARGS…]`, where KIT is the kit's folder and PYTHON an
 * interpreter that has its packages.
 */
import { startProxy } from "./_authorizing_proxy.ts";
import { onMachine } from "../fake/remit.ts";
import { configure, startService } from "../fake/service.ts";

const [kit = "", python = "python3", ...more] = Deno.args;
const here = new URL(".", import.meta.url).pathname;

/** The kit listens for deliveries at any port; remit.yaml names the one that it is given here. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.transport === "tcp" ? listener.addr.port : 0;
}

await onMachine(async (machine) => {
  const proxy = await startProxy();
  const hook = freePort();
  await configure(
    machine,
    [
      `model: scripted:${here}a2a_kit.yaml`,
      `serve: { url: "http://${proxy.address}", hosts: ["${proxy.address}"] }`,
      "peers:",
      "  kit:",
      "    accept: auto",
      `    push: ["https://example.com", "http://localhost:${hook}"]`,
      "    open: 10000",
      "    perDay: 1000000",
      "    perMinute: 1000000",
      "",
    ].join("\n"),
  );
  const made = await machine.json(["a2a", "token", "create", "kit"]) as { token: string };
  // Its card names the proxy, and so does what it says of itself: its own address is chosen here.
  const address = `127.0.0.1:${freePort()}`;
  const service = await startService(machine, [], address);
  proxy.lead({ address, token: made.token });

  let over = false;
  const answering = (async (): Promise<void> => {
    while (!over) {
      const asked = await machine.json(["questions"]).catch(() => []) as { id: string }[];
      for (const { id } of asked) await machine.remit(["answer", id, "allow"]);
      // TIMER: the person of this run looks for questions again and again; nothing here is measured.
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();

  const plugin = await machine.write(
    "plugin/remit_kit_port.py",
    [
      "import tck.webhook.server as server",
      "plain = server.HTTPServer",
      `server.HTTPServer = lambda address, handler: plain((address[0], ${hook}), handler)`,
      "",
    ].join("\n"),
  );
  const child = new Deno.Command(python, {
    args: [
      ...["-m", "pytest", "tests/compatibility", "-q", "--tb=short", "-rsfxE"],
      ...["-p", "no:cacheprovider", "-p", "remit_kit_port"],
      ...[`--sut-host=http://${proxy.address}`, ...more],
    ],
    cwd: kit,
    env: {
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONPATH: `${plugin.slice(0, plugin.lastIndexOf("/"))}:${kit}`,
    },
  }).spawn();
  const { code } = await child.status;
  over = true;
  await answering;
  service.kill("SIGTERM");
  await service.ended;
  Deno.stderr.writeSync(new TextEncoder().encode(service.said()));
  await proxy.close();
  Deno.exitCode = code;
});
