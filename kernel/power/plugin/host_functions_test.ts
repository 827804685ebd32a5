import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { Lease, Scope } from "../../../contracts/authority/mod.ts";
import { Fault, type Json, type JsonObject } from "../../../contracts/base/mod.ts";
import type { ToolCall } from "../../../contracts/model/mod.ts";
import type { ProcessRow } from "../../../contracts/task/mod.ts";
import { HostFunction, type ToolResult } from "../../../contracts/tool/mod.ts";
import type { HostCallAnswer, NetAnswer } from "../../../contracts/wire/mod.ts";
import type { TaskWiki } from "../wiki/wiki_tools.ts";
import { makeHostFunctions, type ServeHostFunction } from "./host_functions.ts";
import type { Under } from "./host_fetch.ts";

const NOTES: Scope = { resource: "mount", right: "read", path: "desk/notes" };
const row = { pid: 7, task: "t000000000000", snapshot: { id: "snap" } } as unknown as ProcessRow;

interface World {
  readonly serve: ServeHostFunction;
  readonly proposed: { readonly call: ToolCall; readonly snapshot: string }[];
  readonly fetched: JsonObject[];
  readonly looked: string[];
  /** Colour and label that fell on the process, at once. */
  readonly fell: string[];
}

/** A wiki that was asked, and whether the process holds it. */
interface Remembering {
  readonly asked: { readonly text: string; readonly k: number }[];
  readonly holds: boolean;
}

function makeWorld(result: Partial<ToolResult> = {}, remembering?: Remembering): World {
  const proposed: { call: ToolCall; snapshot: string }[] = [];
  const fetched: JsonObject[] = [];
  const looked: string[] = [];
  const fell: string[] = [];
  const answer: HostCallAnswer = {
    content: "",
    colour: "RED",
    label: "secret",
    sources: [{ source: "desk/notes/a", colour: "RED", label: "secret" }],
    value: { text: "hello" },
  };
  const page: NetAnswer = {
    status: 200,
    url: "https://example.org/a",
    headers: { "content-type": "text/plain" },
    body: btoa("page"),
    bytes: 4,
    cut: false,
    hops: [],
  };
  const serve = makeHostFunctions({
    processes: {
      taint(pid, { colour, label }): void {
        equal(pid, row.pid);
        fell.push(`${colour} ${label}`);
      },
    },
    leases: {
      covering: (_pid, scope) =>
        remembering?.holds === true && scope.resource === "memory" && scope.right === "read"
          ? {} as Lease
          : undefined,
    },
    gateOf: () => ({
      call(_pid, call, snapshot) {
        proposed.push({ call, snapshot });
        return Promise.resolve({
          callId: call.id,
          outcome: "ok",
          content: "done",
          colour: "YELLOW",
          label: "internal",
          ...result,
        });
      },
    }),
    fetching: {
      fetch(request) {
        fetched.push({ origin: request.origin, url: request.url, method: request.method });
        return Promise.resolve(page);
      },
      forCall: () => Promise.resolve(page),
      handle: (name, origin) => `secret:${name}@${origin}`,
    },
    looking: () => ({
      readScope: (path) => ({ resource: "mount", right: "read", path }),
      look({ args }) {
        looked.push(String(args["path"]));
        return Promise.resolve(answer);
      },
      ...(remembering === undefined ? {} : {
        memory: {
          query(asked): ReturnType<TaskWiki["query"]> {
            remembering.asked.push(asked);
            const read = { colour: "RED", label: "secret" } as const;
            const sources = [{ source: "wiki pages/a.md", ...read }];
            return Promise.resolve({ hits: [], fit: "none", sources, ...read });
          },
        },
      }),
    }),
    modelOf: () => (_row, { prompt }) => Promise.resolve(`you said ${prompt}`),
    originOf: (url) => new URL(url).origin,
    labelOf: () => "public",
    clearanceOf: (origin) => origin === "https://inside.example" ? "secret" : "internal",
    within: () => () => undefined,
    onProgress: () => undefined,
  });
  return { serve, proposed, fetched, looked, fell };
}

