-- One call: apply a batch of operations to one shard of a run, all or nothing, and answer each. redis_encode.c writes
-- ARGV[1], redis_decode.c reads what comes back; both and this file change together, with the version in redis.c.
--
-- The keys of one shard, all in one slot: KEYS[1] to KEYS[12] (docs/store.md). B, H, I, d are 1, 2, 4 bytes and a
-- double.
--
--     R  records, 64 bytes a task:
--
--        offset  0       1       2         4      8       12            16      24       32     40         48     64
--                status  doomed  attempts  epoch  holder  first holder  queued  started  ended  submitted  proof
--                B       B       H         I      I       I             d       d        d      d          16 bytes
--
--     E  12 bytes an edge in: 0, or where its producer ran (encode.c: mark) and 8 bytes that prove it
--     S  8 bytes an edge in: the real size of what it carries, 0: as in the workflow
--     N  node -> life I, fenced B, client
--     M  task -> its holders after the first
--     C  task with many edges in -> how many are marked
--     K  object -> copies, newest first: node I, digest of its content, 32 bytes, its size d, proof, 16 bytes
--     Z  input object -> its real size
--     P  task -> it ended, but its children in other shards may not know yet
--     I  whose run this is (KEYS[10]: open.lua)
--     D  how many tasks are done, failed, removed, skipped, excused: IIIII
--     A  client -> its last call that changed something: number I, whether its answers follow B, answers
--
-- Exactly once: a call that is sent again (`resent`) with the number kept in A gets the kept answers instead of being
-- applied again. What a child knows of its parents is written edge by edge, so notifying it twice changes nothing.
-- Times and sizes go through as 8 bytes that nobody reads as numbers: they come back to the bit. So do proofs: who ends
-- a task makes one, who reads verifies it (proofs.c); we have no key, and decide about epochs alone.
local R, E, S, N, M, C = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local K, Z, P, D, A = KEYS[7], KEYS[8], KEYS[9], KEYS[11], KEYS[12]
-- locals are quicker than globals, and some 100,000 operations a second go through here
local call, sub, byte, find, rep = redis.call, string.sub, string.byte, string.find, string.rep
-- the server writes a number as %.17g, a fifth of the time of a GETRANGE; whole numbers that come as text go straight through
local format = string.format
local function range(key, from, to) return call('GETRANGE', key, format('%d', from), format('%d', to)) end
local function set_range(key, at, s) call('SETRANGE', key, format('%d', at), s) end
local pack, unpack, concat = struct.pack, struct.unpack, table.concat
local a = ARGV[1] -- the call; `p` is where we read in it, everywhere below
local NONE = 4294967295
local SIZE, EDGE, COPY = 64, 12, 60 -- bytes of a record, of an edge, of a copy
local GAP = 256 -- bytes between two changes that are written along with them
local DOZEN = 32 -- records that ADOPT looks at together
local SMALL = 32 -- edges in: a task with more has a counter in C instead of being read whole
local LONG = 1048576 -- answers longer than this are not kept
local ZERO4, ZERO8, NAN = '\0\0\0\0', '\0\0\0\0\0\0\0\0', '\0\0\0\0\0\0\248\127'
local NO_EDGE, NO_PROOF = rep('\0', EDGE), rep('\0', 16)
local resent, keep, expire, tasks, edges, client, number, rlow, rhigh, elow, ehigh, p = unpack('<BBIIIc8IIIII', a)
-- the run was dropped (FLUSHALL, expiry, a restart without a file): not an empty one, but an error
if call('STRLEN', R) ~= tasks * SIZE then return redis.error_reply('WEFTGONE') end
-- sent again: applied before? Then the same answers as then
if resent == 1 and keep == 1 then
  local last, kept = NONE, 0
  local s = call('HGET', A, client)
  if s then last, kept = unpack('<IB', s) end
  if last == number and kept == 1 then return sub(s, 6) end
  if last ~= number then resent = 0 end -- it never came here
end
local sized, copied = call('EXISTS', S) == 1, call('EXISTS', K) == 1 -- most runs have neither
local out, n = {}, 0 -- the answers, concatenated at the end
local done_now, failed_now, removed_now, skipped_now, excused_now = 0, 0, 0, 0, 0 -- of this call
local function put(s) n = n + 1 out[n] = s end

