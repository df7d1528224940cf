-- Notes that a replica lives, or that it ends.
-- KEYS[1]: the replicas, each with the time it was heard of.
-- ARGV: the replica, 1 if it lives, how long it is remembered in microseconds.
-- Returns the number of replicas that live.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if ARGV[2] == '1' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
else
  redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], math.ceil(tonumber(ARGV[3]) / 1000))
return redis.call('ZCARD', KEYS[1])
