"""Calls every simulated endpoint of provider A with the vendor's Python client, whose models check each type strictly.

A field that the client does not know ends up in `additional_properties`. There must be none.
"""

import os
import sys

from dataforseo_client import ApiClient, Configuration, models
from dataforseo_client.api import AppendixApi, BacklinksApi, DataforseoLabsApi, KeywordsDataApi
from dataforseo_client.exceptions import ApiException

HOST = os.environ["SIMULATOR_URL"] + "/provider-a"
PLACE = {"location_code": 2840, "language_code": "en"}
EXTRA = {"include_serp_info": True, "include_clickstream_data": True}
TARGET = {"target": "northmoor.example"}

CALLS = [
    (KeywordsDataApi, "google_ads_search_volume_live", models.KeywordsDataGoogleAdsSearchVolumeLiveRequestInfo,
     {"keywords": ["tent", "hiking boots", "qzxv"], **PLACE}),
    (DataforseoLabsApi, "google_keyword_overview_live", models.DataforseoLabsGoogleKeywordOverviewLiveRequestInfo,
     {"keywords": ["tent", "northmoor", "ferry times"], **PLACE, **EXTRA}),
    (DataforseoLabsApi, "google_keyword_suggestions_live", models.DataforseoLabsGoogleKeywordSuggestionsLiveRequestInfo,
     {"keyword": "tent", "include_seed_keyword": True, "limit": 50, "order_by": ["keyword_info.search_volume,desc"],
      "filters": ["keyword_info.search_volume", ">", 0], **PLACE, **EXTRA}),
    (DataforseoLabsApi, "google_related_keywords_live", models.DataforseoLabsGoogleRelatedKeywordsLiveRequestInfo,
     {"keyword": "tent", "depth": 2, **PLACE, **EXTRA}),
    (DataforseoLabsApi, "google_bulk_keyword_difficulty_live",
     models.DataforseoLabsGoogleBulkKeywordDifficultyLiveRequestInfo, {"keywords": ["tent"], **PLACE}),
    (BacklinksApi, "summary_live", models.BacklinksSummaryLiveRequestInfo, {**TARGET, "internal_list_limit": 20}),
    (BacklinksApi, "backlinks_live", models.BacklinksBacklinksLiveRequestInfo,
     {**TARGET, "limit": 1000, "backlinks_status_type": "all"}),
    (BacklinksApi, "referring_domains_live", models.BacklinksReferringDomainsLiveRequestInfo, {**TARGET, "limit": 100}),
    (BacklinksApi, "anchors_live", models.BacklinksAnchorsLiveRequestInfo, {**TARGET, "limit": 100}),
    (BacklinksApi, "history_live", models.BacklinksHistoryLiveRequestInfo, TARGET),
]


def unknown(value, path="answer"):
    """Paths of the fields that the client's models do not have."""
    if isinstance(value, list):
        return [found for item in value for found in unknown(item, path)]
    if not hasattr(value, "additional_properties"):
        return []
    fields = type(value).model_fields
    found = [f"{path}.{name}" for name in value.additional_properties]
    for name in fields:
        if name != "additional_properties":
            found += unknown(getattr(value, name), f"{path}.{name}")
    return found


failures = []


def check(name, answer):
    assert answer.status_code == 20000 and answer.tasks_error == 0, (name, answer)
    failures.extend(f"{name}: {path} is unknown to the client" for path in sorted(set(unknown(answer))))
    for task in answer.tasks:
        assert task.status_code == 20000 and task.result, (name, task)
        print(f"{name}: {len(task.result)} result(s), {answer.cost} USD")


def client(login="good@demo.test", password="demo"):
    return ApiClient(Configuration(host=HOST, username=login, password=password))


def main():
    with client() as good:
        check("user_data", AppendixApi(good).user_data())
        for api, method, request, fields in CALLS:
            check(method, getattr(api(good), method)([request(**fields)]))
    for login, status in [("nobody@demo.test", 401), ("unverified@demo.test", 403)]:
        with client(login) as refused:
            try:
                AppendixApi(refused).user_data()
                sys.exit(f"{login} was let in")
            except ApiException as error:
                assert error.status == status, (login, error)
    if failures:
        sys.exit("\n".join(failures))


main()
