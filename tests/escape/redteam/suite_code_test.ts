/**
 * mallory published a suite. Its code would read carol's keys and tell them in an answer, leave a file that runs later,
 * speak to a socket of hers, or call home.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { startDriver } from "../../../redteam/driver_powers.ts";
import { needs } from "../../needs.ts";

const TRIES = `
import json, os, socket, sys
def tried(what):
    try:
        what()
        return "done"
    except Exception as error:
        return type(error).__name__
def connect(family, to):
    s = socket.socket(family)
    s.settimeout(2)
    s.connect(to)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({
        "own": tried(lambda: open(__file__).read()),
        "key": tried(lambda: open(asked["key"]).read()),
        "write": tried(lambda: open(sys.argv[1] + "/left.py", "w")),
        "elsewhere": tried(lambda: open(asked["key"] + ".left", "w")),
        "socket": tried(lambda: connect(socket.AF_UNIX, asked["socket"])),
        "network": tried(lambda: connect(socket.AF_INET, ("127.0.0.1", asked["port"]))),
        "secret": os.environ.get("CAROL_TOKEN", "none"),
    }), flush=True)
`;

Deno.test("a suite's own code reads nothing of the person's, writes nothing, and reaches nobody", async () => {
  if (!needs("bwrap") || !needs("python3")) return;
  const home = Deno.makeTempDirSync({ prefix: "remit-test-" });
  const path = (name: string): string => join(home, name);
  Deno.mkdirSync(path("suite"));
  Deno.writeTextFileSync(path("suite_driver.py"), TRIES);
  Deno.writeTextFileSync(path("key"), "carol's key");
  using unix = Deno.listen({ transport: "unix", path: path("agent.sock") });
  using tcp = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  Deno.env.set("CAROL_TOKEN", "hers");
  const driver = startDriver(path("suite_driver.py"), path("suite"));
  try {
    const said = await driver.ask({
      ...{ key: path("key"), socket: path("agent.sock"), port: tcp.addr.port },
    });
    assert.deepEqual(said, {
      ...{ own: "done", key: "FileNotFoundError", write: "OSError" },
      // Into the root of its namespace, which is gone with it.
      ...{ elsewhere: "done", socket: "FileNotFoundError" },
      ...{ network: "ConnectionRefusedError", secret: "none" },
    });
    assert.deepEqual(
      Array.from(Deno.readDirSync(home), ({ name }) => name).sort(),
      ["agent.sock", "key", "suite", "suite_driver.py"],
    );
    assert.equal(unix.addr.transport, "unix");
  } finally {
    await driver.close();
    Deno.env.delete("CAROL_TOKEN");
    Deno.removeSync(home, { recursive: true });
  }
});

Deno.test("code that ends, or says what is no JSON, is a fault and no hang", async () => {
  if (!needs("bwrap") || !needs("python3")) return;
  const home = Deno.makeTempDirSync({ prefix: "remit-test-" });
  try {
    for (const [text, says] of [["", /it ended/], ["print('{', flush=True)", /JSON/]] as const) {
      Deno.writeTextFileSync(join(home, "a.py"), text);
      const driver = startDriver(join(home, "a.py"), home);
      await assert.rejects(driver.ask({}), says);
      await driver.close();
    }
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
});
