#!/usr/bin/env bash
# Plays every scenario against the reference server again and again while one core is kept busy, and counts
# the runs that did not end with "held". usage: reports/soak.sh RUNS [TARGET]
set -euo pipefail
runs=${1:?how many runs}
target=${2:-reference-http}
cd "$(dirname "$0")/.."
cargo build --quiet --release
folder=$(mktemp -d)
(while :; do :; done) &
busy=$!
trap 'kill "$busy" 2>/dev/null; rm -rf "$folder"' EXIT
wrong=0
for run in $(seq "$runs"); do
    if ! target/release/nottwice run "$target" --seed "$run" --runs "$folder/$run" >"$folder/$run.txt"; then
        wrong=$((wrong + 1))
        cat "$folder/$run.txt"
    fi
    rm -rf "${folder:?}/$run" "$folder/$run.txt"
done
echo "$target: $((runs - wrong)) of $runs runs held"
[ "$wrong" -eq 0 ]
