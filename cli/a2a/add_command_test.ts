import assert from "node:assert/strict";
import { nameOfHost, peerAddress } from "./add_command.ts";

Deno.test("alice gives a host, a card or an endpoint; without a scheme only this machine is spoken to in the clear", () => {
  const read: readonly (readonly [string, string])[] = [
    ["https://agents.example.org", "https://agents.example.org/"],
    ["agents.example.org/a2a#x", "https://agents.example.org/a2a"],
    ["127.0.0.1:7433", "http://127.0.0.1:7433/"],
    ["localhost:7433", "http://localhost:7433/"],
    ["http://10.0.0.1/card.json", "http://10.0.0.1/card.json"],
  ];
  for (const [text, url] of read) assert.equal(peerAddress(text).href, url);
});

Deno.test("mallory's address with a password, another scheme or no host is refused, and a password is not repeated", () => {
  for (
    const text of ["file:///etc/passwd", "gopher://x/", "", "http://", "https://[", " ".repeat(9)]
  ) {
    assert.throws(() => peerAddress(text), { code: "invalidInput" }, text);
  }
  assert.throws(
    () => peerAddress("https://alice:hunter2@example.org"),
    ({ code, message }) => code === "invalidInput" && !message.includes("hunter2"),
  );
});

Deno.test("a name is the first part of a host that says something", () => {
  const names: readonly (readonly [string, string])[] = [
    ["https://www.harbour.example.org", "harbour"],
    ["https://a2a.api.weather-desk.net", "weatherdesk"],
    ["http://127.0.0.1:7433", "peer"],
    ["http://localhost:1", "peer"],
    [`https://${"x".repeat(60)}.org`, "x".repeat(24)],
  ];
  for (const [url, name] of names) assert.equal(nameOfHost(new URL(url)), name);
});
