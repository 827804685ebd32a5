/**
 * mallory has taken over the gateway of a kernel of a fleet, and overhears the token of a guest. She claims more than the
 * token has: another profile, another name, the operator's words. Who a token is stands in a file that no gateway reads,
 * and the gateway's frame has no place for it.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { startPostgres } from "../../../store/_fixture/postgres_powers.ts";
import { openEngine } from "../../../store/postgres/engine_powers.ts";
import { onMachine } from "../../fake/remit.ts";
import { startService } from "../../fake/service.ts";
import { takenOver, talk } from "./_taken_over.ts";

Deno.test("a gateway that was taken over claims no stronger profile than the token that it overhears", async () => {
  await using server = await startPostgres();
  const url = await server.database("profiles");
  const cache = await Deno.makeTempDir({ prefix: "remit-test-" });
  const engine = openEngine(url);
  try {
    const over = await takenOver(cache);
    await onMachine(async (machine) => {
      const play = await machine.write(
        "model.yaml",
        "scenario: s\nturns: [{ say: the key is k }]\n",
      );
      const model = { ref: `scripted:${play}`, config: await Deno.readTextFile(play) };
      const words = ["--store", `${url}&kernel=one`, "--model", model.ref];
      const { task } = await machine.json(["run", "-p", "Say it", ...words]) as {
        readonly task: string;
      };
      const made = await machine.remit(["fleet", "token", "create", "carol", "--profile", "guest"]);
      const token = made.stdout.trim();
      const service = await startService(machine);
      const { ask } = talk(service.url);
      const log = { op: "log", body: { task, from: 0 } };
      const request = {
        ...{ request: "do it", session: "s00000000000a", mounts: [], model, limits: {} },
        ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "public" },
        ...{ profile: "operator", onQuestion: "ask", interactive: true, phase: "work" },
      };
      const run = { op: "fleet", body: { kind: "run", request } };
      try {
        // A place for her word on it is in no frame.
        for (
          const more of [{ profile: "operator" }, { by: "root" }, { holder: "root" }, {
            who: { profile: "operator" },
          }]
        ) {
          for (const op of [log, run]) {
            equal((await ask("fleet", { token, ...op, ...more })).code, "invalidInput");
          }
        }
        for (const guess of ["", "carol", `${token}x`, token.slice(0, -1), "operator"]) {
          equal((await ask("fleet", { token: guess, ...log })).code, "denied", guess);
        }
        equal((await ask("view", { ...log, by: "root", profile: "operator" })).code, "badFrame");

        const shown = await ask("fleet", { token, ...log });
        const page = Object(shown.ok).value ?? shown;
        ok(JSON.stringify(page).includes("taskCreated"), JSON.stringify(page));
        ok(!JSON.stringify(page).includes("the key is k"), "what a person and a model wrote");

        const came = Object((await ask("fleet", { token, ...run })).ok);
        ok("value" in came, JSON.stringify(came));
        const queued = String(Object(came.value).task);
        const [row] = await engine.read("SELECT request FROM remit.work WHERE task = $1", [queued]);
        const put = JSON.parse(String(row?.["request"]));
        deepEqual(
          [put.profile, put.ingress.colour, put.ingress.channel, put.onQuestion, put.interactive],
          ["guest", "YELLOW", "http", "queue", false],
          JSON.stringify(came),
        );
        // A token that was revoked is nobody from then on, whatever the gateway remembers.
        equal((await machine.remit(["fleet", "token", "revoke", "carol"])).code, 0);
        equal((await ask("fleet", { token, ...log })).code, "denied");
      } finally {
        service.kill("SIGTERM");
        await service.ended;
      }
    }, { env: { XDG_CACHE_HOME: over, REMIT_IDLE_SECONDS: "300" } });
  } finally {
    await engine.close();
    await Deno.remove(cache, { recursive: true });
  }
});
