#!lua flags=allow-oom
-- Everything that anybody asks of the board: ARGV[1] says what, `on` below has a function for each. board.c asks;
-- sizes of records must agree with it. allow-oom: a heartbeat must go through when the server's memory is full, or a
-- full server would look like a dead cluster.
--
-- The keys, all in one slot (docs/store.md). B, I, d are 1 byte, 4 bytes and a double.
--
--     B  32 bytes of head, then 32 a member:
--
--        offset  0                         8                                 16       24             32
--        head    last heartbeat (any) d    when they came again, after a     unused
--                                          pause of all, d
--        member  state B, -, life I at 4   last heartbeat d                  lease d  attempt that
--                                                                                     joined, 8 bytes
--
--     X  node -> its text
--     J  identity -> node
--     W  node -> identity
--     R  run -> state B, created d, changed d, id of the run, proof of the state: 16 bytes each, which we do not read
--     C  the last run's number
--     F  the charter: by which members know their cluster
--     T.N     the text of run N
--     T.N.K   what joined run N as its part K, counted from 0
--     T.N.h   a program holds run N open, to add tasks to it; goes by itself when that program gives no sign of life
--     Q.MARK  the number that a request's mark has got, for a day (KEYS[8])
--
-- A lease cannot run out while nobody could send a heartbeat: when the server was away (or all clients were), every
-- member has a whole lease from the first heartbeat on.
local B, X, J, W, R, C, F, Q = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local call, pack, unpack = redis.call, struct.pack, struct.unpack
local SIZE, UP, DEAD, LEFT, MOST, RUN_SIZE = 32, 0, 3, 4, 65536, 49
local OPEN, ENDED, EXPIRED, EXPIRED_MOST = 0, 3, 5, 200
local BEGIN = 1577836800 -- 2020: a life counts seconds since then, so that hardly one comes again, though the server forgets all
local NO_PROOF = string.rep('\0', 32) -- of a run that was never opened
local time = call('TIME')
local now = time[1] + time[2] / 1000000

local function member(node)
  local s = call('GETRANGE', B, (node + 1) * SIZE, (node + 2) * SIZE - 1)
  if #s < SIZE then return nil end
  local state, life, heartbeat, lease, attempt = unpack('<BxxxIddc8', s)
  return {state = state, life = life, heartbeat = heartbeat, lease = lease, attempt = attempt}
end
local function save(node, m)
  call('SETRANGE', B, (node + 1) * SIZE, pack('<BxxxIddc8', m.state, m.life, m.heartbeat, m.lease, m.attempt))
end
local function head()
  local s = call('GETRANGE', B, 0, 15)
  if #s < 16 then return 0, 0 end
  return unpack('<dd', s)
end
local function note_heartbeat(lease)
  local last, again = head()
  if now - last > lease or now < last then again = now end
  call('SETRANGE', B, 0, pack('<dd', now, again))
end
local function alive(node, life)
  local m = member(node)
  return m and m.life == life and m.state < DEAD and m or nil
