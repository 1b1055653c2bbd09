#!/usr/bin/env bash
# Proves: the quick start builds against an installed client library, by find_package and by pkg-config, from a prefix that was moved, and says
# what is wrong when no server is there. How: a temporary prefix. Left to others: sending to a broker.
# usage: check.sh BUILD_DIRECTORY CXX_FLAGS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../../.."
build_directory=$1 flags=${2:-}
here=$PWD/tests/integration/client/out_of_tree
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-client.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$work"/*.log >&2; exit 1; }

# The text between a fence "```cmake" and its end is what is built.
diff <(awk '/^```cmake$/ { inside = 1; next } /^```/ { inside = 0 } inside' docs/client.md) "$here/CMakeLists.txt" ||
    fail "docs/client.md shows another CMakeLists.txt"
cmake --install "$build_directory" --prefix "$work/prefix" >"$work/install.log" || fail "install"
mv "$work/prefix" "$work/moved"
mkdir "$work/shop"
cp "$here/CMakeLists.txt" "$work/shop"
cp sdk/examples/client/quickstart_producer.cpp "$work/shop/shop.cpp"
cmake -G Ninja -S "$work/shop" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_FLAGS="$flags" >"$work/configure.log" 2>&1 || fail "configure"
cmake --build "$work/build" >"$work/build.log" 2>&1 || fail "build"
answer=$(sed -e 's/127.0.0.1:9876/127.0.0.1:1/' -i "$work/shop/shop.cpp" && cmake --build "$work/build" >"$work/build.log" 2>&1 && "$work/build/shop" 2>&1) && fail "it sent to nobody"
[[ $answer == *"127.0.0.1:1"* ]] || fail "it said: $answer"

# The examples as they were installed; one of them is enough to see that it can be built.
cp -r "$work/moved/share/patchbay/examples/client" "$work/examples"
cmake -G Ninja -S "$work/examples" -B "$work/examples-build" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_CXX_FLAGS="$flags" >"$work/configure.log" 2>&1 &&
    cmake --build "$work/examples-build" --target example_relay >"$work/build.log" 2>&1 || fail "the examples do not build"
[ -n "$(find "$work/moved/share/doc" -name plugin-guide.md)" ] || fail "the pages are not installed"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name patchbay-client.pc)")
if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2046
    g++ -std=c++20 $flags "$work/shop/shop.cpp" -o "$work/shop/shop" $(pkg-config --cflags --libs patchbay-client) 2>"$work/pkg.log" || fail "pkg-config"
fi
echo "installed, built and asked: $answer"
