-- Lets a request through a gate in the order of the gate's line, now or at most some time ahead. Times are microseconds of the server's clock.
-- KEYS: the request's mark, the line, the leases of those in it, the last places of persons, leaky buckets, then sets of the requests
-- in flight.
-- ARGV: how far ahead, the request, how long it counts as in flight, the number of buckets, its name in the line, how much later than
-- now its place is, how long a place lasts, its person or nothing; of each bucket its greatest burst, its greatest rate by the second,
-- and the share of both that it begins with; of each set its greatest size.
-- Returns 1 and how long to wait before the start, 0 and how long until its turn, or -1 and how many come before it if one in flight
-- must end first; and now. Without a turn it waits in the line. A request that has passed passes again without being counted. One that
-- has left does not pass any more: its call was delayed.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local ahead, request, lasts, count = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local name, place, lease, person = ARGV[5], now + tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
local mark = redis.call('GET', KEYS[1])
if mark == 'left' then
  return {0, 0, now}
elseif mark then
  return {1, math.max(tonumber(mark) - now, 0), now}
end
local buckets = {}
for at = 1, count do
  local burst, rate, share = tonumber(ARGV[6 + 3 * at]), tonumber(ARGV[7 + 3 * at]), tonumber(ARGV[8 + 3 * at])
  local known = redis.call('HMGET', KEYS[4 + at], 'level', 'at', 'burst', 'rate')
  local own = {level = tonumber(known[1] or 0), at = tonumber(known[2] or now)}
  own.burst = math.min(tonumber(known[3] or math.max(burst * share, 1)), burst)
  own.rate = math.min(tonumber(known[4] or rate * share), rate)
  own.level = math.max(own.level - own.rate * math.max(now - own.at, 0) / 1000000, 0)
  own.at = math.max(now, own.at)
  buckets[at] = own
end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  redis.call('ZREM', KEYS[2], gone)
  redis.call('ZREM', KEYS[3], gone)
end
if person ~= '' then
  -- The places of a person are as far apart as half of the rate allows, and at most two seconds late.
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - 1000000)
  local last = redis.call('ZSCORE', KEYS[4], person)
  if last then
    place = math.max(place, math.min(tonumber(last) + 2000000 / buckets[1].rate, now + 2000000))
  end
  redis.call('ZADD', KEYS[4], math.max(place, now - 1000000), person)
  redis.call('PEXPIRE', KEYS[4], 4000)
end
local before = redis.call('ZRANK', KEYS[2], name) or redis.call('ZCOUNT', KEYS[2], '-inf', place)
local opens, is_full = now, false
for _, own in ipairs(buckets) do
  local excess = own.level + 1 + before - own.burst
  if excess > 0.000001 then
    opens = math.max(opens, now + math.ceil(excess / own.rate * 1000000))
  end
end
for set = count + 5, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[set], '-inf', now)
  is_full = is_full or redis.call('ZCARD', KEYS[set]) + before >= tonumber(ARGV[4 + 2 * count + set])
end
if is_full or opens - now > ahead then
  redis.call('ZADD', KEYS[2], 'NX', place, name)
  redis.call('ZADD', KEYS[3], now + lease, name)
  redis.call('PEXPIRE', KEYS[2], lease / 1000 + 1000)
  redis.call('PEXPIRE', KEYS[3], lease / 1000 + 1000)
  if is_full then
    return {-1, before, now}
  end
  return {0, opens - now, now}
end
redis.call('ZREM', KEYS[2], name)
redis.call('ZREM', KEYS[3], name)
for at, own in ipairs(buckets) do
  redis.call('HSET', KEYS[4 + at], 'level', string.format('%.17g', own.level + 1), 'at', string.format('%.0f', own.at), 'burst',
    string.format('%.17g', own.burst), 'rate', string.format('%.17g', own.rate))
  redis.call('PEXPIRE', KEYS[4 + at], 90000000)
end
local remembered = math.ceil((opens - now + lasts) / 1000)
for set = count + 5, #KEYS do
  redis.call('ZADD', KEYS[set], opens + lasts, request)
  redis.call('PEXPIRE', KEYS[set], remembered)
end
redis.call('SET', KEYS[1], string.format('%.0f', opens), 'PX', remembered)
return {1, opens - now, now}
