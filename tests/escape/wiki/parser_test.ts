/** Documents that try to get out of the process that reads them, to outlive it, or to take the machine. */
import assert from "node:assert/strict";
import { bomb, joined } from "../../../memory-wiki/parse/_fixture/zip.ts";
import { mainPartOf, makeDocx, paragraph, run } from "../../../memory-wiki/parse/_fixture/docx.ts";
import { makeEpub } from "../../../memory-wiki/parse/_fixture/epub.ts";
import { pdfOf, shown } from "../../../memory-wiki/parse/_fixture/pdf.ts";
import type { SourceKind } from "../../../contracts/memory/mod.ts";
import { endProcesses, processesNaming, stillRunning } from "../../fake/processes.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { needs } from "../../needs.ts";
import { withMallory, withParser, writeMallory } from "./_parsers.ts";

/** What mallory's code tries once it runs in the parser's process. */
const TRIES: Readonly<Record<string, string>> = {
  "a file": `Deno.readTextFileSync("/etc/hostname")`,
  "a file through node:fs": `(await import("node:fs")).readFileSync("/etc/passwd", "utf8")`,
  "its own program": `Deno.readTextFileSync(new URL(import.meta.url))`,
  "the folder it stands in": `[...Deno.readDirSync(".")].length`,
  "writing": `Deno.writeTextFileSync("$FOLDER/pwned", "x")`,
  "writing into its cache": `Deno.writeTextFileSync("$CACHE/pwned", "x")`,
  "the net": `(await fetch("http://127.0.0.1:$PORT/")).status`,
  "a connection": `(await Deno.connect({ hostname: "127.0.0.1", port: $PORT })).localAddr`,
  "a connection of node:net":
    `await new Promise(async (yes, no) => (await import("node:net")).connect($PORT, "127.0.0.1").on("connect", yes).on("error", no))`,
  "a web socket":
    `await new Promise((yes, no) => { const s = new WebSocket("ws://127.0.0.1:$PORT"); s.onopen = yes; s.onerror = () => no(new Error()); })`,
  "a listener": `Deno.listen({ port: 0 }).addr`,
  "a name": `await Deno.resolveDns("localhost", "A")`,
  "the environment": `Deno.env.toObject()`,
  "node's environment": `(await import("node:process")).default.env.PATH.length`,
  "a program": `new Deno.Command("/bin/true").outputSync().code`,
  "a program of node": `(await import("node:child_process")).execFileSync("/bin/true")`,
  "a library": `Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {})`,
  "a database": `new (await import("node:sqlite")).DatabaseSync("$FOLDER/a.db")`,
  "the machine's name": `Deno.hostname()`,
  "code from a file": `await import("file:///etc/hostname")`,
  "code from the net": `await import("http://127.0.0.1:$PORT/a.js")`,
  "code from the registry": `await import("npm:zod")`,
  "a signal to its starter": `Deno.kill(Deno.ppid, "SIGTERM") ?? "sent"`,
  "what others kept": `localStorage.setItem("a", "b") ?? "kept"`,
};

Deno.test("mallory's code in the parser reaches no file, net, program, variable or library", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => undefined },
    () => new Response("trapped"),
  );
  const tries = Object.entries(TRIES).map(([what, code]) =>
    `try { got[${JSON.stringify(what)}] = "GOT " + await (async () => ${code})() } catch {}`
  );
  const reads = `const got = { nothing: "GOT " + (1 + 1) };\n${tries.join("\n")}
    return text(JSON.stringify(got));`;
  const folder = await Deno.makeTempDir({ prefix: "remit-tries-" });
  try {
    const port = String(server.addr.port);
    await withMallory(
      reads.replaceAll("$PORT", port).replaceAll("$FOLDER", folder),
      async (parser) => {
        const { text } = await parser.parse("pdf", "x");
        // The one try that needs no right shows that the others were made.
        assert.deepEqual(JSON.parse(text), { nothing: "GOT 2" });
      },
    );
    assert.deepEqual([...Deno.readDirSync(folder)], []);
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});

const BOMBS = {
  "its heap": `const all = []; for (;;) all.push(new Array(1e5).fill({}));`,
  "buffers beside its heap": `const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1));`,
};
for (const [where, code] of Object.entries(BOMBS)) {
  Deno.test(`mallory's document that fills ${where} would have taken the machine's memory`, async () => {
    if (!needs("prlimit")) return;
    await withMallory(`if (name === "good") return text("read"); ${code}`, async (parser) => {
      await assert.rejects(parser.parse("pdf", "x", "bomb"), {
        code: "upstream",
        message: /^Cannot read "bomb": its parser (?:ended|failed)/,
      });
      assert.equal((await parser.parse("pdf", "x", "good")).text, "read");
    });
  });
}

