/**
 * The known foreign agents: how to start each, where it asks its model, and which of its own features are switched off: its
 * sandbox (namespaces within namespaces are refused), updates, telemetry. Rows are data, not code.
 * @module
 */
import type { ForeignAgent, ProviderWire } from "../../contracts/tool/mod.ts";

/** A known agent. `${TREE}`, `${ARCH}` and `${MODEL}` are filled in when it is added; `${BASE}` when it starts. */
export interface AgentRow {
  /** The package, at the tested version. */
  readonly npm?: string;
  readonly words: readonly string[];
  readonly env: ForeignAgent["env"];
  readonly files: ForeignAgent["files"];
  readonly wire: ProviderWire;
  readonly origin: string;
  readonly secret: string;
  /** The default model. */
  readonly model: string;
  /** The header for the provider's key; `prefix` stands before the key in it. */
  readonly header: string;
  readonly prefix: string;
}

/** A placeholder where an agent requires a key; the relay drops it. */
const NO_KEY = "held-by-remit";
const NODE = "/usr/bin/node";
/** The provider of an agent, and the form of its keys. */
type Provider = Pick<AgentRow, "wire" | "origin" | "secret" | "header" | "prefix">;
const OPENAI: Provider = {
  wire: "openai",
  origin: "https://api.openai.com",
  secret: "openai",
  header: "authorization",
  prefix: "Bearer ",
};
const ANTHROPIC: Provider = {
  wire: "anthropic",
  origin: "https://api.anthropic.com",
  secret: "anthropic",
  header: "x-api-key",
  prefix: "",
};
const GEMINI: Provider = {
  wire: "gemini",
  origin: "https://generativelanguage.googleapis.com",
  secret: "gemini",
  header: "x-goog-api-key",
  prefix: "",
};

const CODEX_CONFIG = `model = "\${MODEL}"
model_provider = "relay"
sandbox_mode = "danger-full-access"
approval_policy = "on-request"
web_search = "disabled"
check_for_update_on_startup = false
[model_providers.relay]
name = "relay"
base_url = "\${BASE}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
[features]
web_search_request = false
`;

/** The known agents, by name. */
export const AGENT_ROWS: Readonly<Record<string, AgentRow>> = {
  claude: {
    npm: "@agentclientprotocol/claude-agent-acp@0.101.0",
    words: [NODE, "${TREE}/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"],
    env: {
      ...{ ANTHROPIC_BASE_URL: "${BASE}", ANTHROPIC_API_KEY: NO_KEY, ANTHROPIC_MODEL: "${MODEL}" },
      ...{ ANTHROPIC_SMALL_FAST_MODEL: "${MODEL}", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      ...{ DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1" },
    },
    files: {},
    ...ANTHROPIC,
    model: "claude-sonnet-4-5",
  },
  codex: {
    npm: "@zed-industries/codex-acp@0.16.0",
    words: ["${TREE}/node_modules/@zed-industries/codex-acp-linux-${ARCH}/bin/codex-acp"],
    env: { OPENAI_API_KEY: NO_KEY, CODEX_HOME: "/tmp/home/.codex" },
    files: { ".codex/config.toml": CODEX_CONFIG },
    ...OPENAI,
    model: "gpt-5-codex",
  },
  gemini: {
    npm: "@google/gemini-cli@0.61.0",
    words: [
      NODE,
      "${TREE}/node_modules/@google/gemini-cli/bundle/gemini.js",
      "--acp",
      "-m",
      "${MODEL}",
    ],
    env: {
      ...{ GEMINI_API_KEY: NO_KEY, GOOGLE_GEMINI_BASE_URL: "${BASE}", GEMINI_SANDBOX: "false" },
      ...{ GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_CLI_NO_RELAUNCH: "true" },
    },
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    },
    ...GEMINI,
    model: "gemini-2.5-pro",
  },
  goose: {
    words: ["goose", "acp"],
    env: {
      ...{ GOOSE_PROVIDER: "openai", GOOSE_MODEL: "${MODEL}", OPENAI_HOST: "${BASE}" },
      ...{ OPENAI_API_KEY: NO_KEY, GOOSE_MODE: "auto", GOOSE_DISABLE_KEYRING: "1" },
    },
    files: {},
    ...OPENAI,
    model: "gpt-5",
  },
  opencode: {
    npm: "opencode-ai@1.18.33",
    words: ["${TREE}/node_modules/opencode-linux-${ARCH}/bin/opencode", "acp"],
    env: {
      ...{ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" },
    },
    files: {
      ".config/opencode/opencode.json": JSON.stringify({
        ...{ autoupdate: false, share: "disabled", model: "relay/${MODEL}" },
        ...{ small_model: "relay/${MODEL}", permission: { edit: "allow", bash: "allow" } },
        provider: {
          relay: {
            ...{ npm: "@ai-sdk/openai-compatible", name: "relay" },
            options: { baseURL: "${BASE}/v1", apiKey: NO_KEY },
            models: { "${MODEL}": { name: "${MODEL}", tool_call: true } },
          },
        },
      }),
    },
    ...OPENAI,
    model: "gpt-5",
  },
};
