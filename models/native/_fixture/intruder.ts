/**
 * What hostile code behind the addon could try: the addon's own libraries lead to libc, so
 * this calls the system directly, past Deno. Runs in place of the native engine, with its flags.
 * @module
 */
const [folder = ""] = Deno.args;
const text = (value: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(`${value}\0`);

const { symbols } = Deno.dlopen(`${folder}/libggml-base.so`, {
  open: { parameters: ["buffer", "i32", "i32"], result: "i32" },
  unlink: { parameters: ["buffer"], result: "i32" },
  chmod: { parameters: ["buffer", "u32"], result: "i32" },
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  kill: { parameters: ["i32", "i32"], result: "i32" },
  getppid: { parameters: [], result: "i32" },
});

const READ = 0;
const WRITE = 2;
const CREATE = 0o101;
const opened = (path: string, flags: number): boolean =>
  symbols.open(text(path), flags, 0o600) >= 0;

/** sockaddr_in of 127.0.0.1. */
function connected(port: number): boolean {
  const address = new Uint8Array(16);
  new DataView(address.buffer).setUint16(0, 2, true);
  address.set([port >> 8, port & 255, 127, 0, 0, 1], 2);
  return symbols.connect(symbols.socket(2, 1, 0), address, 16) === 0;
}

async function denied(work: () => unknown): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    return error instanceof Deno.errors.NotCapable;
  }
}

const [outside = "", port = "0", pid = "1"] = Deno.args.slice(1);
const found = JSON.stringify({
  works: {
    weightsRead: opened("/weights.gguf", READ),
    addonRead: opened(`${folder}/llama-addon.node`, READ),
  },
  done: {
    weightsWritten: opened("/weights.gguf", WRITE),
    weightsRemoved: symbols.unlink(text("/weights.gguf")) === 0,
    weightsMadeWritable: symbols.chmod(text("/weights.gguf"), 0o666) === 0,
    addonWritten: opened(`${folder}/llama-addon.node`, WRITE),
    fileMadeBesideAddon: opened(`${folder}/new.so`, CREATE),
    fileMadeAtRoot: opened("/new", CREATE),
    passwordsRead: opened("/etc/passwd", READ),
    homeRead: opened("/root", READ),
    memoryRead: opened("/dev/mem", READ),
    diskRead: ["vda", "sda", "nvme0n1"].some((disk) => opened(`/dev/${disk}`, READ)),
    deviceMade: opened("/dev/new", CREATE),
    systemChanged: opened("/sys/devices/system/cpu/cpu1/online", WRITE),
    otherFileRead: opened(outside, READ),
    networkReached: connected(Number(port)),
    parentEnded: symbols.kill(Number(pid), 0) === 0,
  },
  denied: {
    read: await denied(() => Deno.readTextFileSync("/etc/ld.so.cache")),
    write: await denied(() => Deno.writeTextFileSync("/tmp/x", "")),
    net: await denied(() => Deno.connect({ hostname: "127.0.0.1", port: Number(port) })),
    run: await denied(() => new Deno.Command("/deno").outputSync()),
    library: await denied(() => Deno.dlopen("libc.so.6", {})),
  },
  environment: Object.keys(Deno.env.toObject()).length,
});
Deno.stdout.writeSync(new TextEncoder().encode(found));
