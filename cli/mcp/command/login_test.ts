import assert from "node:assert/strict";
import { bundled } from "../../../port/_fixture/bundled_child.ts";
import { Digest } from "../../../contracts/authority/mod.ts";
import type { Json } from "../../../contracts/base/mod.ts";
import { type ImportedServer, McpServerName } from "../../../contracts/exchange/mod.ts";
import { fakeKeyboard, fakePowers, runCommandLine } from "../../_fixture/world.ts";
import { browse, netLink, startAuthWorld } from "../../_fixture/mcp_oauth.ts";
import type { Powers } from "../../powers.ts";
import { freshServer, openMcpLock } from "../../../bridges/mcp/registry/lock.ts";
import type { LoginPowers } from "../../../bridges/mcp/registry/login/login.ts";
import { makeLoginPowers } from "../../../bridges/mcp/registry/login/login_powers.ts";
import { readMcpLoan } from "../../../bridges/mcp/registry/secrets.ts";
import { placesOf, preparePlaces } from "../../../launch/disk/places.ts";

const NAME = McpServerName.parse("tickets");

/** A login without a process whose net service runs within the test. */
const inside: LoginPowers = Object.freeze({
  ...makeLoginPowers(() => Promise.reject(new Error("no process"))),
  start: () => Promise.resolve({ link: netLink(), close: () => Promise.resolve() }),
});

/** Puts a server into remit.lock. */
function known(powers: Powers, launch: ImportedServer["launch"]): void {
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  openMcpLock({ disk: powers.disk, store: powers.mcpStore, places }).add(
    freshServer(NAME, { launch, packages: [], notes: [] }, {
      ...{ from: { kind: "url", text: "x" } },
      addedAt: 1,
    }),
  );
}

/** A person who opens what is printed. */
function following(powers: ReturnType<typeof fakePowers>): Powers {
  const { screen } = powers;
  return {
    ...powers,
    screen: {
      ...screen,
      say(line: string): void {
        screen.say(line);
        if (/^http:\/\/\S+\/authorize\?/.test(line)) void browse(line);
      },
    },
  };
}

Deno.test("alice logs in by the command: shown first, then asked, then kept and lent; no token is ever shown", async () => {
  await using world = startAuthWorld();
  const lent: Json[] = [];
  const keyboard = fakeKeyboard(["y"]);
  const powers = fakePowers({
    keyboard,
    login: inside,
    ops: {
      mcpLend: (body) => {
        lent.push(body);
        return null;
      },
    },
  });
  known(powers, { kind: "http", url: `${world.server}/mcp` });
  assert.equal(await runCommandLine(["mcp", "login", "tickets"], following(powers)), 0);
  const { lines, outs } = powers.screen;
  const asked = lines.findIndex((line) => line.includes("tickets:read, tickets:write"));
  const opened = lines.findIndex((line) => line.includes("/authorize?"));
  assert.ok(asked >= 0 && opened > asked, lines.join("\n"));
  assert.ok(lines.some((line) => line.includes(`log in at:  ${world.auth}`)));
  assert.match(outs.join(""), /^logged in at tickets; it may: tickets:read tickets:write\n$/);
  assert.doesNotMatch([...lines, ...outs].join("\n"), /access-1|refresh-1|code-1/);
  const places = placesOf(powers.environment, undefined);
  const { oauth } = readMcpLoan({ disk: powers.disk, places }, NAME);
  assert.deepEqual([oauth?.accessToken, oauth?.refreshToken], ["access-1", "refresh-1"]);
  assert.deepEqual(lent.map((each) => Object(each)["oauth"]["accessToken"]), ["access-1"]);
  const sealed = powers.disk.read(`${places.person}/secrets.json`) ?? new Uint8Array();
  assert.doesNotMatch(new TextDecoder().decode(sealed), /access-1|refresh-1/);
});

Deno.test("where nobody can agree, or alice does not, nothing is kept; --yes still shows what is asked for", async () => {
  await using world = startAuthWorld();
  const alone = fakePowers({ login: inside });
  known(alone, { kind: "http", url: `${world.server}/mcp` });
  assert.notEqual(await runCommandLine(["mcp", "login", "tickets"], alone), 0);
  assert.deepEqual(
    readMcpLoan({ disk: alone.disk, places: placesOf(alone.environment, undefined) }, NAME),
    { server: NAME, env: {}, headers: {} },
  );
  const no = fakePowers({ login: inside, keyboard: fakeKeyboard([""]) });
  known(no, { kind: "http", url: `${world.server}/mcp` });
  assert.notEqual(await runCommandLine(["mcp", "login", "tickets"], no), 0);
  assert.deepEqual(world.registered, []);
  const yes = fakePowers({ login: inside, ops: { mcpLend: () => null } });
  known(yes, { kind: "http", url: `${world.server}/mcp` });
  const argv = ["mcp", "login", "tickets", "--yes", "--json", "--scope", "tickets:read"];
  assert.equal(await runCommandLine(argv, following(yes)), 0);
  assert.ok(yes.screen.lines.some((line) => line.includes("that may:   tickets:read")));
  assert.deepEqual(JSON.parse(yes.screen.outs.join("")), {
    server: "tickets",
    scope: "tickets:read",
    expiresAt: 1_700_003_600_000,
    renews: true,
  });
});

Deno.test("only a server at a URL has a login, and only one that a token can reach unread", async () => {
  const launches: readonly ImportedServer["launch"][] = [
    { kind: "http", url: "http://mcp.example.org/mcp" },
    {
      ...{ kind: "program", program: "/usr/bin/true", args: [], folders: [] },
      sha256: Digest.parse("0".repeat(64)),
    },
  ];
  for (const launch of launches) {
    const powers = fakePowers({ login: inside });
    known(powers, launch);
    assert.notEqual(await runCommandLine(["mcp", "login", "tickets", "--yes"], powers), 0);
    assert.match(powers.screen.lines.join("\n"), /not https|program of this machine/);
  }
  const flags = [["--client-secret"], ["--scope", 'a"b'], ["--port", "x"], ["--client-id", "a b"]];
  const powers = fakePowers({ login: inside });
  known(powers, { kind: "http", url: "https://mcp.example.org/mcp" });
  for (const wrong of flags) {
    assert.equal(await runCommandLine(["mcp", "login", "tickets", ...wrong], powers), 2);
  }
});

Deno.test("a login through a real net service process, which ends with it", async () => {
  await using built = await bundled(new URL("../../../net/main.ts", import.meta.url));
  await using world = startAuthWorld();
  let ended = 0;
  const real = makeLoginPowers(() =>
    Promise.resolve({
      program: Deno.execPath(),
      args: ["run", "--no-prompt", "--no-config", "--allow-net", "--ignore-env", built.file],
      env: { NO_COLOR: "1" },
    })
  );
  const login: LoginPowers = {
    ...real,
    start: async () => {
      const { link, close } = await real.start();
      return {
        link,
        close: async () => {
          await close();
          ended++;
        },
      };
    },
  };
  const powers = fakePowers({ login, ops: { mcpLend: () => null } });
  known(powers, { kind: "http", url: `${world.server}/mcp` });
  assert.equal(await runCommandLine(["mcp", "login", "tickets", "--yes"], following(powers)), 0);
  assert.equal(ended, 1);
  assert.ok(world.seen.includes("POST /token"));
});
