import assert from "node:assert/strict";
import { join } from "node:path";
import { fakePowers, runCommandLine } from "../_fixture/world.ts";
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

Deno.test("a token's file is found from the folder in which bob types, not from the process's own", async () => {
  const powers = fakePowers();
  Deno.writeTextFileSync(join(powers.environment.cwd, "token.txt"), "two words");
  const words = ["a2a", "add", "http://127.0.0.1:1", "--token-file", "token.txt"];
  assert.equal(await runCommandLine(words, powers), 2);
  assert.match(powers.screen.lines.join("\n"), /"token\.txt": it must hold one token/);
});
