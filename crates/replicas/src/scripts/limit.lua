-- Counts one request of a caller by the generic cell rate algorithm. Times are microseconds of the server's clock.
-- KEYS[1]: the time at which the caller's whole burst is back.
-- ARGV: the time to regain one request, the time to regain the burst.
-- Returns 1 if the request is allowed, the time at which the burst is back, now, and how long to wait otherwise.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = tonumber(redis.call('GET', KEYS[1]) or now)
full = math.min(math.max(full, now), now + window)
local counted = full + interval
if counted - now > window then
  -- The cut time is stored, so that a clock that was set back keeps nobody out for longer than the window.
  redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
  return {0, full, now, counted - now - window}
end
redis.call('SET', KEYS[1], string.format('%.0f', counted), 'PX', math.ceil((counted - now) / 1000))
return {1, counted, now, 0}
