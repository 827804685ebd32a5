/** The compose file of docs/scale.md: what it names is there, and nobody but kernels reaches the database. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import * as z from "zod";
import { COMMANDS, COMMON_FLAGS } from "../../cli/arguments/command_table.ts";

const Service = z.object({
  image: z.string().optional(),
  build: z.string().optional(),
  command: z.array(z.string()),
  environment: z.record(z.string(), z.string()).optional(),
  depends_on: z.array(z.string()).optional(),
  volumes: z.array(z.string()),
  networks: z.array(z.string()),
  secrets: z.array(z.string()),
}).strict();
const Compose = z.object({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).strict()),
  volumes: z.record(z.string(), z.object({}).strict()),
  secrets: z.record(z.string(), z.object({ file: z.string() }).strict()),
}).strict();

const FILE = new URL("../../docs/compose.yaml", import.meta.url);
const compose = Compose.parse(parse(await Deno.readTextFile(FILE)));

Deno.test("every volume, network, secret and service that the compose file names is declared", () => {
  for (const [name, service] of Object.entries(compose.services)) {
    for (const volume of service.volumes) {
      assert.ok(Object.hasOwn(compose.volumes, volume.split(":")[0] ?? ""), `${name}: ${volume}`);
    }
    for (const network of service.networks) assert.ok(Object.hasOwn(compose.networks, network));
    for (const secret of service.secrets) assert.ok(Object.hasOwn(compose.secrets, secret));
    for (const other of service.depends_on ?? []) assert.ok(Object.hasOwn(compose.services, other));
  }
});

Deno.test("the database of the compose file is reached from inside alone, and keeps what it acknowledges", () => {
  const { database } = compose.services;
  assert.ok(database);
  assert.deepEqual(database.networks, ["inside"]);
  assert.equal(compose.networks["inside"]?.internal, true);
  assert.ok(!database.command.some((word) => /=(off|false)$/.test(word)), "durability stays on");
});

Deno.test("the kernels of the compose file run commands and flags that there are", () => {
  const names = new Set(COMMANDS.map(({ name }) => name));
  for (const [name, { command, build }] of Object.entries(compose.services)) {
    if (build === undefined) continue;
    const [, word = "", line = ""] = /remit (\w+) (.*)/.exec(command.at(-1) ?? "") ?? [];
    assert.ok(names.has(word), `${name}: ${word}`);
    const own = COMMANDS.find((each) => each.name === word)?.flags ?? [];
    for (const [, flag = ""] of line.matchAll(/--([a-z-]+)/g)) {
      assert.ok([...COMMON_FLAGS, ...own].some((each) => each.name === flag), `${name}: --${flag}`);
    }
  }
});
