import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, type FaultCode } from "../../../contracts/base/mod.ts";
import { type McpOAuth, McpServerName } from "../../../contracts/exchange/mod.ts";
import { freshCommand } from "../../../cli/_fixture/mcp_command.ts";
import { mcpSecret, parseMcpSecretName, readMcpSecret } from "../../../config/secret/mcp_place.ts";
import {
  forgetMcpSecrets,
  keepMcpOAuth,
  keepMcpSecret,
  mcpSecretsOf,
  readMcpLoan,
} from "./secrets.ts";
import { loadSecrets, openSecretKeep } from "../../../config/secret/keep.ts";
import { registryOf } from "../../../cli/mcp/work.ts";
import { runCommandLine } from "../../../cli/_fixture/world.ts";

const GITHUB = McpServerName.parse("github"), OTHER = McpServerName.parse("other");
const OAUTH: McpOAuth = {
  ...{ tokenEndpoint: "https://a.org/token", clientId: "remit", resource: "https://a.org/mcp" },
  ...{ accessToken: "hush-access", refreshToken: "hush-refresh", expiresAt: 5 },
};
const fault = (code: FaultCode, said: RegExp) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.match(error.message, said);
  assert.doesNotMatch(error.message, /hush/);
  return error.code === code;
};

Deno.test("a server is lent its own secrets, each in its place, and no other use is", () => {
  const command = freshCommand();
  const keep = openSecretKeep(command.powers.disk, command.places);
  const ordinary = {
    ...{ name: "tracker", origin: "https://api.example.org", header: "authorization" },
    ...{ prefix: "Bearer ", value: "hush-ordinary" },
  };
  keep.set(ordinary);
  const digest = keep.digest();
  assert.equal(
    keepMcpSecret(registryOf(command), GITHUB, { env: "GITHUB_TOKEN" }, "hush-one"),
    "added",
  );
  assert.equal(
    keepMcpSecret(registryOf(command), GITHUB, { env: "GITHUB_TOKEN" }, "hush-two"),
    "replaced",
  );
  keepMcpSecret(registryOf(command), GITHUB, { header: "x-api-key" }, "hush key");
  keepMcpSecret(registryOf(command), OTHER, { env: "GITHUB_TOKEN" }, "line one\nhush line two");
  keepMcpOAuth(registryOf(command), GITHUB, OAUTH);
  assert.deepEqual(readMcpLoan(registryOf(command), GITHUB), {
    ...{
      server: "github",
      env: { GITHUB_TOKEN: "hush-two" },
      headers: { "x-api-key": "hush key" },
    },
    oauth: OAUTH,
  });
  assert.deepEqual(readMcpLoan(registryOf(command), OTHER).env, {
    GITHUB_TOKEN: "line one\nhush line two",
  });
  // The kernel's own secrets are what they were, so that no other kernel is needed.
  assert.deepEqual(loadSecrets(command.powers.disk, command.places), [ordinary]);
  assert.equal(openSecretKeep(command.powers.disk, command.places).digest(), digest);
  assert.doesNotMatch(Deno.readTextFileSync(join(command.places.person, "secrets.json")), /hush/);
  forgetMcpSecrets(registryOf(command), GITHUB);
  assert.deepEqual(mcpSecretsOf(registryOf(command), GITHUB), []);
  assert.deepEqual(mcpSecretsOf(registryOf(command), OTHER), [{ env: "GITHUB_TOKEN" }]);
  assert.equal(loadSecrets(command.powers.disk, command.places).length, 1);
});

Deno.test("mallory moves a sealed value to another server or another variable: it does not open", () => {
  for (const [from, to] of [["mcp:github", "mcp:other"], ["GITHUB_TOKEN", "OTHER_NAME"]]) {
    const command = freshCommand();
    keepMcpSecret(registryOf(command), GITHUB, { env: "GITHUB_TOKEN" }, "hush-one");
    const path = join(command.places.person, "secrets.json");
    Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replaceAll(from ?? "", to ?? ""));
    const server = from === "mcp:github" ? OTHER : GITHUB;
    assert.throws(
      () => readMcpLoan(registryOf(command), server),
      fault("invalidInput", /was changed/),
    );
  }
});

Deno.test("a place is written in one way, and variables that steer programs are none", () => {
  const bound = mcpSecret(GITHUB, { env: "A_B" });
  assert.deepEqual(readMcpSecret(bound), { server: "github", place: { env: "A_B" } });
  for (
    const wrong of [
      ...[{ ...bound, origin: "mcp:other" }, { ...bound, prefix: "Bearer " }],
      ...[{ ...bound, header: "env:PATH", name: "mcp:github/env:PATH" }],
      ...[{ ...bound, header: "env:LD_PRELOAD", name: "mcp:github/env:LD_PRELOAD" }],
      ...[{ ...bound, header: "header:X-Y", name: "mcp:github/header:X-Y" }],
      ...[{ ...bound, header: "oauth:x", name: "mcp:github/oauth:x" }],
      ...[{ ...bound, origin: "https://a.org", header: "authorization" }],
    ]
  ) assert.equal(readMcpSecret(wrong), undefined, JSON.stringify(wrong));
  assert.equal(parseMcpSecretName("mcp:github/oauth"), "mcp:github/oauth");
  assert.throws(
    () => parseMcpSecretName("mcp:github/env:A/B"),
    fault("invalidInput", /mcp:SERVER/),
  );
});

Deno.test("values that no server can be handed are refused, and not repeated", () => {
  const command = freshCommand();
  const keep = (place: { env: string } | { header: string }, value: string): void =>
    void keepMcpSecret(registryOf(command), GITHUB, place, value);
  for (const value of ["", "hush\0", "h".repeat(65_537)]) {
    assert.throws(() => keep({ env: "A" }, value), fault("invalidInput", /1 to 65536/));
  }
  for (const value of ["hush\nX: y", "hüsh"]) {
    assert.throws(() => keep({ header: "x-a" }, value), fault("invalidInput", /header/));
  }
  for (const place of [{ env: "PATH" }, { env: "HTTPS_PROXY" }, { env: "a b" }, { header: "X" }]) {
    assert.throws(() => keep(place, "hush"), fault("invalidInput", /no such variable or header/));
  }
  const loose = { ...OAUTH, tokenEndpoint: "file:///x" };
  assert.throws(
    () => keepMcpOAuth(registryOf(command), GITHUB, loose),
    fault("invalidInput", /form/),
  );
});

Deno.test("remit secret list names an imported server's secrets, and remove takes one away", async () => {
  const command = freshCommand();
  keepMcpSecret(registryOf(command), GITHUB, { env: "GITHUB_TOKEN" }, "hush-one");
  const { powers } = command;
  assert.equal(await runCommandLine(["secret", "list"], powers), 0);
  assert.match(
    powers.screen.outs.join(""),
    /mcp:github\/env:GITHUB_TOKEN +mcp:github +env:GITHUB_TOKEN/,
  );
  assert.equal(
    await runCommandLine(["secret", "remove", "mcp:github/env:GITHUB_TOKEN"], powers),
    0,
  );
  assert.deepEqual(mcpSecretsOf(registryOf(command), GITHUB), []);
  // It is bound to a server by "remit mcp", not by hand.
  const args = ["secret", "set", "x", "--origin", "mcp:github", "--header", "env:A"];
  assert.equal(await runCommandLine(args, powers), 2);
  assert.doesNotMatch([...powers.screen.outs, ...powers.screen.lines].join(""), /hush/);
});