Deno.test("a document gets 200 MiB of buffers and never 512", async () => {
  if (!needs("prlimit")) return;
  const reads = `const all = Array.from({ length: Number(name) / 4 }, () =>
    new Uint8Array(1 << 22).fill(1)); return text(all.length * 4);`;
  await withMallory(reads, async (parser) => {
    assert.equal((await parser.parse("pdf", "x", "200")).text, "200");
    await assert.rejects(parser.parse("pdf", "x", "512"), { code: "upstream" });
  });
});

Deno.test("a document over which its parser spins ends at the deadline, and the next one is read", async () => {
  const reads = `if (name === "good") return text("read"); for (;;);`;
  await withMallory(reads, async (parser) => {
    await assert.rejects(parser.parse("pdf", "x", "spinner"), {
      code: "timedOut",
      message: 'Cannot read "spinner": it took longer than 6 s',
    });
    assert.equal((await parser.parse("pdf", "x", "good")).text, "read");
    await parser.close();
    assert.deepEqual(await processesNaming(parser.program), []);
    // Long enough for the one that is read, on a busy machine.
  }, 6_000);
});

Deno.test("no document meets what another one left: each has a process of its own", async () => {
  const reads = `globalThis.left = (globalThis.left ?? "") + name; Object.prototype.left ??= name;
    return text(globalThis.left + ({}).left + Deno.pid);`;
  await withMallory(reads, async (parser) => {
    const names = ["one", "two", "three"];
    const texts = await Promise.all(
      names.map(async (name) => (await parser.parse("html", "x", name)).text),
    );
    assert.deepEqual(texts.map((text) => text.replace(/\d+$/, "")), [
      "oneone",
      "twotwo",
      "threethree",
    ]);
    assert.equal(new Set(texts.map((text) => /\d+$/.exec(text)?.[0])).size, 3);
  });
});

/** What a taken-over parser might say in place of a text. */
const LIES: Readonly<Record<string, string>> = {
  "is no text": `return { text: 5, title: "", parser: "x", notes: [] };`,
  "has more fields": `return { ...text("x"), colour: "BLUE", label: "public" };`,
  "is larger than may be": `return text("x".repeat(20_000_000));`,
  "is larger than a frame": `return text("x".repeat(60_000_000));`,
  "is nothing": `return null;`,
  "is a fault of the gate": `throw Object.assign(new (class Fault extends Error {})(), {});`,
  "is no frame": `Deno.stdout.writeSync(new TextEncoder().encode("{]\\n")); return text("x");`,
  "answers what was not asked":
    `Deno.stdout.writeSync(new TextEncoder().encode('[-99,null,"x"]\\n')); return text("x");`,
  "is an exit": `Deno.exit(0);`,
  "floods": `for (;;) { port.tell("x", "y".repeat(100)); await undefined; }`,
  "asks back": `await port.ask("read", "/etc/passwd"); return text("x");`,
};
Deno.test("whatever a taken-over parser answers is a text of bounded size or a fault", async () => {
  const cases = Object.entries(LIES).map(([what, code]) =>
    `if (name === ${JSON.stringify(what)}) { ${code} }`
  );
  await withMallory(`${cases.join("\n")} return text("read");`, async (parser) => {
    for (const what of Object.keys(LIES)) {
      await assert.rejects(
        parser.parse("pdf", "x", what),
        { code: "upstream", message: /^Cannot read ".+": its parser (?:ended|failed)/ },
        what,
      );
      assert.equal((await parser.parse("pdf", "x", "good")).text, "read", what);
    }
  }, 20_000);
});

