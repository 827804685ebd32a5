import assert from "node:assert/strict";
import { encodingOf, textFormOf } from "./encoding.ts";
import { kindOf } from "./kind_of.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("a file's kind is told by its name", () => {
  const names: Record<string, string> = {
    "docs/a.MD": "markdown",
    "a.txt": "text",
    "README": "text",
    "Makefile": "code",
    "x/y.ts": "code",
    "a.csv": "csv",
    "a.jsonl": "json",
    "a.html": "html",
    "a.eml": "mail",
    "C:\\x\\b.py": "code",
  };
  for (const [name, kind] of Object.entries(names)) {
    assert.equal(kindOf(name, encode("words")), kind, name);
  }
});

Deno.test("bytes have the last word: binaries and archives are none, whatever they are called", () => {
  assert.equal(kindOf("a.md", encode("a\0b")), undefined);
  assert.equal(kindOf("a.md", encode("PK\x03\x04stuff")), undefined);
  assert.equal(kindOf("a.docx", encode("no archive")), undefined);
  assert.equal(kindOf("a.docx", encode("PK\x03\x04")), "docx");
  assert.equal(kindOf("a.bin", encode("%PDF-1.7")), "pdf");
  assert.equal(kindOf("book", encode("PK\x03\x04....mimetypeapplication/epub+zip")), "epub");
  assert.equal(kindOf("photo.png", encode("words")), undefined);
  assert.equal(kindOf("unknown", encode("words")), undefined);
  assert.equal(kindOf("constructor", encode("words")), undefined);
});

Deno.test("a file without an extension is told by how it begins", () => {
  assert.equal(kindOf("page", encode("\n<!DOCTYPE html><p>")), "html");
  assert.equal(kindOf("tool", encode("#!/bin/sh\n")), "code");
  assert.equal(kindOf("notes", encode("# Notes\n")), "markdown");
});

Deno.test("UTF-16 with its mark gets a text form in UTF-8; without one it is binary", () => {
  const little = new Uint8Array([0xff, 0xfe, 0x41, 0, 0x22, 0x6f, 0x0a, 0]);
  const big = new Uint8Array([0xfe, 0xff, 0, 0x41, 0x6f, 0x22, 0, 0x0a]);
  for (const bytes of [little, big]) {
    assert.equal(new TextDecoder().decode(textFormOf(bytes)), "A漢\n");
    assert.equal(kindOf("a.txt", bytes), "text");
  }
  assert.equal(textFormOf(encode("plain")), undefined);
  assert.equal(encodingOf(little.subarray(2)), "binary");
});
