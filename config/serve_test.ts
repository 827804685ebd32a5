import assert from "node:assert/strict";
import { Fault } from "../contracts/base/mod.ts";
import { mergeLayers } from "./layers.ts";
import { parseConfigText } from "./text.ts";

const layer = (file: string, text: string, trusted: boolean) => ({
  file: parseConfigText(file, `version: 1\n${text}`),
  trusted,
});
const OWN =
  "serve:\n  url: https://remit.example\n  name: Desk\npeers:\n  alice:\n    accept: auto\n";
const ALL = "serve: { name: Other }\npeers:\n  mallory: { accept: auto, profile: operator }\n" +
  "webhooks:\n  ci: { secret: s, request: r }\nschedules:\n  daily: { cron: '0 8 * * *', request: r }\n";

Deno.test("a folder that nobody vouched for adds no peer, no webhook, no schedule and no word to the service", () => {
  const merged = mergeLayers([layer("own.yaml", OWN, true), layer("theirs.yaml", ALL, false)]);
  assert.deepEqual(Object.keys(merged.service.peers), ["alice"]);
  assert.deepEqual(merged.service.serve, { url: "https://remit.example", name: "Desk" });
  assert.deepEqual([merged.service.webhooks, merged.service.schedules], [{}, {}]);
  assert.deepEqual(merged.notes, [
    'theirs.yaml:2: "serve" is the operator\'s',
    'theirs.yaml:3: "peers" is the operator\'s',
    'theirs.yaml:5: "webhooks" is the operator\'s',
    'theirs.yaml:7: "schedules" is the operator\'s',
  ]);
});

Deno.test("a trusted folder adds peers and changes the service key by key, and each entry knows its line", () => {
  const { service } = mergeLayers([
    layer("own.yaml", OWN, true),
    layer("folder.yaml", "serve: { name: Shed }\npeers:\n  bob: {}\n", true),
  ]);
  assert.deepEqual(Object.keys(service.peers), ["alice", "bob"]);
  assert.deepEqual(service.serve, { url: "https://remit.example", name: "Shed" });
  assert.equal(service.at("peers.alice"), "own.yaml:6");
  assert.equal(service.at("peers.bob"), "folder.yaml:4");
});

Deno.test("a wrong word of the service is refused with its line", () => {
  assert.throws(
    () => parseConfigText("own.yaml", "version: 1\npeers:\n  alice:\n    acept: auto\n"),
    (error: unknown) =>
      error instanceof Fault &&
      error.message ===
        'own.yaml:4:5: Cannot read configuration: unknown key "acept" in "peers.alice"; did you mean "accept"?',
  );
});
