-- Reads notices of a topic after an id, at most so many bytes of them.
-- KEYS[1]: the stream of the topic.
-- ARGV: the id, how many entries, the bytes of the largest one, the bytes of all.
-- Returns the id of the last one that was looked at, or nothing, and the notices.
local found = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
local last, notices, size = '', {}, 0
for _, entry in ipairs(found) do
  local value = entry[2][2]
  if #value <= tonumber(ARGV[3]) then
    size = size + #value
    if size > tonumber(ARGV[4]) then break end
    notices[#notices + 1] = value
  end
  last = entry[1]
end
return {last, notices}
