-- Counts the calls of all who keep to the same limits. It runs as one step, by the server's clock.
--
-- KEYS: what is known of the limits, then two for each: when its calls leave, and what they cost.
-- ARGV: what a client tells, as JSON; see `Told`. Said twice, it counts once.
local about, told = KEYS[1], cjson.decode(ARGV[1])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000

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

-- Who are we? A server that has forgotten all lets nothing begin until no window can hold more.
local limits = redis.call('HGET', about, 'limits')
if limits and limits ~= told.limits then
  local used = string.find(limits .. told.limits, '"budget"', 1, true)
  for place = 0, 63 do
    local key = about .. ' leaves ' .. place
    used = used or redis.call('ZCOUNT', key, number(now), '+inf') > 0
  end
  if used then return cjson.encode({others = limits}) end
  redis.call('DEL', about)
  fields = 0
  for place = 0, 63 do
    redis.call('DEL', about .. ' leaves ' .. place, about .. ' costs ' .. place)
  end
end
local generation = redis.call('HGET', about, 'generation')
if not generation then
  if fields > 0 then return cjson.encode({foreign = 'a hash of another kind'}) end
  generation = told.client .. ' ' .. number(now)
  redis.call('HSET', about, 'generation', generation, 'limits', told.limits)
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
  closed = math.max(closed, now + told.longest)
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
        redis.call('ZADD', leaves(place), number(now + told.lease), call)
      elseif limit.kind == 'budget' then
        redis.call('HSET', costs(place), call, string.format('%.17g', open[3][place]))
        redis.call('ZADD', leaves(place), number(now + told.lease), call)
      else
        count(place, call, open[3][place], now + told.lease)
      end
    end
  end
end

for _, each in ipairs(told.begun) do
  for place, limit in ipairs(told.kinds) do
    if limit.kind == 'window' and cost(place, name(each)) then
      redis.call('ZADD', leaves(place), number(now + limit.latency + limit.per), name(each))
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
        redis.call('ZADD', leaves(place), 'LT', number(now + limit.per), call)
      else
        redis.call('HDEL', costs(place), call)
        redis.call('ZREM', leaves(place), call)
      end
    end
  end
end

local granted, wait, spent = 0, 0, ''
for _, asked in ipairs(told.asked) do
  local call = name(asked[1])
  if not cost(1, call) then
    wait = math.max(0, closed - now)
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
      count(place, call, asked[2][place], now + told.lease)
    end
  end
  granted = granted + 1
end

if told.keep > 0 then
  for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, told.keep) end
end
return cjson.encode({granted = granted, wait = number(wait), spent = spent, generation = generation})
