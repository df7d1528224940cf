-- Lets the speed of buckets grow after a success, or halves it after a refusal. Times are microseconds of the server's clock.
-- KEYS: the buckets.
-- ARGV: 1 for a success and 0 for a refusal, when the request started; of each bucket its greatest burst and its greatest rate.
-- Returns 1 if a speed was halved.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local success, started, halved = ARGV[1] == '1', tonumber(ARGV[2]), 0
for at = 1, #KEYS do
  local burst, rate = tonumber(ARGV[1 + 2 * at]), tonumber(ARGV[2 + 2 * at])
  local known = redis.call('HMGET', KEYS[at], 'level', 'at', 'burst', 'rate', 'halved')
  if known[3] then
    local own = {level = tonumber(known[1]), at = tonumber(known[2]), burst = tonumber(known[3]), rate = tonumber(known[4])}
    local calm = success and 60000000 or 1000000
    if not known[5] or started >= tonumber(known[5]) + calm then
      own.level = math.max(own.level - own.rate * math.max(now - own.at, 0) / 1000000, 0)
      own.at = math.max(now, own.at)
      if success then
        own.burst, own.rate = math.min(own.burst + burst / 64, burst), math.min(own.rate + rate / 64, rate)
      else
        own.burst, own.rate = math.max(own.burst / 2, burst / 16, 1), math.max(own.rate / 2, rate / 16)
        redis.call('HSET', KEYS[at], 'halved', string.format('%.0f', now))
        halved = 1
      end
      redis.call('HSET', KEYS[at], 'level', string.format('%.17g', own.level), 'at', string.format('%.0f', own.at), 'burst',
        string.format('%.17g', own.burst), 'rate', string.format('%.17g', own.rate))
    end
  end
end
return halved
