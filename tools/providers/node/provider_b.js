// Calls the simulated provider B with a third party's client: the methods whose endpoints are simulated. Its own type
// declarations lack half of them, so this is plain JavaScript.
import assert from "node:assert/strict";
import AhrefsAPIClient, { fetch, ORGANIC_KEYWORDS_FIELDS } from "@adobe/spacecat-shared-ahrefs-client";

const lines = [];
const log = { ...console, debug: () => undefined, info: (line) => void lines.push(line), error: () => undefined };

function client(apiKey) {
  return new AhrefsAPIClient({ apiBaseUrl: `${process.env.SIMULATOR_URL}/provider-b/v3`, apiKey }, fetch, log);
}

const good = client("good-key");
const site = "https://www.northmoor.example/";

const { result: limits } = await good.getLimitsAndUsage();
assert.equal(limits.limits_and_usage.units_limit_api_key, null);
assert.ok(Number.isInteger(limits.limits_and_usage.units_usage_workspace));

const { result: links } = await good.getBacklinks(site, 10);
assert.equal(links.backlinks.length, 10);
assert.deepEqual(Object.keys(links.backlinks[0]).sort(), ["title", "url_from", "url_to"]);

const { result: keywords } = await good.getOrganicKeywords(site, {
  keywordFilter: ["northmoor"],
  limit: 5,
});
assert.equal(keywords.keywords.length, 5);
assert.deepEqual(Object.keys(keywords.keywords[0]).sort(), [...ORGANIC_KEYWORDS_FIELDS].sort());
assert.ok(keywords.keywords.every((row) => row.keyword.includes("northmoor")));
const others = await good.getOrganicKeywords(site, { excludeBranded: true });
assert.ok(others.result.keywords.every((row) => row.is_branded === false));

assert.match(lines.at(-1) ?? "", /number of rows: 10, cost per row: \d+, total cost: \d+/);
await assert.rejects(client("bad-key").getLimitsAndUsage(), /status: 401/);
await assert.rejects(client("broke-key").getBacklinks(site), /status: 403 - API units limit reached/);
await assert.rejects(client("noplan-key").getBacklinks(site), /status: 403 - Insufficient plan/);
console.log("provider B: limits, backlinks and organic keywords");
process.exit(0);
