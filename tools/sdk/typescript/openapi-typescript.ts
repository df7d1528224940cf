// Typed calls with openapi-fetch over the types of openapi-typescript; BASE_URL and TOKEN come from the environment.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./client/schema";

type DateRange = components["schemas"]["DateRange"];
type FilterCondition = components["schemas"]["FilterCondition"];

const baseUrl = process.env["BASE_URL"]!;
const signedIn = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${process.env["TOKEN"]}` } });

async function findProperty(): Promise<{ id: string; window: DateRange }> {
  const { data } = await signedIn.GET("/api/properties", { params: { query: { days: 28 } } });
  const found = data?.data.find((one) => one.siteUrl === "sc-domain:northmoor.example");
  assert(found?.headline, "the property and its headline");
  assert.equal(found.role satisfies components["schemas"]["Role"], "owner");
  assert(found.headline.current.clicks > 0);
  return { id: found.id, window: found.headline.window };
}

async function readPerformance(id: string, window: DateRange): Promise<void> {
  const filters: FilterCondition[] = [{ dimension: "device", operator: "equals", value: "MOBILE" }];
  const query = { ...window, searchType: "web", filters: JSON.stringify(filters), scope: "all", queryLimit: 10 } as const;
  const { data: answer } = await signedIn.GET("/api/properties/{id}/performance", { params: { path: { id }, query } });
  assert(answer?.data.series && answer.data.tables?.queries, "everything that scope=all asks for");
  const { series, tables, totals } = answer.data;
  assert.deepEqual(answer.meta.window, window);
  const clicks: number = series.reduce((sum, day) => sum + day.clicks, 0);
  assert(clicks > 0);
  assert(totals !== null, "the days of the window are counted");
  assert.equal(totals.clicks, clicks);
  assert(totals.ctr !== null && totals.ctr > 0 && totals.ctr <= 1);
  assert.equal(tables.queries?.length, 10);
}

async function readCountries(id: string, window: DateRange): Promise<void> {
  const { data: answer } = await signedIn.GET("/api/properties/{id}/countries", { params: { path: { id }, query: window } });
  assert.equal(answer?.data[0]?.key.length, 3);
  assert((answer.data[0].clicks ?? 0) > 0);
  assert.equal(answer.meta.coverage.countries.rowsShown, answer.data.length);
}

async function readCsv(id: string): Promise<void> {
  const params = { path: { id }, query: { table: "devices" } } as const;
  const { data } = await signedIn.GET("/api/properties/{id}/export", { params, parseAs: "text" });
  const text: string = data ?? "";
  assert(text.startsWith("key,clicks,impressions,ctr,position"), text);
  assert(text.trimEnd().split("\n").length > 1, text);
}

async function beRefused(): Promise<void> {
  const { error, response } = await createClient<paths>({ baseUrl }).GET("/api/properties");
  assert.equal(response.status, 401);
  assert.equal((error satisfies components["schemas"]["ErrorBody"] | undefined)?.code, "unauthorized");
}

async function main(): Promise<void> {
  const { id, window } = await findProperty();
  await readPerformance(id, window);
  await readCountries(id, window);
  await readCsv(id);
  await beRefused();
}

void main();
