"""Typed calls with the Python client of openapi-generator; BASE_URL and TOKEN come from the environment."""

import json
import os
from datetime import date
from uuid import UUID

import sightline_client as api


def client(token: str | None) -> api.ApiClient:
    return api.ApiClient(api.Configuration(host=os.environ["BASE_URL"], access_token=token))


def find_property(signed_in: api.ApiClient) -> api.TrackedProperty:
    listed = api.PropertiesApi(signed_in).list_properties(days=28).data
    found = next(one for one in listed if one.site_url == "sc-domain:northmoor.example")
    assert isinstance(found.id, UUID) and found.role is api.Role.OWNER, found
    assert found.headline is not None and found.headline.current.clicks > 0, found
    assert isinstance(found.headline.window.start_date, date), found
    return found


def read_performance(analytics: api.AnalyticsApi, id: UUID, window: api.DateRange) -> None:
    mobile = api.FilterCondition(dimension=api.FilterDimension.DEVICE, operator=api.FilterOperator.EQUALS, value="MOBILE")
    answer = analytics.get_property_performance(
        id,
        start_date=window.start_date,
        end_date=window.end_date,
        search_type="web",
        filters=json.dumps([mobile.to_dict()]),
        scope="all",
        query_limit=10,
    )
    assert answer.meta.window == window and answer.meta.search_type is api.SearchType.WEB, answer.meta
    days = answer.data.series
    assert days is not None and days[0].var_date == window.start_date, days
    assert answer.data.totals is not None
    assert answer.data.totals.clicks == sum(day.clicks for day in days) > 0, answer.data.totals
    assert answer.data.totals.ctr is not None and 0 < answer.data.totals.ctr <= 1, answer.data.totals
    assert answer.data.tables is not None and answer.data.tables.queries is not None, answer.data.tables
    assert len(answer.data.tables.queries) == 10, answer.data.tables.queries


def read_countries(analytics: api.AnalyticsApi, id: UUID, window: api.DateRange) -> None:
    answer = analytics.list_property_countries(id, start_date=window.start_date, end_date=window.end_date)
    first = answer.data[0]
    assert len(first.key) == 3 and first.clicks is not None and first.clicks > 0, first
    assert answer.meta.coverage.countries.rows_shown == len(answer.data), answer.meta


def read_csv(analytics: api.AnalyticsApi, id: UUID) -> None:
    text = analytics.export_property_performance_csv(id, table="devices")
    assert isinstance(text, str) and text.startswith("key,clicks,impressions,ctr,position"), text
    assert len(text.splitlines()) > 1, text


def be_refused() -> None:
    try:
        api.PropertiesApi(client(None)).list_properties()
    except api.exceptions.UnauthorizedException as refusal:
        assert isinstance(refusal.data, api.ErrorBody) and refusal.data.code == "unauthorized", refusal
    else:
        raise AssertionError("a call without a token was answered")


def main() -> None:
    signed_in = client(os.environ["TOKEN"])
    analytics = api.AnalyticsApi(signed_in)
    found = find_property(signed_in)
    read_performance(analytics, found.id, found.headline.window)
    read_countries(analytics, found.id, found.headline.window)
    read_csv(analytics, found.id)
    be_refused()


main()
