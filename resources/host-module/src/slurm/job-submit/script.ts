/**
 * The text of job_submit.lua. Slurm limits what a job asks for by name, so every GPU has to be asked for by type, and
 * what it means in card shares and GPU memory is added to the job in the same field, where Slurm multiplies it alike.
 */
import { AppError } from "../../../../../shared/errors.ts";
import { cardShareGres, cardShareUnits, gpuMemoryGres } from "../../engine/slurm/counted-gres.ts";
import { crypto } from "../../operating-system/builtin.ts";
import { padType } from "../nodes.ts";

/** One GPU type of gres.conf. */
export interface GpuTypeFact {
  /** As Slurm names it, `h100` or `h100_3g.40gb`. */
  readonly type: string;
  /** Memory of one device, whole GiB. */
  readonly memoryGiB: number;
  /** What one device counts for, in units of which a card has 56. */
  readonly cardShareUnits: number;
}

export interface JobSubmitFacts {
  readonly types: readonly GpuTypeFact[];
}

/** The script's own, raised whenever its text changes. */
export const jobSubmitVersion = 1;

/** A type that no cluster has: the script answers it with its version and hash, which proves that it is in force. */
export const probeType = "tessera_probe";

const marker = "-- Tessera job_submit.lua";

/** Version and hash as the header has them and as the probe is answered: `version 1, facts 0123456789abcdef`. */
export function jobSubmitIdentity(facts: JobSubmitFacts): string {
  const hash = crypto()
    .createHash("sha256")
    .update(JSON.stringify(plain(facts)))
    .digest("hex");
  return `version ${jobSubmitVersion}, facts ${hash.slice(0, 16)}`;
}

/** The identity in a script's header; null for a script that is not Tessera's. */
export function identityIn(script: string): string | null {
  const first = script.split("\n", 1)[0] ?? "";
  const found = /^-- Tessera job_submit\.lua (version \d+, facts [0-9a-f]{16})$/.exec(first);
  return found?.[1] ?? null;
}

