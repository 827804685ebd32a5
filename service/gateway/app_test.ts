import assert from "node:assert/strict";
import { makeDoor } from "./app.ts";

const NONE = { hosts: [], origins: [] };

Deno.test("a server of this machine has three names, and a page of another name is none of them", () => {
  const door = makeDoor("127.0.0.1:7431", NONE);
  for (const host of ["127.0.0.1:7431", "localhost:7431", "LOCALHOST:7431", "[::1]:7431"]) {
    assert.equal(door.host(host), true, host);
    assert.equal(door.origin(`http://${host}`), true, host);
  }
  for (
    const host of [
      undefined,
      "",
      "127.0.0.1",
      "localhost:80",
      "evil.example:7431",
      "127.0.0.2:7431",
    ]
  ) {
    assert.equal(door.host(host), false, host);
  }
  for (
    const origin of [
      "null",
      "",
      "http://evil.example",
      "https://localhost:7431",
      "http://localhost",
      "data:,",
    ]
  ) {
    assert.equal(door.origin(origin), false, origin);
  }
  assert.equal(door.origin(undefined), true, "where no page asks there is none");
});

Deno.test("what the operator names is let in beside it, and nothing like it", () => {
  const door = makeDoor("192.168.1.2:80", { hosts: ["box.lan"], origins: ["https://ui.example"] });
  assert.equal(door.host("192.168.1.2"), true);
  assert.equal(door.host("192.168.1.2:80"), true);
  assert.equal(door.host("localhost"), false);
  assert.equal(door.origin("https://ui.example"), true);
  assert.equal(door.origin("https://ui.example.evil.example"), false);
  assert.equal(door.origin("http://ui.example"), false);
});
