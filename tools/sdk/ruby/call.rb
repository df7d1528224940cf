# Typed calls with the Ruby client of openapi-generator; BASE_URL and TOKEN come from the environment.
require "uri"
require "sightline_client"

# Every constant is looked up, because the client may load a file only when its class is named.
SightlineClient.constants.each { |name| SightlineClient.const_get(name) }

def client(token)
  address = URI(ENV.fetch("BASE_URL"))
  configuration = SightlineClient::Configuration.new
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.access_token = token
  SightlineClient::ApiClient.new(configuration)
end

def check(condition, found)
  raise "not as expected: #{found.inspect}" unless condition
end

def check_refused(status, code)
  yield
rescue SightlineClient::ApiError => e
  refusal = SightlineClient::ErrorBody.build_from_hash(JSON.parse(e.response_body, symbolize_names: true))
  check e.code == status && refusal.code == code, [e.code, refusal]
else
  raise "#{status} #{code} was expected"
end

signed_in = client(ENV.fetch("TOKEN"))
properties = SightlineClient::PropertiesApi.new(signed_in)
analytics = SightlineClient::AnalyticsApi.new(signed_in)
tags = SightlineClient::TagsApi.new(signed_in)

found = properties.list_properties(days: 28).data.find { |one| one.site_url == "sc-domain:northmoor.example" }
check found.role == SightlineClient::Role::OWNER && found.headline.current.clicks.positive?, found
id = found.id
window = { start_date: found.headline.window.start_date, end_date: found.headline.window.end_date }
check window.values.all?(Date), window

mobile = SightlineClient::FilterCondition.new(
  dimension: SightlineClient::FilterDimension::DEVICE, operator: SightlineClient::FilterOperator::EQUALS, value: "MOBILE"
)
filters = JSON.generate([mobile.to_hash])
answer = analytics.get_property_performance(id, **window, search_type: "web", filters: filters, scope: "all", query_limit: 10)
check answer.meta.window == found.headline.window, answer.meta
check answer.data.series.sum(&:clicks) == answer.data.totals.clicks && answer.data.totals.clicks.positive?, answer.data.totals
check answer.data.tables.queries.size == 10, answer.data.tables

countries = analytics.list_property_countries(id, window)
check countries.data.size == countries.meta.coverage.countries.rows_shown && countries.data.first.clicks.positive?, countries.meta
insights = analytics.get_property_query_insights(id, **window, compare: "previous_period")
check insights.data.distribution.size == 4 && !insights.data.movers.nil?, insights.data
portfolio = properties.get_portfolio(days: 28, series: true)
check portfolio.data.totals.clicks.positive?, portfolio.data
csv = analytics.export_property_performance_csv(id, table: "devices")
check csv.start_with?("key,clicks,impressions,ctr,position") && csv.lines.size > 1, csv

input = SightlineClient::TagInput.new(name: "Größe in Ruby")
created = tags.create_tag(input, idempotency_key: "sdk-ruby").data
check created.name == input.name && created.created_at.is_a?(Time), created
replayed, status, headers = tags.create_tag_with_http_info(input, idempotency_key: "sdk-ruby")
check status == 201 && replayed.data == created && headers["Idempotency-Replayed"] == "true", headers
check tags.list_tags(limit: 1000).data.include?(created), created
tags.delete_tag(created.id, if_match: created.etag)

check_refused(404, "not_found") { tags.get_tag(created.id) }
check_refused(400, "invalid_request") do
  analytics.list_property_countries(id, start_date: window[:end_date], end_date: window[:start_date])
end
check_refused(401, "unauthorized") { SightlineClient::PropertiesApi.new(client(nil)).list_properties }
