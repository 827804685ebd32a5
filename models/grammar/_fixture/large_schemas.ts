/**
 * Argument schemas in the shapes of the largest tools that public MCP servers offer, in our own words,
 * without descriptions: a crawler, a workflow editor, a page builder (recursive), dashboards, a CRM
 * search, forms in a browser, payments, manifests.
 * @module
 */
import type { JsonObject } from "../../../contracts/base/json.ts";

const text = (maxLength?: number): JsonObject => ({
  type: "string",
  ...(maxLength === undefined ? {} : { maxLength }),
});
const whole = (minimum: number, maximum: number): JsonObject => ({
  type: "integer",
  minimum,
  maximum,
});
const list = (items: JsonObject, maxItems?: number): JsonObject => ({
  type: "array",
  items,
  ...(maxItems === undefined ? {} : { maxItems }),
});
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const named = (prefix: string, count: number, each: (n: number) => JsonObject): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, each(n)]));
const action = (type: string, more: JsonObject, required: readonly string[] = []): JsonObject =>
  object({ type: { const: type }, ...more }, ["type", ...required]);

const scrape = object({
  formats: list({
    oneOf: [
      { enum: ["markdown", "html", "rawHtml", "links", "screenshot", "summary"] },
      object({ type: { const: "json" }, prompt: text(), schema: { type: "object" } }, ["type"]),
    ],
  }),
  onlyMainContent: { type: "boolean" },
  includeTags: list(text(64)),
  excludeTags: list(text(64)),
  headers: { type: "object", additionalProperties: text(1_024) },
  waitFor: whole(0, 60_000),
  timeout: whole(1_000, 300_000),
  mobile: { type: "boolean" },
  actions: list({
    oneOf: [
      action("wait", { milliseconds: whole(1, 60_000), selector: text(256) }),
      action("click", { selector: text(256) }, ["selector"]),
      action("write", { text: text(1_024), selector: text(256) }, ["text"]),
      action("press", { key: text(32) }, ["key"]),
      action("scroll", { direction: { enum: ["up", "down"] }, selector: text(256) }),
      action("screenshot", { fullPage: { type: "boolean" }, quality: whole(1, 100) }),
      action("executeJavascript", { script: text(4_096) }, ["script"]),
    ],
  }, 50),
  location: object({
    country: { type: "string", minLength: 2, maxLength: 2 },
    languages: list(text(16)),
  }),
  maxAge: { type: "number", minimum: 0 },
});

