import assert from "node:assert/strict";
import type { Json } from "../../contracts/base/mod.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { type Folders, ingestOf, makeFolders, openFolders } from "../_fixture/opened_wiki.ts";
import { openProcess } from "../_fixture/wiki_process.ts";

interface Ask {
  readonly kind: string;
  readonly name: string;
  readonly bytes: string;
}

/** A parser that says in Markdown what the bytes say. */
function parse(ask: Json): Json {
  // TRUST: our own process.
  const { name, bytes } = ask as unknown as Ask;
  const text = new TextDecoder().decode(Uint8Array.fromBase64(bytes));
  if (text.includes("bomb")) {
    throw new Fault("tooLarge", `Cannot parse "${name}": it unfolds to more than 64 MiB`);
  }
  if (text.includes("shape")) return { text: 7 };
  if (text.includes("empty")) return { text: " \n", title: "", parser: "test@1", notes: [] };
  const body = text.replace(/<h1>(.*)<\/h1>/, "# $1\n").replace(/<\/?\w+>/g, "");
  return { text: body, title: "A page", parser: "test@1", notes: [] };
}

async function write(folders: Folders, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folders.files}/${name}`, text);
  }
}

Deno.test("a document is cited by the lines of its text, and keeps its own bytes beside it", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders, { parse });
  await write(folders, { "page.html": "<h1>Leases</h1>\n<p>A lease ends after 30 seconds.</p>\n" });
  const ask = ingestOf(folders, ["page.html"], { kind: "html" });
  assert.equal((await wiki.ask("ingestFiles", ask)).added, 1);
  const { hits } = await wiki.ask("query", {
    text: "when does a lease end",
    k: 1,
    clearance: "internal",
  });
  const [hit] = hits;
  assert.match(hit.file, /^raw\/page\.[0-9a-f]{12}\.html\.txt$/);
  assert.equal(hit.title, "A page");
  const read = await wiki.ask("read", { clearance: "internal", name: hit.file });
  assert.match(read.text, /^# Leases\n/);
  const raw = hit.file.replace(/\.txt$/, "");
  assert.match(await Deno.readTextFile(`${folders.folder}/${raw}`), /^<h1>/);
});

Deno.test("a document that unfolds too far, parses to nothing or to nonsense is reported, and stops no other", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders, { parse });
  const files = {
    "bomb.html": "<p>bomb</p>",
    "empty.html": "<p>empty</p>",
    "shape.html": "<p>shape</p>",
    "good.html": "<h1>Good</h1>\n<p>It is good.</p>",
  };
  await write(folders, files);
  const ask = ingestOf(folders, Object.keys(files), { kind: "html" });
  const report = await wiki.ask("ingestFiles", ask);
  assert.equal(report.added, 1);
  const whys = Object.fromEntries(
    report.failed.map(({ name, why }: { name: string; why: string }) => [name, why]),
  );
  assert.match(whys["bomb.html"], /unfolds to more than 64 MiB/);
  assert.match(whys["empty.html"], /no text was found in it/);
  assert.match(whys["shape.html"], /no text came back/);
});

Deno.test("a document of 30 MiB and a text of 15 MiB cross the pipe; one past 32 MiB is not sent", async () => {
  await using folders = await makeFolders();
  let sent = 0;
  const line = "A lease ends after thirty seconds, as everybody knows.\n";
  await using wiki = await openProcess(folders, {
    parse: (ask) => {
      // TRUST: our own process.
      sent = Uint8Array.fromBase64((ask as unknown as Ask).bytes).length;
      const text = line.repeat(Math.floor(15 * 1_048_576 / line.length));
      return { text, title: "Long", parser: "test@1", notes: [] };
    },
  });
  await Deno.writeFile(`${folders.files}/large.pdf`, new Uint8Array(30 * 1_048_576));
  await Deno.writeFile(`${folders.files}/huge.pdf`, new Uint8Array(33 * 1_048_576));
  const ask = ingestOf(folders, ["huge.pdf", "large.pdf"], { kind: "pdf", maxBytes: 100_000_000 });
  const report = await wiki.ask("ingestFiles", ask);
  assert.equal(report.added, 1, JSON.stringify(report));
  assert.equal(sent, 30 * 1_048_576);
  assert.match(report.failed[0].why, /33554432 are parsed/);
});
