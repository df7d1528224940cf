// Typed calls with the client of @hey-api/openapi-ts; BASE_URL and TOKEN come from the environment.
import assert from "node:assert/strict";
import {
  exportPropertyPerformanceCsv,
  getPropertyPerformance,
  listProperties,
  listPropertyCountries,
  type ErrorBody,
  type DateRange,
  type FilterCondition,
  type Role,
} from "./client";
import { createClient } from "./client/client";

const baseUrl = process.env["BASE_URL"]!;
const client = createClient({ baseUrl, auth: process.env["TOKEN"]! });

async function findProperty(): Promise<{ id: string; window: DateRange }> {
  const { data } = await listProperties({ client, query: { days: 28 } });
  const found = data?.data.find((one) => one.siteUrl === "sc-domain:northmoor.example");
  assert(found?.headline, "the property and its headline");
  assert.equal(found.role satisfies Role, "owner");
  assert(found.headline.current.clicks > 0);
  return { id: found.id, window: found.headline.window };
}

async function readPerformance(id: string, window: DateRange): Promise<void> {
  const filters: FilterCondition[] = [{ dimension: "device", operator: "equals", value: "MOBILE" }];
  const { data: answer } = await getPropertyPerformance({
    client,
    path: { id },
    query: { ...window, searchType: "web", filters: JSON.stringify(filters), scope: "all", queryLimit: 10 },
  });
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
  const { data: answer } = await listPropertyCountries({ client, path: { id }, query: window });
  assert.equal(answer?.data[0]?.key.length, 3);
  assert((answer.data[0].clicks ?? 0) > 0);
  assert.equal(answer.meta.coverage.countries.rowsShown, answer.data.length);
}

async function readCsv(id: string): Promise<void> {
  const { data } = await exportPropertyPerformanceCsv({ client, path: { id }, query: { table: "devices" } });
  const text: string = data ?? "";
  assert(text.startsWith("key,clicks,impressions,ctr,position"), text);
  assert(text.trimEnd().split("\n").length > 1, text);
}

async function beRefused(): Promise<void> {
  const { error, response } = await listProperties({ client: createClient({ baseUrl }) });
  assert.equal(response?.status, 401);
  assert.equal((error satisfies ErrorBody | undefined)?.code, "unauthorized");
}

async function main(): Promise<void> {
  const { id, window } = await findProperty();
  await readPerformance(id, window);
  await readCountries(id, window);
  await readCsv(id);
  await beRefused();
}

void main();