-- records are read ahead when asked for nearly in order, and written when all is done, neighbours together
local recs, block, bfirst, bend, before = {}, '', 0, 0, -99
-- who ends tasks says where they and their children stand, so that all are read at once
if rhigh > rlow then bfirst, bend, block = rlow, rhigh, range(R, rlow * SIZE, rhigh * SIZE - 1) end
local changed, nchanged, rising = {}, 0, true
local function load(t)
  local rec = recs[t]
  if rec then return rec end
  if t < bfirst or t >= bend then
    bfirst, bend = t, math.min(tasks, t > before and t <= before + 8 and t + 32 or t + 1)
    block = range(R, bfirst * SIZE, bend * SIZE - 1)
  end
  before = t
  if bend - bfirst == 1 then return block end
  return sub(block, (t - bfirst) * SIZE + 1, (t - bfirst + 1) * SIZE)
end
local function save(t, rec)
  if not recs[t] then
    nchanged = nchanged + 1
    changed[nchanged] = t
    if nchanged > 1 and changed[nchanged - 1] > t then rising = false end
  end
  recs[t] = rec
end
-- values[list[i]] to place list[i] of the key, neighbours in one SETRANGE; `sorted`: the list rises already. What
-- stands between two that are close was read (`was`, from `low` to `high`) and is written along: a SETRANGE costs
-- more than its bytes
local function write_runs(key, size, list, count, sorted, values, was, low, high)
  if not sorted then table.sort(list) end
  local i = 1
  while i <= count do
    local at, parts, k = list[i], {}, 0
    local expected = at
    while i <= count and (list[i] == expected or (list[i] - expected <= GAP / size and expected >= low and list[i] <= high)) do
      if list[i] > expected then
        k = k + 1
        parts[k] = sub(was, (expected - low) * size + 1, (list[i] - low) * size)
        expected = list[i]
      end
      local v = values[expected]
      k = k + 1
      parts[k] = v
      expected = expected + #v / size
      i = i + 1
    end
    set_range(key, at * size, k == 1 and parts[1] or concat(parts))
  end
end

-- edges likewise, but those of tasks with many of them go straight through
local marks, window, wfirst, wend, wbefore = {}, '', 0, 0, -1
if ehigh > elow then wfirst, wend, window = elow, ehigh, range(E, elow * EDGE, ehigh * EDGE - 1) end
local block_was, window_was = block, window
local marked, nmarked, mrising = {}, 0, true
local function edges_of(first, count)
  if count > SMALL then return range(E, first * EDGE, (first + count) * EDGE - 1) end
  local s = marks[first]
  if s then return s end
  if first < wfirst or first + count > wend then
    wfirst, wend = first, first == wbefore and math.min(edges, first + 256) or first + count
    window = range(E, wfirst * EDGE, wend * EDGE - 1)
  end
  wbefore = first + count
  if wend - wfirst == count then return window end
  return sub(window, (first - wfirst) * EDGE + 1, (first - wfirst + count) * EDGE)
end
local function save_edges(first, s)
  if not marks[first] then
    nmarked = nmarked + 1
    marked[nmarked] = first
    if nmarked > 1 and marked[nmarked - 1] > first then mrising = false end
  end
  marks[first] = s
end

-- what was kept back goes out: whoever reads or writes many neighbours at once does so on the server's strings
local function flush()
  write_runs(R, SIZE, changed, nchanged, rising, recs, block_was, rlow, rhigh)
  write_runs(E, EDGE, marked, nmarked, mrising, marks, window_was, elow, ehigh)
  rhigh, ehigh = rlow, elow -- what was read then is not what stands there now
  recs, changed, nchanged, rising, bfirst, bend, before = {}, {}, 0, true, 0, 0, -99
  marks, marked, nmarked, mrising, wfirst, wend, wbefore = {}, {}, 0, true, 0, 0, -1
end

-- nodes: life, fenced
local nodes = {}
local function node(i)
  local v = nodes[i]
  if not v then
    local s = call('HGET', N, i)
    v = {0, 0, ''}
    if s then v[1], v[2] = unpack('<IB', s) v[3] = sub(s, 6) end
    nodes[i] = v
  end
  return v
end
-- written at once: nodes change rarely
local function set_node(i, life, fenced, who)
  nodes[i] = {life, fenced, who}
  call('HSET', N, i, pack('<IB', life, fenced) .. who)
