import assert from "node:assert/strict";
import { Fault, toJson } from "../../../contracts/base/mod.ts";
import { bundled } from "../../../port/_fixture/bundled_child.ts";
import { HAS_BWRAP, makeWorld } from "../../_fixture/small_children.ts";

const NOBODY = {
  ask: (): never => {
    throw new Fault("refused", "Cannot serve: nothing is asked here");
  },
  tell: () => undefined,
};

for (const walled of [true, false]) {
  Deno.test({
    name: `the net service listens at its own sockets alone, ${
      walled ? "in" : "without"
    } a namespace`,
    ignore: walled && !HAS_BWRAP,
    async fn(): Promise<void> {
      await using built = await bundled(new URL("../../../net/main.ts", import.meta.url));
      const world = await makeWorld();
      try {
        const { bwrap: _, ...bare } = world.config.programs;
        const folder = `${world.dir}/run/net`;
        await Deno.mkdir(folder, { mode: 0o700 });
        const socket = `${folder}/p-0`;
        const children = await world.children({
          bundles: { ...world.config.bundles, net: built.file },
          proxySockets: [socket],
          programs: walled ? world.config.programs : bare,
        });
        assert.equal(children.walls().bwrap, walled);
        const { port } = await children.net(NOBODY);
        const open = (id: string, path: string): Promise<unknown> =>
          port.ask("proxyOpen", toJson({ id, path, allow: [] }));
        assert.equal(await open("a", socket), null);
        assert.equal((Deno.statSync(socket).mode ?? 0) & 0o777, 0o600);
        using client = await Deno.connect({ transport: "unix", path: socket });
        await client.write(new TextEncoder().encode("CONNECT example.org:443 HTTP/1.0\r\n\r\n"));
        const buffer = new Uint8Array(64);
        await client.read(buffer);
        assert.match(new TextDecoder().decode(buffer), /^HTTP\/1\.1 403 /);
        for (const other of [`${folder}/p-1`, `${world.dir}/run/control`, `${folder}/../p-0`]) {
          await assert.rejects(open("b", other), { code: "unavailable" }, other);
        }
        assert.equal(await port.ask("proxyClose", { id: "a" }), null);
        assert.throws(() => Deno.statSync(socket), Deno.errors.NotFound);
      } finally {
        await world.close();
      }
    },
  });
}
