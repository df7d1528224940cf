-- Lets a request through a gate, now or at most some time ahead. Times are microseconds of the server's clock.
-- KEYS: the request's mark, leaky buckets, then sets of the requests in flight.
-- ARGV: how far ahead, the request, how long it counts as in flight, the number of buckets; of each bucket its greatest burst, its
-- greatest rate by the second, and the share of both that it begins with; of each set its greatest size.
-- Returns 1 and how long to wait before the start, 0 and how long to wait before asking again, or -1 if one in flight must end
-- first; and now. A request that has passed passes again without being counted. One that has left does not pass any more: its call
-- was delayed.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ahead, request, lasts, count = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local mark = redis.call('GET', KEYS[1])
if mark == 'left' then
  return {0, 0, now}
elseif mark then
  return {1, math.max(tonumber(mark) - now, 0), now}
end
for set = count + 2, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[set], '-inf', now)
  if redis.call('ZCARD', KEYS[set]) >= tonumber(ARGV[3 + 2 * count + set]) then
    return {-1, 0, now}
  end
end
local opens, buckets = now, {}
for at = 1, count do
  local burst, rate, share = tonumber(ARGV[2 + 3 * at]), tonumber(ARGV[3 + 3 * at]), tonumber(ARGV[4 + 3 * at])
  local known = redis.call('HMGET', KEYS[1 + at], 'level', 'at', 'burst', 'rate')
  local own = {level = tonumber(known[1] or 0), at = tonumber(known[2] or now)}
  own.burst = math.min(tonumber(known[3] or math.max(burst * share, 1)), burst)
  own.rate = math.min(tonumber(known[4] or rate * share), rate)
  own.level = math.max(own.level - own.rate * math.max(now - own.at, 0) / 1000000, 0)
  own.at = math.max(now, own.at)
  local excess = own.level + 1 - own.burst
  if excess > 0.000001 then
    opens = math.max(opens, now + math.ceil(excess / own.rate * 1000000))
  end
  buckets[at] = own
end
if opens - now > ahead then
  return {0, opens - now, now}
end
for at, own in ipairs(buckets) do
  redis.call('HSET', KEYS[1 + at], 'level', string.format('%.17g', own.level + 1), 'at', string.format('%.0f', own.at), 'burst',
    string.format('%.17g', own.burst), 'rate', string.format('%.17g', own.rate))
  redis.call('PEXPIRE', KEYS[1 + at], 90000000)
end
local remembered = math.ceil((opens - now + lasts) / 1000)
for set = count + 2, #KEYS do
  redis.call('ZADD', KEYS[set], opens + lasts, request)
  redis.call('PEXPIRE', KEYS[set], remembered)
end
redis.call('SET', KEYS[1], string.format('%.0f', opens), 'PX', remembered)
return {1, opens - now, now}
