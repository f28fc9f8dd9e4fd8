#!/bin/sh
# Runs on a GPU what utils/gpu-check/make-bundles.py has made on another machine, and prints a table.
#
# usage: gpu-check.sh FOLDER      needs reprise-run in PATH, and the NVIDIA driver; exit code 1 if a check failed
#
# Each step must have the hash that the CPU gave, under every plan and on as many GPUs as its programs take (skipped where
# there are fewer); what tensor cores compute has one hash under every plan. Gradients in 16 bits are little farther from
# those in f32 than the CPU's, and each contraction is within its stated bound. Small steps run once more under
# compute-sanitizer, where that is found; where python3 and cuRAND are, cuRAND draws beside us; where PyTorch is, it computes
# the same shapes. The table holds bytes of the arena and of all memory that the step takes. Steps that are judged run beside
# each other; the others run alone, with seconds beside those of the cost model, and the share of its bound that the longest
# launch reaches.
set -u
folder=${1:?"usage: gpu-check.sh FOLDER"}
shift
passed=0 failed=0 skipped=0

number() { sed -n "s/.*\"$1\": \"\{0,1\}\([^\",}]*\).*/\1/p" "$2" | head -n 1; }
# The fastest step, the first one aside.
fastest() { sed -n 's/.*"step_seconds": \[\([^]]*\)\].*/\1/p' "$1" | tr -d ' ' | tr ',' '\n' | tail -n +2 | sort -g | head -n 1; }
largest_loss() { sed -n 's/.*"loss": \[\([^]]*\)\].*/\1/p' "$1" | tr -d ' ' | tr ',' '\n' | sort -g | tail -n 1; }
# Of a launch of several kernels one has the work, all take the time; a call of a library has no launch.
longest_share() {
  sed -n 's/.*"kernel": "\([^"]*\)", "seconds": \([^,]*\),.*"of_bound": \([^,]*\),.*"launch": "\([^"]*\)".*/\1|\4|\2|\3/p' "$1" | awk -F '|' '
    { own = $2 == "" ? $1 : $2; seconds[own] += $3; bound[own] += $3 * $4 }
    END { for (each in seconds) if (seconds[each] > seconds[longest]) longest = each
          printf "%.3g", bound[longest] / seconds[longest] }'
}
all_bytes() { echo $(($(number arena_bytes "$1") + $(number persistent_bytes "$1") + $(number workspace_bytes "$1"))); }
# What the cost model says of this GPU, for cases that predicted.txt has.
predicted() {
  awk -v name="$1" -v gpu="$gpu" '$1 == name && index(gpu, $2) { found = $3 } END { print found ? found : "-" }' "$folder/predicted.txt"
}
report() { # NAME good|bad TEXT
  if [ "$2" = good ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  [ "$2" = good ] || echo "FAILED: $1: $3"
}

# Runs a case, beside others: results have no clock. What is only timed runs alone, later.
run() { # NAME BUNDLE GPUS STEPS SEED HASH
  reprise-run "$folder/$2" --device=cuda --steps="$4" --seed="$5" --json > "$work/$1.json" 2> "$work/$1.error"
  echo $? > "$work/$1.status"
  case $1 in
  *-f32-save-all) ! command -v compute-sanitizer > /dev/null || sanitize "$@" ;;
  esac
}

