import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { HAS_BWRAP, realPowers } from "../../_fixture/small_children.ts";
import { EVAL_SERVER, makeMcpWorld, type McpWorld } from "../../_fixture/mcp_world.ts";
import { type LookAtMcp, makeMcpLook } from "./look.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_BWRAP, fn });
}

const looks = ({ children, serve }: McpWorld): LookAtMcp =>
  makeMcpLook({ children, serve, powers: realPowers(), copies: () => Promise.resolve(undefined) });

test("a look at a server that wants nothing says what it says of itself, and leaves nothing behind", async () => {
  await using mcp = await makeMcpWorld();
  const look = await looks(mcp)(await mcp.server(EVAL_SERVER), {
    observe: true,
    deadlineMs: 600_000,
  });
  deepEqual(look.words?.tools.map(({ name }) => name), ["eval", "look"]);
  ok((look.readyMs ?? 0) > 0);
  deepEqual(look.accesses, []);
  equal(look.ended, undefined);
});

test("a server that ends at each refusal is started again with something empty there, until it has asked for all", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp;
  const wants = `
    const { API_KEY } = Deno.env.toObject(); Deno.env.get("API_KEY");
    for (const name of Deno.readDirSync("${dir}/desk")) throw new Error("it is not empty: " + name.name);
    try { Deno.readTextFileSync("${dir}/settings.json") } catch (e) { if (e.name === "NotCapable") throw e }
    try { await fetch("https://api.example.org/v1") } catch (e) { if (/only looked at/.test(e.message)) throw e }
    try { new Deno.Command("/deno").outputSync() } catch {}
  `;
  const server = await mcp.server(wants + EVAL_SERVER, {
    grants: { read: [`${dir}/desk`], write: [], net: [] },
  });
  const look = await looks(mcp)(server, { observe: true, deadlineMs: 600_000 });
  equal(look.words?.server.name, "hostile", look.errors);
  const asked = look.accesses.filter(({ allowed }) => !allowed)
    .map(({ permission, value }) => `${permission} ${value}`);
  for (
    const each of [
      `read ${dir}/desk`,
      `read ${dir}/settings.json`,
      "net api.example.org:443",
      "run null",
    ]
  ) ok(asked.includes(each), `${each} is not in ${asked}`);
  ok(look.accesses.some(({ permission, value }) => permission === "env" && value === "API_KEY"));
});

test("a look without observing gives what was granted, and still writes nothing", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp;
  const wants = `
    if (Deno.readTextFileSync("${dir}/desk/notes/a.md") !== "alpha\\n") throw new Error("not there");
    try { Deno.writeTextFileSync("${dir}/desk/b", "") } catch {}
  `;
  const server = await mcp.server(wants + EVAL_SERVER, {
    grants: { read: [], write: [`${dir}/desk`], net: [] },
  });
  const look = await looks(mcp)(server, { observe: false, deadlineMs: 600_000 });
  equal(look.words?.server.name, "hostile", look.errors);
  await rejects(Deno.stat(`${dir}/desk/b`), Deno.errors.NotFound);
});

test("while a server is looked at Deno keeps what it compiled, the server keeps nothing, and a task changes nothing of it", async () => {
  await using mcp = await makeMcpWorld();
  const warm = `${mcp.dir}/warm/hostile-1`;
  await Deno.mkdir(`${warm}/npm`, { recursive: true });
  for (const name of ["deno.lock", "location_data"]) {
    await Deno.writeTextFile(`${warm}/${name}`, "");
  }
  const tries = `
    const tried = [];
    for (const f of [() => Deno.writeTextFileSync("/.remit-inside/dd/x", "kept"), () => localStorage.setItem("x", "kept"),
      () => Deno.writeTextFileSync("/.remit-inside/dd/npm/x", "kept"), () => Deno.removeSync("/.remit-inside/dd/v8_code_cache_v2")]) {
      try { f(); tried.push("done") } catch (e) { tried.push(e.name) } }
    globalThis.tried = tried;`;
  const server = await mcp.server(tries + EVAL_SERVER);
  const look = looks(mcp);
  for (let i = 0; i < 2; i++) await look(server, { observe: true, deadlineMs: 600_000 });
  const kept = [...Deno.readDirSync(warm)].map(({ name }) => name);
  ok(kept.some((name) => name.startsWith("v8_code_cache")), `${kept}`);
  ok(!kept.includes("x"));
  const before = state(warm);
  match(
    await mcp.run(server, "return tried.join()"),
    /^NotCapable,(?!done)\w+,NotCapable,NotCapable$/,
  );
  equal(state(warm), before);
});

/** Names, sizes and times of what lies in a folder. */
function state(folder: string): string {
  return [...Deno.readDirSync(folder)].map(({ name }) => {
    const { size, mtime } = Deno.statSync(`${folder}/${name}`);
    return `${name} ${size} ${mtime?.getTime()}`;
  }).sort().join("\n");
}

test("a look at one that ends, speaks nonsense or never answers says so, and ends it", async () => {
  await using mcp = await makeMcpWorld();
  const ends = await mcp.server(`console.error("no key"); Deno.exit(3)`);
  const look = await looks(mcp)(ends, { observe: true, deadlineMs: 600_000 });
  match(look.ended ?? "", /exit code 3/);
  equal(look.errors, "no key\n");
  await Deno.remove(`${mcp.dir}/trees`, { recursive: true });
  const silent = await mcp.server(`setInterval(() => {}, 1000)`);
  match((await looks(mcp)(silent, { observe: true, deadlineMs: 700 })).ended ?? "", /over|look/);
});
