#!/usr/bin/env bash
# Proves: ./dev up and ./dev down keep their promises: forms, process ids, readiness, restart on the same data, parts alone, stores
# (mmap, which is what there is when nothing is said, and sqlite).
# How: the real commands on free ports with the build that ctest runs (PATCHBAY_BUILD).
# Left to others: what the processes do once they run.
cd "$(dirname "$0")/../.."
. tools/dev/lib.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-up.XXXXXX")
# shellcheck disable=SC2317  # the trap calls it
end() {
    local d
    for d in "$work"/*/; do [ ! -e "$d/pids" ] || tools/dev/down "$d" -9 || true; done
    rm -rf "$work"
}
trap end EXIT
failed=0
check() { # TEXT COMMAND…
    local text=$1
    shift
    if "$@" >/dev/null 2>&1; then echo "ok: $text"; else echo "FAILED: $text"; failed=1; fi
}
running() { # DIR LINES: pids holds that many lines of the promised form, and each process runs
    [ "$(grep -cE '^patchbay [0-9]+ [0-9]+$' "$1/pids")" = "$2" ] || return 1
    while read -r _ pid _; do kill -0 "$pid" || return 1; done <"$1/pids"
}
gone() { wait_gone "$1" 1; }
knows() { [[ $(ask "$1" 106) == *"\"$2\""* ]]; }
first_pid() { awk 'NR == 1 { print $2 }' "$1/pids"; }

ns=$(free_port) broker=$(free_port)
check "up returns 0 with two brokers" ./dev up "$work/two" "$ns" "$broker" --brokers 2
check "a line for each process" running "$work/two" 2
check "the name server knows the first broker" knows "$ns" "127.0.0.1:$broker"
check "and the second, ten ports on" knows "$ns" "127.0.0.1:$((broker + 10))"
check "the store is under DIR" test -d "$work/two/broker-a/store/commitlog"
old=$(first_pid "$work/two")
check "the same line restarts" ./dev up "$work/two" "$ns" "$broker" --brokers 2
check "the old process has ended" gone "$old"
old=$(first_pid "$work/two")
check "down returns 0" ./dev down "$work/two"
check "and the process has ended" gone "$old"

ns=$(free_port) broker=$(free_port)
check "a name server alone" ./dev up "$work/ns" "$ns" 1 --namesrv-only
check "it keeps nothing elsewhere" grep -qzF "storePathRootDir=$work/ns/" "/proc/$(first_pid "$work/ns")/cmdline"
check "a broker alone that registers there, on SQLite" ./dev up "$work/broker" "$ns" "$broker" --no-namesrv store=sqlite brokerName=lonely
check "the name server knows it" knows "$ns" "127.0.0.1:$broker"
check "it keeps one database" test -n "$(find "$work/broker" -name '*.db' -o -name '*.sqlite*' | head -1)"
old=$(first_pid "$work/broker")
check "down -9 returns 0" ./dev down "$work/broker" -9
check "and the process has ended" gone "$old"
check "the name server runs on" running "$work/ns" 1
check "and ends from another directory, by a relative name" bash -c "cd '$work' && '$PWD/dev' down ns"
check "a relative DIR is the caller's" bash -c "cd '$work' && '$PWD/dev' up near $ns $broker --namesrv-only"
check "which lies there" running "$work/near" 1
check "27 brokers are refused" bash -c "! ./dev up $work/bad $ns $broker --brokers 27"
check "a wrong port is refused" bash -c "! ./dev up $work/bad x y"
check "a wrong store is refused" bash -c "! ./dev up $work/bad $ns $broker store=tape"
exit $failed
