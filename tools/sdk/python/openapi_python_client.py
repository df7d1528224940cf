"""Typed calls with the client of openapi-python-client; BASE_URL and TOKEN come from the environment."""

import datetime
import json
import os
from uuid import UUID

from sightline_client import AuthenticatedClient, Client, models
from sightline_client.api.analytics import (
    export_property_performance_csv,
    get_property_performance,
    list_property_countries,
)
from sightline_client.api.properties import list_properties
from sightline_client.types import Unset


def find_property(client: AuthenticatedClient) -> tuple[UUID, models.DateRange]:
    listed = list_properties.sync(client=client, days=28)
    assert isinstance(listed, models.PropertyListAnswer), listed
    found = next(one for one in listed.data if one.site_url == "sc-domain:northmoor.example")
    assert isinstance(found.id, UUID) and found.role is models.Role.OWNER, found
    assert not isinstance(found.headline, Unset) and found.headline.current.clicks > 0, found
    assert isinstance(found.headline.window.start_date, datetime.date), found
    return found.id, found.headline.window


def read_performance(client: AuthenticatedClient, id: UUID, window: models.DateRange) -> None:
    mobile = models.FilterCondition(models.FilterDimension.DEVICE, models.FilterOperator.EQUALS, "MOBILE")
    answer = get_property_performance.sync(
        id,
        client=client,
        start_date=window.start_date,
        end_date=window.end_date,
        search_type=models.GetPropertyPerformanceSearchType.WEB,
        filters=json.dumps([mobile.to_dict()]),
        scope=models.GetPropertyPerformanceScope.ALL,
        query_limit=10,
    )
    assert isinstance(answer, models.PerformanceAnswer), answer
    assert answer.meta.window == window and answer.meta.search_type is models.SearchType.WEB, answer.meta
    days, totals, tables = answer.data.series, answer.data.totals, answer.data.tables
    assert not isinstance(days, Unset) and days[0].date == window.start_date, days
    assert totals is not None
    assert totals.clicks == sum(day.clicks for day in days) > 0, totals
    assert totals.ctr is not None and 0 < totals.ctr <= 1, totals
    assert not isinstance(tables, Unset) and not isinstance(tables.queries, Unset), tables
    assert len(tables.queries) == 10, tables.queries


def read_countries(client: AuthenticatedClient, id: UUID, window: models.DateRange) -> None:
    answer = list_property_countries.sync(
        id, client=client, start_date=window.start_date, end_date=window.end_date
    )
    assert isinstance(answer, models.CountriesAnswer), answer
    first = answer.data[0]
    assert len(first.key) == 3 and first.clicks is not None and first.clicks > 0, first
    assert answer.meta.coverage.countries.rows_shown == len(answer.data), answer.meta


def read_csv(client: AuthenticatedClient, id: UUID) -> None:
    text = export_property_performance_csv.sync(
        id, client=client, table=models.ExportPropertyPerformanceCsvTable.DEVICES
    )
    assert isinstance(text, str) and text.startswith("key,clicks,impressions,ctr,position"), text
    assert len(text.splitlines()) > 1, text


def be_refused(base_url: str) -> None:
    refusal = list_properties.sync_detailed(client=Client(base_url=base_url))
    assert refusal.status_code == 401, refusal
    assert isinstance(refusal.parsed, models.ErrorBody) and refusal.parsed.code == "unauthorized", refusal


def main() -> None:
    base_url = os.environ["BASE_URL"]
    client = AuthenticatedClient(base_url=base_url, token=os.environ["TOKEN"])
    id, window = find_property(client)
    read_performance(client, id, window)
    read_countries(client, id, window)
    read_csv(client, id)
    be_refused(base_url)


main()
