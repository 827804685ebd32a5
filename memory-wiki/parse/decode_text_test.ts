import assert from "node:assert/strict";
import { decodeText } from "./decode_text.ts";

const utf16 = (text: string, little: boolean, mark = false): Uint8Array => {
  const units = [...(mark ? "\ufeff" : ""), ...text].join("");
  const view = new DataView(new ArrayBuffer(units.length * 2));
  for (let at = 0; at < units.length; at += 1) view.setUint16(at * 2, units.charCodeAt(at), little);
  return new Uint8Array(view.buffer);
};
const latin = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

Deno.test("text is told by its mark, by its zeros, or by being UTF-8", () => {
  const text = "The léase ends on Friday – 漢字";
  assert.equal(decodeText(new TextEncoder().encode(text), "a").text, text);
  assert.equal(decodeText(utf16(text, true, true), "a").text, text);
  assert.equal(decodeText(utf16(text, false, true), "a").text, text);
  assert.equal(decodeText(utf16("The lease ends", true), "a").encoding, "utf-16le");
  assert.equal(decodeText(utf16("The lease ends", false), "a").text, "The lease ends");
  assert.equal(decodeText(new Uint8Array(), "a").text, "");
});

Deno.test("what is no UTF-8 is Latin-1, and a few broken bytes in UTF-8 do not make it so", () => {
  const { text, notes } = decodeText(latin("caf\xe9 \x93quoted\x94"), "a");
  assert.equal(text, "café “quoted”");
  assert.deepEqual(notes, ["It is no UTF-8 and was read as Windows-1252 (Latin-1)."]);
  const broken = new Uint8Array([...new TextEncoder().encode("ääää ööö üüü"), 0xff]);
  assert.equal(decodeText(broken, "a").text, "ääää ööö üüü\ufffd");
});

Deno.test("a document's own word counts, unless nobody knows it", () => {
  assert.equal(decodeText(latin("\xcf\xf0\xe8\xe2\xe5\xf2"), "a", "windows-1251").text, "Привет");
  assert.equal(decodeText(latin("caf\xe9"), "a", "no-such-thing").text, "café");
});

Deno.test("binary data is refused as no text", () => {
  const noise = Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 256);
  for (const bytes of [new Uint8Array(1_000), noise, latin("GIF89a\x01\0\x01\0\0\0\0;")]) {
    assert.throws(() => decodeText(bytes, "mallory.bin"), {
      code: "invalidInput",
      message: 'Cannot read "mallory.bin": it is not text',
    });
  }
});
