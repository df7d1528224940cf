-- Notes that a request is no longer in flight, and gives back what it took of buckets if it never started.
-- KEYS: buckets to give back to, then sets of the requests in flight.
-- ARGV: the request, the number of buckets.
local count = tonumber(ARGV[2])
for at = 1, count do
  local level = tonumber(redis.call('HGET', KEYS[at], 'level') or 0)
  if level > 0 then
    redis.call('HSET', KEYS[at], 'level', string.format('%.17g', math.max(level - 1, 0)))
  end
end
for set = count + 1, #KEYS do
  redis.call('ZREM', KEYS[set], ARGV[1])
end
return 1
