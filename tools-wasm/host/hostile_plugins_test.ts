/**
 * Hostile plugins, each in the process that the kernel would start for it: no permission, and its
 * limits. What would have happened without the bound stands beside each.
 */
import assert from "node:assert/strict";
import { type Bundle, bundlePluginHost, runs } from "./_fixture/bundle.ts";
import {
  type Caller,
  type Kernel,
  loadBody,
  makeCaller,
  makeKernel,
  type Told,
} from "./_fixture/rig.ts";
import type { HostFunction } from "../../contracts/tool/plugin.ts";
import { toJson } from "../../contracts/base/json.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { LOG_BYTES, TABLE_ELEMENTS } from "./bounds.ts";
import type { Child } from "../../kernel/core/child/child.ts";

let bundle: Bundle | undefined;
Deno.test.beforeAll(async () => {
  bundle = await bundlePluginHost();
});
Deno.test.afterAll(async () => await bundle?.[Symbol.asyncDispose]());

type Host = Caller & { readonly child: Child; readonly kernel: Kernel };

/** A host that ends with the test. */
async function withHost(
  work: (host: Host) => Promise<void>,
  options: { readonly pooled?: boolean; readonly kernel?: Kernel } = {},
): Promise<void> {
  assert.ok(bundle);
  const kernel = options.kernel ?? makeKernel();
  const child = bundle.start(kernel.handler, { pooled: options.pooled ?? false });
  try {
    await work({ ...makeCaller((op, body) => child.port.ask(op, body)), child, kernel });
  } finally {
    await child.kill();
  }
  assert.equal(runs(child.osPid), false);
}

const ALL: readonly HostFunction[] = ["fs.read", "clock", "log", "random"];

/** Loads the hostile plugin and an honest one beside it, which answers before and after. */
function contains(
  claim: string,
  file: string,
  work: (host: Host) => Promise<void>,
): void {
  Deno.test(claim, async () => {
    await withHost(async (host) => {
      await host.load("honest");
      await host.load(file, { hostFunctions: ALL });
      assert.equal((await host.call("honest")).value, "well");
      await work(host);
      assert.equal((await host.call("honest")).value, "well");
    });
  });
}

const trap = (told: Told, why: RegExp): void => {
  assert.equal(told.code, "upstream");
  assert.match(String(told.message), /^Cannot finish "\w+" of plugin "\w+": /);
  assert.match(String(told.message), why);
};

for (const file of ["spin", "spin_in_start"]) {
  Deno.test(`_fixture/${file}.wat burns its own process only, which SIGKILL ends at once`, async () => {
    await withHost(async (alice) => {
      await alice.load("honest");
      await withHost(async ({ load, call, child }) => {
        await load(file);
        const fate = call(file);
        // It is in the middle of it, and the other host answers as ever.
        for (let i = 0; i < 50; i++) assert.equal((await alice.call("honest")).value, "well");
        // Reaped: else this waits for ever.
        await child.kill();
        assert.equal((await fate).code, "gone");
      });
      assert.equal((await alice.call("honest")).value, "well");
    });
  });
}

contains(
  "a plugin that asks before it was called gets an end, not an answer",
  "ask_in_start",
  async ({ call, kernel }) => {
    const told = await call("ask_in_start");
    trap(told, /it trapped/);
    assert.deepEqual(told.detail, { logs: ["early"] });
    assert.deepEqual(kernel.asked, []);
  },
);

contains(
  "memory grows to the declared maximum and not a page further",
  "grow_memory",
  async ({ raw }) => {
    for (let i = 0; i < 3; i++) {
      assert.equal(String((await raw("grow_memory")).value).length, 16);
    }
  },
);

contains(
  "a table without a maximum grows to the bound of the gate",
  "grow_table",
  async ({ raw }) => {
    const thousands = String((await raw("grow_table")).value).length;
    assert.equal(thousands, TABLE_ELEMENTS / 1_000 - 1);
  },
);

contains("recursion without end is a trap of the plugin's own", "recurse", async ({ call }) => {
  for (let i = 0; i < 3; i++) trap(await call("recurse"), /Maximum call stack size exceeded/);
});

contains(
  "a million host calls end in a fault, and past 10,000 nothing is served",
  "million_calls",
  async ({ raw, call, kernel }) => {
    const some = JSON.parse(String((await raw("million_calls some")).value));
    assert.equal(some.error.code, "budgetExhausted");
    const asked = JSON.parse(String((await raw("million_calls kernel")).value));
    assert.equal(asked.error.code, "budgetExhausted");
    assert.equal(kernel.asked.length, 10_000);
    const told = await call("million_calls");
    assert.equal(told.code, "tooLarge");
    assert.match(String(told.message), /more than 32000 blocks/);
  },
);

contains(
  "offsets and lengths that name nothing are traps or errors, and reach nothing",
  "bad_offsets",
  async ({ raw }) => {
    const traps = [
      "load_past_end",
      "load_no_block",
      "load_negative",
      "store_past_end",
      "input_past_end",
      "output_past_end",
      "output_negative",
      "output_no_block",
      "output_null_page",
      "free_last",
    ];
    for (const tool of traps) {
      trap(
        await raw(`bad_offsets ${tool}`, "in"),
        /trapped|lies in no block/,
      );
    }
    for (const tool of ["alloc_negative", "alloc_huge"]) {
      assert.equal((await raw(`bad_offsets ${tool}`)).code, "tooLarge");
    }
    for (const tool of ["ask_no_block", "ask_negative", "ask_freed"]) {
      const { error } = JSON.parse(String((await raw(`bad_offsets ${tool}`)).value));
      assert.equal(error.code, "invalidInput");
    }
    assert.equal((await raw("bad_offsets store_no_block")).value, "nothing was stored");
    assert.equal((await raw("bad_offsets free_all")).value, "still here");
    assert.equal((await raw("bad_offsets log_no_block")).value, "not logged");
  },
);

