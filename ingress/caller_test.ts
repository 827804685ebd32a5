import assert from "node:assert/strict";
import { callerOf } from "./caller.ts";

Deno.test("mallory with a network of her own is one caller, whatever address of it she comes from", () => {
  const one = callerOf("2001:db8:1:2::1");
  assert.equal(callerOf("2001:db8:1:2:ffff:ffff:ffff:ffff"), one);
  assert.equal(callerOf("2001:0db8:0001:0002:0:0:0:9"), one);
  assert.notEqual(callerOf("2001:db8:1:3::1"), one);
  assert.notEqual(callerOf("::1"), callerOf("fe80::1"));
});

Deno.test("addresses of IPv4 are each one, also as IPv6 writes them", () => {
  assert.equal(callerOf("192.0.2.1"), "192.0.2.1");
  assert.equal(callerOf("::ffff:192.0.2.1"), callerOf("::ffff:c000:201"));
  assert.notEqual(callerOf("::ffff:192.0.2.1"), callerOf("::ffff:192.0.2.2"));
  assert.equal(callerOf("unknown"), "unknown");
});