end
-- That life and all before it are over, also when its JOIN is still on the way. The dead will not ask again, so its
-- kept answers go; should it ask, the number says that the call was applied.
local function fence(i, over)
  local v = node(i)
  if v[2] == 1 and v[1] >= over then return end
  local s = v[3] ~= '' and call('HGET', A, v[3])
  if s then call('HSET', A, v[3], sub(s, 1, 4) .. '\0') end
  set_node(i, math.max(v[1], over), 1, v[3])
end
-- another life has begun since that one was over: it takes its tasks back itself
local function is_back(nd, x, over) return x ~= nd and over > 0 and node(x)[1] > over end
-- not fenced, and no later life has begun
local function may_take(i, life) local v = node(i) return v[2] == 0 and life >= v[1] end

-- what an item is made of: the record, its edges in, the sizes of what they carry, its inputs
local function section()
  local f, c, ni
  f, c, ni, p = unpack('<III', a, p)
  local q = p
  p = p + 4 * ni
  return f, c, ni, q
end
-- all that an item is made of; decode.c (decode_seen) reads it. `known`: the edges, if they were read before
local function put_item(rec, first, count, ni, q, known)
  put(rec)
  if count > 0 then
    put(known or edges_of(first, count))
    if sized then
      put('\1')
      put(range(S, first * 8, (first + count) * 8 - 1))
    else put('\0') end
  end
  if ni == 0 or not copied then put('\0') return end
  put('\1')
  for k = 1, ni do
    local o = unpack('<I', a, q)
    q = q + 4
    local s = call('HGET', K, o)
    if s then
      local z = call('HGET', Z, o)
      put(sub(s, 1, 4)) put(z and '\1' or '\0') put(z or ZERO8)
    else put('\255\255\255\255\0') put(ZERO8) end
  end
end
-- the real size of what an edge carries; S is created by the first that differs from the workflow's
local function set_size(edge, differs, size)
  if differs == 0 and not sized then return end
  if not sized then
    set_range(S, edges * 8 - 1, '\0')
    sized = true
  end
  set_range(S, edge * 8, size)
end
-- the record with another holder, queued since `time`, its epoch one more
local function take(rec, t, nd, time)
  local ep, ho, fi = unpack('<III', rec, 5)
  if fi == NONE then fi = nd
  elseif ho ~= nd then call('HSET', M, t, (call('HGET', M, t) or '') .. pack('<I', nd)) end
  return sub(rec, 1, 4) .. pack('<III', ep + 1, nd, fi) .. time .. sub(rec, 25)
end

-- one child, once: edges that carry this mark already are left alone. Twelve zeros are an edge without a mark, and
-- stand nowhere else: the fourth byte of a mark is not zero
local function notify(mark)
  local child, first, total, pos, len, differs, size, ni
  child, first, total, pos, len, differs, size, ni, p = unpack('<IIIIIBc8I', a, p)
  local q, at = p, first + pos
  p = p + 4 * ni
  local words = len == 1 and mark or rep(mark, len)
  local s, ready
  if total <= SMALL then
    s = edges_of(first, total)
    if sub(s, pos * EDGE + 1, (pos + len) * EDGE) ~= words then
      if size ~= ZERO8 then set_size(at, differs, size) end
      s = sub(s, 1, pos * EDGE) .. words .. sub(s, (pos + len) * EDGE + 1)
      save_edges(first, s)
    end
    ready = not find(s, NO_EDGE, 1, true)
  else
    local count
    local was = range(E, at * EDGE, (at + len) * EDGE - 1)
    if was ~= words then
      ehigh = elow -- what was read then is not what stands there now
      set_range(E, at * EDGE, words)
      if size ~= ZERO8 then set_size(at, differs, size) end
    end
    if sub(was, 1, 4) == ZERO4 then count = call('HINCRBY', C, child, len)
    else count = tonumber(call('HGET', C, child) or 0) end
    ready = count == total
  end
  local rec = ready and load(child)
  if rec and byte(rec, 1) == 1 then
    put('\1')
    put_item(rec, first, total, ni, q, s)
  else put('\0') end
end
-- one child of a task that failed or was removed: mark it, and list it unless it has ended
local function doom()
  local child
  child, p = unpack('<I', a, p)
  local f, c, ni, q = section()
  local rec = load(child)
  if byte(rec, 2) == 0 then
    rec = sub(rec, 1, 1) .. '\1' .. sub(rec, 3)
    save(child, rec)
  end
  local st = byte(rec, 1)
  if st == 0 or st >= 3 then put('\0') return end
  put('\1')
  put_item(rec, f, c, ni, q)
