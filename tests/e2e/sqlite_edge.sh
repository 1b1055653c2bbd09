#!/usr/bin/env bash
# Proves: etc/examples/sqlite-edge is accepted as it is, starts the whole product on one database, and leaves one file after a clean stop.
# How: the example's own file with a directory and ports of the test, in the build that ctest runs (PATCHBAY_BUILD). Left to others: what is sent
# and read (kill_rounds_test), the store (tests/unit/plugins/storage-sqlite).
# One store: the example is the database.
cd "$(dirname "$0")/../.." || exit 1
. tools/dev/lib.sh
set +e
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-edge.XXXXXX")
broker=
trap '[ -z "$broker" ] || kill -9 "$broker" 2>/dev/null; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work/out" >&2; exit 1; }
patchbay=$PATCHBAY_BUILD/bin/patchbay
options=(-c etc/examples/sqlite-edge/edge.conf -D "storePathRootDir=$work/store" -D "pluginDirectory=$PATCHBAY_BUILD/plugins"
    -D bindAddress=127.0.0.1 -D brokerIP1=127.0.0.1 -D listenPort=0 -D namesrv.listenPort=0)

"$patchbay" --check "${options[@]}" >"$work/out" 2>&1 || fail "the example does not pass --check"
"$patchbay" "${options[@]}" >"$work/out" 2>&1 &
broker=$!
for ((i = 0; i < 600; i++)); do
    grep -q "ready in" "$work/out" && break
    kill -0 "$broker" 2>/dev/null || fail "it ended"
    sleep 0.05
done
namesrv_port=$(sed -n 's/.*namesrv 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
broker_port=$(sed -n 's/.*broker 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
[[ $(ask "${namesrv_port:?}" 106) == *'"edge-a"'* ]] || fail "the name server does not know the broker"
[[ $(ask "${broker_port:?}" 28) == *bootTimestamp* ]] || fail "the broker does not answer"
[ -s "$work/store/sqlite/messages.db" ] || fail "there is no database"
[ ! -e "$work/store/commitlog" ] || fail "there is a commit log"
grep VmRSS "/proc/$broker/status"
grep RssAnon "/proc/$broker/status"
kill "$broker"
wait "$broker" || fail "exit status $?"
broker=
left=$(ls "$work/store/sqlite")
[ "$left" = "$(printf 'lock\nmessages.db')" ] || fail "after a clean stop there is: $left"

# A database of a newer version (user_version, at byte 60) is refused in one numbered line and left alone.
printf '\0\0\0\143' | dd of="$work/store/sqlite/messages.db" bs=1 seek=60 conv=notrunc status=none
before=$(cksum <"$work/store/sqlite/messages.db")
! timeout 60 "$patchbay" "${options[@]}" >"$work/out" 2>&1 || fail "it started on a newer schema"
grep -q "PB-1123 .*messages\.db has schema 99, written by a newer version" "$work/out" || fail "it does not say what is wrong"
[ "$before" = "$(cksum <"$work/store/sqlite/messages.db")" ] || fail "the newer database was changed"
