import assert from "node:assert/strict";
import { join } from "node:path";
import { Fault, RemoteConfig } from "../../contracts/mod.ts";
import { makeDisk } from "../disk_powers.ts";
import { readRecording, startRecording } from "./recording.ts";

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