function under(changes: Partial<Under["grants"]> = {}, more: Partial<Under> = {}): Under {
  return {
    plugin: "mallory",
    callId: "call_1",
    process: row,
    grants: {
      functions: new Set(HostFunction.options),
      reads: [NOTES],
      writes: ["desk/notes/out.md"],
      origin: "https://example.org",
      ...changes,
    },
    effect: "outboundRead",
    signal: new AbortController().signal,
    colour: "BLUE",
    label: "public",
    judged: { colour: "BLUE", label: "public" },
    sent: { colour: "BLUE", label: "public" },
    sources: [],
    served: 0,
    ...more,
  };
}

const refused = (words: RegExp) => (error: unknown): boolean =>
  error instanceof Fault && error.code === "refused" && words.test(error.message);

Deno.test("a function that a plugin did not ask for says how to ask, whatever it is", async () => {
  const { serve } = makeWorld();
  for (const fn of HostFunction.options) {
    await rejects(
      serve(under({ functions: new Set() }), fn, { path: "desk/notes/a" }),
      refused(/did not ask for it; add it to hostFunctions/),
      fn,
    );
  }
});

Deno.test("a plugin reads what its call names, and carries what it read", async () => {
  const { serve, looked, fell } = makeWorld();
  const alice = under();
  deepEqual(await serve(alice, "fs.read", { path: "desk/notes/a" }), { text: "hello" });
  equal(alice.colour, "RED");
  equal(alice.label, "secret");
  equal(alice.sources.length, 1);
  deepEqual(fell, ["RED secret"]);
  deepEqual(looked, ["desk/notes/a"]);
});

for (const path of ["desk/other", "desk", "desk/notes2", "elsewhere/notes/a", "scratch/x"]) {
  Deno.test(`mallory's plugin does not read ${path}, which its call does not name`, async () => {
    const { serve, looked } = makeWorld();
    await rejects(serve(under(), "fs.read", { path }), refused(/was made for "desk\/notes"/));
    await rejects(serve(under(), "fs.list", { path }), refused(/was made for "desk\/notes"/));
    deepEqual(looked, []);
  });
}

Deno.test("a write is a call of its own at the gate, under the turn's snapshot", async () => {
  const { serve, proposed } = makeWorld();
  const alice = under({}, { served: 3 });
  equal(await serve(alice, "fs.write", { path: "desk/notes/out.md", text: "x" }), null);
  const [first] = proposed;
  equal(first?.call.name, "file_write");
  equal(first?.call.id, "call_1/4");
  equal(first?.snapshot, "snap");
  deepEqual(JSON.parse(first?.call.arguments ?? ""), { path: "desk/notes/out.md", content: "x" });
});

Deno.test("mallory's plugin proposes no change of a path that its call does not name", async () => {
  const { serve, proposed } = makeWorld();
  for (const path of ["desk/notes/a", "desk/notes/out.md2", "desk/notes/out.md/../a"]) {
    await rejects(serve(under(), "fs.write", { path, text: "x" }), refused(/name the path/));
    await rejects(serve(under(), "fs.delete", { path }), refused(/name the path/));
  }
  deepEqual(proposed, []);
});

Deno.test("a refused write is a refusal for the plugin", async () => {
  const { serve } = makeWorld({ outcome: "refusedByPolicy", error: "Cannot write: no" });
  await rejects(
    serve(under(), "fs.write", { path: "desk/notes/out.md", text: "x" }),
    refused(/^Cannot write: no$/),
  );
});

Deno.test("mallory's plugin fetches from the origin of its call only, and only reads", async () => {
  const { serve, fetched } = makeWorld();
  const to = (args: JsonObject): Promise<Json> => serve(under(), "http.fetch", args);
  await rejects(
    to({ url: "https://evil.example/?q=1" }),
    refused(/made for https:\/\/example.org/),
  );
  await rejects(
    to({ url: "https://example.org/", method: "POST", body: "x" }),
    refused(/only reads/),
  );
  await rejects(
    serve(under({ origin: undefined } as never), "http.fetch", {
      url: "https://example.org/",
    }),
    refused(/no address/),
  );
  deepEqual(fetched, []);
  const alice = under();
  const page = await serve(alice, "http.fetch", { url: "https://example.org/a" });
  equal((page as JsonObject)["text"], "page");
  equal(alice.colour, "RED");
});

