import assert from "node:assert/strict";
import { SessionId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { McpServerName } from "../../contracts/exchange/mod.ts";
import { freshCommand } from "../_fixture/mcp_command.ts";
import { lockedServer } from "../_fixture/mcp_lock.ts";
import { openMcpLock } from "../../bridges/mcp/registry/lock.ts";
import { type Given, type GivenBy, settleGiven } from "./setting.ts";

const BY: GivenBy = {
  ...{ channel: "a2a", principal: "peer:mallory", colour: "RED", label: "public" },
  ...{ interactive: true, session: SessionId.parse("s000000000000") },
};

Deno.test("a peer's task would have been handed every server that alice approved for herself", async () => {
  const command = freshCommand();
  const { powers: { disk, mcpStore }, places } = command;
  const lock = openMcpLock({ disk, places, store: mcpStore });
  for (const name of ["files", "pages"]) lock.add(lockedServer(name));
  disk.write(places.config, "version: 1\nmodel: scripted:play.yaml\n");
  disk.write(
    `${command.powers.environment.cwd}/play.yaml`,
    "scenario: one\nturns:\n  - say: Yes.\n",
  );
  const handed = async (given: Given): Promise<readonly string[]> => {
    const settled = await settleGiven(command, given, "peers.mallory");
    return (settled.request("Hello", BY).mcp ?? []).map(({ name }) => name);
  };
  assert.deepEqual(await handed({}), []);
  assert.deepEqual(await handed({ mcp: [McpServerName.parse("pages")] }), ["pages"]);
  await assert.rejects(
    handed({ mcp: [McpServerName.parse("other")] }),
    (error) => error instanceof Fault && /peers\.mallory: .*"other"/.test(error.message),
  );
});
