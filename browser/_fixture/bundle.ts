/** The browser process as one file, as the command line builds it. @module */

let made: Promise<string> | undefined;

/** The path of the bundle, built once for a test run. */
export function browserBundle(): Promise<string> {
  made ??= build();
  return made;
}

async function build(): Promise<string> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-b-" }));
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  await Deno.mkdir(`${folder}/deno`);
  const file = `${folder}/browser.js`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--no-check", "--platform", "deno", "--minify"],
      ...["--config", new URL("../../deno.json", import.meta.url).pathname],
      ...["-o", file, new URL("../main.ts", import.meta.url).pathname],
    ],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return file;
}
