// Typed calls with the Go client of openapi-generator; BASE_URL and TOKEN come from the environment.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"

	"sightline"
)

// An error ends the program: what fails is a fault of the client or of the document.
func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		var refusal *sightline.GenericOpenAPIError
		if errors.As(err, &refusal) {
			panic(err.Error() + ": " + string(refusal.Body()))
		}
		panic(err)
	}
	return value
}

func check(condition bool, found any) {
	if !condition {
		text, _ := json.Marshal(found)
		panic("not as expected: " + string(text))
	}
}

func checkRefused(status int, code string, answer *http.Response, err error) {
	var refusal *sightline.GenericOpenAPIError
	check(errors.As(err, &refusal), err)
	body, typed := refusal.Model().(sightline.ErrorBody)
	check(typed && answer.StatusCode == status && body.GetCode() == code, string(refusal.Body()))
}

func main() {
	configuration := sightline.NewConfiguration()
	configuration.Servers = sightline.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	client := sightline.NewAPIClient(configuration)
	stranger := context.Background()
	signedIn := context.WithValue(stranger, sightline.ContextAccessToken, os.Getenv("TOKEN"))

	var found *sightline.TrackedProperty
	listed := must(client.PropertiesAPI.ListProperties(signedIn).Days(28).Execute())
	for i, one := range listed.Data {
		if one.SiteUrl == "sc-domain:northmoor.example" {
			found = &listed.Data[i]
		}
	}
	check(found != nil && found.Role == sightline.ROLE_OWNER && found.Headline.Current.Clicks > 0, found)
	window := found.Headline.Window

	mobile := sightline.NewFilterCondition(sightline.FILTERDIMENSION_DEVICE, sightline.FILTEROPERATOR_EQUALS, "MOBILE")
	filters, err := json.Marshal([]*sightline.FilterCondition{mobile})
	check(err == nil, err)
	performance := must(client.AnalyticsAPI.GetPropertyPerformance(signedIn, found.Id).
		StartDate(window.StartDate).EndDate(window.EndDate).
		SearchType("web").Filters(string(filters)).Scope("all").QueryLimit(10).Execute())
	var clicks int64
	for _, day := range performance.Data.Series {
		clicks += day.Clicks
	}
	check(clicks > 0 && performance.Data.Totals.Get().Clicks == clicks, performance.Data.Totals)
	check(performance.Meta.Window.StartDate == window.StartDate && len(performance.Data.Tables.Queries) == 10, performance.Meta)

	countries := must(client.AnalyticsAPI.ListPropertyCountries(signedIn, found.Id).
		StartDate(window.StartDate).EndDate(window.EndDate).Execute())
	check(int(*countries.Meta.Coverage.Countries.RowsShown) == len(countries.Data), countries.Meta)
	insights := must(client.AnalyticsAPI.GetPropertyQueryInsights(signedIn, found.Id).Compare("previous_period").Execute())
	check(len(insights.Data.Distribution) == 4 && insights.Data.Movers != nil, insights.Data)
	portfolio := must(client.PropertiesAPI.GetPortfolio(signedIn).Days(28).Series(true).Execute())
	check(portfolio.Data.Totals.Get().Clicks > 0, portfolio.Data)
	csv := must(client.AnalyticsAPI.ExportPropertyPerformanceCsv(signedIn, found.Id).Table("devices").Execute())
	check(strings.HasPrefix(csv, "key,clicks,impressions,ctr,position") && strings.Count(csv, "\n") > 1, csv)

	create := client.TagsAPI.CreateTag(signedIn).TagInput(*sightline.NewTagInput("Größe in Go")).IdempotencyKey("sdk-go")
	created := must(create.Execute()).Data
	check(created.Name == "Größe in Go" && !created.CreatedAt.IsZero(), created)
	replayed, answer, err := create.Execute()
	check(must(replayed, answer, err).Data.Id == created.Id && answer.Header.Get("Idempotency-Replayed") == "true", replayed)
	kept := must(client.TagsAPI.ListTags(signedIn).Limit(1000).Execute())
	check(len(kept.Data) > 0, kept)
	gone, err := client.TagsAPI.DeleteTag(signedIn, created.Id).IfMatch(created.Etag).Execute()
	check(err == nil && gone.StatusCode == http.StatusNoContent, err)

	_, answer, err = client.TagsAPI.GetTag(signedIn, created.Id).Execute()
	checkRefused(http.StatusNotFound, "not_found", answer, err)
	_, answer, err = client.AnalyticsAPI.ListPropertyCountries(signedIn, found.Id).
		StartDate(window.EndDate).EndDate(window.StartDate).Execute()
	checkRefused(http.StatusBadRequest, "invalid_request", answer, err)
	_, answer, err = client.PropertiesAPI.ListProperties(stranger).Execute()
	checkRefused(http.StatusUnauthorized, "unauthorized", answer, err)
}
