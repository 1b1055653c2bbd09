#!/usr/bin/env bash
# Proves: ./dev interop fails when a client program says nothing, fails without saying so, or when no group is named so; no command of ./dev takes a name of lib.sh for itself.
# How: the real command with programs of this test in the folder of clients, and stand-ins for Java and Maven, which they do not need.
# Left to others: what Apache's clients see.
cd "$(dirname "$0")/../.."
. tools/dev/lib.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-interop-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/cache/patchbay/rocketmq-5.3.3"
touch "$work/cache/patchbay/rocketmq-5.3.3/.complete"
printf '#!/bin/sh\nexit 0\n' | tee "$work/bin/java" >"$work/bin/mvn"
chmod +x "$work/bin/java" "$work/bin/mvn"
failed=0
check() { # TEXT 0|1 WORDS PROGRAM: exit code and last words of a run with this program
    local code=0 out
    mkdir -p "$work/clients/mine"
    printf '#!/bin/sh\n%s\n' "$4" >"$work/clients/mine/run"
    chmod +x "$work/clients/mine/run"
    out=$(PATH=$work/bin:$PATH XDG_CACHE_HOME=$work/cache CLIENTS=$work/clients ./dev interop "${5:-clients_mmap}" 2>&1) || code=$?
    if [ "$code" = "$2" ] && [[ $out == *"$3" ]]; then echo "ok: $1"; else
        echo "FAILED: $1 ($code)"
        echo "$out" | tail -5
        failed=1
    fi
}

check "a verdict counts" 0 "1 passed, 0 failed" 'echo PASS well'
check "a bad one, too" 1 "0 passed, 1 failed" 'echo FAIL badly; exit 1'
check "a program that says nothing has failed" 1 "0 passed, 1 failed" 'exit 1'
check "whatever its exit code" 1 "0 passed, 1 failed" 'exit 0'
check "a program that fails after its verdicts has failed" 1 "1 passed, 1 failed" 'echo PASS well; exit 3'
check "a group that does not exist is an error" 1 "clients store_swap" 'exit 0' no_such_group
# A command of ./dev that defines a name of lib.sh anew changes what the functions there call.
names() { sed -n 's/^\([a-z_]*\)() *{.*/\1/p' "$@" | sort -u; }
for command in tools/dev/*; do
    [ "$command" != tools/dev/lib.sh ] || continue
    twice=$(comm -12 <(names tools/dev/lib.sh) <(names "$command"))
    [ -z "$twice" ] || { echo "FAILED: $command defines what lib.sh has: $twice"; failed=1; }
done
exit $failed
