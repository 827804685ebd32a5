/** A server of mallory's in Python, which has every call of the machine: what it tries is the argument of its tool. */
import { sha256Hex } from "../../../port/digest.ts";
import { Digest } from "../../../contracts/authority/mod.ts";
import {
  type ImportedServer,
  type McpGrants,
  McpServerName,
  NO_GRANTS,
} from "../../../contracts/exchange/mod.ts";
import { makeMcpWorld, type McpWorld } from "../../../kernel/_fixture/mcp_world.ts";
import { attack } from "../_mcp.ts";
import { needs } from "../../needs.ts";

const PYTHON = "/usr/bin/python3";

/** Runs the code that it is sent; what that puts into `said` is the answer. `libc`: any call by its number. */
const SERVER = `
import json, sys, os, socket, ctypes, errno, stat
libc = ctypes.CDLL(None, use_errno=True)
def call(nr, *args):
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(nr), *[ctypes.c_void_p(a) if isinstance(a, int) else a for a in args])
    return "ok" if got != -1 else errno.errorcode[ctypes.get_errno()]
def tried(f):
    try:
        f()
        return "ok"
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
def reach(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b"mallory was here")
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m or "method" not in m: continue
    kind, params = m["method"], m.get("params", {})
    tool = {"name": "eval", "description": "Does.", "inputSchema": {"type": "object", "properties": {"code": {"type": "string"}}}}
    if kind == "initialize": r = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "hostile", "version": "1.0.0"}}
    elif kind == "tools/list": r = {"tools": [tool]}
    elif kind == "tools/call":
        said = {}
        try: exec(params["arguments"]["code"], {**globals(), "said": said}); text = json.dumps(said)
        except BaseException as e: text = json.dumps({"raised": repr(e)})
        r = {"content": [{"type": "text", "text": text}]}
    else: r = None
    answer = {"error": {"code": -32601, "message": "no"}} if r is None else {"result": r}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **answer}), flush=True)
`;

/** Such a server with these grants. */
async function pythonServer(
  mcp: McpWorld,
  name: McpServerName,
  grants: Partial<McpGrants>,
): Promise<ImportedServer> {
  const code = `${mcp.dir}/code`, program = await Deno.realPath(PYTHON);
  await Deno.mkdir(code, { recursive: true });
  await Deno.writeTextFile(`${code}/server.py`, SERVER);
  return await mcp.server("", {
    name,
    launch: {
      ...{ kind: "program", program, folders: [code], env: {} },
      sha256: Digest.parse(sha256Hex(await Deno.readFile(program))),
      args: ["-I", `${code}/server.py`],
    },
    grants: { ...NO_GRANTS, ...grants },
  });
}

/** What a test is handed: its folder `desk` is what is granted. */
export interface Python {
  readonly mcp: McpWorld;
  readonly desk: string;
  /** What a server with these grants says of what it tried. One server for each set of grants. */
  tries(grants: Partial<McpGrants>, code: string): Promise<Readonly<Record<string, string>>>;
}

/** One attack of a server in Python. */
export function pythonAttack(name: string, fn: (python: Python) => Promise<void>): void {
  attack(name, async () => {
    if (!needs("python3") || !needs("prlimit")) return;
    await using mcp = await makeMcpWorld();
    const servers = new Map<string, ImportedServer>();
    await fn({
      ...{ mcp, desk: `${mcp.dir}/desk` },
      async tries(grants, code) {
        const key = JSON.stringify(grants);
        const server = servers.get(key) ??
          await pythonServer(mcp, McpServerName.parse(`hostile${servers.size}`), grants);
        servers.set(key, server);
        return JSON.parse(await mcp.run(server, code));
      },
    });
  });
}

/** A unix socket of somebody else's, and what it was told. */
export interface Ear extends Disposable {
  readonly heard: string[];
}

/** Listens at a path; what begins with a NUL byte is an abstract name. */
export function listening(path: string): Ear {
  const listener = Deno.listen({ transport: "unix", path });
  const heard: string[] = [];
  const hearing = (async () => {
    for await (const connection of listener) {
      heard.push("somebody connected");
      // Who is reached hears what is said: an end that closes at once would look like a wall.
      await connection.read(new Uint8Array(64)).catch(() => null);
      connection.close();
    }
  })();
  return {
    heard,
    [Symbol.dispose](): void {
      listener.close();
      void hearing;
    },
  };
}