function plain({ types }: JobSubmitFacts) {
  return {
    types: types
      .map(({ type, memoryGiB, cardShareUnits: units }) => [type, memoryGiB, units] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  };
}

/**
 * The script for the types of a cluster; `pad` among them is left out. The same facts make the same text, in whatever
 * order. Runs on Lua 5.1 and later and Slurm 22.05 and later. Throws AppError `bad-request` for facts that no script can hold.
 */
export function jobSubmitLua(given: JobSubmitFacts): string {
  const facts = { ...given, types: given.types.filter(({ type }) => type !== padType) };
  check(facts);
  const { types } = plain(facts);
  const rows = types.map(
    ([type, memoryGiB, units]) =>
      `  [${quoted(type)}] = { ${gpuMemoryGres} = ${memoryGiB}, ${cardShareGres} = ${units} },`,
  );
  const identity = jobSubmitIdentity(facts);
  return `${marker} ${identity}
-- Generated: changes made here are lost. A card is ${cardShareUnits} of ${cardShareGres}; ${gpuMemoryGres} is GiB.
local identity = ${quoted(identity)}
local types = {
${rows.join("\n")}
}
local type_names = ${quoted(types.map(([type]) => type).join(", "))}
${body}`;
}

function check({ types }: JobSubmitFacts): void {
  const seen = new Set<string>();
  for (const { type, memoryGiB, cardShareUnits: units } of types) {
    if (!/^[A-Za-z0-9_.+-]+$/.test(type) || /^\d+[KMGTPkmgtp]?$/.test(type) || seen.has(type)) {
      throw badFact(`${JSON.stringify(type)} is no GPU type, or is named twice.`);
    }
    if (!Number.isSafeInteger(memoryGiB) || memoryGiB < 0 || !Number.isSafeInteger(units) || units <= 0) {
      throw badFact(
        `The memory (GiB) and the card share (units) of ${type} have to be whole numbers, the share above 0.`,
      );
    }
    seen.add(type);
  }
}

function badFact(message: string): AppError {
  return new AppError({ code: "bad-request", message, remedy: "Correct the GPU types and generate the script again." });
}

/** Types hold none of the characters that Lua would want escaped. */
function quoted(text: string): string {
  return `"${text}"`;
}

const body = `
local fields = { "tres_per_job", "tres_per_node", "tres_per_socket", "tres_per_task" }
local multipliers = { k = 1024, m = 1024 ^ 2, g = 1024 ^ 3, t = 1024 ^ 4, p = 1024 ^ 5 }

-- nil for what is no number: then it is a type.
local function count_of(word)
  local digits, unit = string.match(word, "^(%d+)([kmgtpKMGTP]?)$")
  if digits == nil then return nil end
  return tonumber(digits) * (multipliers[string.lower(unit)] or 1)
end

local function there_are()
  if type_names == "" then return "There is no GPU on this cluster." end
  return "There are: " .. type_names .. "."
end

-- Words of one request: "gres:gpu:a100:1", "gres/gpu:a100=1" and "gpu:a100:1" are all gpu, a100, 1.
local function words_of(request)
  local prefix, rest = string.match(request, "^%s*(gres[:/])(.-)%s*$")
  if prefix == nil then rest = string.match(request, "^%s*(.-)%s*$") end
  local words = {}
  for word in string.gmatch(rest, "[^:=]+") do words[#words + 1] = word end
  return words
end

-- Type and count of a request for GPUs; type is nil where none was named, count where it is none.
local function gpus_of(words)
  if #words == 1 then return nil, 1 end
  if #words == 2 then
    local count = count_of(words[2])
    if count ~= nil then return nil, count end
    return words[2], 1
  end
  if #words == 3 then return words[2], count_of(words[3]) end
  return words[2], nil
end

-- What has to be added for one request, or the sentence that refuses it.
local function counted_of(request)
  local words = words_of(request)
  local name = string.lower(words[1] or "")
  if name == "${gpuMemoryGres}" or name == "${cardShareGres}" then
    return nil, name .. " is counted from the GPUs that a job asks for, and cannot be asked for."
  end
  if name == "shard" or name == "mps" then
    return nil, name .. " is not counted by quotas: ask for a GPU by its type. " .. there_are()
  end
  if name ~= "gpu" then return nil, nil end
  local gpu_type, count = gpus_of(words)
  if gpu_type == "${probeType}" then return nil, "Tessera job_submit.lua " .. identity end
  if count == nil then return nil, "The number of GPUs in " .. request .. " cannot be read." end
  if count == 0 then return nil, nil end
  if gpu_type == nil then
    return nil, "Name the type of GPU, as in --gres=gpu:TYPE:" .. string.format("%d", count) .. ". " .. there_are()
  end
  local known = types[gpu_type]
  if known == nil then return nil, "There is no GPU of type " .. gpu_type .. ". " .. there_are() end
  return { ${gpuMemoryGres} = known.${gpuMemoryGres} * count, ${cardShareGres} = known.${cardShareGres} * count }, nil
end

local function with_counted(value)
  local memory, share, prefix = 0, 0, "gres:"
  for request in string.gmatch(value, "[^,]+") do
    local added, refusal = counted_of(request)
    if refusal ~= nil then return nil, refusal end
    if added ~= nil then
      memory = memory + added.${gpuMemoryGres}
      share = share + added.${cardShareGres}
      prefix = string.match(request, "^%s*(gres[:/])") or ""
    end
  end
  if share == 0 then return value, nil end
  value = value .. "," .. prefix .. "${cardShareGres}:" .. string.format("%d", share)
  if memory > 0 then value = value .. "," .. prefix .. "${gpuMemoryGres}:" .. string.format("%d", memory) end
  return value, nil
end

local function refuse(sentence)
  slurm.log_user("%s", sentence)
  return slurm.ERROR
end

function slurm_job_submit(job_desc, part_list, submit_uid)
  local changed = {}
  for _, field in ipairs(fields) do
    local value = job_desc[field]
    if value ~= nil and value ~= "" then
      local counted, refusal = with_counted(value)
      if refusal ~= nil then return refuse(refusal) end
      if counted ~= value then changed[field] = counted end
    end
  end
  for field, value in pairs(changed) do job_desc[field] = value end
  return slurm.SUCCESS
end

-- What is counted was added at submission; a change here would pass by it.
function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
  for _, field in ipairs(fields) do
    local value = job_desc[field]
    if value ~= nil and value ~= "" then
      return refuse("The GPUs of a job cannot be changed: cancel it and submit it again.")
    end
  end
  return slurm.SUCCESS
end

slurm.log_info("Tessera job_submit.lua %s", identity)
return slurm.SUCCESS
`;
