/**
 * alice grants mallory's server her folder. Her keys lie in it, under their own names, and links of other names lead to
 * them. Without these masks whoever may read the folder reads the keys through such a link, or by their names.
 */
import assert from "node:assert/strict";
import { pythonAttack } from "./_python.ts";
import { attack } from "../_mcp.ts";
import { EVAL_SERVER, makeMcpWorld } from "../../../kernel/_fixture/mcp_world.ts";
import { NO_GRANTS } from "../../../contracts/exchange/mod.ts";

const KEY = "alice's key";
/** What the never-list covers, in spellings that file systems and readers take for the same. */
const KEYS = [
  ...[
    "keys.env",
    ".ENV.local",
    ".e\u200bnv",
    "ＩＤ_ＲＳＡ",
    "deep/er/server.key",
    "tls.pem. ",
    "a[1].pem",
  ],
  ...[".ssh/config", "deep/.AWS/credentials", ".kube./config"],
];
const PLAIN = ["plan.md", "environment.md", "deep/keyboard.txt", "ümlaut.md", "ssh/notes"];

/** alice's folder: each key with a link to it and a link to its folder, and what is nobody's secret. */
async function furnish(desk: string): Promise<readonly string[]> {
  for (const path of [...KEYS, ...PLAIN]) {
    await Deno.mkdir(`${desk}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${desk}/${path}`, KEYS.includes(path) ? KEY : "plain");
  }
  await Deno.mkdir(`${desk}/links`);
  for (const [at, path] of KEYS.entries()) {
    await Deno.symlink(`../${path}`, `${desk}/links/${at}.md`);
    await Deno.symlink(`${desk}/${path}`, `${desk}/links/whole-${at}.md`);
  }
  await Deno.symlink("../.ssh", `${desk}/links/door`);
  return KEYS.flatMap((path, at) => [path, `links/${at}.md`, `links/whole-${at}.md`]).concat(
    "links/door/config",
  ).map((path) => `${desk}/${path}`);
}

for (const right of ["read", "write"] as const) {
  pythonAttack(
    `mallory's program with a ${right} grant reads no never-listed file, by its name or through a link`,
    async ({ desk, tries }) => {
      const roads = await furnish(desk);
      const said = await tries(
        { [right]: [desk] },
        `
got = []
for path in ${JSON.stringify(roads)}:
    try: got.append([path, open(path).read()])
    except OSError: pass
said["got"] = got
said["plain"] = [open("${desk}/" + path).read() for path in ${JSON.stringify(PLAIN)}]
said["in"] = os.listdir("${desk}/.ssh") + os.listdir("${desk}/links/door")
said["put"] = tried(lambda: open("${desk}/.ssh/authorized_keys", "w"))
said["over"] = tried(lambda: open("${desk}/links/0.md", "w"))
said["away"] = tried(lambda: os.rename("${desk}/keys.env", "${desk}/mine.md"))`,
      );
      const { away, ...rest } = said;
      assert.deepEqual(rest, {
        ...{ got: [], plain: PLAIN.map(() => "plain"), in: [] },
        ...{ put: "EROFS", over: "EACCES" },
      });
      // A name under which something is mounted is moved by nobody in that namespace.
      assert.match(away ?? "", /EBUSY|EROFS/);
      for (const path of KEYS) assert.equal(await Deno.readTextFile(`${desk}/${path}`), KEY, path);
    },
  );
}

attack(
  "mallory's JavaScript server reads no never-listed file through a link of another name",
  async () => {
    await using mcp = await makeMcpWorld();
    const desk = `${mcp.dir}/desk`;
    const roads = await furnish(desk);
    const server = await mcp.server(EVAL_SERVER, { grants: { ...NO_GRANTS, read: [desk] } });
    const said = await mcp.run(
      server,
      `const got = [];
      for (const path of ${JSON.stringify(roads)}) {
        try { got.push([path, Deno.readTextFileSync(path)]); } catch (e) { if (!/Denied|NotCapable|NotFound/.test(e.name)) throw e; }
      }
      return JSON.stringify([got, Deno.readTextFileSync("${desk}/plan.md")]);`,
    );
    assert.deepEqual(JSON.parse(said), [[], "plain"]);
  },
);

pythonAttack(
  "no server is started with a never-listed path as its grant, and what would do is said",
  async ({ desk, tries }) => {
    await furnish(desk);
    for (const path of [".ssh", ".ssh/config", "keys.env"]) {
      await assert.rejects(
        tries({ read: [`${desk}/${path}`] }, "pass"),
        /Cannot grant ".*" to a server: it is on the never-list .*; take it back with --drop/,
      );
    }
  },
);
