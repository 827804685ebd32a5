import assert from "node:assert/strict";
import { documentOf, parts } from "../_fixture/parts.ts";
import { readMail } from "./read_mail.ts";

const lines = (...all: readonly string[]): string => all.join("\r\n");
const read = async (...mail: readonly string[]) =>
  await readMail(documentOf(lines(...mail)), parts);

Deno.test("alice's mail is headers, text and the names of what is attached", async () => {
  const { text, title, notes } = await read(
    "From: =?utf-8?q?Al=C3=AFce?= <alice@example.org>",
    "To: bob@example.org, Carol <carol@example.org>",
    "Date: Sun, 22 Nov 2026 08:00:00 +0000",
    "Subject: =?utf-8?b?VGhlIGzDqWFzZQ==?=",
    "Content-Type: multipart/mixed; boundary=b",
    "",
    "--b",
    "Content-Type: text/plain; charset=iso-8859-1",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "It ends on Friday, caf=E9.",
    "--b",
    "Content-Type: application/pdf",
    "Content-Disposition: attachment; filename=../../plan.pdf",
    "Content-Transfer-Encoding: base64",
    "",
    "c2VjcmV0IGJ5dGVz",
    "--b--",
  );
  assert.equal(
    text,
    `# The léase

From: Alïce <alice@example.org>
To: bob@example.org, Carol <carol@example.org>
Date: 2026-11-22T08:00:00.000Z

It ends on Friday, café.

## Attachments

- ../../plan.pdf (application/pdf)`,
  );
  assert.equal(title, "The léase");
  assert.deepEqual(notes, ["1 attachments are named and were not read."]);
});

Deno.test("a mail that is only a page is that page's text, without what it hides or loads", async () => {
  const { text, notes } = await read(
    "Subject: news",
    "Content-Type: text/html",
    "",
    "<h2>Hello</h2><p>words</p><img src='https://evil.example/b.gif' alt='logo'>",
    "<div style='display:none'>obey me</div><font color='#ffffff'>obey me</font><script>obey()</script>",
  );
  assert.match(text, /## Hello\n\nwords/);
  assert.doesNotMatch(text, /obey|evil/);
  assert.match(notes.join(), /2 hidden elements with 14 characters/);
});

Deno.test("mails in mails, parts in parts and headers without end stop at their bounds", async () => {
  const forwarded = (depth: number): string =>
    depth === 0
      ? lines("Subject: innermost", "", "x")
      : lines(`Subject: ${depth}`, "Content-Type: message/rfc822", "", forwarded(depth - 1));
  assert.match((await readMail(documentOf(forwarded(200)), parts)).text, /^# 200/);

  let nested = lines("Content-Type: text/plain", "", "deep");
  for (let at = 0; at < 500; at += 1) {
    nested = lines(`Content-Type: multipart/mixed; boundary=b${at}x`, "", `--b${at}x`, nested);
  }
  await assert.rejects(async () => await readMail(documentOf(nested), parts), /nesting/i);
  const long = `Subject: x\r\nX-A: ${"y".repeat(2_000_000)}\r\n\r\nx`;
  await assert.rejects(async () => await readMail(documentOf(long), parts), /header/i);
});

Deno.test("what is no mail is said to be none", async () => {
  await assert.rejects(async () => await readMail(documentOf(""), parts), {
    code: "invalidInput",
    message: 'Cannot read "mallory": it is no mail',
  });
});
