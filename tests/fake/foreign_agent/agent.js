// A foreign agent that does what its request says, one step a line. It implements the Agent Client Protocol by hand, as an
// attacker would. Runs under Deno within the walls.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";

const send = (message) => fs.writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const say = (text) =>
  send({
    method: "session/update",
    params: {
      sessionId: "s",
      update: {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: `${text}\n` },
      },
    },
  });
const answers = new Map();
let last = 1000;

const STEPS = {
  write: ([path, ...words]) => {
    fs.mkdirSync(path.slice(0, path.lastIndexOf("/") + 1) || ".", { recursive: true });
    fs.writeFileSync(path, `${words.join(" ")}\n`);
    return "written";
  },
  read: ([path]) => fs.readFileSync(path, "utf8").slice(0, 2_000),
  list: ([path]) => fs.readdirSync(path).join(" "),
  cwd: () => process.cwd(),
  uid: () => String(process.getuid()),
  env: () => JSON.stringify(process.env),
  async ask([method, target, ...words]) {
    const response = await fetch(`${process.env.BASE_URL}${target}`, {
      method,
      headers: { "content-type": "application/json", authorization: "Bearer of-the-agent" },
      ...(words.length === 0 ? {} : { body: words.join(" ") }),
    });
    return `${response.status} ${(await response.text()).slice(0, 2_000)}`;
  },
  // Reads the beginning of an answer, and disconnects.
  async early([target, ...words]) {
    const stop = new AbortController();
    const response = await fetch(`${process.env.BASE_URL}${target}`, {
      ...{ method: "POST", body: words.join(" "), signal: stop.signal },
      headers: { "content-type": "application/json" },
    });
    await response.body.getReader().read();
    stop.abort();
    return `${response.status}`;
  },
  tools: async () =>
    (await toolServer("tools/list", {})).result.tools.map(({ name }) => name).join(" "),
  async tool([name, ...words]) {
    const args = words.length === 0 ? {} : JSON.parse(words.join(" "));
    const { result, error } = await toolServer("tools/call", { name, arguments: args });
    return error === undefined
      ? `${result.isError ? "error" : "ok"} ${result.content[0].text}`
      : `refused ${error.message}`;
  },
  connect: ([host, port]) =>
    new Promise((resolve) => {
      const socket = net.connect({ host, port: Number(port), timeout: 2_000 });
      socket.on("connect", () => resolve("connected"));
      socket.on("error", (error) => resolve(`failed ${error.code}`));
      socket.on("timeout", () => resolve("failed by silence"));
    }),
  background: ([path]) => {
    const child = spawn("/bin/sh", ["-c", `exec setsid sleep 987654`], {
      detached: true,
      stdio: "ignore",
    });
    child.unref();
    fs.writeFileSync(path, "started\n");
    return "started";
  },
  // Searches every process that it sees for this text.
  hunt: ([text]) => {
    const found = [];
    for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      for (const file of ["environ", "cmdline"]) {
        try {
          if (
            fs.readFileSync(`/proc/${pid}/${file}`, "latin1").includes(
              text.split("").reverse().join(""),
            )
          ) {
            found.push(`${pid}/${file}`);
          }
        } catch {
          // The process may not be inspected.
        }
      }
    }
    return `found ${found.join(" ") || "nothing"}`;
  },
  async permission([title]) {
    const id = ++last;
    const answered = new Promise((resolve) => answers.set(id, resolve));
    send({
      id,
      method: "session/request_permission",
      params: {
        sessionId: "s",
        toolCall: { toolCallId: "t", title },
        options: [
          { optionId: "yes", name: "Yes", kind: "allow_once" },
          { optionId: "no", name: "No", kind: "reject_once" },
        ],
      },
    });
    // It also answers itself: nothing reads that answer.
    send({ id, result: { outcome: { outcome: "selected", optionId: "yes" } } });
    return JSON.stringify((await answered).result ?? null);
  },
  async client([method]) {
    const id = ++last;
    const answered = new Promise((resolve) => answers.set(id, resolve));
    send({ id, method, params: { sessionId: "s", path: "/etc/passwd" } });
    return JSON.stringify((await answered).error?.code ?? "answered");
  },
  hang: () => new Promise(() => setInterval(() => {}, 1_000)),
};

/** The server of its task's tools, as announced to it; undefined where there is none. */
let served;

/** Sends a request to that server, by the announced transport. */
async function toolServer(method, params) {
  const line = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  if (served.type === "http") {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    return await (await fetch(served.url, { method: "POST", body: line, headers })).json();
  }
  const { stdout } = await new Promise((resolve, reject) => {
    const child = spawn(served.command, served.args, { stdio: ["pipe", "pipe", "inherit"] });
    let stdout = "";
    child.stdout.on("data", (piece) => stdout += piece);
    child.on("close", () => resolve({ stdout }));
    child.on("error", reject);
    child.stdin.end(`${line}\n`);
  });
  return JSON.parse(stdout);
}

async function work(id, text) {
  for (const line of text.split("\n").map((each) => each.trim()).filter((each) => each !== "")) {
    const [name, ...words] = line.split(" ");
    const step = STEPS[name];
    if (step === undefined) continue;
    send({
      method: "session/update",
      params: {
        sessionId: "s",
        update: { sessionUpdate: "tool_call", toolCallId: line, title: line, status: "pending" },
      },
    });
    try {
      say(`${name}: ${await step(words)}`);
    } catch (error) {
      say(`${name}: failed ${error.code ?? error.message}`);
    }
  }
  send({ id, result: { stopReason: "end_turn" } });
}

function hear({ id, method, params, ...message }) {
  if (method === undefined) return answers.get(id)?.(message);
  if (method === "initialize") {
    const mcpCapabilities = { http: process.env.TOOLS_BY === "http" };
    send({ id, result: { protocolVersion: 1, agentCapabilities: { mcpCapabilities } } });
  } else if (method === "session/new") {
    served = params.mcpServers[0];
    if (process.env.WANTS_LOGIN === "yes") {
      return send({ id, error: { code: -32000, message: "Authentication required" } });
    }
    send({ id, result: { sessionId: "s" } });
  } else if (method === "session/prompt") void work(id, params.prompt[0].text);
}

let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
});
