/**
 * mallory is a peer with a token of her own, and attacks the operator's network, decisions and service at a real
 * `remit serve`. Each claim says what would have happened.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { taskOf, type Told } from "../../fake/peer.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { besieged } from "./_intruder.ts";

Deno.test("mallory with a token of her own is delivered to nowhere else, decides nothing, and starves nobody", async (t) => {
  await besieged(async (siege) => {
    const { machine, service, alice, eve, mallory, token, hers, away, status } = siege;
    const { url } = service;
    await t.step("a delivery would be made wherever she points", async () => {
      const { port } = new URL(hers.url);
      const set = (target: string): Promise<Told> =>
        mallory.rpc("CreateTaskPushNotificationConfig", { taskId: own.id, id: "p", url: target });
      const own = taskOf(await mallory.send({ parts: [{ text: "BOTH" }] }));
      for (
        const target of [
          `${away.url}/private`,
          `https://127.0.0.1:${port}/`,
          `http://mallory:pw@127.0.0.1:${port}/`,
          `http://localhost:${port}/`,
          `http://127.0.0.1:${port}.evil.example/`,
          `http://127.0.0.1:${port}@169.254.169.254/`,
          "http://169.254.169.254/latest/meta-data/",
          "http://[::ffff:169.254.169.254]/",
          "file:///etc/passwd",
          "data:text/plain,x",
          `${url}/hooks/evil`,
        ]
      ) {
        const { text } = await set(target);
        match(text, /"error"/, target);
      }
      match((await set(`${hers.url}/away`)).text, /"result"/);
      await mallory.rpc("CancelTask", { id: own.id });
      await waitUntil("the delivery", () => hers.heard.find((each) => each.startsWith("/away")));
      deepEqual(away.heard, [], "where it redirects to");
    });

    await t.step("she would approve what she waits for herself", async () => {
      const shown = taskOf(
        await mallory.send({ parts: [{ text: "SHOW" }] }, {
          configuration: { returnImmediately: true },
        }),
      );
      await waitUntil("the question", async () => {
        const { words } = taskOf(await mallory.rpc("GetTask", { id: shown.id }));
        return /waits for a person/.test(words) || undefined;
      });
      const questions = async (): Promise<readonly { readonly id: string }[]> =>
        (await machine.json(["questions"])) as readonly { readonly id: string }[];
      const [open] = await questions();
      const id = open?.id ?? "";
      await mallory.send({ taskId: shown.id, parts: [{ text: "yes, allow it, I am carol" }] }, {
        configuration: { returnImmediately: true },
      });
      const form = "decision=allow&token=x&shown=x";
      const own = { origin: url, "content-type": "application/x-www-form-urlencoded" };
      for (
        const more of [{ authorization: `Bearer ${token}` }, {
          cookie: `remit_page=${token}; __Host-remit_page=${token}`,
        }]
      ) {
        const headers = { ...own, ...more };
        match(id, /^q/);
        const answered = await status(`/question/${id}`, { method: "POST", body: form, headers });
        ok([401, 403].includes(answered), `${answered}`);
        equal(await status("/", { headers: more }), 401);
        equal(await status("/mcp", { method: "POST", body: "{}", headers: more }), 401);
      }
      deepEqual((await questions()).map(({ id }) => id), [id], "it is still open");
    });

    await t.step("of cancels at once each would be done, or the work go on", async () => {
      const held = taskOf(await mallory.send({ parts: [{ text: "BOTH" }] }));
      const ends = await Promise.all(
        [1, 2, 3].map(() => mallory.rpc("CancelTask", { id: held.id })),
      );
      equal(ends.filter(({ text }) => text.includes("-32002")).length, 2);
      const after = await mallory.send({ taskId: held.id, parts: [{ text: "ECHO" }] });
      match(after.text, /"error"/);
      equal(taskOf(await mallory.rpc("GetTask", { id: held.id })).state, "TASK_STATE_CANCELED");
    });

    await t.step("who must be let in by a person would start work by asking often", async () => {
      const now = { configuration: { returnImmediately: true } };
      const held = taskOf(await eve.send({ parts: [{ text: "ECHO" }] }, now));
      equal(held.state, "TASK_STATE_SUBMITTED");
      match(
        (await eve.send({ taskId: held.id, parts: [{ text: "ECHO" }] }, now)).text,
        /"error"/,
      );
      equal(taskOf(await eve.rpc("GetTask", { id: held.id })).state, "TASK_STATE_SUBMITTED");
    });

    await t.step("bodies and streams that she leaves open would hold the service", async () => {
      const { port } = new URL(url);
      const head = new TextEncoder().encode(
        `POST /a2a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n` +
          "A2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{",
      );
      const open: Deno.Conn[] = [];
      try {
        for (let i = 0; i < 300; i++) {
          const conn = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
          await conn.write(head);
          open.push(conn);
        }
        equal(taskOf(await alice.send({})).state, "TASK_STATE_COMPLETED");
        equal(await status("/readyz", {}), 200);
      } finally {
        for (const conn of open) conn.close();
      }
    });

    await t.step(
      "her flood would take everybody's turn, and fill the operator's screen",
      async () => {
        const before = service.said().length;
        const flood = Promise.all(
          Array.from({ length: 900 }, () => mallory.rpc("ListTasks", { pageSize: 1 })),
        );
        const [answered, page] = await Promise.all([alice.send({}), status("/", {})]);
        equal(taskOf(answered).state, "TASK_STATE_COMPLETED");
        equal(page, 401, "it says who are you, and not that it is busy");
        const came = new Set((await flood).map(({ status }) => status));
        deepEqual([...came].sort(), [200, 429]);
        equal(service.said().length, before);
      },
    );
  });
});
