#!/usr/bin/env bash
# Proves: what `cmake --install` leaves is enough to build a plugin elsewhere and to run a broker with it, its pages lead to each other, and the guide's example is the
# one that works. How: a temporary prefix, the commands of docs/plugin-guide.md, one request over a socket. Left to others: what bad plugins do.
# usage: check.sh BUILD_DIRECTORY CXX_FLAGS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
. tools/dev/lib.sh
build_directory=$1 flags=${2:-}
here=$PWD/tests/plugin/out_of_tree
work=$(mktemp -d "${TMPDIR:-/tmp}/patchbay-out-of-tree.XXXXXX")
broker=
trap '[ -z "$broker" ] || kill -9 "$broker" 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }

# The text between a fence "```cpp" and its end is the example, and so on.
block() { awk -v fence="\`\`\`$2" -v want="$3" '$0 == fence { n++; inside = n == want; next } /^```/ { inside = 0 } inside' "$1"; }
diff <(block docs/plugin-guide.md cpp 1) "$here/plugin.cpp" || fail "docs/plugin-guide.md shows another plugin.cpp"
diff <(block docs/plugin-guide.md cmake 1) "$here/CMakeLists.txt" || fail "docs/plugin-guide.md shows another CMakeLists.txt"
diff <(block docs/plugin-guide.md properties 1) "$here/greeting.conf" || fail "docs/plugin-guide.md shows another greeting.conf"

prefix=$work/prefix
cmake --install "$build_directory" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; fail "install"; }
# Links of installed pages lead to installed pages, and programs have theirs for man.
while read -r page; do
    # Code is no link.
    links=$(sed -e '/^```/,/^```/d' -e 's/`[^`]*`//g' "$page" | { grep -oE '\]\([^)# ]+' || true; } | sed 's/^](//' | { grep -vE '^[a-z]+:' || true; } | sort -u)
    for link in $links; do
        [ -e "$(dirname "$page")/$link" ] || fail "the installed page ${page#"$prefix/"} has a dead link: $link"
    done
done < <(find "$prefix" -name '*.md')
for program in patchbay patchctl; do
    [ -s "$prefix/share/man/man1/$program.1" ] || fail "$program has no page for man"
done
mkdir "$work/greeting"
cp "$here"/{CMakeLists.txt,plugin.cpp} "$work/greeting"
cmake -G Ninja -S "$work/greeting" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags" >"$work/configure.log" 2>&1 ||
    { cat "$work/configure.log"; fail "configure"; }
cmake --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; fail "build"; }

# The template as it was installed, with its own tests.
cp -r "$prefix/share/patchbay/examples/plugin-template" "$work/template"
cmake -G Ninja -S "$work/template" -B "$work/template-build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags" >"$work/configure.log" 2>&1 &&
    cmake --build "$work/template-build" >"$work/build.log" || { cat "$work/configure.log" "$work/build.log"; fail "the template does not build"; }
ctest --test-dir "$work/template-build" --no-tests=error >"$work/ctest.log" || { cat "$work/ctest.log"; fail "the template's tests"; }

# What patchctl makes, with its test, and built for release when nothing else is said.
"$prefix/bin/patchctl" plugin new my-plugin --directory "$work" >"$work/out" || fail "plugin new"
cmake -G Ninja -S "$work/my-plugin" -B "$work/my-build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="$flags" >"$work/out" 2>&1 &&
    cmake --build "$work/my-build" >"$work/out" && ctest --test-dir "$work/my-build" --no-tests=error >"$work/out" || fail "what patchctl made"
grep -q '^CMAKE_BUILD_TYPE:.*=Release$' "$work/my-build/CMakeCache.txt" || fail "not built for release"
# A test that cannot be made is not passed over in silence.
cmake -G Ninja -S "$work/my-plugin" -B "$work/untested" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON >"$work/out" 2>&1 || fail "without GoogleTest"
tr -s '\n ' ' ' <"$work/out" | grep -q "patchbay_add_plugin_test(my-plugin): no test is made" || fail "nothing is said of the missing test"
mkdir "$work/single"
cp "$here/plugin.cpp" "$work/single"
{ cat "$here/CMakeLists.txt"; echo "patchbay_add_plugin_test(greeting SOURCES test.cpp)"; } >"$work/single/CMakeLists.txt"
cmake -G Ninja -S "$work/single" -B "$work/single-build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/out" 2>&1 && fail "a plugin of one file has no test"
tr -s '\n ' ' ' <"$work/out" | grep -q "the plugin has no file but plugin.cpp" || fail "it does not say why"

cp "$work/build/patchbay-greeting.so" "$prefix/lib/patchbay/plugins"
cp "$here/greeting.conf" "$prefix/etc/patchbay/plugins.d/90-greeting.conf"
# Moved as a whole: nothing in it may remember where it was installed.
mv "$prefix" "$work/moved"
patchbay=$work/moved/bin/patchbay
cd "$work"
# Every program finds its libraries from its own place.
unset LD_LIBRARY_PATH
for program in moved/bin/*; do
    "$program" --version >"$work/out" 2>&1 || fail "$program does not start"
done
"$patchbay" --inspect moved/lib/patchbay/plugins/patchbay-greeting.so | grep -q "this broker takes it" || fail "inspect"
options=(-D bindAddress=127.0.0.1 -D listenPort=0 -D namesrv.listenPort=0 -D brokerIP1=127.0.0.1)
for store in mmap sqlite; do
    [ -z "$broker" ] || { kill "$broker"; wait "$broker" || fail "exit status $?"; }
    chosen=("${options[@]}" -D "storePathRootDir=$work/$store" -D "service.patchbay.MessageStore=storage-$store")
    "$patchbay" --check "${chosen[@]}" >"$work/out" 2>&1 || fail "check"
    "$patchbay" "${chosen[@]}" >"$work/out" 2>&1 &
    broker=$!
    for ((i = 0; i < 400; i++)); do
        grep -q "ready in" "$work/out" && break
        kill -0 "$broker" 2>/dev/null || fail "the broker ended"
        sleep 0.05
    done
    port=$(sed -n 's/.*broker 127\.0\.0\.1:\([0-9]*\).*/\1/p' "$work/out" | tail -n 1)
    answer=$(ask "${port:?}" 30001) || fail "no answer"
    [[ $answer == *"good morning" ]] || fail "answered: $answer"
done
# A plugin that is put there while the broker runs.
cp "$work/template-build/patchbay-plugin-template.so" moved/lib/patchbay/plugins
cp "$work/template/plugin-template.conf" moved/etc/patchbay/plugins.d/91-plugin-template.conf
kill -HUP "$broker"
for ((i = 0; i < 400; i++)); do
    template=$(ask "$port" 30100) || fail "no answer to the template"
    [[ $template == *hello ]] && break
    sleep 0.05
done
[[ $template == *hello ]] || fail "the template answered: $template"
kill "$broker"
wait "$broker" || fail "exit status $?"
broker=
echo "installed, built, loaded and asked: $answer"
