-- Counts the calls of all who keep to the same limits. It runs as one step, by the ledger's clock.
--
-- KEYS: what is known of the limits, then two for each: when its calls leave, and what they cost;
-- last the witnesses.
-- ARGV: what a client tells, as JSON; see `Told`. Said twice, it counts once.
local about, told = KEYS[1], cjson.decode(ARGV[1])
local function leaves(place) return KEYS[2 * place] end
local function costs(place) return KEYS[2 * place + 1] end
local function number(value) return string.format('%.6f', value) end
local function total(place) return tonumber(redis.call('HGET', about, 'total ' .. place) or 0) end
local function add(place, amount)
  redis.call('HINCRBYFLOAT', about, 'total ' .. place, string.format('%.9f', amount))
end
local function cost(place, call) return tonumber(redis.call('HGET', costs(place), call) or nil) end
local function name(each) return told.client .. ' ' .. string.format('%d', each) end

local function count(place, call, amount, at)
  redis.call('HSET', costs(place), call, string.format('%.17g', amount))
  redis.call('ZADD', leaves(place), number(at), call)
  add(place, amount)
end

local function forget(place, call)
  local amount = cost(place, call)
  redis.call('HDEL', costs(place), call)
  redis.call('ZREM', leaves(place), call)
  if amount then add(place, -amount) end
end

-- Is it ours? Somebody else may have that key, or have changed what is there.
local fields = redis.pcall('HLEN', about)
if type(fields) ~= 'number' then return cjson.encode({foreign = 'no hash'}) end
local function is_amount(text)
  local amount = tonumber(text or nil)
  return amount and amount == amount and math.abs(amount) < math.huge
end

