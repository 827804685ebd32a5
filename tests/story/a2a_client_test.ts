/** alice takes remote agents in as peers that she does not trust: with her own hands, and in a story. */
import assert from "node:assert/strict";
import { hostilePeer, plainCard, result, task } from "../../bridges/a2a/_fixture/hostile_peer.ts";
import { onMachine } from "../fake/remit.ts";
import { needs } from "../needs.ts";

const ALLOW = JSON.stringify({
  answers: [{ tool: "a2a_desk_echo", arguments: { message: { glob: "*" } }, answer: "allow" }],
});

Deno.test("alice adds a peer by its host, sends through the gate, sees a swapped card suspended, reviews it, revokes it", async () => {
  let card = (url: string): object => plainCard(url);
  const tokens: (string | null)[] = [];
  await using peer = hostilePeer({
    card: (url) => card(url),
    answer: (asked) => {
      // It took her message, and then nothing answers any more.
      if (asked.rpc.method === "GetTask") return new Response("", { status: 502 });
      if (JSON.stringify(asked.rpc.params).includes("take your time")) {
        return result(asked, { task: task("t-9", "WORKING") });
      }
      const { message } = asked.rpc.params as { readonly message: { readonly parts: object[] } };
      return result(asked, {
        task: task("t1", "COMPLETED", {
          status: {
            state: "TASK_STATE_COMPLETED",
            message: { messageId: "m", role: "ROLE_AGENT", parts: message.parts },
          },
        }),
      });
    },
    heard: (request) => void tokens.push(request.headers.get("authorization")),
  });
  await onMachine(async (machine) => {
    const token = await machine.write("token.txt", "alices-token\n");
    const answers = await machine.write("answers.json", ALLOW);
    const send = (...words: string[]) =>
      machine.remit(["a2a", "send", "desk", ...words, "--answers", answers]);

    const nobody = await machine.remit(["a2a", "add", "http://127.0.0.1:9", "--name", "desk"]);
    assert.notEqual(nobody.code, 0);
    assert.deepEqual(await machine.json(["a2a", "list"]), []);

    const host = peer.url.replace("http://", "");
    const waits = await machine.remit([
      "a2a",
      "add",
      host,
      "--name",
      "desk",
      "--token-file",
      token,
    ]);
    assert.equal(waits.code, 75, waits.stderr);
    assert.match(waits.stderr, /nobody signed its card/);
    const early = await send("hello");
    assert.match(early.stderr, /it is not approved/);
    assert.equal((await machine.remit(["a2a", "approve", "desk"])).code, 0);

    const asks = await machine.remit(["a2a", "send", "desk", "the exact words"]);
    assert.equal(asks.code, 75, asks.stderr);
    const [question] = await machine.json(["questions"]) as { readonly id: string }[];
    const answered = await machine.remit(["answer", question?.id ?? "", "allow"]);
    assert.match(answered.stderr, /│ \{"message":"the exact words"\}/);
    assert.match(answered.stdout, /the exact words/);

    const sent = await send("hello", "--json");
    assert.equal(sent.code, 0, sent.stderr);
    assert.match(JSON.parse(sent.stdout).content, /^\[peer "desk": \{"task":"t1".*\}\]\nhello$/s);
    const plain = await send("hello");
    assert.equal(plain.stdout, "hello\n", "carol reads the peer's words alone");
    const died = await send("take your time");
    assert.notEqual(died.code, 0);
    assert.match(died.stderr, /^its task there: remit a2a watch desk t-9$/m);
    assert.match(
      died.stderr,
      /executionError: .*502.*; its task "t-9" may go on there$/m,
    );
    assert.ok(tokens.length > 0 && tokens.every((each) => each === "Bearer alices-token"));
    const described = await machine.json(["a2a", "describe", "desk"]) as {
      readonly clearance: string;
      readonly skills: readonly { readonly name: string; readonly accepts: object }[];
    };
    assert.equal(described.clearance, "public");
    assert.deepEqual(described.skills.map(({ name }) => name), ["a2a_desk_echo"]);

    // Another endpoint, the same skill: everything of it is suspended until she has looked.
    card = (url) =>
      plainCard(url, {
        supportedInterfaces: [{
          ...{ url: `${url}/elsewhere`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        }],
      });
    const before = peer.seen.length;
    const swapped = await send("a secret of hers");
    assert.equal(swapped.code, 64, swapped.stderr);
    assert.match(swapped.stderr, /its card changed since it was reviewed: it listens elsewhere/);
    assert.ok(!peer.seen.slice(before).some(({ body }) => body.includes("secret")));
    assert.match((await send("again")).stderr, /it changed since it was reviewed/);
    const review = await machine.remit(["a2a", "review", "desk"]);
    assert.match(review.stdout, /it listens at .*\/elsewhere \(JSONRPC\); it was .*\/a2a/);
    assert.equal((await machine.remit(["a2a", "approve", "desk"])).code, 0);
    const again = await send("hello again");
    assert.equal(again.code, 0, again.stderr);
    assert.ok(peer.seen.some(({ line }) => line === "POST /elsewhere"));

    const log = await machine.remit(["a2a", "log", "desk"]);
    assert.match(log.stdout, /suspended/);
    assert.equal((await machine.remit(["a2a", "revoke", "desk"])).code, 0);
    assert.match((await send("hello")).stderr, /revoked/);
    assert.equal((await machine.remit(["a2a", "remove", "desk"])).code, 0);
    const unknown = await send("hello");
    assert.match(unknown.stderr, /Cannot find peer "desk": there is none of that name/);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});

Deno.test("bob plays the story a2a: another Remit answers, and what its answer wants is refused by named rules", async () => {
  if (!needs("bwrap")) return;
  await onMachine(async (machine) => {
    const story = await machine.remit(["run", "--story", "a2a"]);
    assert.equal(story.code, 0, story.stderr);
    assert.match(story.stdout, /The harbour says: High tide at the north quay on Sunday: 06:12/);
    assert.match(story.stderr, /its card is signed by/);
    assert.match(story.stderr, /✗ file_read +desk\/keys\.env +refused\s+by built-in: never-list/);
    assert.match(
      story.stderr,
      /✗ a2a_harbour_tides +refused\s+by built-in: internal text above clearance public/,
    );
    assert.ok(!/HARBOUR_API_KEY|chart table/.test(story.stdout));
    // The story's peer is nobody else's.
    assert.deepEqual(await machine.json(["a2a", "list"]), []);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});