end

-- One function a kind of operation (enum meta_kind, enum redis_word). They read what follows the head of 28 bytes
-- and put their answer; outcomes are those of enum meta_outcome: 0 OK, 1 STALE, 2 ENDED, 3 UNKNOWN. A task is
-- 0 absent, 1 queued, 2 running, 3 done, 4 failed, 5 removed, 6 skipped, 7 excused (6 and 7: by COMPLETE).
local op = {}
-- one PUT: the outcome, and the record if it is another now
local function put_task(rec, t, epoch, nd, x, time)
  if byte(rec, 1) ~= 0 then return '\0' end
  local held = nd ~= NONE
  if held and node(nd)[2] == 1 then return '\1' end
  return '\0', '\1' .. sub(rec, 2, 2) .. '\0\0' .. pack('<III', held and 1 or 0, nd, nd)
    .. (held and time or NAN) .. NAN .. NAN .. time .. NO_PROOF
end
local function hold_task(rec, t, epoch, nd, x, time) -- likewise
  local st, _, _, ep, ho = unpack('<BBHII', rec)
  if st == 0 then return '\3' end
  if st >= 3 then return '\2' end
  if ep == epoch + 1 and ho == nd then return '\0' end
  if ep ~= epoch or not may_take(nd, x) then return '\1' end
  return '\0', take(rec, t, nd, time)
end
local function one_task(apply, t, epoch, nd, x, time)
  local f, c, ni, q = section()
  local rec = load(t)
  local outcome, now = apply(rec, t, epoch, nd, x, time)
  if now then save(t, now) end
  put(outcome)
  put_item(now or rec, f, c, ni, q)
end
op[0] = function(status, attempt, t, epoch, nd, x, time) one_task(put_task, t, epoch, nd, x, time) end -- PUT
op[1] = function(status, attempt, t, epoch, nd, x, time) one_task(hold_task, t, epoch, nd, x, time) end -- HOLD
op[2] = function(status, attempt, t) -- GET
  local f, c, ni, q = section()
  local rec = load(t)
  local st = byte(rec, 1)
  put(st == 0 and '\3' or st >= 3 and '\2' or '\0')
  put_item(rec, f, c, ni, q)
end
local function attempt_of(kind, status, attempt, t, epoch, nd, time) -- START, RETRY
  local rec, outcome = load(t), '\0'
  local st, doomed, at, ep, ho = unpack('<BBHII', rec)
  if st == 0 then outcome = '\3'
  elseif st >= 3 then outcome = '\2'
  elseif ho ~= nd or ep ~= epoch then outcome = '\1'
  elseif kind == 3 then
    if st ~= 2 or at ~= attempt then
      st = 2
      save(t, pack('<BBH', 2, doomed, attempt) .. sub(rec, 5, 24) .. time .. sub(rec, 33))
    end
  elseif st ~= 1 or at < attempt then
    st = 1
    save(t, pack('<BBH', 1, doomed, attempt) .. sub(rec, 5))
  end
  put(outcome)
  put(pack('<BI', st, ho))
end
op[3] = function(status, attempt, t, epoch, nd, x, time) attempt_of(3, status, attempt, t, epoch, nd, time) end
op[4] = function(status, attempt, t, epoch, nd, x, time) attempt_of(4, status, attempt, t, epoch, nd, time) end
-- of a task that began before the ends of its parents were known here: they still are not
local function is_early(t)
  local first, count
  first, count, p = unpack('<II', a, p)
  if count > SMALL then return tonumber(call('HGET', C, t) or 0) ~= count end
  return count > 0 and find(edges_of(first, count), NO_EDGE, 1, true) ~= nil
end
-- the task's own half of COMPLETE: the outcome, and whether it ended just now
local function complete(status, attempt, t, epoch, nd, start, time, proof, early)
  local rec, outcome, fresh = load(t), 0, 0
  local st, doomed, at, ep, ho = unpack('<BBHII', rec)
  local holds = ho == nd and ep == epoch
  if st == 3 and holds and sub(rec, 49) == NO_PROOF then st = 2 end -- whoever said so before had no key: it is said now
  if st == 0 then outcome = 3
  elseif st >= 3 then
    if st == 4 or st == 5 or not holds then outcome = 2 end
  elseif not holds or early then outcome = 1
  else
    fresh, st = 1, status >= 6 and status or 3
    if st == 3 then done_now = done_now + 1
    elseif st == 6 then skipped_now = skipped_now + 1
    else excused_now = excused_now + 1 end
    save(t, pack('<BBH', st, doomed, attempt ~= 0 and attempt or at) .. sub(rec, 5, 24) .. start .. time
      .. sub(rec, 41, 48) .. proof)
  end
  put(pack('<BBBI', outcome, fresh, st, ho))
  return outcome, fresh