-- The ledger's clock: `now`. All scores are its times. An administrator or NTP may set the server's
-- clock at any moment, and no command of Redis reads a monotonic clock, so the clients' monotonic
-- clocks check the server's. The ledger's clock never goes back. It may be late, which keeps calls in
-- their windows for longer; while it may be, `stamp` is the time at which calls are counted, which is
-- not late: else they would leave early as soon as the ledger's clock is right again.
--
-- A witness is a client that has had a sure reply. It remembers the greatest difference between the
-- ledger's time in a sure reply and its own clock when that reply arrived. It sends its own clock
-- plus this difference: `from`, a lower bound of the ledger's time, whatever the other clients and
-- the server's clock do. The upper bound is `from` plus the duration of that exchange. The ledger
-- follows the server's clock between these bounds, and `from` outside of them. So a clock set forward
-- adds no more than the tolerance, and a clock set back stops no call. A request that was delayed and
-- a client whose machine was suspended look like a clock set forward. If the ledger's time is
-- above their bound, another witness knows more, and the server's clock is compared with that one.
--
-- A stranger has had no sure reply, because it is new or was restarted. Its clock says nothing about
-- the time before, in which the server's clock may have been set.
-- * No stranger has a turn in a window while a witness may be running. Each client speaks every five
--   seconds. If a witness has spoken since the stranger's last exchange, which is half a second ago at
--   most, the server's clock has been right for as long as that, and the stranger's reply is sure.
-- * A witness that leaves says so. If no witness has spoken for `silent` seconds of the stranger's
--   clock, none is running; one that was only stopped stays a witness.
-- * Without a witness, the server's clock tells how long no client was connected. The ledger can't
--   notice that it was set forward meanwhile. If it is behind the ledger, and a window holds calls,
--   the time can't be determined, and the ledger says so.
--
-- A server that has lost its memory begins a new ledger, of another generation: bounds of the old one
-- don't count. A server that has lost its last second, only, is corrected by the lower bounds.
local TOLERANCE, RECENT = 0.05, 0.5
local witnesses = KEYS[#KEYS]
local clock = redis.call('TIME')
local server = clock[1] + clock[2] / 1000000
local at = redis.call('HMGET', about, 'generation', 'time', 'sure', 'sure server', 'confirmations')
local generation, last, confirmations = at[1], tonumber(at[2] or nil), tonumber(at[5] or 0)
local is_ours = told.generation == generation
local is_witness = is_ours and told.from ~= cjson.null
local is_sure, now, stamp = true, server, server

local function holds_calls()
  for place, limit in ipairs(told.kinds) do
    local held = limit.kind == 'window' and redis.call('ZCOUNT', leaves(place), number(now), '+inf')
    if held and held > 0 then return true end
  end
  return tonumber(redis.call('HGET', about, 'closed') or 0) > now
end

if last then
  local passed = server - at[4]
  local by_server, from = at[3] + passed, is_witness and told.from or nil
  local is_new = told.seen < confirmations
  local is_recent = passed >= 0 and passed <= told.elapsed + TOLERANCE and told.elapsed <= RECENT
  now = math.max(last, from or last)
  if from and by_server > from + told.trip + TOLERANCE then
    is_sure, stamp = from > last, math.min(by_server, now + told.silent)
  elseif from or (is_ours and is_new and is_recent) then
    now = math.max(now, by_server)
    stamp = now
  elseif redis.call('ZCARD', witnesses) == 0 or (is_ours and not is_new and told.waited > told.silent) then
    if by_server < now - TOLERANCE and holds_calls() then
      return cjson.encode({behind = now - by_server})
    end
    now = math.max(now, by_server)
    stamp = now
    redis.call('DEL', witnesses)
  else
    is_sure, stamp = false, now + told.silent
  end
end

-- Who are we? A server that has forgotten all lets nothing begin until no window can hold more.
local limits = redis.call('HGET', about, 'limits')
if limits and limits ~= told.limits then
  local used = string.find(limits .. told.limits, '"budget"', 1, true)
  for place = 0, 63 do
    local key = about .. ' leaves ' .. place
    used = used or redis.call('ZCOUNT', key, number(now), '+inf') > 0
  end
  if used then return cjson.encode({others = limits}) end
  redis.call('DEL', about, witnesses)
  fields, generation, is_sure = 0, false, true
  for place = 0, 63 do
    redis.call('DEL', about .. ' leaves ' .. place, about .. ' costs ' .. place)
  end
end
if not generation then
  if fields > 0 then return cjson.encode({foreign = 'a hash of another kind'}) end
  -- Only a client that has never seen the budget may begin it: else it would look unspent to others.
  local has_seen = told.generation ~= '' and string.find(told.limits, '"budget"', 1, true)
  if told.exists or has_seen then return cjson.encode({missing = true}) end
  generation = told.client .. ' ' .. number(now)
  redis.call('HSET', about, 'generation', generation, 'limits', told.limits)
end
redis.call('HSET', about, 'time', number(now))
if is_sure then
  confirmations = confirmations + 1
  redis.call(
    'HSET', about, 'sure', number(now), 'sure server', number(server), 'confirmations', confirmations
  )
  redis.call('ZREMRANGEBYSCORE', witnesses, '-inf', number(now - told.silent))
  redis.call('ZADD', witnesses, number(now), told.client)
end
local is_old = redis.call('HSETNX', about, 'format', 1) == 1 -- totals began with the first cost
for place, limit in ipairs(told.kinds) do
  if is_old and limit.kind == 'budget' then redis.call('HSETNX', about, 'total ' .. place, 0) end
  if limit.kind == 'budget' and not is_amount(redis.call('HGET', about, 'total ' .. place)) then
    return cjson.encode({foreign = 'no number as total ' .. place})
  end
end
local closed = tonumber(redis.call('HGET', about, 'closed') or 0)
if told.generation ~= '' and told.generation ~= generation then
  closed = math.max(closed, stamp + told.longest)
  redis.call('HSET', about, 'closed', number(closed))
end

-- What the call of a silent client has cost nobody will tell: for a budget, what was thought.
for place, limit in ipairs(told.kinds) do
  for _, call in ipairs(redis.call('ZRANGEBYSCORE', leaves(place), '-inf', number(now))) do
    if limit.kind == 'budget' then
      redis.call('HDEL', costs(place), call)
      redis.call('ZREM', leaves(place), call)
    else
      forget(place, call)
    end
  end
end

for _, open in ipairs(told.open) do
  local call = name(open[1])
  for place, limit in ipairs(told.kinds) do
    if limit.kind ~= 'window' or not open[2] then
      if cost(place, call) then
        redis.call('ZADD', leaves(place), number(stamp + told.lease), call)
      elseif limit.kind == 'budget' then
        redis.call('HSET', costs(place), call, string.format('%.17g', open[3][place]))
        redis.call('ZADD', leaves(place), number(stamp + told.lease), call)
      else
        count(place, call, open[3][place], stamp + told.lease)
      end
    end
  end
end

for _, each in ipairs(told.begun) do
  for place, limit in ipairs(told.kinds) do
    if limit.kind == 'window' and cost(place, name(each)) then
      redis.call('ZADD', leaves(place), number(stamp + limit.latency + limit.per), name(each))
    end
  end
end

for _, each in ipairs(told.ended) do
  local call, begun = name(each[1]), each[2]
  for place, limit in ipairs(told.kinds) do
    local amount, truth = cost(place, call), each[3][place]
    if amount and (limit.kind == 'room' or not begun) then
      forget(place, call)
    elseif amount then
      if truth and truth ~= cjson.null then
        add(place, truth - amount)
        redis.call('HSET', costs(place), call, string.format('%.17g', truth))
      end
      if limit.kind == 'window' then
        redis.call('ZADD', leaves(place), 'LT', number(stamp + limit.per), call)
      else
        redis.call('HDEL', costs(place), call)
        redis.call('ZREM', leaves(place), call)
      end
    end
  end
end

local is_known = is_sure or is_witness or told.longest == 0
local granted, wait, spent = 0, 0, ''
for _, asked in ipairs(told.asked) do
  local call = name(asked[1])
  if not cost(1, call) then
    wait = math.max(is_known and 0 or 0.05, closed - now)
    for place, limit in ipairs(told.kinds) do
      if total(place) + asked[2][place] > limit.most * (1 + 1e-9) then
        local first = redis.call('ZRANGE', leaves(place), 0, 0, 'WITHSCORES')
        if limit.kind == 'window' and first[2] then
          wait = math.max(wait, first[2] - now)
        elseif limit.kind == 'budget' and redis.call('HLEN', costs(place)) == 0 then
          spent = string.format('%.10g of a budget of %.10g %s', total(place), limit.most, limit.unit)
        else
          wait = math.max(wait, limit.kind == 'budget' and 0.05 or 0.005)
        end
      end
    end
    if wait > 0 or spent ~= '' then break end
    for place, limit in ipairs(told.kinds) do
      count(place, call, asked[2][place], stamp + told.lease)
    end
  end
  granted = granted + 1
end

if told.leaves then redis.call('ZREM', witnesses, told.client) end
if told.keep > 0 then
  for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, told.keep) end
end
return cjson.encode({
  granted = granted, wait = number(wait), spent = spent, generation = generation,
  clock = is_sure and number(now) or nil, seen = confirmations
})
