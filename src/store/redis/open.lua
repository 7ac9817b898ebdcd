-- Create a shard, or say whose it is. KEYS as in apply.lua.
-- ARGV: the run's description ('': only ask), bytes of R, bytes of E, seconds to live (0: for ever).
-- Answers the description that the shard has now ('': there is none).
local have = redis.call('GET', KEYS[10])
if have then return have end
if ARGV[1] == '' then return '' end
redis.call('SET', KEYS[10], ARGV[1])
redis.call('DEL', KEYS[11], KEYS[12], unpack(KEYS, 1, 9))
if tonumber(ARGV[2]) > 0 then redis.call('SETRANGE', KEYS[1], ARGV[2] - 1, '\0') end
if tonumber(ARGV[3]) > 0 then redis.call('SETRANGE', KEYS[2], ARGV[3] - 1, '\0') end
if tonumber(ARGV[4]) > 0 then for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], ARGV[4]) end end
return ARGV[1]