end
op[5] = function(status, attempt, t, epoch, nd, x, time) -- COMPLETE
  local start, bytes, mark, proof, remote, count, len
  start, bytes, mark, proof, remote, count, len, p = unpack('<c8c8c12c16BII', a, p)
  local early = x == 1 and is_early(t)
  local done = p + len
  local outcome, fresh = complete(status, attempt, t, epoch, nd, start, time, proof, early)
  if fresh == 1 and remote == 1 then call('HSET', P, t, '\1' .. mark .. bytes) end
  if outcome == 0 then for i = 1, count do notify(mark) end end
  p = done
end
op[6] = function(status, attempt, t, epoch, nd, x, time) -- REMOVE
  local proof, remote, count, len
  proof, remote, count, len, p = unpack('<c16BII', a, p)
  local early = x == 1 and is_early(t)
  local done = p + len
  local rec, outcome = load(t), 0
  local want = status == 4 and 4 or 5
  local st, doomed, at, ep, ho = unpack('<BBHII', rec)
  if st == 0 then outcome = 3
  elseif st >= 3 then
    if resent == 0 or st ~= want or sub(rec, 33, 40) ~= time then outcome = 2 end
  elseif want == 4 and (early or not (ho == nd and ep == epoch)) then outcome = 1
  else
    st = want
    if want == 4 then failed_now = failed_now + 1 else removed_now = removed_now + 1 end
    save(t, pack('<B', want) .. sub(rec, 2, 32) .. time .. sub(rec, 41, 48) .. proof)
    if remote == 1 then call('HSET', P, t, '\2' .. NO_EDGE .. ZERO8) end
  end
  put(pack('<BBI', outcome, st, ho))
  if outcome == 0 then for i = 1, count do doom() end end
  p = done
end
op[7] = function(status, attempt, t, epoch, nd, x, time) -- ADOPT
  local limit, scan, over
  limit, scan, over, p = unpack('<III', a, p)
  if resent == 1 or not may_take(nd, epoch) then put('\1') return end
  if is_back(nd, x, over) then put('\0') put(pack('<IBI', tasks, 0, 0)) return end
  if x ~= nd then fence(x, over) end
  local taken, list, stop, i = 0, {}, 0, t
  local last = math.min(tasks, t + scan)
  -- neighbours are mostly alike: looked at by the dozen, as long as nothing is kept back
  local clean, blk, from, upto, mixed = nchanged == 0, '', 0, 0, 0
  local function alike(k) -- the record of DOZEN that look the same
    if not clean or k < mixed or k + DOZEN > last then return end
    if k + DOZEN > upto then
      from, upto = k, math.min(last, k + 64 * DOZEN)
      blk = range(R, from * SIZE, upto * SIZE - 1)
    end
    local at = (k - from) * SIZE
    local rec = sub(blk, at + 1, at + SIZE)
    if sub(blk, at + 1, at + DOZEN * SIZE) == rep(rec, DOZEN) then return rec end
    mixed = k + DOZEN
  end
  while i < last do
    local rec, count = alike(i), DOZEN
    if not rec then rec, count = load(i), 1 end
    local st, _, _, _, ho, fi = unpack('<BBHIII', rec)
    if ho == x and st > 0 and st < 3 then
      if taken == limit then stop = 1 break end
      if taken + count > limit or (fi ~= NONE and ho ~= nd) then count = 1 end -- each has its line in M
      local now = '\1' .. sub(take(rec, i, nd, time), 2)
      if count == 1 then save(i, now) else set_range(R, i * SIZE, rep(now, count)) end
      for k = i, i + count - 1 do
        taken = taken + 1
        list[taken] = pack('<I', k)
      end
    end
    i = i + count
  end
  bfirst, bend, rhigh = 0, 0, rlow -- what was read ahead may be another now
  put('\0')
  put(pack('<IBI', i, stop, taken))
  put(concat(list))