const node = object({
  id: text(64),
  name: text(128),
  type: text(128),
  typeVersion: { type: "number", minimum: 0.1, maximum: 99 },
  position: { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 },
  parameters: { type: "object" },
  credentials: { type: "object", additionalProperties: object({ id: text(64), name: text(128) }) },
  disabled: { type: "boolean" },
  onError: { enum: ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"] },
}, ["name", "type", "position"]);

const richText: JsonObject = list(object({
  text: object({
    content: text(2_000),
    link: { anyOf: [object({ url: text(2_048) }), { type: "null" }] },
  }),
  annotations: object({
    ...named("style", 5, () => ({ type: "boolean" })),
    colour: { enum: Array.from({ length: 19 }, (_, n) => `colour_${n}`) },
  }),
}, ["text"]));
const BLOCKS = [
  "paragraph",
  "heading_1",
  "heading_2",
  "bulleted_list_item",
  "to_do",
  "toggle",
  "quote",
];
const block = (name: string): JsonObject =>
  object({
    type: { const: name },
    [name]: object({ rich_text: richText, children: list({ $ref: "#/$defs/block" }, 20) }, [
      "rich_text",
    ]),
  }, ["type", name]);

const panel = object({
  id: whole(1, 1_000_000),
  title: text(256),
  type: { enum: ["timeseries", "stat", "gauge", "table", "barchart", "piechart", "text", "logs"] },
  gridPos: object(Object.fromEntries(["x", "y", "w", "h"].map((key) => [key, whole(0, 24)]))),
  targets: list(object({
    refId: { type: "string", minLength: 1, maxLength: 1 },
    expr: text(4_096),
    interval: { type: ["string", "null"], maxLength: 16 },
    instant: { type: "boolean" },
  }, ["refId", "expr"])),
  thresholds: list(object({ value: { type: ["number", "null"] }, colour: text(32) })),
  fieldConfig: object({
    defaults: object({ unit: text(32), decimals: whole(0, 10), min: { type: "number" } }),
    overrides: list({ type: "object" }),
  }),
}, ["title", "type"]);

/** Schemas by purpose. */
export const LARGE_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  crawl: object({
    url: text(2_048),
    includePaths: list(text(256)),
    limit: whole(1, 10_000),
    webhook: {
      anyOf: [text(2_048), object({ url: text(2_048), headers: { type: "object" } }, ["url"])],
    },
    scrapeOptions: scrape,
  }, ["url"]),
  workflow: object({
    id: text(64),
    operations: list({
      oneOf: [
        action("addNode", { node }, ["node"]),
        ...["removeNode", "enableNode", "disableNode"].map((type) =>
          action(type, { nodeId: text(64) })
        ),
        action("updateNode", { nodeId: text(64), updates: { type: "object" } }, ["updates"]),
        action("moveNode", { nodeId: text(64), position: list({ type: "number" }, 2) }, [
          "position",
        ]),
        ...["addConnection", "removeConnection"].map((type) =>
          action(type, {
            ...{ source: text(128), target: text(128) },
            ...{ sourceOutput: text(32), targetIndex: whole(0, 99) },
          }, ["source", "target"])
        ),
      ],
    }, 100),
    validateOnly: { type: "boolean" },
  }, ["id", "operations"]),
  page: {
    ...object({
      parent: {
        anyOf: [
          object({ page_id: text(36) }, ["page_id"]),
          object({ database_id: text(36) }, ["database_id"]),
        ],
      },
      properties: { type: "object", additionalProperties: richText },
      children: list({ $ref: "#/$defs/block" }, 100),
      icon: {
        anyOf: [object({ emoji: text(8) }), object({ external: object({ url: text(2_048) }) })],
      },
    }, ["parent"]),
    $defs: { block: { anyOf: BLOCKS.map(block) } },
  },
  dashboard: object({
    title: text(256),
    tags: list(text(64), 32),
    refresh: { enum: ["5s", "10s", "30s", "1m", "5m", ""] },
    time: object({ from: text(32), to: text(32) }),
    panels: list(panel, 64),
    templating: object({
      list: list(object({ name: text(64), query: text(1_024), multi: { type: "boolean" } })),
    }),
    ...named(
      "annotation",
      24,
      (n) => object({ name: text(64), enable: { type: "boolean" }, level: whole(0, n) }),
    ),
  }, ["title", "panels"]),
  search: object({
    objectType: { enum: ["contacts", "companies", "deals", "tickets", "products", "quotes"] },
    filterGroups: list(
      object({
        filters: list(
          object({
            propertyName: text(128),
            operator: {
              enum: [
                "EQ",
                "NEQ",
                "LT",
                "LTE",
                "GT",
                "GTE",
                "BETWEEN",
                "IN",
                "NOT_IN",
                "HAS_PROPERTY",
              ],
            },
            value: { anyOf: [text(512), { type: "number" }, { type: "boolean" }] },
            values: list(text(512), 100),
          }, ["propertyName", "operator"]),
          6,
        ),
      }, ["filters"]),
      5,
    ),
    sorts: list(
      object({ propertyName: text(128), direction: { enum: ["ASCENDING", "DESCENDING"] } }),
    ),
    properties: list(text(128)),
    limit: whole(1, 200),
    after: text(64),
  }, ["objectType"]),
  form: object({
    fields: list(object({
      name: text(256),
      type: { enum: ["textbox", "checkbox", "radio", "combobox", "slider"] },
      ref: text(64),
      value: text(4_096),
    }, ["name", "type", "ref", "value"])),
  }, ["fields"]),
  payment: object({
    ...{ amount: whole(1, 99_999_999), currency: { type: "string", minLength: 3, maxLength: 3 } },
    metadata: { type: "object", additionalProperties: text(500), maxProperties: 50 },
    items: list(object({ price: text(64), quantity: whole(1, 999_999) }, ["price"]), 20),
    ...named(
      "option_",
      60,
      (n) =>
        n % 3 === 0
          ? { type: ["integer", "null"], minimum: -n, maximum: n * n }
          : n % 3 === 1
          ? { enum: [`a${n}`, `b${n}`, null] }
          : { type: "number", exclusiveMinimum: 0, maximum: n / 7 },
    ),
  }, ["amount", "currency"]),
  manifest: object({
    containers: list(
      object({
        ...{ name: text(63), image: text(256), command: list(text(1_024)) },
        env: list(object({ name: text(256), value: text(4_096) }, ["name"]), 64),
        ports: list(
          object({ containerPort: whole(1, 65_535), protocol: { enum: ["TCP", "UDP", "SCTP"] } }),
        ),
        resources: object(
          named("limit", 2, () => ({ type: "object", additionalProperties: text(32) })),
        ),
        ...named("probe", 3, () =>
          object({
            httpGet: object({ path: text(1_024), port: { anyOf: [whole(1, 65_535), text(15)] } }),
            ...{ periodSeconds: whole(1, 3_600), failureThreshold: whole(1, 100) },
          })),
      }, ["name", "image"]),
      16,
    ),
    replicas: whole(0, 1_000),
    labels: { type: "object", additionalProperties: text(63) },
  }, ["containers"]),
};
