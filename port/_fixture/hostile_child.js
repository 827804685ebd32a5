// Plays mallory on standard output: writes what its first argument names, then reads until the end.
const write = (text) => {
  const bytes = new TextEncoder().encode(text);
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
};
const plays = {
  "64 MB line": () => write("x".repeat(64 << 20)),
  "flood": () => {
    for (;;) write('[0,"noise",null]\n'.repeat(4_096));
  },
  "deep nesting": () => write(`[0,"x",${"[".repeat(10_000)}${"]".repeat(10_000)}]\n`),
  "exit": () => Deno.exit(3),
  "spin": () => {
    for (;;);
  },
};
plays[Deno.args[0]]();
for await (const _ of Deno.stdin.readable);
