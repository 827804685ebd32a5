/**
 * mallory has taken over the gateway of a real `remit serve`: her own program runs in its place, behind its walls, and talks
 * on its pipe. Each claim says what she would have got.
 */
import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { SERVE_PROGRAM } from "../../../cli/mcp_serve/hands_powers.ts";
import { programFile } from "../../../launch/program/program_cache_powers.ts";
import { onMachine, processesNaming } from "../../fake/remit.ts";
import { configure, startService } from "../../fake/service.ts";
import { waitUntil } from "../../fake/wait_until.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const PLAY = `
scenario: reads, and asks
turns:
  - when: { user: { contains: "| SHOW" }, step: 1 }
    calls: [{ tool: peer_artifact, args: { name: a.md, text: "All is well." } }]
  - say: Well.
    loop: true
`;

interface Came {
  readonly ok?: unknown;
  readonly code?: string;
  readonly why?: string;
}

/** The caches of this machine, with mallory's program in the place of the gateway's. */
async function takenOver(dir: string): Promise<string> {
  const real = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`;
  const own = `${dir}/cache`;
  await Deno.mkdir(`${own}/remit`, { recursive: true });
  const file = programFile(SERVE_PROGRAM, {
    home: ROOT.replace(/\/$/, ""),
    cache: `${own}/remit`,
  });
  const folder = file.slice(0, file.lastIndexOf("/"));
  const program = folder.slice(folder.lastIndexOf("/") + 1);
  for await (const { name } of Deno.readDir(real)) {
    if (name !== "remit") await Deno.symlink(`${real}/${name}`, `${own}/${name}`);
  }
  for await (const { name } of Deno.readDir(`${real}/remit`)) {
    if (name !== program) await Deno.symlink(`${real}/remit/${name}`, `${own}/remit/${name}`);
  }
  await Deno.mkdir(folder);
  const bundled = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--platform", "browser", "--config"],
      ...[`${ROOT}deno.json`, "-o", file, `${ROOT}tests/fake/hostile_gateway.ts`],
    ],
  }).output();
  equal(bundled.code, 0, new TextDecoder().decode(bundled.stderr));
  return own;
}

/** Mallory's words to her gateway. */
function talk(url: string): {
  ask(op: string, body: unknown): Promise<Came>;
  say(what: object): Promise<Came>;
} {
  const say = async (what: object): Promise<Came> => {
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(what) });
    return await answer.json();
  };
  return { say, ask: (op, body) => say({ op, body }) };
}

/** The processes that run what lies in this folder. */
async function gatewaysIn(cache: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await processesNaming(cache)) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (line.includes("/gateway.js")) found.push(pid);
  }
  return found;
}

const message = (text: string) => ({
  ...{ id: crypto.randomUUID(), parts: [{ kind: "text", text }] },
  ...{ extensions: [], references: [] },
});

