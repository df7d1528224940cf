-- Adds a notice to a topic, and drops what is old.
-- KEYS[1]: the stream of the topic.
-- ARGV: the notice, how many are kept, how long they are kept in milliseconds.
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], '*', 'v', ARGV[1])
local now = redis.call('TIME')
redis.call('XTRIM', KEYS[1], 'MINID', now[1] * 1000 - tonumber(ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