contains(
  "copies between memory and blocks stay in both",
  "copies",
  async ({ raw }) => {
    const traps = [
      "read_past_end",
      "read_at_minus_one",
      "read_no_block",
      "write_past_end",
      "write_minus_one",
      "write_too_much",
      "input_past_end",
    ];
    for (const tool of traps) trap(await raw(`copies ${tool}`, "in"), /it trapped/);
    assert.equal((await raw("copies round", "née ☃")).value, "née ☃");
    assert.equal((await raw("copies round", "x".repeat(20_000))).value, "x".repeat(20_000));
  },
);

contains(
  "a copy before there is a memory is a trap",
  "copy_in_start",
  async ({ call }) => trap(await call("copy_in_start"), /exports no memory, or not yet/),
);

contains(
  "a gigabyte of output is refused before it is made, and 64 MiB before they are read",
  "gigabytes",
  async ({ raw, call }) => {
    for (const tool of ["at_once", "piece_by_piece"]) {
      const told = await raw(`gigabytes ${tool}`);
      assert.equal(told.code, "tooLarge");
      assert.match(String(told.message), /more than 100663296 bytes of memory/);
    }
    assert.equal((await call("gigabytes")).code, "tooLarge");
    assert.equal((await raw("gigabytes freed")).value, "freed");
  },
);

contains(
  "a flood of log lines is cut at 64 KiB, and says so",
  "log_flood",
  async ({ raw, call }) => {
    const some = (await raw("log_flood some")).logs ?? [];
    assert.ok(some.join("\n").length < LOG_BYTES);
    assert.equal(some.at(-1), "[Remit: more was logged than is kept]");
    assert.equal(some[0], "line after line");
    assert.deepEqual((await raw("log_flood long")).logs, ["[Remit: more was logged than is kept]"]);
    assert.equal((await call("log_flood")).code, "tooLarge");
  },
);

contains("what the host throws in a module cannot be caught away", "catcher", async ({ call }) => {
  assert.equal((await call("catcher")).code, "tooLarge");
});

for (
  const file of ["unknown_import", "http_import", "wasi_open", "imported_memory", "no_maximum"]
) {
  Deno.test(`a host without permissions refuses _fixture/${file}.wat and goes on`, async () => {
    await withHost(async (host) => {
      await assert.rejects(host.load(file), (error: Fault) => error.code === "refused");
      await host.load("honest");
      assert.equal((await host.call("honest")).value, "well");
      assert.equal((await host.call(file)).code, "notFound");
    });
  });
}

Deno.test("50 MB for a module are refused: on the way when they pass the frame, else by the gate", async () => {
  await withHost(async (host) => {
    const large = await loadBody("large", { bytes: new Uint8Array(50_000_000) });
    await assert.rejects(
      host.child.port.ask("load", toJson(large)),
      (error: Fault) => error.code === "tooLarge",
    );
    const less = await loadBody("less", { bytes: new Uint8Array(17_500_000) });
    await assert.rejects(
      host.child.port.ask("load", toJson(less)),
      (error: Fault) => error.code === "tooLarge" && /its module is longer/.test(error.message),
    );
    await host.load("honest");
    assert.equal((await host.call("honest")).value, "well");
  });
});

Deno.test("one plugin's host call bears its own call, whatever it says, also while another waits", async () => {
  const waiting: (() => void)[] = [];
  const kernel = makeKernel(({ call }) =>
    call === "alice" ? new Promise((resolve) => waiting.push(() => resolve("hers"))) : "his"
  );
  await withHost(async (host) => {
    await host.load("honest", { plugin: "alice", hostFunctions: ["fs.read"] });
    await host.load("honest", { plugin: "mallory", hostFunctions: ["fs.read"] });
    const hers = host.raw("alice forward", `{"fn":"fs.read"}`, { id: "alice" });
    const forged = await host.raw("mallory forward", `{"fn":"fs.read","call":"alice","args":{}}`);
    assert.equal(JSON.parse(String(forged.value)).error.code, "invalidInput");
    const named = await host.raw("mallory forward", `{"fn":"fs.read","args":{"call":"alice"}}`, {
      id: "mallory",
    });
    assert.equal(JSON.parse(String(named.value)).value, "his");
    waiting[0]?.();
    assert.equal(JSON.parse(String((await hers).value)).value, "hers");
    assert.deepEqual(kernel.asked.map(({ call }) => call), ["alice", "mallory"]);
  }, { kernel });
});

Deno.test("a pooled host has warmed itself, asked nobody, and knows no plugin", async () => {
  await withHost(async (host) => {
    assert.deepEqual(await host.child.port.ask("usage", null), {
      instances: 0,
      calls: 0,
      wasmBytes: 0,
    });
    assert.equal((await host.call("warm")).code, "notFound");
    await host.load("honest", { hostFunctions: ["fs.read"] });
    assert.equal((await host.raw("honest forward", `{"fn":"fs.read"}`)).code, undefined);
    assert.equal(host.kernel.asked.length, 1);
    // Only so is it known that the bundle keeps the order of its first imports.
    assert.match(String((await host.raw("honest fail_silently")).message), /it says it failed/);
    assert.equal(host.child.stderr(), "");
  }, { pooled: true });
});
