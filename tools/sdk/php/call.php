<?php
// Typed calls with the PHP client of openapi-generator; BASE_URL and TOKEN come from the environment.
// usage: php call.php FOLDER, where FOLDER is the generated client

use SightlineClient\Api\AnalyticsApi;
use SightlineClient\Api\PropertiesApi;
use SightlineClient\Api\TagsApi;
use SightlineClient\ApiException;
use SightlineClient\Configuration;
use SightlineClient\Model\ErrorBody;
use SightlineClient\Model\FilterCondition;
use SightlineClient\Model\FilterDimension;
use SightlineClient\Model\FilterOperator;
use SightlineClient\Model\Role;
use SightlineClient\Model\TagInput;

// A warning is a failure: PHP only warns about a pattern that it cannot read.
set_error_handler(fn ($level, $text, $file, $line) => throw new ErrorException($text, 0, $level, $file, $line));
require 'GuzzleHttp/autoload.php';
$library = "$argv[1]/lib/";
spl_autoload_register(function (string $class) use ($library): void {
    $file = $library . strtr(substr($class, strlen('SightlineClient\\')), '\\', '/') . '.php';
    if (is_file($file)) {
        require $file;
    }
});
// Everything is loaded, also what the calls below do not use.
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($library)) as $file) {
    if ($file->getExtension() === 'php') {
        require_once $file->getPathname();
    }
}

function configuration(?string $token): Configuration
{
    $configuration = (new Configuration())->setHost(getenv('BASE_URL'));
    return $token === null ? $configuration : $configuration->setAccessToken($token);
}

function check(bool $condition, mixed $found): void
{
    if (!$condition) {
        throw new Exception('not as expected: ' . print_r($found, true));
    }
}

function checkRefused(int $status, string $code, callable $call): void
{
    try {
        $call();
    } catch (ApiException $e) {
        $refusal = $e->getResponseObject();
        check($e->getCode() === $status && $refusal instanceof ErrorBody && $refusal->getCode() === $code, $e->getMessage());
        return;
    }
    throw new Exception("$status $code was expected");
}

// Without this, a boolean in a query is 1 or 0. The client reads it from its default configuration only.
Configuration::getDefaultConfiguration()->setBooleanFormatForQueryString(Configuration::BOOLEAN_FORMAT_STRING);

$signedIn = configuration(getenv('TOKEN'));
$properties = new PropertiesApi(null, $signedIn);
$analytics = new AnalyticsApi(null, $signedIn);
$tags = new TagsApi(null, $signedIn);

$listed = $properties->listProperties(days: 28)->getData();
$found = current(array_filter($listed, fn ($one) => $one->getSiteUrl() === 'sc-domain:northmoor.example'));
check($found->getRole() === Role::OWNER && $found->getHeadline()->getCurrent()->getClicks() > 0, $found);
$id = $found->getId();
$window = $found->getHeadline()->getWindow();
check($window->getStartDate() instanceof DateTime, $window);
$days = [
    'start_date' => $window->getStartDate()->format('Y-m-d'),
    'end_date' => $window->getEndDate()->format('Y-m-d'),
];

$mobile = new FilterCondition(['dimension' => FilterDimension::DEVICE, 'operator' => FilterOperator::EQUALS, 'value' => 'MOBILE']);
$filters = json_encode([$mobile]);
$answer = $analytics->getPropertyPerformance($id, ...$days, search_type: 'web', filters: $filters, scope: 'all', query_limit: 10);
check($answer->getMeta()->getWindow() == $window, $answer->getMeta());
$clicks = array_sum(array_map(fn ($day) => $day->getClicks(), $answer->getData()->getSeries()));
check($clicks > 0 && $answer->getData()->getTotals()->getClicks() === $clicks, $answer->getData()->getTotals());
check(count($answer->getData()->getTables()->getQueries()) === 10, $answer->getData()->getTables());

$countries = $analytics->listPropertyCountries($id, ...$days);
check(count($countries->getData()) === $countries->getMeta()->getCoverage()->getCountries()->getRowsShown(), $countries->getMeta());
$insights = $analytics->getPropertyQueryInsights($id, ...$days, compare: 'previous_period')->getData();
check(count($insights->getDistribution()) === 4 && $insights->getMovers() !== null, $insights);
$portfolio = $properties->getPortfolio(days: 28, series: true)->getData();
check($portfolio->getTotals()->getClicks() > 0, $portfolio);
$csv = $analytics->exportPropertyPerformanceCsv($id, table: 'devices');
check(str_starts_with($csv, 'key,clicks,impressions,ctr,position') && substr_count($csv, "\n") > 1, $csv);

$input = new TagInput(['name' => 'Größe in PHP']);
check($input->valid(), $input->listInvalidProperties());
// The setter holds a value against the pattern that the document gives.
$input->setName('Größe in PHP');
$created = $tags->createTag($input, idempotency_key: 'sdk-php')->getData();
check($created->getName() === $input->getName() && $created->getCreatedAt() instanceof DateTime, $created);
[$replayed, $status, $headers] = $tags->createTagWithHttpInfo($input, idempotency_key: 'sdk-php');
$headers = array_change_key_case($headers);
check($status === 201 && $replayed->getData() == $created && $headers['idempotency-replayed'] === ['true'], $headers);
check(in_array($created, $tags->listTags(limit: 1000)->getData()), $created);
$tags->deleteTag($created->getId(), if_match: $created->getEtag());

checkRefused(404, 'not_found', fn () => $tags->getTag($created->getId()));
checkRefused(400, 'invalid_request', fn () => $analytics->listPropertyCountries(
    $id,
    start_date: $days['end_date'],
    end_date: $days['start_date'],
));
checkRefused(401, 'unauthorized', fn () => (new PropertiesApi(null, configuration(null)))->listProperties());