Deno.test("a parser that spins does not outlive a command that was killed", async () => {
  if (!needs("setpriv")) return;
  const folder = await Deno.makeTempDir({ prefix: "remit-orphan-" });
  try {
    const bundle = await writeMallory(folder, "for (;;);");
    const powers =
      new URL("../../../memory-wiki/host/process/parser_powers.ts", import.meta.url).href;
    await Deno.writeTextFile(
      `${folder}/command.ts`,
      `import { makeWikiParser } from ${JSON.stringify(powers)};
const program = { bundle: ${JSON.stringify(bundle)}, denoDir: "${folder}/deno" };
const parser = makeWikiParser({ provideProgram: () => Promise.resolve(program) });
await parser.parse({ kind: "pdf", name: "a", bytes: "eA==" });`,
    );
    const command = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--quiet", "--no-lock", "--config"],
        ...[new URL("../../../deno.json", import.meta.url).pathname, `${folder}/command.ts`],
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const spinning = await waitUntil("both parsers", async () => {
      const found = await processesNaming(bundle);
      return found.length === 2 && found.every((each) => each.command.includes("deno"))
        ? found
        : undefined;
    });
    command.kill("SIGKILL");
    await command.status;
    await waitUntil(
      "the parsers' end",
      async () => (await stillRunning(spinning)).length === 0 || undefined,
    );
  } finally {
    await endProcesses(folder);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a parser that is closed ends what it reads and leaves no process behind", async () => {
  await withMallory("for (;;);", async (parser) => {
    const reading = assert.rejects(parser.parse("pdf", "x"), { code: "gone" });
    await waitUntil("its process", async () => (await processesNaming(parser.program))[0]);
    await parser.close();
    await reading;
    assert.deepEqual(await processesNaming(parser.program), []);
    await assert.rejects(parser.parse("pdf", "x"), { code: "gone" });
    await parser.close();
  });
});

const flate = (packed: Uint8Array): Uint8Array =>
  joined([Uint8Array.of(0x78, 0x9c), packed, Uint8Array.of(0, 0, 0, 1)]);
const pdfBomb = (dictionary: string, stream: Uint8Array): Uint8Array =>
  pdfOf([shown(["before"]), { dictionary, stream }, shown(["behind"])]);
const deep = (tag: string): string => `<${tag}>`.repeat(500_000);

/** Documents of mallory's, each made to take more than there is. */
const DOCUMENTS: Readonly<Record<string, () => readonly [SourceKind, string | Uint8Array]>> = {
  "a Word document of 10 GB of zeros":
    () => ["docx", makeDocx({ content: "", packed: bomb("<a>", 10_240) })],
  "a Word document of 10 GB of text": () => [
    "docx",
    makeDocx({
      content: "",
      packed: bomb("<w:document><w:body><w:p><w:r><w:t>", 10_240, "x"),
    }),
  ],
  "a Word document of 10 GB of elements' beginnings": () => [
    "docx",
    makeDocx({ content: "", packed: bomb("<w:document>", 10_240, "<") }),
  ],
  "a Word document 500,000 deep": () => ["docx", makeDocx({ content: mainPartOf(deep("w:p")) })],
  "a book of 10 GB in each of 20 chapters": () => [
    "epub",
    makeEpub(Array.from({ length: 20 }, () => ({ content: "", packed: bomb("<p>", 10_240, "y") }))),
  ],
  "a PDF whose page is 10 GB of zeros": () => [
    "pdf",
    pdfBomb("/Filter/FlateDecode", flate(bomb("", 10_240))),
  ],
  "a PDF whose page is packed three times": () => [
    "pdf",
    pdfBomb(
      "/Filter[/FlateDecode/FlateDecode/LZWDecode]",
      flate(bomb("", 4_096)),
    ),
  ],
  "a PDF of 10 GB in an object stream": () => [
    "pdf",
    pdfOf([shown(["before"])], {
      page: "/Q 6 0 R",
      objects: [{
        dictionary: "/Type/ObjStm/N 100000000/First 1000000000/Filter/FlateDecode",
        stream: flate(bomb("", 10_240)),
      }],
    }),
  ],
  "a page 500,000 deep": () => ["html", deep("div")],
  "a page of one tag of 30 MB": () => ["html", `<a ${"x=y ".repeat(7_500_000)}>`],
  "a line of 32 MiB": () => ["text", new Uint8Array(32 << 20).fill(0xe9)],
  "a mail of 100,000 parts": () => [
    "mail",
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${"--b\r\n\r\nx\r\n".repeat(100_000)}`,
  ],
  "a mail of one header of 30 MB": () => ["mail", `Subject: ${"x ".repeat(15_000_000)}\r\n\r\nx`],
};
for (const [what, make] of Object.entries(DOCUMENTS)) {
  Deno.test(`mallory's document, ${what}, ends in a text or a fault, and alice's is read behind it (long)`, async () => {
    await withParser(async (parser) => {
      const said = await parser.parse(...make(), "bomb").then(
        ({ text, notes }) => `${text.length} ${notes.join(" ")}`,
        (error: { readonly code: string; readonly message: string }) => {
          assert.match(error.message, /^Cannot read "bomb": /);
          return error.code;
        },
      );
      assert.match(said, /^(?:\d+ .*|invalidInput|tooLarge|upstream|timedOut)$/, said);
      const { text } = await parser.parse(
        "docx",
        makeDocx({ content: mainPartOf(paragraph(run("mine"))) }),
      );
      assert.equal(text, "mine\n");
      await parser.close();
      assert.deepEqual(await processesNaming(parser.program), []);
    });
  });
}
