-- Notes that a request is no longer in flight, and gives back what it took of buckets if it never started. Leaving twice is leaving once.
-- KEYS: the request's mark, buckets to give back to, then sets of the requests in flight.
-- ARGV: the request, the number of buckets, how long in milliseconds a request that never started is kept from passing late.
local count = tonumber(ARGV[2])
if count > 0 then
  local mark = redis.call('GET', KEYS[1])
  if mark and mark ~= 'left' then
    for at = 2, count + 1 do
      local level = tonumber(redis.call('HGET', KEYS[at], 'level') or 0)
      if level > 0 then
        redis.call('HSET', KEYS[at], 'level', string.format('%.17g', math.max(level - 1, 0)))
      end
    end
  end
  redis.call('SET', KEYS[1], 'left', 'PX', ARGV[3])
end
for set = count + 2, #KEYS do
  redis.call('ZREM', KEYS[set], ARGV[1])
end
return 1
