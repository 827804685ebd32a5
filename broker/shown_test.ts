import { equal, ok } from "node:assert/strict";
import { cutText } from "./gate/result.ts";
import { injectionGuard } from "./guards.ts";
import { redact } from "./credentials.ts";
import { processorTime } from "../tests/fake/processor_time.ts";

Deno.test("what looks like a secret is replaced by its kind", () => {
  const long = "a1B2".repeat(12);
  const secrets: readonly (readonly [string, string])[] = [
    [`AKIA${"ABCDEFGH".repeat(2)}`, "AWS key"],
    [`aws_secret_access_key = "${long.slice(0, 40)}"`, "AWS secret"],
    [`ghp_${long}`, "GitHub token"],
    [`Authorization: Bearer ${long}`, "bearer token"],
    [`sk-ant-${long}`, "API key"],
    [`sk_live_${long}`, "API key"],
    [`xoxb-${long}`, "Slack token"],
    [`https://carol:${long}@example.com/x`, "password in a URL"],
    [`eyJ${long}.eyJ${long}.${long}`, "JWT"],
  ];
  for (const [secret, kind] of secrets) {
    const shown = redact(`before ${secret} after`);
    ok(shown.includes(`⟨redacted: ${kind}⟩`), `${kind}: ${shown}`);
    ok(!shown.includes(long.slice(0, 40)), kind);
    ok(shown.startsWith("before ") && shown.endsWith("after"), shown);
  }
});

Deno.test("tokens that begin within words, follow each other or share a part are taken out", () => {
  const part = "abcdefghijkl";
  const jwt = `eyJ${part}.eyJ${part}.${part}`;
  const out = "⟨redacted: JWT⟩";
  equal(redact(`x-${jwt} ${jwt}`), `x-${out} ${out}`);
  equal(redact(`${jwt}.eyJ${part}.${part}`), `${out}.eyJ${part}.${part}`);
  equal(redact(`eyJ${part}.${jwt}`), `eyJ${part}.${out}`.replace(/^.*$/, `${out}.${part}`));
});

Deno.test("a private key is taken out whole, also when its end is missing", () => {
  const head = "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    body = `${"b3Bl".repeat(16)}\n`.repeat(20);
  const tail = "-----END OPENSSH " + "PRIVATE KEY-----";
  equal(redact(`a\n${head}\n${body}${tail}\nz`), "a\n⟨redacted: private key⟩\nz");
  equal(redact(`a\n${head}\n${body}`), "a\n⟨redacted: private key⟩");
});

Deno.test("ordinary text is left alone", () => {
  const text =
    "The task-list, sk-8, https://example.com/a:b@c and a bearer of news; skip_this_one.";
  equal(redact(text), text);
});

Deno.test("redaction and guard take a time that grows with the text, on text made to stall them", () => {
  // Of mallory's file, which a tool reads: the kernel stands still meanwhile, for everyone.
  const seconds = processorTime();
  redact("eyJ-".repeat(2_000_000));
  ok(processorTime() - seconds < 50_000, `${processorTime() - seconds} ms`);
  const began = processorTime();
  for (
    const piece of [
      "-----BEGIN RSA PRIV" + "ATE KEY-----",
      "eyJ",
      "eyJ-",
      "-eyJaaaaaaaaaaaaaaaa.",
      "eyJaaaaaaaaaa.eyJ-",
      "ignore all ",
      "a://b:",
      "bearer ",
      "AKIA",
      "ai must ",
      "<",
    ]
  ) {
    const text = piece.repeat(Math.floor(1_000_000 / piece.length));
    redact(text);
    injectionGuard({ tool: "file_read", content: text });
  }
  ok(processorTime() - began < 80_000, `${processorTime() - began} ms`);
});

Deno.test("a cut never falls within a character, whatever the limit", () => {
  const text = "aä€😀";
  for (let most = 0; most <= 10; most++) {
    const { text: shown, bytes } = cutText(text, most);
    equal(bytes, 10);
    ok(!shown.includes("\ufffd"), `${most}: ${shown}`);
    ok(text.startsWith(shown.split("\n⟨cut")[0] ?? "?"));
  }
  equal(cutText(text, 10).text, text);
});