end
local function view()
  local all, runs = call('HGETALL', R), {}
  for i = 1, #all, 2 do
    local state, created, changed = 254, now, now
    if #all[i + 1] >= 17 then state, created, changed = unpack('<Bdd', all[i + 1]) end
    if (state == 255 and now - created > 86400) or (state == 4 and now - changed > 3600)
      or (state == EXPIRED and now - changed > 30 * 86400) then
      call('HDEL', R, all[i])
      local text, part = string.sub(B, 1, -2) .. 'T.' .. all[i], 0
      call('UNLINK', text)
      while call('UNLINK', text .. '.' .. part) == 1 do part = part + 1 end
    elseif state ~= 255 then
      runs[#runs + 1] = all[i]
      runs[#runs + 1] = all[i + 1]
    end
  end
  return {string.format('%.6f', now), call('GET', B) or '', call('HGETALL', X), runs, call('GET', F) or ''}
end

local on = {}
on.open = function(version)
  local have = call('GET', Q)
  if not have then call('SET', Q, version) end
  return have or version
end
local function nobody_lives()
  local node, m = 0, member(0)
  while m do
    if m.state < DEAD and now - m.heartbeat <= m.lease then return false end
    node = node + 1
    m = member(node)
  end
  return true
end
-- what stands there stays, unless it is `instead`, and nobody lives who goes by it or a member puts his own back; `last`: of the
-- runs that he knows the last number, so that a server which lost its data gives none a second time
on.charter = function(offer, instead, by_member, last)
  local have = call('GET', F)
  if tonumber(call('GET', C) or 0) < tonumber(last) then call('SET', C, last) end
  if offer == '' then return have or '' end
  if have and not (have == instead and (by_member == '1' or nobody_lives())) then return have end
  call('SET', F, offer)
  return offer
end
local function text_key(run) return string.sub(B, 1, -2) .. 'T.' .. run end
-- the first that is offered stands, unless it is `instead`, which somebody has found to be nobody's word. `run` (not empty): only
-- while that run is open
on.part = function(offer, instead, run)
  local have = call('GET', Q)
  if have and have ~= instead then return have end
  local s = run ~= '' and (call('HGET', R, run) or '')
  if s and string.byte(s, 1) ~= OPEN then return false end
  call('SET', Q, offer)
  return offer
end
on.join = function(identity, attempt, lease, text)
  local node = tonumber(call('HGET', J, identity) or -1)
  local m = node >= 0 and member(node) or nil
  if m and m.attempt == attempt then return {node, m.life} end
  if not m then
    node = 0
    m = member(node)
    while m and m.state < DEAD do
      node = node + 1
      m = member(node)
    end
    if node >= MOST then return redis.error_reply('WEFT the board is full: ' .. node .. ' members') end
    local before = call('HGET', W, node)
    if before then call('HDEL', J, before) end
    call('HSET', J, identity, node)
    call('HSET', W, node, identity)
  end
  lease = tonumber(lease)
  note_heartbeat(lease)
  local life = math.max(m and m.life + 1 or 1, math.floor(now) - BEGIN)
  save(node, {state = UP, life = life, heartbeat = now, lease = lease, attempt = attempt})
  call('HSET', X, node, text)
  return {node, life}
end
-- a server that forgot all twice in a second may have given this number and life to another: `attempt` tells them apart
on.heartbeat = function(node, life, state, text, attempt)
  local m = alive(node, tonumber(life))
  if m and (attempt == '' or attempt == m.attempt) then
    note_heartbeat(m.lease)
    m.heartbeat, m.state = now, tonumber(state)
    save(node, m)
    call('HSET', X, node, text)
  end
  return view()
end
on.view = view
on.expire = function(node, life)
  local m = alive(node, tonumber(life))
  local _, again = head()
  if m and now - math.max(m.heartbeat, again) > m.lease then
    m.state = DEAD
    save(node, m)
  end
  return 'OK'
end
on.leave = function(node, life)
  local m = alive(node, tonumber(life))
  if m then
    m.state = LEFT
    save(node, m)
  end
  return 'OK'
end
on.new = function()
  local have = call('GET', Q)
  if have then return have end
  local run
  repeat run = call('INCR', C) until call('HEXISTS', R, run) == 0 -- should somebody have put the counter back
  call('SET', Q, run, 'EX', 86400)
  call('HSET', R, run, pack('<Bdd', 255, now, now) .. NO_PROOF)
  return tostring(run)
end
-- what nobody took is remembered for who asks, but not without end: it is in every view
local function prune_expired()
  local all, gone = call('HGETALL', R), {}
  for i = 1, #all, 2 do
    if #all[i + 1] == RUN_SIZE and string.byte(all[i + 1], 1) == EXPIRED then gone[#gone + 1] = tonumber(all[i]) end
  end
  if #gone <= EXPIRED_MOST then return end
  table.sort(gone)
  for i = 1, #gone - EXPIRED_MOST do call('HDEL', R, gone[i]) end
end
-- `over`: the record that a member has found to be nobody's word is written over, if it is still that;
-- `text` (not empty): what the run has from now on in place of its text; `parts` (not empty): it ends only if no more than so many
-- joined it, and nobody else holds it open: between who adds tasks and who ends the run the first one counts
on.state = function(run, state, words, over, text, parts, holds)
  local s = call('HGET', R, run)
  if not s then return redis.error_reply('WEFT there is no run ' .. run .. ' on the board') end
  state = tonumber(state)
  local was, created = 255, now
  if #s >= 17 then was, created = unpack('<Bd', s) end
  local replaces = over ~= '' and (s == over or #s ~= RUN_SIZE)
  if state == ENDED and parts ~= '' and (call('EXISTS', text_key(run) .. '.' .. parts) == 1
    or (was == OPEN and holds ~= '1' and call('EXISTS', text_key(run) .. '.h') == 1)) then
    return redis.error_reply('WEFT run ' .. run .. ' is held open, or has grown')
  end
  if was == 255 or state > was or replaces then
    call('HSET', R, run, pack('<Bdd', state, created, now) .. words)
    if text ~= '' then call('SET', text_key(run), text) end
    if state == EXPIRED then prune_expired() end
  end
  return 'OK'
end
return on[ARGV[1]](ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8])
