import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { RemoteConfig } from "../../../contracts/model/mod.ts";
import { makeDisk } from "../../../launch/disk/disk_powers.ts";
import { checkRecordingPlace, readRecording, startRecording } from "./recording.ts";

const disk = makeDisk();
const file = (): string => join(Deno.makeTempDirSync({ prefix: "remit-cli-test-" }), "rec.jsonl");
const choice = (model: string, more: object = {}) => ({
  ref: `openai:${model}@https://h.example/v1`,
  config: JSON.stringify({ model, url: "https://h.example/v1", ...more }),
});
const exchange = (model: string, n: number): string =>
  JSON.stringify({
    v: 1,
    request: {
      method: "POST",
      url: "https://h.example/v1/chat/completions",
      headers: {},
      body: JSON.stringify({ model, n }),
    },
  });
const config = (of: { readonly config: string } | undefined): RemoteConfig =>
  RemoteConfig.parse(JSON.parse(of?.config ?? ""));

Deno.test("what was recorded is replayed with the same model and settings, and can reach nobody", () => {
  const path = file();
  const write = startRecording(
    disk,
    path,
    choice("m", { temperature: 0.2, record: true, secret: "env-openai", noWait: true, rates: {} }),
  );
  write(exchange("m", 1));
  write(exchange("m", 2));
  assert.equal(disk.stat(path)?.mode, 0o600);
  const model = readRecording(disk, path, "rec.jsonl");
  assert.equal(model.ref, "openai:m@https://h.example/v1");
  assert.deepEqual(config(model), {
    model: "m",
    url: "https://h.example/v1",
    temperature: 0.2,
    replay: [exchange("m", 1), exchange("m", 2)].join("\n"),
  });
});

Deno.test("each model of a recording is given its own exchanges", () => {
  const path = file();
  const write = startRecording(disk, path, {
    ...choice("small"),
    escalate: { after: 2, to: choice("big") },
  });
  for (const [model, n] of [["small", 1], ["small", 2], ["big", 3]] as const) {
    write(exchange(model, n));
  }
  const model = readRecording(disk, path, "rec.jsonl");
  assert.equal(config(model).replay, [exchange("small", 1), exchange("small", 2)].join("\n"));
  assert.equal(model.escalate?.after, 2);
  assert.equal(config(model.escalate?.to).replay, exchange("big", 3));
});

Deno.test("a recording grows as its conversation does: what two requests share is written once", () => {
  const path = file();
  const write = startRecording(disk, path, {
    ...choice("small"),
    escalate: { after: 2, to: choice("big") },
  });
  const tools = "t".repeat(40_000);
  const body = (model: string, n: number): string =>
    JSON.stringify({
      model,
      messages: Array.from({ length: n }, (_, at) => `said ${at} 😀`),
      tools,
    });
  const whole = (model: string, n: number): string =>
    JSON.stringify({
      v: 1,
      request: {
        method: "POST",
        url: "https://h.example/v1/chat",
        headers: {},
        body: body(model, n),
      },
      response: { status: 200, headers: {}, chunks: [[1, "a"]] },
    });
  for (let n = 1; n <= 100; n++) {
    write(whole("small", n));
    write(whole("big", n));
  }
  write("no exchange");
  const text = new TextDecoder().decode(disk.read(path));
  assert.ok(text.length < 2 * 40_000 + 200 * 500, `${text.length}`);
  const model = readRecording(disk, path, "rec.jsonl");
  for (const [name, part] of [["small", model], ["big", model.escalate?.to]] as const) {
    const lines = config(part).replay?.split("\n") ?? [];
    assert.equal(lines.length, 101);
    assert.equal(lines[0], whole(name, 1));
    // Each further one is the one before it with something between its beginning and its end.
    let last = body(name, 1);
    for (let n = 2; n <= 100; n++) {
      const { before, text, after, model } = JSON.parse(lines[n - 1] ?? "").request.body;
      last = last.slice(0, before) + text + last.slice(last.length - after);
      assert.equal(last, body(name, n));
      assert.equal(model, name);
    }
  }
});

Deno.test("a place that cannot hold a recording is refused before anything is run, and what lies there stays", () => {
  const path = file();
  const refused = (at: string, why: RegExp): void => {
    assert.throws(() => checkRecordingPlace(disk, at), (error) => {
      assert.ok(error instanceof Fault);
      assert.match(error.message, why);
      return true;
    });
  };
  refused(join(path, "..", "nowhere", "rec.jsonl"), /there is no such folder; name another file/);
  refused(join(path, ".."), /it is a folder/);
  refused("/dev/null", /it is a device or a pipe; name another file/);
  Deno.writeTextFileSync(path, "my notes\n");
  refused(path, /it holds something that is no recording/);
  refused(join(path, "below"), /there is no such folder/);
  assert.equal(Deno.readTextFileSync(path), "my notes\n");
  Deno.removeSync(path);
  checkRecordingPlace(disk, path);
  startRecording(disk, path, choice("m"))(exchange("m", 1));
  checkRecordingPlace(disk, path);
  assert.notEqual(Deno.readTextFileSync(path), "", "it is there until the next one begins");
});

Deno.test("an exchange never becomes two lines", () => {
  const path = file();
  startRecording(disk, path, choice("m"))('{"a":\n"b"}\r\n');
  const lines = new TextDecoder().decode(disk.read(path)).split("\n");
  assert.equal(lines.length, 3);
});

Deno.test("what is no recording is refused with what makes one", () => {
  const path = file();
  const read = (): unknown => readRecording(disk, path, "rec.jsonl");
  assert.throws(read, (error) => error instanceof Fault && error.code === "notFound");
  for (
    const text of [
      "",
      "{}",
      '{"v":2}',
      `{"v":1,"ref":"openai:m@x","config":{"model":"m","url":"file:///etc/passwd"}}`,
    ]
  ) {
    Deno.writeTextFileSync(path, `${text}\n`);
    assert.throws(
      read,
      (error) =>
        error instanceof Fault && error.code === "invalidInput" &&
        error.message.includes("--record FILE"),
    );
  }
  const head = JSON.stringify({
    v: 1,
    ref: "r",
    config: { model: "m", url: "https://h.example/v1" },
  });
  Deno.writeTextFileSync(path, `${head}\n${"x".repeat(3_000_001)}\n`);
  assert.throws(read, (error) => error instanceof Fault && error.code === "tooLarge");
});
