// Typed calls with the Java client of openapi-generator; BASE_URL and TOKEN come from the environment.

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.UUID;
import sightline.ApiClient;
import sightline.ApiException;
import sightline.api.AnalyticsApi;
import sightline.api.AnalyticsApi.APIExportPropertyPerformanceCsvRequest;
import sightline.api.AnalyticsApi.APIGetPropertyPerformanceRequest;
import sightline.api.AnalyticsApi.APIGetPropertyQueryInsightsRequest;
import sightline.api.AnalyticsApi.APIListPropertyCountriesRequest;
import sightline.api.PropertiesApi;
import sightline.api.PropertiesApi.APIGetPortfolioRequest;
import sightline.api.PropertiesApi.APIListPropertiesRequest;
import sightline.api.TagsApi;
import sightline.api.TagsApi.APICreateTagRequest;
import sightline.api.TagsApi.APIDeleteTagRequest;
import sightline.api.TagsApi.APIGetTagRequest;
import sightline.api.TagsApi.APIListTagsRequest;
import sightline.model.*;

class Call {
    interface Calls {
        void make() throws ApiException;
    }

    /** The client reads every answer as JSON, also a CSV: text that is asked for as text is handed out as it came. */
    static class Mapper extends ObjectMapper {
        Mapper(ObjectMapper source) {
            super(source);
        }

        @Override
        public ObjectMapper copy() {
            return new Mapper(this);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T readValue(String content, TypeReference<T> type) throws JsonProcessingException {
            return type.getType() == String.class ? (T) content : super.readValue(content, type);
        }
    }

    static ApiClient client(String token) {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("BASE_URL"));
        client.setObjectMapper(new Mapper(ApiClient.createDefaultObjectMapper()));
        // This library of the generator leaves authentication to the caller.
        if (token != null) client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
        return client;
    }

    static void check(boolean condition, Object found) {
        if (!condition) throw new AssertionError("not as expected: " + found);
    }

    static void checkRefused(int status, String code, Calls calls) throws Exception {
        try {
            calls.make();
        } catch (ApiException e) {
            ErrorBody refusal = ApiClient.createDefaultObjectMapper().readValue(e.getResponseBody(), ErrorBody.class);
            check(e.getCode() == status && code.equals(refusal.getCode()), e);
            return;
        }
        throw new AssertionError(status + " " + code + " was expected");
    }

    static TrackedProperty findProperty(PropertiesApi properties) throws ApiException {
        TrackedProperty found = properties.listProperties(APIListPropertiesRequest.newBuilder().days(28).build())
            .getData().stream().filter(one -> one.getSiteUrl().equals("sc-domain:northmoor.example")).findFirst().orElseThrow();
        check(found.getRole() == Role.OWNER && found.getHeadline().getCurrent().getClicks() > 0, found);
        var portfolio = properties.getPortfolio(APIGetPortfolioRequest.newBuilder().days(28).series(true).build()).getData();
        check(portfolio.getTotals().getClicks() > 0, portfolio);
        return found;
    }

    static void readAnalyses(AnalyticsApi analytics, UUID id, DateRange window) throws Exception {
        var mobile = new FilterCondition()
            .dimension(FilterDimension.DEVICE).operator(FilterOperator.EQUALS).value("MOBILE");
        String filters = ApiClient.createDefaultObjectMapper().writeValueAsString(List.of(mobile));
        PerformanceAnswer answer = analytics.getPropertyPerformance(APIGetPropertyPerformanceRequest.newBuilder()
            .id(id).startDate(window.getStartDate()).endDate(window.getEndDate())
            .searchType("web").filters(filters).scope("all").queryLimit(10).build());
        check(answer.getMeta().getWindow().equals(window), answer.getMeta());
        long clicks = answer.getData().getSeries().stream().mapToLong(SeriesPoint::getClicks).sum();
        check(clicks > 0 && answer.getData().getTotals().getClicks() == clicks, answer.getData().getTotals());
        check(answer.getData().getTables().getQueries().size() == 10, answer.getData().getTables());

        CountriesAnswer countries = analytics.listPropertyCountries(APIListPropertyCountriesRequest.newBuilder()
            .id(id).startDate(window.getStartDate()).endDate(window.getEndDate()).build());
        check(countries.getMeta().getCoverage().getCountries().getRowsShown() == countries.getData().size(), countries.getMeta());
        QueryInsights insights = analytics.getPropertyQueryInsights(APIGetPropertyQueryInsightsRequest.newBuilder()
            .id(id).compare("previous_period").build()).getData();
        check(insights.getDistribution().size() == 4 && insights.getMovers() != null, insights);
        String csv = analytics.exportPropertyPerformanceCsv(APIExportPropertyPerformanceCsvRequest.newBuilder()
            .id(id).table("devices").build());
        check(csv.startsWith("key,clicks,impressions,ctr,position") && csv.lines().count() > 1, csv);
    }

    static UUID createAndDeleteTag(TagsApi tags) throws ApiException {
        var create = APICreateTagRequest.newBuilder().tagInput(new TagInput().name("Größe in Java")).idempotencyKey("sdk-java").build();
        Tag created = tags.createTag(create).getData();
        check(created.getName().equals("Größe in Java") && created.getCreatedAt() != null, created);
        var replayed = tags.createTagWithHttpInfo(create);
        check(replayed.getStatusCode() == 201 && replayed.getData().getData().equals(created), replayed.getData());
        check(replayed.getHeaders().get("idempotency-replayed").equals(List.of("true")), replayed.getHeaders());
        check(tags.listTags(APIListTagsRequest.newBuilder().limit(1000).build()).getData().contains(created), created);
        tags.deleteTag(APIDeleteTagRequest.newBuilder().id(created.getId()).ifMatch(created.getEtag()).build());
        return created.getId();
    }

    public static void main(String[] arguments) throws Exception {
        ApiClient signedIn = client(System.getenv("TOKEN"));
        AnalyticsApi analytics = new AnalyticsApi(signedIn);
        TagsApi tags = new TagsApi(signedIn);
        TrackedProperty found = findProperty(new PropertiesApi(signedIn));
        DateRange window = found.getHeadline().getWindow();
        readAnalyses(analytics, found.getId(), window);
        UUID gone = createAndDeleteTag(tags);

        checkRefused(404, "not_found", () -> tags.getTag(APIGetTagRequest.newBuilder().id(gone).build()));
        checkRefused(400, "invalid_request", () -> analytics.listPropertyCountries(APIListPropertyCountriesRequest.newBuilder()
            .id(found.getId()).startDate(window.getEndDate()).endDate(window.getStartDate()).build()));
        checkRefused(401, "unauthorized", () -> new PropertiesApi(client(null))
            .listProperties(APIListPropertiesRequest.newBuilder().build()));
    }
}
