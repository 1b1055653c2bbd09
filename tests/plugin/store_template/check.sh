#!/usr/bin/env bash
# Proves: a store plugin can be written and tested outside this tree: sdk/examples/store-template builds against what `cmake --install` leaves,
# passes the installed contract suite, and a broker runs on it when one line chooses it. How: a temporary prefix and a copy of the template.
# Left to others: the suite's own tests (tests/contract), other plugins out of tree (out_of_tree/check.sh).
# One store: the template is one.
# usage: check.sh BUILD_DIRECTORY CXX_FLAGS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
. tools/dev/lib.sh
build_directory=$1 flags=${2:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-store-template.XXXXXX")
broker=
trap '[ -z "$broker" ] || kill -9 "$broker" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }

prefix=$work/prefix
cmake --install "$build_directory" --prefix "$prefix" >"$work/out" 2>&1 || fail "install"
cp -r sdk/examples/store-template "$work/store"
cmake -G Ninja -S "$work/store" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags -Wall -Wextra -Werror" >"$work/out" 2>&1 || fail "configure"
cmake --build "$work/build" >"$work/out" 2>&1 || fail "build"
ctest --test-dir "$work/build" --output-on-failure >"$work/out" 2>&1 || fail "the contract suite"
grep -q "100% tests passed" "$work/out" || fail "no test ran"

cp "$work/build/patchbay-storage-toy.so" "$prefix/lib/patchbay/plugins"
cp "$work/store/storage-toy.conf" "$prefix/etc/patchbay/plugins.d/90-storage-toy.conf"
cd "$work"  # so that the installed configuration is used, not this tree's
"$prefix/bin/patchbay" -D service.patchbay.MessageStore=storage-toy -D bindAddress=127.0.0.1 -D listenPort=0 -D namesrv.listenPort=0 \
    -D brokerIP1=127.0.0.1 -D "storePathRootDir=$work/data" >"$work/out" 2>&1 &
broker=$!
for ((i = 0; i < 600; i++)); do
    grep -q "ready in" "$work/out" && break
    kill -0 "$broker" 2>/dev/null || fail "the broker ended"
    sleep 0.05
done
port=$(sed -n 's/.*broker 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
[[ $(ask "${port:?}" 28) == *bootTimestamp* ]] || fail "no answer"
[ -e "$work/data/toy/messages" ] || fail "the store was not used"
kill "$broker"
wait "$broker" || fail "exit status $?"
broker=
echo "installed, built, passed the contract, and a broker ran on it"