Deno.test("mallory in the place of the gateway has no file, no program, no credential of others, no word of a person's", async (t) => {
  const cache = await Deno.makeTempDir({ prefix: "remit-test-" });
  try {
    const over = await takenOver(cache);
    await onMachine(async (machine) => {
      const play = await machine.write("model.yaml", PLAY);
      await machine.write("notes/plan.md", "call the supplier\n");
      await configure(
        machine,
        `model: scripted:${play}
mounts: { notes: { dir: ${machine.dir}/notes, mode: rw } }
peers:
  alice: { accept: auto, mounts: [notes] }
  eve: { accept: ask }
`,
      );
      const token = String(
        Object(await machine.json(["a2a", "token", "create", "alice"])).token,
      );
      const service = await startService(machine);
      const { ask, say } = talk(service.url);

      try {
        await t.step("its walls: what the machine has", async () => {
          const { ok: ready, why } = await ask("ready", null);
          deepEqual(ready, { ready: true, why: "" }, why);
          using beside = Deno.listen({ hostname: "127.0.0.1", port: 0 });
          const powers: readonly (readonly [string, string])[] = [
            ["read", `${machine.dir}/notes/plan.md`],
            ["read", `${machine.state}/person/a2a_tokens.json`],
            ["read", "/etc/passwd"],
            ["list", machine.state],
            ["write", "/tmp/mallory"],
            ["write", `${machine.dir}/notes/plan.md`],
            ["run", "/bin/sh"],
            ["connect", `${beside.addr.port}`],
            ["socket", `${machine.env["XDG_RUNTIME_DIR"]}/serve`],
            ["host", ""],
          ];
          for (const [power, target] of powers) {
            const { code, why } = await say({ power, target });
            deepEqual(
              [code, /NotCapable|Requires|NotFound/.test(why ?? "")],
              ["thrown", true],
              `${power} ${target}: ${why}`,
            );
          }
          ok(!JSON.stringify(await say({ power: "env" })).includes(machine.dir));
        });

        await t.step("the kernel's own operations, by name", async () => {
          for (
            const op of [
              ...["peerSend", "peerGet", "peerList", "peerExport", "peerDue", "deliver"],
              ...["questions", "tasks", "run", "delegate", "inboxRelease", "log", "stop"],
              ...["__proto__", "constructor", "toString", "hasOwnProperty", "", "a2a", "page"],
            ]
          ) {
            const { code } = await ask(op, { peer: "alice", size: 1 });
            equal(code, "badFrame", op);
          }
        });

        await t.step("a peer's work, by a name in place of a credential", async () => {
          for (
            const guess of [null, "", "alice", "peer:alice", "remit_a2a_", `${token}x`, "e30.e30."]
          ) {
            for (
              const [op, body] of [
                ["a2aAdmit", { token: guess }],
                ["a2aList", { token: guess, query: { size: 10 } }],
                ["a2aSend", { token: guess, message: message("hi") }],
              ] as const
            ) equal((await ask(op, body)).code, "denied", `${op} ${guess}`);
          }
          const named = { token, peer: "eve", query: { size: 10, peer: "eve" } };
          equal((await ask("a2aList", named)).code, "invalidInput");
        });

        const stolen = async (op: string, body: object): Promise<Came> =>
          await ask(op, { token, ...body });
        await t.step("more than remit.yaml gives the peer whose token she overhears", async () => {
          for (
            const more of [
              { accept: "auto" },
              { clearance: "secret" },
              { request: { profile: "operator" } },
              { peer: "eve" },
              { most: { open: 9_999, perDay: 9_999 } },
            ]
          ) {
            equal(
              (await stolen("a2aSend", { message: message("x"), ...more })).code,
              "invalidInput",
            );
          }
          const role = { ...message("x"), role: "agent" };
          equal((await stolen("a2aSend", { message: role })).code, "invalidInput");
          const config = { id: "p", url: "http://127.0.0.1:1/" };
          const push = await stolen("a2aSend", { message: message("x"), push: config });
          equal(push.code, "refused");
        });

        await t.step("a person's answer to what the peer waits for", async () => {
          const { ok: sent } = await stolen("a2aSend", { message: message("SHOW") });
          const exchange = Object(sent).id;
          await stolen("a2aWatch", { exchange, watch: "w", progress: false });
          const question = await waitUntil("the question", async () => {
            const [open] = (await machine.json(["questions"])) as readonly { id: string }[];
            return open?.id;
          });
          const shown = "0".repeat(64);
          for (const session of ["", "x", token, "S".repeat(43), "__proto__"]) {
            const view = await ask("pageView", { session, view: { kind: "home" } });
            equal(view.code, "denied", session);
            const said = { session, question, shown, decision: "allow" };
            equal((await ask("pageAnswer", said)).code, "denied", session);
          }
          equal((await ask("pageOpen", { code: "guess" })).code, "denied");
          equal((await ask("answer", { session: "x", question, decision: "allow" })).ok, undefined);
          deepEqual(
            ((await machine.json(["questions"])) as readonly { id: string }[]).map(({ id }) => id),
            [question],
          );
          const heard = JSON.stringify((await ask("heard", null)).ok);
          ok(heard.includes(exchange), "she is told of the stolen token's stream, and of no other");
        });

        await t.step(
          "a webhook's delivery without its secret, metrics of others, keys",
          async () => {
            const forged = await ask("hook", { path: "/hooks/ci", headers: {}, body: "" });
            deepEqual(forged.ok, { result: "unknown" });
            const { ok: keys } = await ask("jwks", null);
            const parsed = JSON.parse(Object(keys).keys);
            ok(parsed.keys.every((key: object) => !("d" in key)), "public halves alone");
          },
        );

        await t.step("a word on the operator's screen that draws there", async () => {
          await say({
            ...{ tell: true, op: "note", body: { text: "\u001b[2J\u202e\nremit  paid mallory" } },
          });
          const said = await waitUntil(
            "the note",
            () => service.said().includes("paid mallory") ? service.said() : undefined,
          );
          ok(!said.includes("\u001b[2J") && !said.includes("\u202e"));
          ok(!/^remit {2}paid/m.test(said));
        });

        await t.step(
          "the service, by frames that are none: she is ended, and another is started",
          async () => {
            const attacks = [
              { raw: "[1" },
              { raw: '{"op":"ready"}\n' },
              { raw: "x".repeat(1_048_576), times: 13 },
              { raw: `[900000,"ready",${"[".repeat(5_000)}${"]".repeat(5_000)}]\n` },
              { tell: true, op: "exchange", body: {} },
            ];
            let ended = 0;
            for (const attack of attacks) {
              const before = await gatewaysIn(over);
              notEqual(before.length, 0);
              await say(attack).catch(() => undefined);
              if (attack.raw === "[1") await say({ raw: "\n" }).catch(() => undefined);
              await waitUntil("another gateway", async () => {
                const now = await gatewaysIn(over);
                if (now.length === 0 || now.some((pid) => before.includes(pid))) return undefined;
                return await ask("ready", null).then(({ ok }) => ok, () => undefined);
              });
              ended += 1;
            }
            equal(ended, attacks.length);
            const { ok: still } = await stolen("a2aList", { query: { size: 10 } });
            ok(Object(still).total > 0, "what there was is there");
            match(service.said(), /the gateway has ended/);
          },
        );
      } finally {
        try {
          service.kill("SIGKILL");
        } catch { /* it has ended */ }
      }
    }, { env: { XDG_CACHE_HOME: over } });
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
});