Deno.test("mallory's plugin sends nothing that it read after its call was let through", async () => {
  const page = { url: "https://example.org/?q=secret" };
  const read = { path: "desk/notes/a" };
  const { serve, fetched } = makeWorld();
  const mallory = under();
  await serve(mallory, "fs.read", read);
  await rejects(
    serve(mallory, "http.fetch", page),
    refused(
      /has read secret text \(desk\/notes\/a\), and https:\/\/example.org is cleared for internal; make the same call again, it is decided with that/,
    ),
  );
  const judged = { colour: "YELLOW", label: "secret" } as const;
  const asked = under({}, { ...judged, judged, sent: judged });
  await serve(asked, "fs.read", read);
  await rejects(
    serve(asked, "http.fetch", page),
    refused(/read RED text \(desk\/notes\/a\), and outboundRead needs YELLOW/),
  );
  deepEqual(fetched, []);
  // A person, or a rule, let it through as RED and secret: nothing changed since.
  const known = { colour: "RED", label: "secret" } as const;
  const alice = under({}, { ...known, judged: known, sent: known });
  await serve(alice, "fs.read", read);
  await serve(alice, "http.fetch", page);
  equal(fetched.length, 1);
});

Deno.test("what an origin told does not keep a call from asking it again", async () => {
  const { serve, fetched, fell } = makeWorld({ colour: "RED", label: "public" });
  const process = { ...row, colour: "BLUE" } as ProcessRow;
  const alice = under({}, { process });
  await serve(alice, "http.fetch", { url: "https://example.org/a" });
  await serve(alice, "http.fetch", { url: "https://example.org/b" });
  process.colour = "RED";
  await serve(alice, "tool.call", { name: "scratch_write" });
  await serve(alice, "http.fetch", { url: "https://example.org/c" });
  equal(fetched.length, 3);
  deepEqual(fell, ["RED public", "RED public", "RED public", "RED public"]);
  // But what another tool brought does.
  process.colour = "BLUE";
  await serve(alice, "tool.call", { name: "file_read" });
  await rejects(
    serve(alice, "http.fetch", { url: "https://example.org/d" }),
    refused(/has read RED text/),
  );
});

Deno.test("a tool that a plugin calls is judged by itself; its colour falls on the call", async () => {
  const { serve, proposed } = makeWorld({ outcome: "deniedByUser", content: "", error: "no" });
  const alice = under();
  const result = await serve(alice, "tool.call", { name: "patch_apply", args: { a: 1 } });
  deepEqual(result, { outcome: "deniedByUser", content: "", error: "no" });
  equal(alice.colour, "YELLOW");
  equal(proposed[0]?.call.name, "patch_apply");
});

Deno.test("a call within a call with a very long id has an id that still fits", async () => {
  const { serve, proposed } = makeWorld();
  await serve(under({}, { callId: "x".repeat(128) }), "tool.call", { name: "file_read" });
  match(proposed[0]?.call.id ?? "", /^[0-9a-f]{32}\/1$/);
});

Deno.test("a plugin asks the wiki that its task holds, and carries what was found", async () => {
  const asked: Remembering["asked"] = [];
  const { serve } = makeWorld({}, { asked, holds: true });
  const call = under();
  deepEqual(await serve(call, "memory.query", { query: "lease", k: 3 }), {
    hits: [],
    fit: "none",
  });
  deepEqual(asked, [{ text: "lease", k: 3 }]);
  deepEqual([call.colour, call.label], ["RED", "secret"]);
  deepEqual(call.sources.map(({ source }) => source), ["wiki pages/a.md"]);
  await rejects(
    serve(under(), "memory.query", { query: "lease", k: 1_000 }),
    (error) => error instanceof Fault && error.code === "invalidArguments",
  );
});

Deno.test("a task without a wiki, or whose lease on it has ended, asks no memory", async () => {
  const words = refused(/holds no wiki/);
  await rejects(makeWorld().serve(under(), "memory.query", { query: "a" }), words);
  const asked: Remembering["asked"] = [];
  const { serve } = makeWorld({}, { asked, holds: false });
  await rejects(serve(under(), "memory.query", { query: "a" }), words);
  deepEqual(asked, []);
});

Deno.test("a plugin asks the task's model, within bounds", async () => {
  const { serve } = makeWorld();
  deepEqual(await serve(under(), "model.complete", { prompt: "hi" }), { text: "you said hi" });
  const wrong = (error: unknown): boolean =>
    error instanceof Fault && error.code === "invalidArguments";
  await rejects(serve(under(), "model.complete", { prompt: "hi", maxTokens: 0 }), wrong);
  await rejects(serve(under(), "model.complete", {}), wrong);
});