judge() { # NAME BUNDLE GPUS STEPS SEED HASH
  if [ "$(cat "$work/$1.status")" != 0 ]; then
    if grep -q "there is no CUDA device" "$work/$1.error"; then
      skipped=$((skipped + 1)) && echo "skipped: $1: it takes $3 GPUs"
    elif grep -q "the bundle calls .*, which cannot be opened" "$work/$1.error"; then
      skipped=$((skipped + 1)) && echo "skipped: $1: $(cat "$work/$1.error")"
    else
      report "$1" bad "$(cat "$work/$1.error")"
    fi
    return
  fi
  hash=$(number hash "$work/$1.json") same=- expected=$6 whose="the CPU's"
  case $6 in
  =*)
    [ -e "$work/$6" ] || echo "$hash" > "$work/$6"
    expected=$(cat "$work/$6") whose="that of another plan"
    ;;
  "<"*)
    expected=- same=$(largest_loss "$work/$1.json")
    if awk "BEGIN { exit !($same < ${6#<}) }"; then report "$1" good; else report "$1" bad "its loss is $same, at most ${6#<} is stated"; fi
    same="a loss of $same, at most ${6#<}"
    ;;
  esac
  if [ "$expected" != - ]; then
    same=yes
    if [ "$hash" = "$expected" ]; then report "$1" good; else same=NO && report "$1" bad "hash $hash, $whose is $expected"; fi
    [ "$expected" = "$6" ] || same="$same, of plans"
  fi
  seconds=- bound=-
  if [ "$6" = - ]; then
    seconds=$(fastest "$work/$1.json")
    if reprise-run "$folder/$2" --device=cuda --steps="$4" --seed="$5" --profile-out="$work/profile" > /dev/null 2>&1; then
      bound=$(longest_share "$work/profile")
    fi
  fi
  echo "| $1 | $same | $seconds | $(predicted "$1") | $(number arena_bytes "$work/$1.json") | $(all_bytes "$work/$1.json") | $bound |" >> "$work/table"
}

sanitize() { # NAME BUNDLE GPUS STEPS SEED HASH
  for tool in memcheck racecheck initcheck synccheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 9 reprise-run "$folder/$2" --device=cuda --steps=1 --seed="$5" > "$work/$1.$tool" 2>&1
    echo $? > "$work/$1.$tool.status"
  done
}

judge_sanitizer() { # NAME
  for tool in memcheck racecheck initcheck synccheck; do
    [ -e "$work/$1.$tool.status" ] || continue
    if [ "$(cat "$work/$1.$tool.status")" = 0 ]; then report "$1 under $tool" good; else report "$1 under $tool" bad "$(tail -n 5 "$work/$1.$tool")"; fi
  done
}

# What a program of the folder compares: its lines begin with ok, FAILED or skipped.
beside() { # PROGRAM ARGUMENTS...
  program=$1
  shift
  if ! command -v python3 > /dev/null; then
    echo "skipped: $program: python3 is not in PATH" > "$work/beside"
  elif ! python3 "$folder/$program" "$folder" "$@" > "$work/beside" 2> "$work/error"; then
    echo "FAILED: $program: $(tail -n 1 "$work/error")" >> "$work/beside"
  fi
  cat "$work/beside"
  passed=$((passed + $(grep -c '^ok: ' "$work/beside")))
  failed=$((failed + $(grep -c '^FAILED: ' "$work/beside")))
  skipped=$((skipped + $(grep -c '^skipped: ' "$work/beside")))
}

if [ $# -gt 1 ]; then # one case, by xargs
  work=$1
  shift
  run "$@"
  exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ -r "$folder/cases.txt" ] || { echo "gpu-check: $folder holds no cases.txt: see utils/gpu-check/make-bundles.py" >&2; exit 1; }
: > "$work/table"
gpu=$(reprise-run "$folder/smallest-step.rpb" --device=cuda --steps=1 --seed=1 2> "$work/error" | sed -n 's/^device .*(\(.*\), sm_.*/\1/p')
grep -v ' -$' "$folder/cases.txt" | xargs -P "$(nproc)" -L 1 sh "$0" "$folder" "$work"
while read -r case; do
  # shellcheck disable=SC2086
  case $case in
  *" -") run $case ;;
  esac
  # shellcheck disable=SC2086
  judge $case
  judge_sanitizer "${case%% *}"
done < "$folder/cases.txt"
command -v compute-sanitizer > /dev/null || { skipped=$((skipped + 1)); echo "skipped: compute-sanitizer is not in PATH"; }
beside curand.py "$(awk '$1 == "philox-words" { print $4 }' "$folder/cases.txt")" "$(awk '$1 == "philox-words" { print $5 }' "$folder/cases.txt")"
echo
echo "| step | hash of the CPU, or of plans | seconds | by the cost model | arena bytes | all bytes | longest launch, share of its bound |"
echo "|---|---|---|---|---|---|---|"
cat "$work/table"
echo
beside beside_torch.py
echo
beside whole.py
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
