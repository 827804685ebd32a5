import assert from "node:assert/strict";
import { besiege } from "../fake/siege.ts";
import { CALL } from "./_desk.ts";

/** A child with one tool, which spawns, and the parent's own tries. Roles by the last line of the message. */
const PROGRAM = `({ async turn(ports, message) { ${CALL}
  const told = {};
  const tools = (await ports.advertise()).tools.map(({ name }) => name);
  const spawn = (name, tools, limits = {}, request = "rest") =>
    ports.spawn({ persona: "", request, tools, limits }).then(({ pid }) => { told[name] = "spawned"; return pid; }, (e) => { told[name] = e.code + " " + e.message; });
  if (message.content === "rest") return { stop: "answered", text: "" };
  if (message.content === "leaf") { await spawn("one level more", ["file_read"]); return { stop: "answered", text: JSON.stringify(told) }; }
  if (message.content === "child") {
    told.tools = tools;
    told.write = (await call("w", "file_write", { path: "desk/x", content: "x" })).outcome;
    await spawn("a tool it was not given", ["file_read", "file_write"]);
    await spawn("more calls", ["file_read"], { toolCalls: 6 });
    const leaf = await spawn("a child of its own", ["file_read"], {}, "leaf");
    Object.assign(told, JSON.parse((await ports.wait(leaf)).text));
    return { stop: "answered", text: JSON.stringify(told) };
  }
  await spawn("a tool that is not there", ["shell"]);
  await spawn("a tool of the kernel's", ["__proto__"]);
  await spawn("more money", tools, { money: 1e6 });
  await spawn("more depth", tools, { depth: 9 });
  await spawn("no limit at all", tools, { money: null });
  const pid = await spawn("a child", ["file_read"], { toolCalls: 5 }, "child");
  Object.assign(told, JSON.parse((await ports.wait(pid)).text));
  await spawn("one child more", ["file_read"]);
  return { stop: "answered", text: JSON.stringify(told) };
} })`;

Deno.test("mallory's child would have had tools, limits and children that her process has not", async () => {
  await besiege(async (siege) => {
    const task = await siege.run({
      program: PROGRAM,
      limits: { children: 2, depth: 2, toolCalls: 9 },
    });
    assert.equal((await task.end).status, "done", String((await task.task())["reason"]));
    const { tools, write, ...told } = JSON.parse(String((await task.task())["answer"]));
    assert.deepEqual(tools, ["file_read"]);
    assert.equal(write, "unknownTool");
    const codes = Object.entries(told).map(([name, said]) => [name, String(said).split(" ")[0]]);
    assert.deepEqual(Object.fromEntries(codes), {
      "a tool that is not there": "refused",
      "a tool of the kernel's": "refused",
      "more money": "budgetExhausted",
      "more depth": "budgetExhausted",
      "no limit at all": "badFrame",
      "a child": "spawned",
      "a tool it was not given": "refused",
      "a child of its own": "spawned",
      "more calls": "budgetExhausted",
      "one level more": "budgetExhausted",
      "one child more": "budgetExhausted",
    });
  });
});
