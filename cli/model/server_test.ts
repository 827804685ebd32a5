import assert from "node:assert/strict";
import { DEFAULT_URL } from "./name.ts";
import { ollamaPlace } from "./server.ts";

const PLACES: Readonly<Record<string, string>> = {
  "": DEFAULT_URL.ollama,
  "127.0.0.1:9999": "http://127.0.0.1:9999",
  ":9999": "http://127.0.0.1:9999",
  "localhost": "http://localhost:11434",
  "0.0.0.0": "http://127.0.0.1:11434",
  "[::]:9999": "http://127.0.0.1:9999",
  "http://127.0.0.1": "http://127.0.0.1",
  '"127.0.0.1:9999"': "http://127.0.0.1:9999",
  "http://[::1]:9999/": "http://[::1]:9999",
  "models.example:9999": DEFAULT_URL.ollama,
  "10.0.0.7": DEFAULT_URL.ollama,
  "not a host": DEFAULT_URL.ollama,
  "127.0.0.1:99999999": DEFAULT_URL.ollama,
};

Deno.test("alice's Ollama is looked for where its own variable says, and on no other machine", () => {
  for (const [given, place] of Object.entries(PLACES)) {
    assert.equal(ollamaPlace((name) => name === "OLLAMA_HOST" ? given : undefined), place, given);
  }
  assert.equal(ollamaPlace(() => undefined), DEFAULT_URL.ollama);
});
