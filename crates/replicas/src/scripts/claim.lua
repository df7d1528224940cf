-- Takes the claim of a reading, unless somebody has it or the reading is there.
-- KEYS[1]: the reading or its claim.
-- ARGV: the claim, how long it lasts in milliseconds, 1 if it may take over a claim of a slower lane.
-- Returns what is there now.
local held = redis.call('GET', KEYS[1])
if held == false or (ARGV[3] == '1' and string.sub(held, 1, 2) == 'C1') then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return ARGV[1]
end
return held