end
op[8] = function(status, attempt, t, epoch, nd, life) -- JOIN
  local v = node(nd)
  if life < v[1] or (life == v[1] and v[2] == 1) then put('\1') return end
  if life ~= v[1] or v[2] == 1 or v[3] ~= client then
    if v[3] ~= '' and v[3] ~= client then call('HDEL', A, v[3]) end
    set_node(nd, life, 0, client)
  end
  put('\0')
end
op[9] = function(status, attempt, object) -- OBJECT: where its consumers look, and an input's own size
  local size, differs, input, count
  size, differs, input, count, p = unpack('<c8BBI', a, p)
  if input == 1 then call('HSET', Z, object, size) end
  for i = 1, count do
    local edge
    edge, p = unpack('<I', a, p)
    set_size(edge, differs, size)
  end
  put('\0')
end
op[10] = function(status, attempt, object) -- COPY: newest first
  local copy
  copy, p = unpack('<c60', a, p)
  local s, node, at = call('HGET', K, object) or '', sub(copy, 1, 4), nil
  for i = 1, #s, COPY do if sub(s, i, i + 3) == node then at = i break end end
  if status ~= 0 and not at then
    call('HSET', K, object, copy .. s)
    copied = true
  elseif status ~= 0 and sub(s, at, at + COPY - 1) ~= copy then -- made again, and not to the bit
    call('HSET', K, object, sub(s, 1, at - 1) .. copy .. sub(s, at + COPY))
  elseif status == 0 and at then
    s = sub(s, 1, at - 1) .. sub(s, at + COPY)
    if s == '' then call('HDEL', K, object) else call('HSET', K, object, s) end
  end
  put('\0')
