// Typed calls with the client of openapi-generator's typescript-fetch; BASE_URL and TOKEN come from the environment.
import assert from "node:assert/strict";
import {
  AnalyticsApi,
  ErrorBodyFromJSON,
  Configuration,
  FilterDimension,
  FilterOperator,
  GetPropertyPerformanceScopeEnum,
  PropertiesApi,
  ResponseError,
  Role,
  SearchType,
  type DateRange,
  type FilterCondition,
  type TrackedProperty,
} from "./client";

const basePath = process.env["BASE_URL"]!;
// For an OAuth scheme the client sends as the whole header what it is given.
const signedIn = new Configuration({ basePath, accessToken: `Bearer ${process.env["TOKEN"]}` });
const analytics = new AnalyticsApi(signedIn);

async function findProperty(): Promise<{ id: string; window: DateRange }> {
  const { data } = await new PropertiesApi(signedIn).listProperties({ days: 28 });
  const found: TrackedProperty | undefined = data.find((one) => one.siteUrl === "sc-domain:northmoor.example");
  assert(found?.headline, "the property and its headline");
  assert.equal(found.role, Role.Owner);
  assert(found.headline.current.clicks > 0);
  assert(found.headline.window.startDate instanceof Date);
  return { id: found.id, window: found.headline.window };
}

async function readPerformance(id: string, window: DateRange): Promise<void> {
  const mobile: FilterCondition = { dimension: FilterDimension.Device, operator: FilterOperator.Equals, value: "MOBILE" };
  const { data, meta } = await analytics.getPropertyPerformance({
    id,
    ...window,
    searchType: SearchType.Web,
    filters: JSON.stringify([mobile]),
    scope: GetPropertyPerformanceScopeEnum.All,
    queryLimit: 10,
  });
  assert.deepEqual(meta.window, window);
  const { totals } = data;
  assert(data.series && data.tables?.queries && totals && totals.ctr !== null, "everything that scope=all asks for");
  const clicks: number = data.series.reduce((sum, day) => sum + day.clicks, 0);
  assert(clicks > 0);
  assert.equal(totals.clicks, clicks);
  assert(totals.ctr > 0 && totals.ctr <= 1);
  assert.equal(data.tables.queries.length, 10);
}

async function readCountries(id: string, window: DateRange): Promise<void> {
  const { data, meta } = await analytics.listPropertyCountries({ id, ...window });
  assert.equal(data[0]?.key.length, 3);
  assert((data[0].clicks ?? 0) > 0);
  assert.equal(meta.coverage.countries.rowsShown, data.length);
}

async function readCsv(id: string): Promise<void> {
  const text: string = await analytics.exportPropertyPerformanceCsv({ id, table: "devices" });
  assert(text.startsWith("key,clicks,impressions,ctr,position"), text);
  assert(text.trimEnd().split("\n").length > 1, text);
}

async function beRefused(): Promise<void> {
  const refusal: unknown = await new PropertiesApi(new Configuration({ basePath })).listProperties().catch((error) => error);
  assert(refusal instanceof ResponseError, "a call without a token is refused");
  assert.equal(refusal.response.status, 401);
  assert.equal(ErrorBodyFromJSON(await refusal.response.json()).code, "unauthorized");
}

async function main(): Promise<void> {
  const { id, window } = await findProperty();
  await readPerformance(id, window);
  await readCountries(id, window);
  await readCsv(id);
  await beRefused();
}

void main();
