/**
 * mallory gives alice a folder to ingest. Links in it would take her other files in, a pipe would hold the command for
 * ever, a comma in a name would give the wiki's process the right to read what stands after it, a `.gitignore` would
 * have her keys taken, and a name with an escape would write on her terminal.
 */
import assert from "node:assert/strict";
import { onMachine } from "../../fake/remit.ts";
import { within } from "../../fake/within.ts";
import { makeWiki, TERMINAL_CONTROL, treeOf } from "../../fake/wikis.ts";

const SECRETS = [".env", ".env.local", "id_rsa", "id_rsa.md", "k.pem", ".aws/credentials"]
  .concat("sub/.env", "sub/.netrc", "deep/er/.ssh/config.md", ".git/notes.md", "credentials.json");
const RULES =
  "!.env\n!*.pem\n!id_rsa\n!id_rsa.md\n!.aws/\n!.aws/**\n!.git/\n!.git/**\n!link.md\n!**\n";

Deno.test("mallory's folder of links, pipes, keys and names: alice's wiki holds its documents and nothing else", () =>
  onMachine(async (machine) => {
    const outside = await machine.write(
      "outside/secret.md",
      "# Vault\n\nThe outside word is zebu.\n",
    );
    const write = (name: string, text: string) => machine.write(`evil/${name}`, text);
    for (const name of SECRETS) await write(name, "# Key\n\nThe key word is zebu.\n");
    await write(".gitignore", RULES);
    await write("sub/.gitignore", "!.env\n!../.env\n!../../outside\n");
    const said = new Map([
      ["ok.md", "plain"],
      ["new\nline.md", "newline"],
      ["ctl\x1b[2J\x07.md", "control"],
      ["bidi\u202egnp.md", "bidi"],
      ["evil...md", "dots"],
      ["x".repeat(252) + ".md", "long"],
      ["-rf.md", "dash"],
      ["--yes.md", "flag"],
      ["a,b,c.md", "comma"],
      ["com,ma/x,/etc.md", "commas"],
      [`${"d/".repeat(40)}deep.md`, "deep"],
    ]);
    for (const [name, word] of said) await write(name, `# About ${word}\n\nThe word is ${word}.\n`);
    const evil = `${machine.dir}/evil`;
    await Deno.mkdir(`${evil}/${"d/".repeat(300)}`, { recursive: true });
    await Deno.symlink(outside, `${evil}/link.md`);
    await Deno.symlink(`${machine.dir}/outside`, `${evil}/folder`);
    await Deno.symlink("/proc/self/environ", `${evil}/environ.md`);
    await Deno.symlink(evil, `${evil}/round`);
    for (const name of ["pipe.md", ".remitignore"]) {
      assert.ok((await new Deno.Command("mkfifo", { args: [`${evil}/${name}`] }).output()).success);
    }
    using _socket = Deno.listen({ transport: "unix", path: `${machine.dir}/s` });
    await Deno.rename(`${machine.dir}/s`, `${evil}/socket.md`);
    for (const [name, bytes] of [["sparse.md", 2 ** 30], ["large.md", 100_000_000]] as const) {
      using file = await Deno.open(`${evil}/${name}`, { create: true, write: true });
      await file.truncate(bytes);
    }
    const wiki = await makeWiki(machine);
    const taken = await wiki.ask("ingest", evil);
    // Files that are too large make it 1; all else was taken in.
    assert.equal(taken.code, 1, taken.stderr);
    assert.match(taken.stdout, new RegExp(`^${said.size} new, 0 changed, 0 unchanged, 2 failed\n`));
    assert.doesNotMatch(
      taken.stdout.replaceAll("\n", "") + taken.stderr.replaceAll("\n", ""),
      TERMINAL_CONTROL,
    );
    assert.match(taken.stderr, /1 folder too deep/);
    const all = await treeOf(wiki.folder);
    for (const text of all.values()) {
      assert.ok(!text.includes("zebu") && !text.startsWith("->"), text);
    }
    const raw = [...all.keys()].filter((path) => /\/raw\/.*\.md$/.test(path));
    assert.equal(raw.length, said.size, raw.join("\n"));
    for (const path of raw) assert.match(path, /\/raw\/[\p{L}\p{N}-]{1,80}\.[0-9a-f]{12}\.md$/u);
    assert.equal((await wiki.ask("query", "zebu")).code, 68);
    for (
      const command of [["query", "what is the word?", "--k", "50"], ["list"], ["lint"], ["log"]]
    ) {
      const { stdout, stderr } = await wiki.must(...command);
      assert.doesNotMatch((stdout + stderr).replaceAll("\n", ""), TERMINAL_CONTROL);
    }
    const { hits } = await wiki.json("query", "word", "--k", "50", "--within", "sources");
    assert.equal(hits.length, said.size);
  }));

Deno.test("mallory names one file at a time: a link, a pipe and a folder's comma give her nothing more", () =>
  onMachine(async (machine) => {
    const outside = await machine.write("outside/secret.md", "The outside word is zebu.\n");
    await machine.write(`evil,${machine.dir}/outside/ok.md`, "# Fine\n\nThe word is fine.\n");
    await Deno.symlink(outside, `${machine.dir}/link.md`);
    for (const name of ["pipe.md", "pipe"]) {
      assert.ok(
        (await new Deno.Command("mkfifo", { args: [`${machine.dir}/${name}`] }).output()).success,
      );
    }
    const wiki = await makeWiki(machine);
    for (const name of ["pipe.md", "pipe", "/dev/zero", "/proc/self/environ"]) {
      const { code, stderr } = await within(name, wiki.ask("ingest", name));
      assert.notEqual(code, 0, name);
      assert.match(stderr, /^remit: Cannot take /m, name);
    }
    await wiki.must("ingest", `evil,${machine.dir}/outside`);
    const texts = [...(await treeOf(wiki.folder)).values()].join("\n");
    assert.ok(texts.includes("The word is fine.") && !texts.includes("zebu"));
  }));
