/** alice's model fails in the midst of a talk: the talk stays, and her next words go on with it. */
import assert from "node:assert/strict";
import { type Answer, nobody, serveOpenai } from "../../models/_fixture/providers/mod.ts";
import { EXIT } from "../../contracts/base/mod.ts";
import { configured, eventsOf, says } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const WORKS: Answer = {
  calls: [
    { id: "r", name: "file_read", pieces: ['{"path":"work/list.txt"}'] },
    { id: "w", name: "scratch_write", pieces: ['{"path":"scratch/seen.txt","content":"yes"}'] },
  ],
};
const REFUSED: Answer = { status: 401, body: { error: { message: "who are you" } } };
const ELSEWHERE: Answer = { status: 307, headers: { location: "http://127.0.0.1:9/" } };

/** The last thing on the screen is a prompt, whatever a line editor writes round it. */
const PROMPT = /› (?:.\[[\d;?>]*[A-Za-z])*$/u;

/** What the model was told that came of a call, as JSON text without its quotes. */
function toolSaid(asked: unknown, call: string): string {
  const { messages } = asked as {
    readonly messages: readonly { readonly tool_call_id?: string; readonly content: unknown }[];
  };
  const found = messages.find(({ tool_call_id: id }) => id === call)?.content ?? "";
  return JSON.stringify(found).slice(1, -1);
}

Deno.test("alice's model fails three times: she is told why, the talk stays, -c goes on with it, and /model takes another", async () => {
  if (!needs("script")) return;
  await onMachine(async (machine) => {
    await using small = serveOpenai({ variant: "llamacpp" });
    await using large = serveOpenai({ variant: "llamacpp" });
    await configured(
      machine,
      `models:
  absent: "openai:absent@${nobody()}"
  small: "openai:small@${small.url}"
  large: "openai:large@${large.url}"
`,
    );
    await machine.write("list.txt", "apples\n");
    const open = (...words: string[]): ReturnType<typeof openTerminal> =>
      openTerminal(machine.command(words), { env: machine.env, cwd: machine.dir });

    const first = open("--model", "absent");
    try {
      await first.shows(PROMPT);
      await first.type("What is on my list?\r");
      await first.shows(/nothing listens at 127\.0\.0\.1:\d+; is the server running\?/);
      await first.shows("the conversation stays: your next words try again, /model REF");
      await first.shows(PROMPT);
      await first.type("/model small\r");
      await first.shows("another model, from its next answer on");
      await first.shows(PROMPT);
      // The tool is called, and then the provider does not know the key.
      small.next(WORKS, REFUSED);
      await first.type("Do it now\r");
      await first.shows("asks for a key, and there is none");
      await first.shows("the conversation stays: your next words", 2);
      await first.shows(/with another key: \/exit, ".* stop.*", ".* -c/);
      await first.shows(PROMPT);
      small.next(ELSEWHERE);
      await first.type("And now\r");
      await first.shows("sends the request elsewhere (307)");
      await first.shows("the conversation stays: your next words", 3);
      await first.shows(PROMPT);
      await first.type("/exit\r");
      assert.equal(await first.ended(), 0, first.screen());
      assert.match(first.screen(), /go on with: .* -c/);
    } finally {
      await first.close();
    }
    // What was read stands, in the process that read it.
    const words = ["What is on my list?", "Do it now", "And now"];
    const heard = JSON.stringify(small.asked.at(-1));
    for (const each of [...words, "apples"]) assert.ok(heard.includes(each), each);
    const wrote = toolSaid(small.asked.at(-1), "w");
    assert.ok(wrote !== "" && !wrote.includes("cancelled"), wrote);

    const second = open("-c");
    try {
      await second.shows(/its last turn failed: .*elsewhere/);
      await second.shows(PROMPT);
      await second.type("/model large\r");
      await second.shows("another model, from its next answer on");
      await second.shows(PROMPT);
      large.next(says("It says apples."));
      await second.type("At last\r");
      await second.shows("It says apples.");
      await second.shows(PROMPT);
      await second.type("\x04");
      assert.equal(await second.ended(), 0, second.screen());
    } finally {
      await second.close();
    }
    // In one that has it from the log is what was said and done; what was read can be read again.
    const again = JSON.stringify(large.asked[0]);
    for (const each of [...words, "At last", wrote]) assert.ok(again.includes(each), each);

    const kept = await Deno.readTextFile(`${machine.state}/person/last_session.json`);
    const { task } = JSON.parse(kept) as { task: string };
    const events = await eventsOf(machine, task);
    const turns = events.filter(({ event, status }) => event === "taskStatus" && status === "open");
    const failed = turns.flatMap((each) => each["failed"] === undefined ? [] : [each["failed"]]);
    assert.deepEqual(failed, [EXIT.upstreamFailure, EXIT.refused, EXIT.upstreamFailure]);
    const intact = await machine.remit(["audit", "verify"]);
    assert.equal(intact.code, 0, intact.stderr);
  });
});