end
op[11] = function(status, attempt, t) -- READ
  local f, c, ni, q = section()
  local rec = load(t)
  local moves = unpack('<I', rec, 5) > 1 and call('HGET', M, t) or ''
  put(pack('<I', #moves / 4))
  put(moves)
  put_item(rec, f, c, ni, q)
end
op[12] = function(status, attempt, object, epoch, nd, producer) -- WHERE
  local rec = producer ~= NONE and load(producer) or rep('\0', SIZE)
  local s = call('HGET', K, object) or ''
  local n = math.floor(#s / COPY)
  put(rec .. pack('<I', n))
  put(sub(s, 1, n * COPY))
end
-- done, failed, removed, skipped and excused of this shard, with those of this call
local function ended()
  local s = call('GET', D)
  if not s then return done_now, failed_now, removed_now, skipped_now, excused_now end
  local d, f, r, k, e = unpack('<IIIII', s)
  return d + done_now, f + failed_now, r + removed_now, k + skipped_now, e + excused_now
end
op[13] = function(status, attempt, t, epoch, nd, n) -- COUNT; 1: the records, for who has the key to verify them
  if status == 1 then put(range(R, t * SIZE, (t + n) * SIZE - 1))
  else put(pack('<IIIII', ended())) end
end
op[20] = function() -- NOTIFY
  local mark
  mark, p = unpack('<c12', a, p)
  notify(mark)
end
op[21] = function() doom() end -- DOOM
op[22] = function(status, attempt, t) call('HDEL', P, t) put('\0') end -- SETTLED
op[23] = function(status, attempt, t, epoch, nd, x) -- FENCE; whose children may not all have been notified?
  local over
  over, p = unpack('<I', a, p)
  if not may_take(nd, epoch) then put('\1') return end
  if is_back(nd, x, over) then put('\0') put(pack('<I', 0)) return end
  if x ~= nd then fence(x, over) end
  local all = call('HGETALL', P)
  put('\0')
  put(pack('<I', #all / 2))
  for i = 1, #all, 2 do
    put(pack('<I', tonumber(all[i])))
    put(all[i + 1])
  end
end
op[24] = function(status, attempt, t) -- ITEM
  local f, c, ni, q = section()
  put_item(load(t), f, c, ni, q)
end

-- Runs: the same operation on neighbours, which mostly look alike; then it is one comparison and one write, whatever
-- their number. Whoever looks like its neighbour and would come out otherwise has an effect besides (M), and goes by
-- itself. decode.c (decode_run) reads the answers.
local function run_head(t)
  local count, first, n
  count, first, n, p = unpack('<III', a, p)
  flush()
  return count, first, n, range(R, t * SIZE, (t + count) * SIZE - 1)
end
local function are_alike(block, count) return block == rep(sub(block, 1, SIZE), count) end
-- their records and the edges into them; in short when all are alike and nobody has told them anything
local function put_run(block, outcomes, count, first, n)
  local marks_in = n > 0 and range(E, first * EDGE, (first + n) * EDGE - 1) or ''
  if not outcomes and not sized and are_alike(block, count) and marks_in == rep('\0', n * EDGE) then
    put('\1')
    put(sub(block, 1, SIZE))
    return
  end
  put('\0')
  put(outcomes or rep('\0', count))
  put(block)
  put(marks_in)
  put(sized and '\1' or '\0')
  if sized and n > 0 then put(range(S, first * 8, (first + n) * 8 - 1)) end
end
local function run_of(apply, t, epoch, nd, x, time)
  local count, first, n, block = run_head(t)
  local rec = sub(block, 1, SIZE)
  local ho, fi = unpack('<II', rec, 9)
  if are_alike(block, count) and (byte(rec, 1) == 0 or fi == NONE or ho == nd) then
    local outcome, now = apply(rec, t, epoch, nd, x, time)
    if now then
      block = rep(now, count)
      set_range(R, t * SIZE, block)
    end
    put_run(block, outcome ~= '\0' and rep(outcome, count) or nil, count, first, n)
    return
  end
  local outcomes, parts = {}, {}
  for i = 1, count do
    rec = sub(block, (i - 1) * SIZE + 1, i * SIZE)
    local outcome, now = apply(rec, t + i - 1, epoch, nd, x, time)
    outcomes[i], parts[i] = outcome, now or rec
  end
  block = concat(parts)
  set_range(R, t * SIZE, block)
  put_run(block, concat(outcomes), count, first, n)
end
op[25] = function(status, attempt, t, epoch, nd, x, time) run_of(put_task, t, epoch, nd, x, time) end -- PUTs
op[26] = function(status, attempt, t, epoch, nd, x, time) run_of(hold_task, t, epoch, nd, x, time) end -- HOLDs
op[27] = function(status, attempt, t) -- ITEMs
  local count, first, n, block = run_head(t)
  put_run(block, nil, count, first, n)
end
op[28] = function(status, attempt, t, epoch, nd) -- COMPLETEs of tasks that nobody waits for
  local count, _, _, block = run_head(t)
  local rec = sub(block, 1, SIZE)
  local st, doomed, at, ep, ho = unpack('<BBHII', rec)
  local ends, q = status >= 6 and status or 3, p
  local head = pack('<BBH', ends, doomed, attempt ~= 0 and attempt or at) .. sub(rec, 5, 24)
  local submitted = sub(rec, 41, 48)
  p = p + 32 * count
  if (st == 1 or st == 2) and ho == nd and ep == epoch and are_alike(block, count) then
    local parts = {}
    for i = 1, 4 * count, 4 do -- start and end, proof
      parts[i], parts[i + 1], parts[i + 2], parts[i + 3] = head, sub(a, q, q + 15), submitted, sub(a, q + 16, q + 31)
      q = q + 32
    end
    set_range(R, t * SIZE, concat(parts))
    if ends == 3 then done_now = done_now + count
    elseif ends == 6 then skipped_now = skipped_now + count
    else excused_now = excused_now + count end
    put('\1')
    return
  end
  put('\0')
  for i = 1, count do
    complete(ends, attempt, t + i - 1, epoch, nd, sub(a, q, q + 7), sub(a, q + 8, q + 15), sub(a, q + 16, q + 31))
    q = q + 32
  end
end

-- ---- the call ----
local size = #a
while p <= size do
  local kind, status, attempt, t, epoch, nd, x, time
  kind, status, attempt, t, epoch, nd, x, time, p = unpack('<BBHIIIIc8', a, p)
  op[kind](status, attempt, t, epoch, nd, x, time)
end
flush() -- records and edges were kept back until here, so that neighbours go in one write
if done_now + failed_now + removed_now + skipped_now + excused_now > 0 then call('SET', D, pack('<IIIII', ended())) end
local answers = concat(out)
-- kept in the same step as the changes: a call is applied and remembered, or neither
if keep == 1 then
  local short = #answers <= LONG
  call('HSET', A, client, pack('<IB', number, short and 1 or 0) .. (short and answers or ''))
elseif keep == 2 then call('HDEL', A, client) end
if expire > 0 then for i = 1, #KEYS do call('EXPIRE', KEYS[i], expire) end end
return answers
