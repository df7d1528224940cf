// Calls every simulated endpoint of provider A with the vendor's TypeScript client.
import assert from "node:assert/strict";
import { AppendixApi, BacklinksApi, DataforseoLabsApi, KeywordsDataApi } from "dataforseo-client";
import {
  BacklinksAnchorsLiveRequestInfo,
  BacklinksBacklinksLiveRequestInfo,
  BacklinksHistoryLiveRequestInfo,
  BacklinksReferringDomainsLiveRequestInfo,
  BacklinksSummaryLiveRequestInfo,
  DataforseoLabsGoogleBulkKeywordDifficultyLiveRequestInfo,
  DataforseoLabsGoogleKeywordOverviewLiveRequestInfo,
  DataforseoLabsGoogleKeywordSuggestionsLiveRequestInfo,
  DataforseoLabsGoogleRelatedKeywordsLiveRequestInfo,
  KeywordsDataGoogleAdsSearchVolumeLiveRequestInfo,
} from "dataforseo-client";

const host = `${process.env.SIMULATOR_URL}/provider-a`;
const authorization = `Basic ${Buffer.from("good@demo.test:demo").toString("base64")}`;
const http = {
  fetch: (url: RequestInfo, init?: RequestInit) =>
    fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), authorization } }),
};

interface Answer {
  status_code?: number;
  tasks_error?: number;
  cost?: number;
  tasks?: ({ status_code?: number; result?: unknown[] } | undefined)[];
}

function check(name: string, answer: Answer | null): void {
  assert.equal(answer?.status_code, 20000, name);
  assert.equal(answer?.tasks_error, 0, name);
  const result = answer?.tasks?.[0]?.result;
  assert.ok(result !== undefined && result.length > 0, name);
  console.log(`${name}: ${result.length} result(s), ${answer?.cost} USD`);
}

const place = { location_code: 2840, language_code: "en" };
const target = { target: "northmoor.example" };
const keywords = new KeywordsDataApi(host, http);
const labs = new DataforseoLabsApi(host, http);
const links = new BacklinksApi(host, http);

const account = await new AppendixApi(host, http).userData();
check("userData", account);
const balance: number | undefined = account?.tasks?.[0]?.result?.[0]?.money?.balance;
assert.equal(typeof balance, "number");

check("googleAdsSearchVolumeLive", await keywords.googleAdsSearchVolumeLive([
  new KeywordsDataGoogleAdsSearchVolumeLiveRequestInfo({ keywords: ["tent"], ...place }),
]));
const overview = await labs.googleKeywordOverviewLive([
  new DataforseoLabsGoogleKeywordOverviewLiveRequestInfo({ keywords: ["tent"], ...place }),
]);
check("googleKeywordOverviewLive", overview);
const volume: number | undefined = overview?.tasks?.[0]?.result?.[0]?.items?.[0]?.keyword_info?.search_volume;
assert.ok(Number.isInteger(volume));
check("googleKeywordSuggestionsLive", await labs.googleKeywordSuggestionsLive([
  new DataforseoLabsGoogleKeywordSuggestionsLiveRequestInfo({ keyword: "tent", limit: 5, ...place }),
]));
check("googleRelatedKeywordsLive", await labs.googleRelatedKeywordsLive([
  new DataforseoLabsGoogleRelatedKeywordsLiveRequestInfo({ keyword: "tent", ...place }),
]));
check("googleBulkKeywordDifficultyLive", await labs.googleBulkKeywordDifficultyLive([
  new DataforseoLabsGoogleBulkKeywordDifficultyLiveRequestInfo({ keywords: ["tent"], ...place }),
]));
check("summaryLive", await links.summaryLive([new BacklinksSummaryLiveRequestInfo(target)]));
const list = await links.backlinksLive([new BacklinksBacklinksLiveRequestInfo({ ...target, limit: 5 })]);
check("backlinksLive", list);
assert.equal(list?.tasks?.[0]?.result?.[0]?.items?.[0]?.domain_to, target.target);
check("referringDomainsLive", await links.referringDomainsLive([new BacklinksReferringDomainsLiveRequestInfo(target)]));
check("anchorsLive", await links.anchorsLive([new BacklinksAnchorsLiveRequestInfo(target)]));
check("historyLive", await links.historyLive([new BacklinksHistoryLiveRequestInfo(target)]));
