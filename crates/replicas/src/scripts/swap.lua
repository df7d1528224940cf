-- Replaces or deletes a value that is still the expected one.
-- KEYS[1]: the value.
-- ARGV: the expected value, 1 if a missing one will do, the new value or nothing to delete it, how long it lasts in milliseconds.
-- Returns 1 if that was done.
local held = redis.call('GET', KEYS[1])
if held ~= ARGV[1] and not (held == false and ARGV[2] == '1') then
  return 0
end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
end
return 1
